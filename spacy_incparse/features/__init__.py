"""Feature templates as data, and their extraction."""
