"""Treebank files: readers, normalization, formats."""
