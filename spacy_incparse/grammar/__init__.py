"""The derivation of a tree, and the grammar that is read off transformed trees."""
