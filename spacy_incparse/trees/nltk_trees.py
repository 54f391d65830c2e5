"""Conversion to and from nltk trees; nltk is imported only here, on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.arrays_builder import ArraysBuilder
from spacy_incparse.trees.tree_node import TreeNode

if TYPE_CHECKING:
    import nltk


def to_nltk(tree: TreeNode) -> nltk.Tree:
    """Return an nltk.Tree with the same labels and the raw words as leaves. Raises ImportError without nltk."""
    make = _nltk_tree_class()
    path: list[list[Any]] = [[]]  # the complete children of each open phrase
    waiting: list[tuple[int, str]] = []  # the end and the label of each open phrase
    for node in tree.preorder():
        if not node.is_leaf:
            waiting.append((node.index + node.size, node.label))
            path.append([])
            continue
        path[-1].append(make(node.label, list(node.words)))
        while waiting and waiting[-1][0] == node.index + 1:
            children = path.pop()
            path[-1].append(make(waiting.pop()[1], children))
    return path[0][0]


def from_nltk(tree: nltk.Tree) -> TreeArrays:
    """Return an nltk.Tree as arrays; its leaves are taken as raw words, a leaf (word, tag) as a POS node.

    Raises IncparseError if a word has sibling nodes or a phrase is empty. If the words have the Penn Treebank's
    spelling, such as -LRB-, use `Tree.from_string(str(nltk_tree))`, which converts them to raw words.
    """
    builder = ArraysBuilder()
    work: list[Any] = [tree]  # trees to come; None: close the phrase
    while work:
        node = work.pop()
        if node is None:
            builder.close()
            continue
        tag, word = _pos_node(node)
        if word is not None:
            builder.leaf(tag, word)
            continue
        builder.open(tag)
        work.append(None)
        work += reversed(list(node))
    return builder.arrays()


def _pos_node(node: Any) -> tuple[str, str | None]:
    """Return the tag and word of a POS node, or the label of a phrase and None."""
    if _is_tagged_word(node):
        return node[1], node[0]
    if not callable(getattr(node, "label", None)):
        raise IncparseError(f"{node!r} is not an nltk.Tree; expected a tree whose words have POS nodes")
    label, children = str(node.label()), list(node)
    words = [child for child in children if isinstance(child, str)]
    if not children:
        raise IncparseError(f"the nltk tree has nothing under {label!r}; expected a word or nodes")
    if words and len(children) > 1:
        raise IncparseError(
            f"the nltk tree has the word {words[0]!r} next to others under {label!r}; expected a POS node"
        )
    return label, words[0] if words else None


def _is_tagged_word(node: Any) -> bool:
    """Return whether a node is a (word, tag) leaf, as in chunk trees."""
    return isinstance(node, tuple) and len(node) == 2 and all(isinstance(part, str) for part in node)


def _nltk_tree_class() -> type:
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError:
        raise ImportError("to_nltk() needs nltk: install it with `pip install nltk`") from None
    return NltkTree
