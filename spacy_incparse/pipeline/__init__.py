"""spaCy components, readers, batchers and scorers: they connect a Doc with the parser; no algorithms here."""
