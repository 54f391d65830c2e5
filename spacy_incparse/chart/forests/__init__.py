"""Packed forests, and the recurrences over them: the core of all chart parsers."""
