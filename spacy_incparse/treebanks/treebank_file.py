"""Treebank files that are changed and written back: what nobody changed stays as it is, byte for byte."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from io import StringIO
from itertools import accumulate
from pathlib import Path

import numpy as np

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.tokens import escape_brackets, escape_label
from spacy_incparse.treebanks.dialects import (
    EMPTY,
    MARKUP,
    PENN,
    PHRASE,
    WORD,
    Dialect,
    Dialects,
    Piece,
    detect,
    find_dialect,
    rewritten,
)
from spacy_incparse.treebanks.formats import SENTENCE, Block, Format, format_of_text
from spacy_incparse.treebanks.graphs import BadError
from spacy_incparse.treebanks.reader import AnyDialect, decoded_file, refuse_other_formats, scanned, trees_of_text
from spacy_incparse.trees.arrays import closings
from spacy_incparse.trees.brackets import MalformedError, Places, TreeParser, indented, located
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.labels import TRACE_TAG
from spacy_incparse.trees.tree import Tree

_ENDS = re.compile(r"[\r\n]")
_NODE = re.compile(r"\(\s*([^\s()]*)\s*(.*?)\s*\)", re.DOTALL)
_WIDTH = 100  # of the lines of changed trees that took several


class TreebankFile:
    """The trees of a file in any dialect or format, by their numbers from 0, and all that stands beside them.

    Penn brackets and other formats are only indexed here, and each tree is read when it is asked for. Errors are those
    of `read_trees`.
    """

    def __init__(self, path: Path | str, *, dialect: AnyDialect = None):
        self.path, dialects = Path(path), Dialects.of(dialect)
        text, self.encoding = decoded_file(self.path, dialects)
        ends = (end for end in ("\r\n", "\r") if end in text and not _ENDS.search(text.replace(end, "")))
        self.newline = next(ends, "\n")
        self.text, self._changed = text.replace(self.newline, "\n"), dict[int, Tree]()
        self.format, self.dialect = format_of_text(self.text), find_dialect(PENN)
        self._trees: Sequence[Tree] | None = None
        self._blocks = list[Block]()
        if self.format:
            self._bounds = self._index_blocks(self.format)
            return
        self.dialect, found = dialects.given or detect(self.text), None
        if self.dialect.name == PENN and "\\" not in self.text:
            refuse_other_formats(self.text, self.path)
            found = bracketed(self.text)
        self._bounds = found or self._index_trees(dialects)

    def _index_blocks(self, one: Format) -> Sequence[tuple[int, int]]:
        self._blocks = [block for block in one.blocks(StringIO(self.text)) if block.is_tree]
        places = list(accumulate(map(len, self.text.splitlines(keepends=True)), initial=0))
        elements = [found.span() for found in SENTENCE.finditer(self.text)] if one.name == "tiger" else None
        bounds = elements or [(places[one.line - 1], places[one.end]) for one in self._blocks]
        if not bounds or len(bounds) != len(self._blocks):
            what = f"the file has {len(self._blocks)} sentences and {len(bounds)} parts in {one.title}"
            raise TreebankError(self.path, 1, 1, what)
        return bounds

    def _index_trees(self, dialects: Dialects) -> Sequence[tuple[int, int]]:
        plain = dialects.rewritten(self.text)
        refuse_other_formats(plain, self.path)
        units = [unit for unit in plain.units if unit.has_words]
        self._trees, self.dialect = list(trees_of_text(plain, self.path, None, True, dialects)), plain.dialect
        if len(self._trees) != len(units):
            raise TreebankError(self.path, 1, 1, f"the file has {len(units)} brackets, and {len(self._trees)} trees")
        return [(unit.begin, unit.end) for unit in units]

    def __len__(self) -> int:
        return len(self._bounds)

    def source(self, number: int) -> str:
        """Return a tree as it is in the file."""
        begin, end = self._bounds[number]
        return self.text[begin:end]

    def published(self, number: int) -> Tree:
        """Return a tree of the file, with raw words and traces. Raises TreebankError if it is malformed."""
        if self._trees is not None:
            return self._trees[number]
        if self.format:
            return self._of_block(number)[0]
        try:
            return Tree(TreeParser(self.text).read(*self._bounds[number])[0])
        except MalformedError as bad:
            raise located(bad, Places(self.text), self.path) from None

    def _of_block(self, number: int) -> tuple[Tree, int]:
        assert self.format
        block = self._blocks[number]
        try:
            if block.problem:
                raise BadError(block.line, block.problem)
            return self.format.tree(block)
        except BadError as bad:
            raise TreebankError(self.path, bad.place, bad.column, bad.what) from None

    def forest(self) -> Forest:
        """Return the published trees, read at once."""
        plain = self._trees is None and not self.format
        found = scanned(self.text, self.path, Symbols()) if plain else None
        if found is not None and len(found) == len(self):
            return found
        return Forest(map(self.published, range(len(self))))

    def tree(self, number: int) -> Tree:
        """Return a tree as it is now."""
        return self._changed[number] if number in self._changed else self.published(number)

    def put(self, number: int, tree: Tree) -> None:
        """Replace a tree. Raises IncparseError if the format cannot say what the tree says: see `fixed`."""
        if tree == self.published(number):
            self._changed.pop(number, None)
        elif why := self.fixed(number):
            raise IncparseError(why)
        else:
            self._changed[number] = tree

    def fixed(self, number: int) -> str:
        """Return why a tree cannot be changed; "" if it can."""
        if not self.format or not self._of_block(number)[1]:
            return ""
        what = f"branches cross in this sentence, as {self.format.title} allows, and its tree is continuous here"
        return f"{self.path}:{self._blocks[number].line}: {what}: it cannot be changed"

    def data(self) -> bytes:
        """Return the file's bytes, gzipped if it was. Raises IncparseError for characters its encoding lacks."""
        parts, at = list[str](), 0
        for number in sorted(self._changed):
            begin, end = self._bounds[number]
            parts += [self.text[at:begin], self._written(number)]
            at = end
        text = "".join([*parts, self.text[at:]]).replace("\n", self.newline)
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            what = f"the file is in {self.encoding}, which does not have {error.object[error.start]!r}"
            raise IncparseError(f"{what}: convert it to UTF-8 first") from None
        return gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data

    def _written(self, number: int) -> str:
        source, tree = self.source(number), self._changed[number]
        if self.format:
            return self.format.changed(self._blocks[number], source, tree)
        return _printed(source, self.published(number), tree, self.dialect)


