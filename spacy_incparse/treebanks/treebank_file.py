"""Treebank files that are changed and written back: what nobody changed stays as it is, byte for byte."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import write_bytes
from spacy_incparse.tokens import escape_brackets, escape_label
from spacy_incparse.treebanks.dialects import EMPTY, MARKUP, PHRASE, WORD, Dialect, Dialects, Piece, rewritten
from spacy_incparse.treebanks.reader import AnyDialect, decoded_file, refuse_other_formats, trees_of_text
from spacy_incparse.trees.arrays import closings
from spacy_incparse.trees.labels import TRACE_TAG
from spacy_incparse.trees.tree import Tree

_ENDS = re.compile(r"[\r\n]")
_NODE = re.compile(r"\(\s*([^\s()]*)\s*(.*?)\s*\)", re.DOTALL)


@dataclass
class Entry:
    """A tree of a file, which may be replaced, and what belongs to it."""

    tree: Tree  # as published, with raw words and traces
    sent_id: str | None
    before: str  # what stands between it and the tree before: comments, ids of documents, mark-up
    source: str
    published: Tree

    def text(self, dialect: Dialect) -> str:
        """Return the tree as it is in the file, or a changed one as the dialect writes it."""
        return self.source if self.tree == self.published else _printed(self, dialect)


@dataclass
class TreebankFile:
    """The trees of a file in any dialect, and all that stands beside them: unchanged, it is written byte for byte."""

    entries: list[Entry]
    dialect: Dialect
    after: str  # behind the last tree
    encoding: str = "utf-8"
    newline: str = "\n"

    @classmethod
    def read(cls, path: Path | str, *, dialect: AnyDialect = None) -> TreebankFile:
        """Return the trees of a file, plain or gzipped, or of standard input. Errors are those of `read_trees`."""
        path, dialects = Path(path), Dialects.of(dialect)
        text, encoding = decoded_file(path, dialects)
        newline = next((end for end in ("\r\n", "\r") if end in text and not _ENDS.search(text.replace(end, ""))), "\n")
        text = text.replace(newline, "\n")
        plain = dialects.rewritten(text)
        refuse_other_formats(plain, path)
        units = [unit for unit in plain.units if unit.has_words]
        trees = list(trees_of_text(plain, path, None, True, dialects))
        if len(trees) != len(units):
            raise TreebankError(path, 1, 1, f"the file has {len(units)} brackets, and {len(trees)} trees")
        ends = [0, *(unit.end for unit in units)]
        entries = [
            Entry(tree, unit.id, text[end : unit.begin], text[unit.begin : unit.end], tree)
            for tree, unit, end in zip(trees, units, ends, strict=False)
        ]
        return cls(entries, plain.dialect, text[ends[-1] :], encoding, newline)

    def data(self) -> bytes:
        """Return the file's bytes. Raises IncparseError for characters that its encoding does not have."""
        parts = [part for entry in self.entries for part in (entry.before, entry.text(self.dialect))]
        try:
            return "".join([*parts, self.after]).replace("\n", self.newline).encode(self.encoding)
        except UnicodeEncodeError as error:
            what = f"the file is in {self.encoding}, which does not have {error.object[error.start]!r}"
            raise IncparseError(f"{what}: convert it to UTF-8 first") from None

    def write(self, path: Path | str) -> None:
        """Write the file, gzipped if its name ends in .gz. Raises IncparseError if that fails."""
        data = self.data()
        write_bytes(Path(path), gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def _printed(entry: Entry, dialect: Dialect) -> str:
    """Return the brackets of a changed tree: mark-up, and what the dialect adds to words and labels, are kept."""
    record: list[Piece] = []
    rewritten(entry.source, dialect, record)
    source = {piece: entry.source[piece.begin : piece.end] for piece in record}
    leaves = [piece for piece in record if piece.kind in (WORD, EMPTY)]
    markup = [piece for piece in record if piece.kind == MARKUP]
    labels = {(one.first, one.behind, one.label): _NODE.match(source[one])[1] for one in record if one.kind == PHRASE}  # type: ignore[index]
    tree, blocks = entry.tree, SequenceMatcher(None, entry.published.words, entry.tree.words, autojunk=False)
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
            gap = entry.source[last : markup[0].begin]
            if "(" in gap:
                break  # it is in the next phrase
            n_behind += gap.count(")")
            if n_behind >= n_closed and arrays.ends[node] == arrays.ends[tree.index]:
                break  # it is the last of the tree
            out[-1] += ")" * min(n_behind, n_closed)
            n_behind, n_closed, last = 0, n_closed - min(n_behind, n_closed), markup[0].end
            out.append(source[markup.pop(0)])
        out[-1] += ")" * n_closed
    rest = [source[one] for one in markup]
    return " ".join(out) if not rest else " ".join([*out[:-1], out[-1][:-1], *rest]) + ")"
