"""Scoring trees: EVALB, character space, significance; independent of spaCy."""