def bracketed(text: str) -> list[tuple[int, int]] | None:
    """Return where the trees of a text in Penn brackets begin and end; None unless all brackets close."""
    codes = np.frombuffer(text.encode(), np.uint8) if text.isascii() else np.frombuffer(
        text.encode("utf-32-le", "surrogatepass"), np.uint32
    )  # fmt: skip
    is_open = codes == ord("(")
    is_bracket = is_open | (codes == ord(")"))
    starts = np.append(0, np.flatnonzero(codes[:-1] == ord("\n")) + 1)
    for start in starts[np.isin(codes[starts], (ord("#"), ord("*")))].tolist() if text else ():
        if text.startswith(("#", "*x*"), start):  # a comment
            is_bracket[start : (text.find("\n", start) + 1 or len(text) + 1) - 1] = False
    places = np.flatnonzero(is_bracket)
    steps = np.where(is_open[places], 1, -1).astype(np.int32)
    depth = np.cumsum(steps, dtype=np.int32)
    begins, ends = places[(steps == 1) & (depth == 1)], places[(steps == -1) & (depth == 0)] + 1
    if not 0 < len(begins) == len(ends) or depth[-1] or depth.min() < 0:
        return None
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _printed(text: str, published: Tree, tree: Tree, dialect: Dialect) -> str:
    """Return the brackets of a changed tree: mark-up, and what the dialect adds to words and labels, are kept.

    text: the tree in the file. Without mark-up, it is indented if it was.
    """
    record: list[Piece] = []
    rewritten(text, dialect, record)
    source = {piece: text[piece.begin : piece.end] for piece in record}
    leaves = [piece for piece in record if piece.kind in (WORD, EMPTY)]
    markup = [piece for piece in record if piece.kind == MARKUP]
    labels = {(one.first, one.behind, one.label): _NODE.match(source[one])[1] for one in record if one.kind == PHRASE}  # type: ignore[index]
    blocks = SequenceMatcher(None, published.words, tree.words, autojunk=False)
    old = {new + k: was + k for was, new, n in blocks.get_matching_blocks() for k in range(n)}
    arrays, out, n_leaves = tree.arrays, list[str](), 0
    for node, n_closed in enumerate(closings(arrays, tree.index), start=tree.index):
        label, number = arrays.labels[node], old.get(n_leaves)
        if arrays.sizes[node] > 1:
            end = old.get(arrays.ends[node] - 1 - arrays.starts[tree.index])
            key = (-1 if number is None else number, -1 if end is None else end + 1, label)
            out.append(f"({labels.get(key, escape_label(label))}")
            while not label and markup and markup[0].first == number == 0:
                out.append(source[markup.pop(0)])
            continue
        while number is not None and markup and markup[0].first <= number:
            out.append(source[markup.pop(0)])
        piece = None if number is None else leaves[number]
        body, was_label = escape_brackets(tree.words[n_leaves]), ""
        if piece is not None:
            found = _NODE.fullmatch(source[piece])
            was_label, body = (found[1], found[2]) if found else ("", source[piece])
        n_leaves += 1
        is_bare = label == TRACE_TAG and bool(dialect.empty) and was_label != TRACE_TAG
        if not is_bare:
            label = was_label if piece is not None and was_label and label == piece.label else escape_label(label)
        out.append(body if is_bare else f"({label} {body})")
        n_closed, last = n_closed - 1, piece.end if piece else 0
        n_behind = int(is_bare and was_label != "")  # brackets in the source between the leaf and its mark-up
        while piece and markup and markup[0].first == piece.first + 1:
            gap = text[last : markup[0].begin]
            if "(" in gap:
                break  # it is in the next phrase
            n_behind += gap.count(")")
            if n_behind >= n_closed and arrays.ends[node] == arrays.ends[tree.index]:
                break  # it is the last of the tree
            out[-1] += ")" * min(n_behind, n_closed)
            n_behind, n_closed, last = 0, n_closed - min(n_behind, n_closed), markup[0].end
            out.append(source[markup.pop(0)])
        out[-1] += ")" * n_closed
    if "\n" in text and not any(one.kind == MARKUP for one in record):
        return indented(tree, [" " * (k > 0 and out[k - 1] != "(") + piece for k, piece in enumerate(out)], _WIDTH)
    rest = [source[one] for one in markup]
    return " ".join(out) if not rest else " ".join([*out[:-1], out[-1][:-1], *rest]) + ")"
