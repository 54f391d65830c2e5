"""The slow twin of treebanks/bracket_scanner.pyx: each step a small function from a tree to a new one."""

from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

ROOT = "TOP"
WRAPPERS = ("", "ROOT", "TOP", "VROOT", "S1")


def normalize(tree: Tree) -> Tree | None:
    """Return a tree without traces, functions, wrappers and doubled phrases; None where nothing is left."""
    kept = without_traces(tree)
    if kept is None:
        return None
    while len(kept) == 1 and not kept[0].is_leaf and kept[0].label in WRAPPERS:
        kept = list(kept[0])
    return make_tree(ROOT, [part for one in kept for part in merged(one)])


def without_traces(node: Tree) -> list[Tree] | None:
    """Return a node with bare labels, in a list; None where it has no words but traces."""
    if node.is_leaf:
        return None if node.label == "-NONE-" else [make_tree(bare_label(node.label), node.words[0])]
    children = [part for child in node for part in without_traces(child) or ()]
    return [make_tree(bare_label(node.label), children)] if children else None


def merged(node: Tree) -> list[Tree]:
    """Return a phrase over one of its own label as one, and what is below a root within a tree."""
    if node.is_leaf:
        return [node]
    children = [part for child in node for part in merged(child)]
    while len(children) == 1 and not children[0].is_leaf and children[0].label == node.label:
        children = list(children[0])
    return children if node.label in ("", ROOT) else [make_tree(node.label, children)]
