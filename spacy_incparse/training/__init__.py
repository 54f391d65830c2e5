"""Training a tagger and a parser on a treebank."""
