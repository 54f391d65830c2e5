"""spaCy components, readers, batchers and scorers, which connect Docs with the parser; no algorithms here."""
