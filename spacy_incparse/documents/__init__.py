"""What stands on a Doc: stored trees, their mirror in `doc.spans`, tree nodes with tokens, gold trees, analyses."""
