"""The generative model: exact counts with deleted interpolation, its own beam search, and measures per word."""
