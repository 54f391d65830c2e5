"""Conversions of trees: to and from nltk, which is imported on first use, and JSON; to LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.arrays import ArraysBuilder, Phrase, TreeArrays, arrays_of_phrases, closings
from spacy_incparse.trees.brackets import indented

if TYPE_CHECKING:
    import nltk

    from spacy_incparse.trees.tree import Tree


def to_nltk(tree: Tree) -> nltk.Tree:
    """Return an nltk.Tree with the same labels and the raw words as leaves. Raises ImportError without nltk."""
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError:
        raise ImportError("to_nltk() needs nltk: install it with `pip install nltk`") from None
    made: list[Any] = []  # complete nodes without a parent
    for node in tree.postorder():
        first = len(made) - len(node)
        made[first:] = [NltkTree(node.label, list(node.words) if node.is_leaf else made[first:])]
    return made[0]


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
    if isinstance(node, tuple) and len(node) == 2 and all(isinstance(part, str) for part in node):
        return node[1], node[0]  # a leaf of chunk trees
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


# Labels and words are put in braces, so that these packages do not interpret their characters. Words in scripts
# other than Latin need lualatex or xelatex and a font that has them; each word is a separate group, so that a
# right-to-left word does not reorder its neighbors.
_WIDTH = 100
_STYLES = {  # the frame, the beginning of a node, a word, and the end of a node
    "forest": (
        "% \\usepackage{{forest}}\n\\begin{{forest}}\n  where n children=0{{tier=word}}{{}}\n{}\n\\end{{forest}}\n",
        " [{{{}}}", " [{{{}}}]", "]",
    ),
    "qtree": (
        "% \\usepackage{{qtree}}; tikz-qtree where a node has more than five children\n\\Tree\n{}\n",
        " [.{{{}}}", " {{{}}}", " ]",
    ),
}  # fmt: skip
_SPECIAL = re.compile(r"[\\~^<>|\"#$%&_{}]")
_COMMANDS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}",
}  # fmt: skip
_LIGATURE = re.compile(r"(?<=[-`',?!])(?=[-`',])")  # between two characters that TeX would join into one, such as --
_BLANKS = re.compile(r"\s+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def to_latex(tree: Tree, style: str = "forest") -> str:
    """Return the code for a tree; a comment in its first line names the package it needs.

    style: "forest" or "qtree".
    """
    check_choice("style", style, _STYLES)
    frame, opening, of_word, closing = _STYLES[style]
    pieces: list[str] = []
    for node, n_closed in zip(tree.preorder(), closings(tree.arrays, tree.index), strict=True):
        word = of_word.format(escape(node.words[0])) if node.is_leaf else ""
        pieces.append(opening.format(escape(node.label)) + word + closing * n_closed)
    return frame.format(indented(tree, pieces, _WIDTH))


def escape(text: str) -> str:
    """Return a text escaped for LaTeX; all kinds of blanks become spaces, control characters are removed."""
    text = _CONTROLS.sub("", _BLANKS.sub(" ", text))
    text = _SPECIAL.sub(lambda match: _COMMANDS.get(match.group(), "\\" + match.group()), text)
    return _LIGATURE.sub("{}", text)


# {"text": "It rains", "tokens": [{"text": "It", "start": 0, "end": 2, "tag": "PRP"}, ...],
# "spans": [{"label": "S", "start": 0, "end": 2}, ...]}
#
# `parse --format json` prints the same keys, so `from_dict` reads its output, too.


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return text, tokens and phrases of a node; offsets are relative to its first character and token."""
    first_char, first = tree.start_char, tree.start
    tokens = [
        {"text": word, "start": leaf.start_char - first_char, "end": leaf.end_char - first_char, "tag": leaf.label}
        for leaf, word in zip(tree.preterminals(), tree.words, strict=True)
    ]
    spans = [{"label": label, "start": start - first, "end": end - first} for label, start, end in tree.spans()]
    return {"text": tree.text, "tokens": tokens, "spans": spans}


def from_dict(data: Mapping[str, Any]) -> TreeArrays:
    """Return the tree of "tokens" ("text" and "tag" of each) and "spans"; other keys are ignored.

    The spans are in pre-order, a phrase before the phrases in it, and the first one covers all tokens; without spans
    the one token is a POS node. Raises IncparseError naming the entry that is missing or does not fit.
    """
    tokens = _entries(data, "tokens", {"text": str, "tag": str})
    spans = _entries(data, "spans", {"label": str, "start": int, "end": int})
    words, tags = [word for word, _ in tokens], [tag for _, tag in tokens]
    return arrays_of_phrases(checked_spans(spans, len(tokens)), words, tags)


def _entries(data: Mapping[str, Any], key: str, fields: Mapping[str, type]) -> list[tuple[Any, ...]]:
    if not isinstance(data, Mapping) or not isinstance(data.get(key), Sequence) or isinstance(data[key], str):
        raise IncparseError(f"a tree as JSON needs a list {key!r}")
    rows = []
    for i, entry in enumerate(data[key]):
        for name, kind in fields.items():
            if not isinstance(entry, Mapping) or type(entry.get(name)) is not kind:
                raise IncparseError(f"{key}[{i}] needs {name!r}, which is a {kind.__name__}; it is {entry!r}")
        rows.append(tuple(entry[name] for name in fields))
    return rows


def checked_spans(spans: Sequence[Phrase], n_tokens: int) -> Iterator[Phrase]:
    """Yield the spans. Raises IncparseError unless they are the spans of one tree, in pre-order."""
    if not n_tokens:
        raise IncparseError("a tree has at least one token; 'tokens' is empty")
    if not spans and n_tokens > 1:
        raise IncparseError(f"'spans' is empty; expected one that covers all {n_tokens} tokens")
    path: list[Phrase] = []
    last_start = 0
    for i, (label, start, end) in enumerate(spans):
        where = f"spans[{i}] ({label} {start}-{end})"
        while path and path[-1][2] <= start:
            path.pop()
        if not 0 <= start < end <= n_tokens:
            raise IncparseError(f"{where} is not within the {n_tokens} tokens")
        if start < last_start:
            raise IncparseError(f"{where} comes after one that starts later; expected pre-order")
        if i == 0 and (start, end) != (0, n_tokens):
            raise IncparseError(f"{where} is the first; expected one that covers all {n_tokens} tokens")
        if path and end > path[-1][2]:
            above, above_start, above_end = path[-1]
            raise IncparseError(f"{where} crosses the end of {above} {above_start}-{above_end}; expected nested spans")
        path.append((label, start, end))
        last_start = start
        yield label, start, end
