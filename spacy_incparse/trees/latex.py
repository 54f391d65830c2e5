r"""LaTeX code that draws a tree with the package forest, or with qtree or tikz-qtree.

Labels and words are put in braces, so that these packages do not interpret their characters. Words in scripts
other than Latin need lualatex or xelatex and a font that has them; each word is a separate group, so that a
right-to-left word does not reorder its neighbors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.bracket_strings import indented
from spacy_incparse.trees.tree_node import TreeNode

WIDTH = 100
_FRAMES = {
    "forest": (
        "% \\usepackage{{forest}}\n\\begin{{forest}}\n  where n children=0{{tier=word}}{{}}\n{}\n\\end{{forest}}\n"
    ),
    "qtree": "% \\usepackage{{qtree}}; tikz-qtree where a node has more than five children\n\\Tree\n{}\n",
}
_SPECIAL = re.compile(r"[\\~^<>|\"#$%&_{}]")
_COMMANDS = {
    "\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum", "<": "textless", ">": "textgreater",
    "|": "textbar", '"': "char34",
}  # fmt: skip
_LIGATURE = re.compile(r"(?<=[-`',?!])(?=[-`',])")  # between two characters that TeX would join into one, such as --
_BLANKS = re.compile(r"\s+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def to_latex(tree: TreeNode, style: str = "forest") -> str:
    """Return the code for a tree; a comment in its first line names the package it needs.

    style: "forest" or "qtree".
    """
    if style not in _FRAMES:
        raise IncparseError(f"style is {style!r}; expected one of {', '.join(_FRAMES)}")
    pieces = list(_forest(tree) if style == "forest" else _qtree(tree))
    return _FRAMES[style].format(indented(tree, pieces, WIDTH))


def escape(text: str) -> str:
    """Return a text escaped for LaTeX; all kinds of blanks become spaces, control characters are removed."""
    text = _CONTROLS.sub("", _BLANKS.sub(" ", text))
    return _LIGATURE.sub("{}", _SPECIAL.sub(_escaped, text))


def _forest(tree: TreeNode) -> Iterator[str]:
    for node, n_closed in _nodes_and_closings(tree):
        word = f" [{{{escape(node.words[0])}}}]" if node.is_leaf else ""
        yield f" [{{{escape(node.label)}}}{word}{']' * n_closed}"


def _qtree(tree: TreeNode) -> Iterator[str]:
    for node, n_closed in _nodes_and_closings(tree):
        word = f" {{{escape(node.words[0])}}}" if node.is_leaf else ""
        yield f" [.{{{escape(node.label)}}}{word}{' ]' * n_closed}"


def _nodes_and_closings(tree: TreeNode) -> Iterator[tuple[TreeNode, int]]:
    """Yield the nodes in pre-order, each with the number of nodes that end after it."""
    behind: list[int] = []  # of the open nodes
    for node in tree.preorder():
        behind.append(node.index + node.size)
        n_closed = 0
        while behind and behind[-1] == node.index + 1:
            behind.pop()
            n_closed += 1
        yield node, n_closed


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    return f"\\{_COMMANDS[character]}{{}}" if character in _COMMANDS else "\\" + character
