"""The beam search over moves, and the parser made of it."""
