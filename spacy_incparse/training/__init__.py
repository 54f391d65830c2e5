"""Training of tagger and parser on a treebank."""
