"""Trees as bracket strings, on one line or indented; docs/formats.md says how words are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spacy_incparse.tokens import escape_brackets, escape_label, raw_to_penn
from spacy_incparse.trees.tree_node import TreeNode


def bracket_string(tree: TreeNode, *, width: int | None = None, ptb: bool = False) -> str:
    """Return the brackets on one line, or with `width` indented: a subtree that fits into it stays on one line.

    Words are raw, with only those characters escaped that would break the brackets; with `ptb` they have the spelling
    of the Penn Treebank.
    """
    words = raw_to_penn(tree.words, tree.tags) if ptb else [escape_brackets(word) for word in tree.words]
    pieces = _pieces(tree, words)
    return "".join(pieces) if width is None else indented(tree, pieces, width)


def indented(tree: TreeNode, pieces: Sequence[str], width: int) -> str:
    """Return pieces of text on indented lines; a subtree that fits into `width` stays on one line.

    There is one piece for each node from `tree` down: a space, the node's text, and the brackets that close after it.
    """
    sizes = tree.arrays.sizes
    offsets = list(accumulate(map(len, pieces), initial=0))
    lines: list[str] = []
    open_ends: list[int] = []
    node, n_nodes = 0, tree.size
    while node < n_nodes:
        while open_ends and open_ends[-1] <= node:
            open_ends.pop()
        indent = 2 * len(open_ends)
        size = sizes[tree.index + node]
        behind = node + size
        fits = indent + offsets[behind] - offsets[node] <= width
        if not fits and size > 1:
            open_ends.append(behind)
            behind = node + 1
        lines.append(" " * indent + "".join(pieces[node:behind]).lstrip(" "))
        node = behind
    return "\n".join(lines)


def _pieces(tree: TreeNode, words: Sequence[str]) -> list[str]:
    """Return one string per node, with the brackets that close after it; joined, they are the tree on one line."""
    arrays, following = tree.arrays, iter(words)
    pieces: list[str] = []
    behind: list[int] = []  # ends of the open phrases
    for i in range(tree.index, tree.index + tree.size):
        space = " " if pieces and pieces[-1] != "(" else ""
        label = escape_label(arrays.labels[i])
        if arrays.sizes[i] > 1:
            behind.append(i + arrays.sizes[i])
            pieces.append(f"{space}({label}")
            continue
        n_closed = 0
        while behind and behind[-1] == i + 1:
            behind.pop()
            n_closed += 1
        pieces.append(f"{space}({label} {next(following)}){')' * n_closed}")
    return pieces
