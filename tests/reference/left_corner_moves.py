"""The tree that moves build, with the builder of trees: incremental/tree_writer.pyx in plain Python."""

from spacy_incparse.trees.builder import TreeBuilder


def build_tree(moves, words, tags, root_label="TOP"):
    """The tree that one move a word builds: the inverse of `derivation`."""
    builder, n_open = TreeBuilder(), 1
    builder.open(root_label)
    for (n_closings, chain), word, tag in zip(moves, words, tags, strict=True):
        for _ in range(n_closings):
            builder.close()
        for label in chain:
            builder.open(label)
        builder.leaf(tag, word)
        n_open += len(chain) - n_closings
    for _ in range(n_open):
        builder.close()
    return builder.finish()
