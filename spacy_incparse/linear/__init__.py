"""Feature templates as data, hashed weights, words and their clusters: what the linear models share."""
