"""Trees, and what reads, normalises, stores and heads them."""
