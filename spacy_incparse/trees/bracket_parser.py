"""Parsing one tree in brackets: a linear scan with one regular expression, and no recursion.

Labels are interpreted later, when the tree is normalized. The code that reads files of many trees is in treebanks/.
"""

from __future__ import annotations

import re
from pathlib import Path

from spacy_incparse.errors import TreebankError, UntaggedError
from spacy_incparse.tokens import penn_to_raw
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.arrays_builder import ArraysBuilder
from spacy_incparse.trees.labels import UNKNOWN_TAG, WRAPPERS
from spacy_incparse.trees.multiword_tags import MultiwordTags
from spacy_incparse.trees.text_places import Places

# Only these characters separate words: a no-break space is part of a word.
_S = r"[ \t\r\n\f\v]"
_ATOM = r"[^ \t\r\n\f\v()]+"
_PIECE = re.compile(rf"\({_S}*({_ATOM}){_S}+({_ATOM})((?:{_S}+{_ATOM})*){_S}*\)|\({_S}*({_ATOM})?|(\))|({_ATOM})")
_POS, _OPEN, _CLOSE, _WORD = 3, 4, 5, 6  # number of the last group that matched; no group matches "(" without a label
_BETWEEN_TREES = re.compile(rf"(?:{_S}+|(?:^#|^\*x\*)[^\n]*)*", re.MULTILINE)
_BLANKS = re.compile(rf"{_S}+")
_NEXT_BRACKET = re.compile(r"[()]")
_TREE_AT_LINE_START = re.compile(r"^\(", re.MULTILINE)


def parse_one(text: str, *, path: Path | str = "<string>", tags: bool = True) -> TreeArrays:
    """Return the only tree in a bracketed text. Raises TreebankError if there is no tree, or any text after it."""
    places, begin = Places(text), skip_blank(text, 0)
    if begin == len(text):
        raise TreebankError(path, *places.line_and_column(begin), "found no tree; expected '(' and a tree")
    parser = TreeParser(text, tags=tags)
    try:
        tree, after = parser.read(begin, len(text))
    except MalformedError as bad:
        raise located(bad, places, path) from None
    behind = skip_blank(text, after)
    if behind < len(text):
        what = f"{text[behind : behind + 20]!r} follows the tree; expected the end of the string"
        raise TreebankError(path, *places.line_and_column(behind), what)
    return tree


class MalformedError(Exception):
    """Brackets that do not form a tree: the position of the error, and how far the text was read to find it (`end`).

    next_tree: where another tree seems to begin. is_untagged: whether parts of speech are missing.
    """

    def __init__(
        self,
        position: int,
        what: str,
        *,
        end: int | None = None,
        next_tree: int | None = None,
        is_untagged: bool = False,
    ):
        super().__init__(what)
        self.is_untagged = is_untagged
        self.position, self.what, self.next_tree = position, what, next_tree
        self.end = position if end is None else end


def located(bad: MalformedError, places: Places, path: Path | str) -> TreebankError:
    """Return the error as a TreebankError with line and column."""
    what = bad.what
    if bad.next_tree is not None:
        line, _ = places.line_and_column(bad.next_tree)
        what += f"; expected ')' before line {line}, where another tree seems to begin"
    error = UntaggedError if bad.is_untagged else TreebankError
    return error(path, *places.line_and_column(bad.position), what)


