"""Trees as bracket strings, on one line or indented; docs/formats.md says how words are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spacy_incparse.tokens import escape_brackets, escape_label, raw_to_penn
from spacy_incparse.trees.tree_node import TreeNode


def bracket_string(tree: TreeNode, *, width: int | None = None, ptb: bool = False) -> str:
    """Return the brackets on one line, or indented: then what fits into `width` characters stays on a line.

    Words are raw, with only those characters escaped that would break the brackets; with `ptb` as the Penn Treebank
    spells them.
    """
    words = raw_to_penn(tree.words, tree.tags) if ptb else [escape_brackets(word) for word in tree.words]
    pieces = _pieces(tree, words)
    return "".join(pieces) if width is None else indented(tree, pieces, width)


def indented(tree: TreeNode, pieces: Sequence[str], width: int) -> str:
    """Return pieces of text, one for each node from `tree` down, over lines: what fits into `width` stays on one.

    A piece has all that is written for its node and the brackets that close behind it, a blank before it.
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
    """Return one string a node, with the brackets that close behind it; joined they are the tree on one line."""
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
