"""Words as the numbers that features read."""
