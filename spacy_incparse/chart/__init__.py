"""Chart parsing: grammar, packed forest, and recurrences over it."""
