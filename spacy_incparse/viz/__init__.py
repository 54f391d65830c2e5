"""Pictures of trees: Unicode and ASCII drawings, SVG, and a self-contained HTML page. Independent of spaCy."""
