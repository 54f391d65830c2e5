"""Trees on Docs: storage, the mirror in `doc.spans`, tree nodes with tokens, gold trees, and analyses."""
