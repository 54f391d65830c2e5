"""Reranking n-best lists (Collins 2000): features over whole trees, and learners of their weights."""
