"""A room for each paper that this project reproduces, with what exists only for the paper's tables."""
