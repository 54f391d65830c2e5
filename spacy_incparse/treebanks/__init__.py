"""Treebank files: reading, normalization, formats."""
