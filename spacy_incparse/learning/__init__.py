"""Hashed weights and their updates."""
