"""Numbering of words for feature extraction."""
