r"""Reading of Penn-style bracket files, as published and as people have them.

One linear scan with one regular expression, no recursion. Several trees on a line or one tree over many lines, with or
without a wrapper around each; what the labels mean is left to normalize.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spacy_incparse.errors import TreebankError
from spacy_incparse.tokens import penn_to_raw
from spacy_incparse.treebanks.foreign_formats import refuse_discontinuous, refuse_other_formats
from spacy_incparse.treebanks.normalize import WRAPPERS, Step, normalize
from spacy_incparse.treebanks.treebank_files import Places, read_text, treebank_files
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.tree import Tree

# Only these separate words: a no-break space is part of a word.
_S = r"[ \t\r\n\f\v]"
_ATOM = r"[^ \t\r\n\f\v()]+"
_PIECE = re.compile(rf"\({_S}*({_ATOM}){_S}+({_ATOM})((?:{_S}+{_ATOM})*){_S}*\)|\({_S}*({_ATOM})?|(\))|({_ATOM})")
_POS, _OPEN, _CLOSE, _WORD = 3, 4, 5, 6  # number of the last group that matched; none at "(" without a label
_BETWEEN_TREES = re.compile(rf"(?:{_S}+|(?:^#|^\*x\*)[^\n]*)*", re.MULTILINE)
_BLANKS = re.compile(rf"{_S}+")
_NEXT_BRACKET = re.compile(r"[()]")
_TREE_AT_LINE_START = re.compile(r"^\(", re.MULTILINE)


@dataclass
class SkipLog:
    """What a reader skipped because it was malformed, in the order of the files."""

    entries: list[TreebankError] = field(default_factory=list)  # each with path, line, column and what
    n_trees: int = 0  # trees left out; the other entries are something beside the trees, or a file without any

    def add(self, error: TreebankError, *, is_tree: bool = False) -> None:
        """Note one place that was skipped, and whether a tree is missing for it."""
        self.entries.append(error)
        self.n_trees += is_tree

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TreebankError]:
        return iter(self.entries)

    def __str__(self) -> str:
        count = f"{len(self)} malformed tree{'' if len(self) == 1 else 's'} skipped"
        return "\n  ".join([count + (":" if self.entries else ""), *map(str, self.entries)])


class _Place(NamedTuple):
    """Where a tree begins."""

    path: Path | str
    places: Places
    position: int

    def error(self, what: str) -> TreebankError:
        return TreebankError(self.path, *self.places.line_and_column(self.position), what)


def read_treebank(
    paths: Path | str | Sequence[Path | str],
    *,
    skip_bad: SkipLog | None = None,
    steps: Sequence[Step] | None = None,
    check: Callable[[Tree], str | None] | None = None,
) -> list[Tree]:
    """Return the normalised trees of bracket files; those of which nothing is left are dropped.

    Arguments and errors are those of `read_trees`; `steps` replaces the standard normalisation. check: says what is
    wrong with a normalised tree, which then counts as malformed.
    """
    trees = []
    for published, place in _placed_trees(paths, skip_bad):
        tree = normalize(published, steps)
        if tree is None:
            continue
        what = check(tree) if check else None
        if what is None:
            trees.append(tree)
        elif skip_bad is None:
            raise place.error(what)
        else:
            skip_bad.add(place.error(what), is_tree=True)
    return trees


def read_trees(paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None) -> Iterator[Tree]:
    """Yield the trees of bracket files as published, with raw words; a wrapper without a label has label "".

    paths: a file, a folder, a glob, or several of them; see `treebank_files`.
    skip_bad: malformed trees are noted there and left out, reading goes on at the next tree that begins a line.
    Raises TreebankError at a malformed tree, another format, a wrong encoding or a file without trees.
    """
    return (tree for tree, _ in _placed_trees(paths, skip_bad))


def _placed_trees(paths: Path | str | Sequence[Path | str], skip_bad: SkipLog | None) -> Iterator[tuple[Tree, _Place]]:
    """Yield the trees of `read_trees`, each with its place."""
    for path in treebank_files(paths):
        n_skipped, has_trees = len(skip_bad or ()), False
        for placed in _parse(read_text(path), path, skip_bad):
            has_trees = True
            yield placed
        if not has_trees and n_skipped == len(skip_bad or ()):
            error = TreebankError(path, 1, 1, "the file has no trees; expected '(' and a tree in Penn bracketing")
            if skip_bad is None:
                raise error
            skip_bad.add(error)


def read_numbered_trees(
    paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None
) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of `read_trees`, each with its number among all in the input, from 1: skipped ones count."""
    log = SkipLog() if skip_bad is None else skip_bad
    n_before = log.n_trees
    for number, tree in enumerate(read_trees(paths, skip_bad=skip_bad), start=1):
        yield number + log.n_trees - n_before, tree


