"""Replacements for the methods of trees in nltk, stanza and CoreNLP."""

from __future__ import annotations

ADVICE = {
    # nltk
    "pos": "list(zip(tree.words, tree.tags))",
    "pformat": "tree.pretty()",
    "pprint": "print(tree.pretty())",
    "pretty_print": "print(tree.draw())",
    "pformat_latex_qtree": 'tree.to_latex("qtree")',
    "flatten": "tree.words",
    "set_label": "tree.map_labels(...), which returns a new tree",
    "convert": "Tree.from_nltk(...)",
    "copy": "the tree itself: it never changes",
    "chomsky_normal_form": "tree.binarize(), which returns a new tree",
    "un_chomsky_normal_form": "tree.unbinarize(), which returns a new tree",
    "collapse_unary": "tree.collapse_unaries(), which returns a new tree",
    "parent_index": "tree.parent",
    "left_sibling": "tree.siblings",
    "right_sibling": "tree.siblings",
    "treeposition": "tree.index, the number of the node in pre-order",
    "treepositions": "tree.preorder(), which yields the nodes themselves",
    "leaf_treeposition": "tree.pos_nodes()[i]",
    "node": "tree.label",
    # stanza and CoreNLP
    "leaf_labels": "tree.words",
    "yield_preterminals": "tree.preterminals()",
    "visit_preorder": "tree.preorder()",
    "get_unique_constituent_labels": "{phrase.label for phrase in tree.phrases()}",
    "child": "tree.children",
    "value": "tree.label, or at a POS node tree.text for its word",
    "yieldWords": "tree.words",
    "taggedYield": "list(zip(tree.words, tree.tags))",
    "isLeaf": "tree.is_leaf",
    "isPreTerminal": "tree.is_preterminal",
}
"""Name in another library -> replacement here."""

LEAVES = (
    "tree.leaves() returns the POS nodes of this tree, not its words as in nltk. Use tree.words for the words, or "
    "tree.pos_nodes() for the nodes"
)


def missing_attribute(kind: str, name: str) -> str:
    """Return the message for an attribute that a tree does not have."""
    what = f"{kind!r} object has no attribute {name!r}"
    return f"{what}: use {ADVICE[name]}" if name in ADVICE else what


def missing_child(label: str, words: tuple[str, ...], n_children: int, i: int) -> str:
    """Return the message for a child that a node does not have."""
    if n_children:
        return f"{label} has {n_children} children, and no child {i}"
    return f"({label} {words[0]}) is a POS node, which has no children: its word is tree.text, or tree.words[0]"
