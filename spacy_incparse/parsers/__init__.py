"""What parsers of all kinds have in common, whatever their model."""