class TreeParser:
    """Parses trees at any position of a text.

    tags: whether each word has a POS node of its own, as in a treebank. If not, every node is a phrase, and each word
        gets a POS node `UNKNOWN_TAG`, whatever else the phrase contains.
    """

    def __init__(self, text: str, *, tags: bool = True):
        self._text, self._has_tags = text, tags
        self._multiword_tags = MultiwordTags(text)

    def read(self, begin: int, behind: int) -> tuple[TreeArrays, int]:
        """Return the tree that begins at a position, and the position after it; the text is read up to `behind`."""
        builder = ArraysBuilder()
        path: list[str] = []  # labels of the open nodes
        is_empty = False  # whether the node opened last is still empty
        for piece in _PIECE.finditer(self._text, begin, behind):
            kind = piece.lastindex
            if kind == _POS:
                self._add_words(builder, piece)
            elif kind == _CLOSE:
                if is_empty or not path:
                    raise _bad_close(piece.start(), path)
                path.pop()
                builder.close()
            elif kind == _WORD:
                if self._has_tags or not path:
                    raise _bad_word(self._text, piece, path, is_empty)
                _add_untagged(builder, piece.group(_WORD))
            else:
                label = piece.group(_OPEN) or ""
                _check_label(self._text, piece, label, path, is_empty)
                builder.open(label)
                path.append(label)
                is_empty = True
                continue
            is_empty = False
            if not path:
                return builder.arrays(), piece.end()
        raise _unclosed(self._text, begin, behind, len(path))

    def _add_words(self, builder: ArraysBuilder, piece: re.Match[str]) -> None:
        """Add a node that contains only words: a POS node, or a phrase in brackets without tags."""
        label, word, more = piece.group(1, 2, 3)
        if not self._has_tags:
            builder.open(label)
            for part in _BLANKS.split(word + more):
                _add_untagged(builder, part)
            builder.close()
            return
        if more:
            word += _BLANKS.sub(" ", more)
            if label not in self._multiword_tags:
                raise _bad_words(piece.start(), label, word)
        builder.leaf(label, penn_to_raw(word, label))


def _add_untagged(builder: ArraysBuilder, word: str) -> None:
    builder.leaf(UNKNOWN_TAG, penn_to_raw(word, UNKNOWN_TAG))


def _check_label(text: str, piece: re.Match[str], label: str, path: list[str], is_empty: bool) -> None:
    """Raise MalformedError if a node cannot begin here."""
    if path and path[-1] and not label:
        raise MalformedError(piece.start(), f"a node without a label under {path[-1]}; expected a label after '('")
    if path and not is_empty and label == path[0] in WRAPPERS and text[piece.start() - 1] == "\n":
        raise MalformedError(piece.start(), f"a tree ({label}) inside another; expected ')' before it")


def blamed(bad: MalformedError, parser: TreeParser, text: str, begin: int) -> MalformedError:
    """Return the error to report for a tree, given its position and the error met while reading it.

    If the error comes after a later line that begins with '(', the tree was not closed before that line: the missing
    bracket is reported instead of the error met.
    """
    following = next_line_start(text, begin)
    if following > bad.position:
        return bad
    try:
        parser.read(begin, following)
    except MalformedError as unclosed:
        return unclosed
    return bad


def _bad_close(position: int, path: list[str]) -> MalformedError:
    if not path:
        return MalformedError(position, "')' without a '(' before it; expected '(' and a tree")
    return MalformedError(position, f"the node ({path[-1]}) is empty; expected a word or nodes in it")


def _bad_word(text: str, piece: re.Match[str], path: list[str], is_empty: bool) -> MalformedError:
    word, position = piece.group(_WORD), piece.start()
    following = _NEXT_BRACKET.search(text, piece.end())
    if not path:
        return MalformedError(position, f"the word {word!r} outside a tree; expected '('")
    if is_empty and not following:
        return MalformedError(position, f"the text ends after the word {word!r}; expected ')'")
    where = f"has both the word {word!r} and nodes in it" if is_empty else f"has the word {word!r} next to other nodes"
    return MalformedError(position, f"the node {path[-1]} {where}; expected a POS node for it", is_untagged=True)


def _bad_words(position: int, label: str, words: str) -> MalformedError:
    return MalformedError(
        position,
        f"the node {label} has {len(words.split(' '))} words, {words[:40]!r}; expected a POS node for each, such as "
        f"(DT the); a blank inside a word is written -U0020-",
        is_untagged=True,
    )


def _unclosed(text: str, begin: int, end: int, n_missing: int) -> MalformedError:
    what = f"{n_missing} closing bracket{'s are' if n_missing > 1 else ' is'} missing in the tree that begins here"
    following = next_line_start(text, begin)
    next_tree = following if following < len(text) else None
    if next_tree is None:
        what += f"; expected {'them' if n_missing > 1 else 'it'} before the text ends"
    return MalformedError(begin, what, end=end, next_tree=next_tree)


def skip_blank(text: str, position: int) -> int:
    """Return the position after blanks and, at the beginning of a line, after `#` comments and `*x*` headers."""
    match = _BETWEEN_TREES.match(text, position)
    return match.end() if match else position


def next_line_start(text: str, position: int) -> int:
    """Return the start of the next line that begins with '(', or the end of the text if there is no such line."""
    match = _TREE_AT_LINE_START.search(text, position + 1)
    return match.start() if match else len(text)