def parse_bracketed(text: str, *, path: Path | str = "<string>", skip_bad: SkipLog | None = None) -> Iterator[Tree]:
    """Yield the trees in a text of brackets; `path` is for messages. See `read_trees`."""
    return (tree for tree, _ in _parse(text, path, skip_bad))


def _parse(text: str, path: Path | str, skip_bad: SkipLog | None) -> Iterator[tuple[Tree, _Place]]:
    """Yield the trees in a text of brackets, each with its place."""
    refuse_other_formats(text, path)
    places, position, is_first = Places(text), _skip_blank(text, 0), True
    # A tree that begins before this place has to end before the next line that begins with '(': so far was read
    # already for a tree that is malformed, and each of many unclosed ones would be read to the same place.
    tried = 0
    has_flat_lines = False  # whether lines begin with '(' inside of trees
    while position < len(text):
        behind = _next_line_start(text, position) if position < tried else len(text)
        try:
            tree, after = _read_tree(text, position, behind)
        except _MalformedError as bad:
            tried = max(tried, bad.end)
            if not has_flat_lines:
                bad = _blamed(bad, text, position)
            error = _located(bad, places, path)
            if skip_bad is None:
                raise error from None
            skip_bad.add(error, is_tree=text[position] == "(")
            position = _next_line_start(text, bad.position)
            continue
        if is_first:
            refuse_discontinuous(tree, text[after:].partition("\n")[0], path)
            is_first = False
        has_flat_lines = has_flat_lines or text.find("\n(", position, after) >= 0
        yield tree, _Place(path, places, position)
        position = _skip_blank(text, after)


def parse_one(text: str, *, path: Path | str = "<string>") -> Tree:
    """Return the one tree in a text of brackets. Raises TreebankError where there is none, or something behind it."""
    places, begin = Places(text), _skip_blank(text, 0)
    if begin == len(text):
        raise TreebankError(path, *places.line_and_column(begin), "there is nothing here; expected '(' and a tree")
    try:
        tree, after = _read_tree(text, begin, len(text))
    except _MalformedError as bad:
        raise _located(bad, places, path) from None
    behind = _skip_blank(text, after)
    if behind < len(text):
        what = f"{text[behind : behind + 20]!r} stands behind the tree; expected the end of the string"
        raise TreebankError(path, *places.line_and_column(behind), what)
    return tree


class _MalformedError(Exception):
    """Brackets that are no tree, at a position of the text, which was read up to `end` before that was clear.

    next_tree is where another tree seems to begin.
    """

    def __init__(self, position: int, what: str, *, end: int | None = None, next_tree: int | None = None):
        super().__init__(what)
        self.position, self.what, self.next_tree = position, what, next_tree
        self.end = position if end is None else end


def _located(bad: _MalformedError, places: Places, path: Path | str) -> TreebankError:
    what = bad.what
    if bad.next_tree is not None:
        line, _ = places.line_and_column(bad.next_tree)
        what += f"; expected ')' before line {line}, where another tree seems to begin"
    return TreebankError(path, *places.line_and_column(bad.position), what)


