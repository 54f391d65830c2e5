"""Derivations: the grammar of chains, and what all incremental parsers share to build trees move by move."""
