"""Corpora on disk, and the same corpora with trees: readers, shards, writers, and what runs them."""
