"""Derivations: the grammar of chains, and the code that all incremental parsers share to build trees move by move."""
