"""Scoring trees: EVALB, character space, significance; knows nothing of spaCy."""
