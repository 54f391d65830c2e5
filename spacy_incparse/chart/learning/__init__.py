"""Learners of the scores of edges: conditional random fields, large margins, relative frequencies."""
