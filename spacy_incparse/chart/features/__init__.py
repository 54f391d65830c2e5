"""Features of the edges of a chart."""