def _read_tree(text: str, begin: int, behind: int) -> tuple[Tree, int]:
    """Return the tree that begins at a position, and the position behind it."""
    builder = TreeBuilder()
    path: list[str] = []  # labels of the open nodes
    is_empty = False  # whether the node opened last has nothing in it yet
    for piece in _PIECE.finditer(text, begin, behind):
        kind = piece.lastindex
        if kind == _POS:
            tag, word, more = piece.group(1, 2, 3)
            if more:  # CRAFT has a few words with a blank in them
                word += _BLANKS.sub(" ", more)
            builder.leaf(tag, penn_to_raw(word, tag))
        elif kind == _CLOSE:
            if is_empty or not path:
                raise _bad_close(piece.start(), path)
            path.pop()
            builder.close()
        elif kind == _WORD:
            raise _bad_word(text, piece, path, is_empty)
        else:
            label = piece.group(_OPEN) or ""
            if path and path[-1] and not label:
                raise _MalformedError(
                    piece.start(), f"a node without a label under {path[-1]}; expected a label behind '('"
                )
            if path and not is_empty and label == path[0] in WRAPPERS and text[piece.start() - 1] == "\n":
                raise _MalformedError(piece.start(), f"a tree ({label}) inside of another; expected ')' before it")
            builder.open(label)
            path.append(label)
            is_empty = True
            continue
        is_empty = False
        if not path:
            return builder.finish(), piece.end()
    raise _unclosed(text, begin, behind, len(path))


def _blamed(bad: _MalformedError, text: str, begin: int) -> _MalformedError:
    """Return what is wrong with the tree that begins at a position where reading it came to something malformed.

    Where that is behind another line that begins with '(', the tree was not closed before: it is this one that is
    wrong, whatever comes next.
    """
    following = _next_line_start(text, begin)
    if following > bad.position:
        return bad
    try:
        _read_tree(text, begin, following)
    except _MalformedError as unclosed:
        return unclosed
    return bad


def _bad_close(position: int, path: list[str]) -> _MalformedError:
    if not path:
        return _MalformedError(position, "')' without a '(' before it; expected '(' and a tree")
    return _MalformedError(position, f"the node ({path[-1]}) is empty; expected a word or nodes in it")


def _bad_word(text: str, piece: re.Match[str], path: list[str], is_empty: bool) -> _MalformedError:
    word, position = piece.group(_WORD), piece.start()
    following = _NEXT_BRACKET.search(text, piece.end())
    if not path:
        what = f"the word {word!r} outside of a tree; expected '('"
    elif not is_empty:
        what = f"the node {path[-1]} has the word {word!r} beside other nodes; expected '(' or ')'"
    elif following:
        what = f"the node {path[-1]} has both the word {word!r} and nodes in it; expected ')' behind the word"
    else:
        what = f"the text ends behind the word {word!r}; expected ')'"
    return _MalformedError(position, what)


def _unclosed(text: str, begin: int, end: int, n_missing: int) -> _MalformedError:
    what = f"{n_missing} closing bracket{'s are' if n_missing > 1 else ' is'} missing in the tree that begins here"
    following = _next_line_start(text, begin)
    next_tree = following if following < len(text) else None
    if next_tree is None:
        what += f"; expected {'them' if n_missing > 1 else 'it'} before the text ends"
    return _MalformedError(begin, what, end=end, next_tree=next_tree)


def _skip_blank(text: str, position: int) -> int:
    """Return the position behind blanks and, at the beginning of a line, behind `#` comments and `*x*` headers."""
    match = _BETWEEN_TREES.match(text, position)
    return match.end() if match else position


def _next_line_start(text: str, position: int) -> int:
    """Return where the next line that begins with '(' begins; the end of the text where there is none."""
    match = _TREE_AT_LINE_START.search(text, position + 1)
    return match.start() if match else len(text)
