"""Feature templates as data, and feature extraction."""
