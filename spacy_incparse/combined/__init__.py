"""Parsers of several kinds combined: the tree of the highest expected F over all of them."""
