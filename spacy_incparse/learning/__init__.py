"""Hashed weights and how they learn."""
