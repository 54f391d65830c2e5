"""The file that is edited: its sentences, read when they are needed, and how it is written again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from spacy_incparse.corpora.readers import Fields, InputFile, read_conllu
from spacy_incparse.corpora.records import Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_bytes
from spacy_incparse.treebanks.dialects import PENN, detect
from spacy_incparse.treebanks.formats import format_of_text
from spacy_incparse.treebanks.treebank_file import TreebankFile
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.tree import Tree


class Source:
    """The sentences of a file, by their numbers from 0: trees as published, or words if it has none.

    sentences: the words of each, for a file without trees, whose accepted trees are written to FILE.mrg, the `target`.
    can_retokenize: whether words may be split and joined, and traces be set: brackets have room for these. Raises
    IncparseError for a file that cannot be read, or cannot be written again.
    """

    def __init__(self, path: Path, sentences: Sequence[Sequence[str]] | None = None, *, can_retokenize: bool = True):
        self.path, self.has_trees, self._sentences = path, sentences is None, sentences or ()
        self.target = path if sentences is None else path.with_name(f"{path.name}.mrg")
        self.checksum = checksum(self.target)
        self._file = TreebankFile(path) if sentences is None else None
        self.can_retokenize = can_retokenize and (self._file is None or self._file.format is None)
        if not len(self):
            raise IncparseError(f"{path}: there are no sentences in it")
        self.tree(0)  # brackets without tags fail here

    def __len__(self) -> int:
        return len(self._sentences if self._file is None else self._file)

    def tree(self, i: int) -> Tree | None:
        """Return the tree of a sentence, or None. Raises IncparseError, with the line, for one that is malformed."""
        return None if self._file is None else self._file.published(i)

    def words(self, i: int) -> Sequence[str]:
        """Return the words of a sentence, traces included."""
        return self._sentences[i] if self._file is None else self._file.published(i).words

    def fixed(self, i: int) -> str:
        """Return why the tree of a sentence cannot be changed; "" if it can."""
        return "" if self._file is None else self._file.fixed(i)

    @cached_property
    def forest(self) -> Forest:
        """All trees of the file, for searches."""
        return Forest() if self._file is None else self._file.forest()

    @cached_property
    def lengths(self) -> Sequence[int]:
        """The number of words of each sentence, traces included."""
        return [len(tree.words) for tree in self.forest] if self.has_trees else list(map(len, self._sentences))

    def dump(self, changed: Mapping[int, Tree], comments: Mapping[int, str]) -> bytes:
        """Return the whole file with these trees in place of its own; of a text, each after the sentence's number."""
        if self._file is not None:
            for i, tree in changed.items():
                self._file.put(i, tree)
            return self._file.data()
        notes = {i: " ".join(comments.get(i, "").split()) for i in changed}
        return "".join(
            f"# sentence {i + 1}{': ' * bool(notes[i])}{notes[i]}\n{tree}\n" for i, tree in sorted(changed.items())
        ).encode()

    def write(self, data: bytes) -> None:
        """Write the file completely, or leave it unchanged."""
        write_bytes(self.target, data)
        self.checksum = checksum(self.target)


def checksum(path: Path) -> str:
    """Return the checksum of a file; "" if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


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
    """Return what a file is: "treebank" by its beginning, "conllu" by its name, or else "text"."""
    found = format_of_text(text)
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "*x*"))), "")
    if first.startswith("(") or detect(text).name != PENN or (found and (found.name != "conllu" or "Tree=(" in text)):
        return "treebank"
    return "conllu" if found or path.suffix in (".conllu", ".conll") else "text"
