"""The file that is edited: its sentences, read when they are needed, and how it is written again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from spacy_incparse.corpora.readers import Fields, InputFile, read_conllu
from spacy_incparse.corpora.records import Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_bytes
from spacy_incparse.treebanks.dialects import PENN, detect
from spacy_incparse.treebanks.reader import GZIP_MAGIC, read_text, read_trees, refuse_other_formats, scanned
from spacy_incparse.trees.brackets import bracket_string, without_backslashes
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.tree import Tree

_WIDTH = 100  # of the lines of trees that take several


class Source:
    """The sentences of a file, by their numbers from 0: trees as published, or words if it has none.

    sentences: the words of each, for a file without trees, whose accepted trees are written to FILE.mrg, the `target`.
    can_retokenize: whether words may be split and joined. Of brackets, what is not changed keeps its layout, and so do
    comments and blank lines. Raises IncparseError for a file that cannot be read, or cannot be written again.
    """

    def __init__(self, path: Path, sentences: Sequence[Sequence[str]] | None = None, *, can_retokenize: bool = True):
        self.path, self.can_retokenize, self.has_trees = path, can_retokenize, sentences is None
        self.target = path if sentences is None else path.with_name(f"{path.name}.mrg")
        self.checksum, self._sentences = checksum(self.target), sentences or ()
        if sentences is None:
            self._read(path.read_bytes())
        if not len(self):
            raise IncparseError(f"{path}: there are no sentences in it")

    def _read(self, data: bytes) -> None:
        if data.startswith(GZIP_MAGIC):
            raise IncparseError(f"{self.path} is compressed: unpack it first, since it is written again and again")
        text = read_text(self.path)
        refuse_other_formats(text, self.path)
        if (dialect := detect(text).name) != PENN:
            what = f"its brackets are in the dialect {dialect!r}, and only plain Penn brackets can be edited"
            raise IncparseError(f"{self.path}: {what}: `spacy-incparse convert {self.path.name} NEW.mrg` makes these")
        self._mark, self._newline = "\ufeff" * data.startswith(b"\xef\xbb\xbf"), "\r\n" if b"\r\n" in data else "\n"
        self._text = without_backslashes(text)
        found = bracketed(self._text)
        if found is None:  # the reader says what is wrong
            n_trees = len(list(read_trees(self.path)))
            raise IncparseError(f"{self.path}: its {n_trees} trees cannot be told apart: run `spacy-incparse convert`")
        self._begins, self._ends = found
        self.tree(0)  # brackets without tags fail here

    def __len__(self) -> int:
        return len(self._begins if self.has_trees else self._sentences)

    def tree(self, i: int) -> Tree | None:
        """Return the tree of a sentence, or None. Raises IncparseError, with the line, for one that is malformed."""
        if not self.has_trees:
            return None
        try:
            return Tree.from_string(self._text[self._begins[i] : self._ends[i]])
        except IncparseError as error:
            line = self._text.count("\n", 0, self._begins[i]) + 1
            raise IncparseError(f"{self.path}:{line}: tree {i + 1}: {error}") from None

    def words(self, i: int) -> Sequence[str]:
        """Return the words of a sentence, traces included."""
        tree = self.tree(i)
        return self._sentences[i] if tree is None else tree.words

    @cached_property
    def forest(self) -> Forest:
        """All trees of the file, for searches."""
        if not self.has_trees:
            return Forest()
        found = scanned(self._text, self.path, Symbols())
        return found if found is not None and len(found) == len(self) else Forest(read_trees(self.path))

    @cached_property
    def lengths(self) -> Sequence[int]:
        """The number of words of each sentence, traces included."""
        return [len(tree.words) for tree in self.forest] if self.has_trees else list(map(len, self._sentences))

    def dump(self, changed: Mapping[int, Tree], comments: Mapping[int, str]) -> bytes:
        """Return the whole file with these trees in place of its own; of a text, each after the sentence's number."""
        pieces, at = [], 0
        for i, tree in sorted(changed.items()):
            if self.has_trees:
                pieces += [self._text[at : self._begins[i]], self._written(i, tree)]
                at = self._ends[i]
            else:
                note = " ".join(comments.get(i, "").split())
                pieces.append(f"# sentence {i + 1}{': ' * bool(note)}{note}\n{tree}\n")
        if not self.has_trees:
            return "".join(pieces).encode()
        text = self._mark + "".join([*pieces, self._text[at:]])
        return (text if self._newline == "\n" else text.replace("\n", self._newline)).encode()

    def _written(self, i: int, tree: Tree) -> str:
        """Return a tree in the layout and spelling of the one that it replaces."""
        old, before = self._text[self._begins[i] : self._ends[i]], self.tree(i)
        if before is None or tree == before:
            return old
        as_read = "".join(old.split())
        is_raw, is_penn = ("".join(bracket_string(before, ptb=ptb).split()) == as_read for ptb in (False, True))
        return bracket_string(tree, width=_WIDTH if "\n" in old else None, ptb=is_penn and not is_raw)

    def write(self, data: bytes) -> None:
        """Write the file completely, or leave it unchanged."""
        write_bytes(self.target, data)
        self.checksum = checksum(self.target)


def checksum(path: Path) -> str:
    """Return the checksum of a file; "" if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def bracketed(text: str) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return where the trees of a text begin and end; None unless all brackets close."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    steps = (characters == ord("(")).astype(np.int8) - (characters == ord(")")).astype(np.int8)
    starts = np.append(0, np.flatnonzero(characters[:-1] == ord("\n")) + 1)
    for start in starts[np.isin(characters[starts], (ord("#"), ord("*")))].tolist():
        if text.startswith(("#", "*x*"), start):  # a comment
            steps[start : (text.find("\n", start) + 1 or len(text) + 1) - 1] = 0
    depth = np.cumsum(steps, dtype=np.int32)
    begins, ends = np.flatnonzero((steps == 1) & (depth == 1)), np.flatnonzero((steps == -1) & (depth == 0)) + 1
    if not 0 < len(begins) == len(ends) or depth[-1] != 0 or depth.min() < 0:
        return None
    return begins.tolist(), ends.tolist()


def conllu_sentences(path: Path) -> list[Sequence[str]]:
    """Return the words of each sentence of a CoNLL-U file. Raises IncparseError, with the line, for a malformed one."""
    found: list[Sequence[str]] = []
    for item in read_conllu(InputFile(path), Fields()):
        if isinstance(item, Unreadable):
            raise IncparseError(f"{path}: {item.reason}")
        bounds = [i for i, is_first in enumerate(item.sent_starts) if is_first] + [len(item.words)]
        found += [item.words[a:b] for a, b in pairwise(bounds)]
    return found


def kind_of(path: Path, text: str) -> str:
    """Return what a file is: "conllu" by its name, "brackets" by its first character, or else "text"."""
    if path.suffix in (".conllu", ".conll"):
        return "conllu"
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "*x*"))), "")
    return "brackets" if first.startswith("(") else "text"
