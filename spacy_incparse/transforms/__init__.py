"""Tree transforms, each with its inverse."""
