"""Parsing one tree in brackets: a linear scan with one regular expression, and no recursion.

Labels are interpreted later, when the tree is normalized. The code that reads files of many trees is in treebanks/.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from spacy_incparse.errors import TreebankError, UntaggedError
from spacy_incparse.tokens import escape_brackets, escape_label, penn_to_raw, raw_to_penn
from spacy_incparse.trees.arrays import ArraysBuilder, TreeArrays, closings
from spacy_incparse.trees.labels import UNKNOWN_TAG, WRAPPERS, is_penn_tag

if TYPE_CHECKING:
    from spacy_incparse.trees.tree import Tree

# Only these characters separate words: a no-break space is part of a word.
BLANK = r"[ \t\r\n\f\v]"
_S = BLANK
_ATOM = r"[^ \t\r\n\f\v()]+"
_PIECE = re.compile(rf"\({_S}*({_ATOM}){_S}+({_ATOM})((?:{_S}+{_ATOM})*){_S}*\)|\({_S}*({_ATOM})?|(\))|({_ATOM})")
_POS, _OPEN, _CLOSE, _WORD = 3, 4, 5, 6  # number of the last group that matched; no group matches "(" without a label
_BETWEEN_TREES = re.compile(rf"(?:{_S}+|(?:^#|^\*x\*)[^\n]*)*", re.MULTILINE)
_ESCAPED_BRACKET = re.compile(r"(?<!\\)\\[()]")
_BLANKS = re.compile(rf"{_S}+")
_BRACKET = re.compile(r"[()]")
_WORDS = re.compile(rf"\({_S}*({_ATOM}){_S}+({_ATOM}(?:{_S}+{_ATOM})*){_S}*\)")  # a node without others: label, words
_OVER_NODES = re.compile(rf"\({_S}*({_ATOM}){_S}*(?=\()")
_LABEL_OR_WORD = re.compile(rf"\({_S}*(?:{_ATOM})?|({_ATOM})")
_LINE_BRACKET = re.compile(r"^[ \t]*\(", re.MULTILINE)
_LABEL = re.compile(rf"\({_S}*([^ \t\r\n\f\v()]*)")


def without_backslashes(text: str, brackets: tuple[str, str] = ("-LRB-", "-RRB-")) -> str:
    r"""Return a bracketed text with -LRB- and -RRB- for the \( and \) of nltk, or with other `brackets`.

    A backslash may also be the word of (SYM \): without any \(, the number of brackets tells.
    """
    n_escapes = len(_ESCAPED_BRACKET.findall(text)) if "\\" in text else 0
    if n_escapes and ("\\(" in text or text.count(")") - text.count("(") == n_escapes):
        return _ESCAPED_BRACKET.sub(lambda found: brackets[found[0] == "\\)"], text)
    return text


def parse_one(text: str, *, path: Path | str = "<string>", tags: bool = True) -> TreeArrays:
    """Return the only tree in a bracketed text. Raises TreebankError if there is no tree, or any text after it."""
    text = without_backslashes(text)
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
        self, position: int, what: str, end: int | None = None, next_tree: int | None = None, is_untagged: bool = False
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

    @cached_property
    def _has_lemmas(self) -> bool:
        """Whether the nodes of words have two words, most of which begin with the same letter: `(NNS cats cat)`."""
        words = [word.lower().split() for _, word in _WORDS.findall(self._text)]
        pairs = [word for word in words if len(word) == 2]
        n_alike = sum(word[0] == lemma[0] and not word[0].isdigit() for word, lemma in pairs)
        return len(pairs) > 0.9 * len(words) and n_alike > max(1, len(pairs) / 2)

    @cached_property
    def _uses(self) -> tuple[Counter[str], Counter[str]]:
        """How often each label that is never over nodes is over one word, and over several."""
        phrases, uses = set(_OVER_NODES.findall(self._text)), (Counter[str](), Counter[str]())
        for label, words in _WORDS.findall(self._text):
            uses[bool(_BLANKS.search(words))][label] += label not in phrases
        return uses

    @cached_property
    def _is_tagged(self) -> bool:
        """Whether most words have a node of their own, whose label is never that of a phrase."""
        n_own = self._uses[0].total()
        return n_own >= 3 * (count_words(self._text) - n_own)

    def _may_have_blanks(self, label: str) -> bool:
        """Return whether a label may be the tag of a word that contains blanks, as in `(NN per cent)`.

        The brackets of `(NN per cent)` and `(NP the cat)` look alike: only the label tells a word from a phrase. The
        Penn Treebank's tags are tags. Any other label must be used as a tag in the same text: never over nodes, and
        over one word at least nine times for each time over several.
        """
        return is_penn_tag(label) or 0 < 9 * self._uses[1][label] <= self._uses[0][label]

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
                if not path:
                    raise MalformedError(piece.start(), "')' without a '(' before it; expected '(' and a tree")
                if is_empty:
                    raise MalformedError(
                        piece.start(),
                        f"the node ({path[-1]}) is empty; expected a word, without brackets, or nodes in it",
                    )
                path.pop()
                builder.close()
            elif kind == _WORD:
                if self._has_tags or not path:
                    raise self._bad_word(piece, path, is_empty)
                builder.leaf(UNKNOWN_TAG, penn_to_raw(piece.group(_WORD), UNKNOWN_TAG))
            else:
                label = piece.group(_OPEN) or ""
                if path and path[-1] and not label:
                    raise MalformedError(
                        piece.start(), f"a node without a label under {path[-1]}; expected a label after '('"
                    )
                if path and not is_empty and label == path[0] in WRAPPERS and self._text[piece.start() - 1] == "\n":
                    raise MalformedError(piece.start(), f"a tree ({label}) inside another; expected ')' before it")
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
                builder.leaf(UNKNOWN_TAG, penn_to_raw(part, UNKNOWN_TAG))
            builder.close()
            return
        if more:
            word += _BLANKS.sub(" ", more)
            what = f"the node {label} has {len(word.split(' '))} words, {word[:40]!r}; expected "
            if self._has_lemmas:
                raise MalformedError(piece.start(), what + "one: leave the lemmas out, if they are lemmas")
            if not self._may_have_blanks(label):
                what += "a POS node for each, such as (DT the); a blank inside a word is written -U0020-"
                raise MalformedError(piece.start(), what, is_untagged=not self._is_tagged)
        builder.leaf(label, penn_to_raw(word, label))

    def _bad_word(self, piece: re.Match[str], path: list[str], is_empty: bool) -> MalformedError:
        word, position = piece.group(_WORD), piece.start()
        if not path:
            return MalformedError(position, f"the word {word!r} outside a tree; expected '('")
        if is_empty and not _BRACKET.search(self._text, piece.end()):
            return MalformedError(position, f"the text ends after the word {word!r}; expected ')'")
        where = f"both the word {word!r} and nodes in it" if is_empty else f"the word {word!r} next to other nodes"
        what = f"the node {path[-1]} has {where}; expected a POS node for it"
        return MalformedError(position, what, is_untagged=not self._is_tagged)


class Layout:
    """How the trees of a text lie in it, which tells where a malformed one ends."""

    def __init__(self, text: str):
        self._text = text
        self._has_flat_lines: bool | None = None  # whether lines inside trees begin where trees do; None: unknown yet
        self._labels = set[str]()  # of roots

    def learn(self, begin: int, end: int) -> None:
        """Learn from a tree without mistakes."""
        self._labels.add(label_at(self._text, begin))
        if not self._has_flat_lines:
            self._has_flat_lines = next_tree(self._text, begin, end) is not None

    def end(self, begin: int) -> int:
        """Return where what is malformed here ends: text outside trees before the next line that a bracket opens.

        A tree ends where its brackets close, but before another that seems to begin inside it: then some are missing.
        """
        text = self._text
        if text[begin] != "(":
            opening = _LINE_BRACKET.search(text, begin + 1)
            return opening.end() - 1 if opening else len(text)
        label, closed = label_at(text, begin), self._ends[bisect_left(self._brackets, begin)]
        same_label = self._has_flat_lines or (label in WRAPPERS and self._labels <= {label})
        following = next_tree(text, begin, closed or len(text), same_label=bool(same_label))
        if following is None and not closed and not self._has_flat_lines:
            following = next_tree(text, begin, len(text))
        if following is None:
            return closed or len(text)
        is_part = label != label_at(text, following) if self._has_flat_lines is None else self._has_flat_lines
        return closed if closed and is_part else following

    def may_be_part(self, begin: int, head: int) -> bool:
        """Return whether a tree may be a part of one before it, which has a bracket too many."""
        indent, label = _indent(self._text, begin), label_at(self._text, head)
        if indent is None or indent > (_indent(self._text, head) or 0):
            return True
        return label in WRAPPERS and self._labels <= {label} and label != label_at(self._text, begin)

    @cached_property
    def _brackets(self) -> Sequence[int]:
        return array("q", [bracket.start() for bracket in _BRACKET.finditer(self._text)])

    @cached_property
    def _ends(self) -> Sequence[int]:
        """For each bracket the place behind the one that closes it, or 0."""
        ends, opened = array("q", bytes(8 * len(self._brackets))), list[int]()
        for number, place in enumerate(self._brackets):
            if self._text[place] == "(":
                opened.append(number)
            elif opened:
                ends[opened.pop()] = place + 1
        return ends


def next_tree(text: str, begin: int, end: int, *, same_label: bool = False) -> int | None:
    """Return where another tree, perhaps only one of the same label, seems to begin in the text of one.

    It opens a line and is not indented more; the wrapper of the tree, such as TOP, begins another one anywhere.
    """
    label = label_at(text, begin)
    if label in WRAPPERS and (again := re.compile(rf"\({_S}*{label}{_S}*(?=\()").search(text, begin + 1, end)):
        return again.start()
    if text.find("\n", begin, end) < 0:
        return None
    line = text.rfind("\n", 0, begin) + 1
    indent = _indent(text, line + len(text[line:begin]) - len(text[line:begin].lstrip())) or 0
    for opening in _LINE_BRACKET.finditer(text, begin + 1, end):
        place = opening.end() - 1
        if place - opening.start() <= indent and not (same_label and label_at(text, place) != label):
            return place
    return None


def _indent(text: str, begin: int) -> int | None:
    """Return the number of blanks before a place that opens a line; None if it opens none."""
    line = begin
    while line and text[line - 1] in " \t":
        line -= 1
    return begin - line if not line or text[line - 1] == "\n" else None


def count_words(text: str) -> int:
    """Return the number of words in brackets, whether they form trees or not."""
    return sum(map(bool, _LABEL_OR_WORD.findall(text)))


def label_at(text: str, begin: int) -> str:
    """Return the label behind the bracket at a place."""
    found = _LABEL.match(text, begin)
    return found[1] if found else ""


def _unclosed(text: str, begin: int, end: int, n_missing: int) -> MalformedError:
    what = f"{n_missing} closing bracket{'s are' if n_missing > 1 else ' is'} missing in the tree that begins here"
    following = next_tree(text, begin, len(text))
    if following is None:
        what += f"; expected {'them' if n_missing > 1 else 'it'} before the text ends"
    return MalformedError(begin, what, end=end, next_tree=following)


def skip_blank(text: str, position: int) -> int:
    """Return the position after blanks and, at the beginning of a line, after `#` comments and `*x*` headers."""
    return _BETWEEN_TREES.match(text, position).end()  # type: ignore[union-attr]  # it always matches


def bracket_string(tree: Tree, *, width: int | None = None, ptb: bool = False) -> str:
    """Return the brackets on one line, or with `width` indented: a subtree that fits into it stays on one line.

    Words are raw, with only those characters escaped that would break the brackets; with `ptb` they have the spelling
    of the Penn Treebank.
    """
    arrays, words = tree.arrays, iter(raw_to_penn(tree.words, tree.tags) if ptb else map(escape_brackets, tree.words))
    pieces: list[str] = []  # one per node, with the brackets that close after it
    for i, n_closed in enumerate(closings(arrays, tree.index), start=tree.index):
        space = " " if pieces and pieces[-1] != "(" else ""
        word = f" {next(words)}" if arrays.sizes[i] == 1 else ""
        pieces.append(f"{space}({escape_label(arrays.labels[i])}{word}{')' * n_closed}")
    return "".join(pieces) if width is None else indented(tree, pieces, width)


def indented(tree: Tree, pieces: Sequence[str], width: int) -> str:
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


class Places:
    """Turns positions in a text into lines and columns; `origin` says where in the text a position is from."""

    def __init__(self, text: str, origin: Callable[[int], int] = int):
        self._text, self._origin = text, origin

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        position = self._origin(position)
        line = bisect(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """Return where a line, from 1, begins."""
        return self._line_starts[line - 1]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer("\n", self._text))]
