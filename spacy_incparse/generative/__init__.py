"""The generative model: exact counts with deleted interpolation, its own beam search, measures per word."""
