"""Read the n-best lists that a reranker learns from, and refuse those that would teach it something wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_files import read_lists
from spacy_incparse.training.list_origin import SUFFIX, ListOrigin, sentence_key

PATTERNS = ("*.jsonl", "*.jsonl.gz")


class TrainingLists:
    """The lists of one or several files, which are read anew each time: they take more memory than what is learned.

    path: a file, or a folder of .jsonl and .jsonl.gz files. Raises IncparseError if there are none; while reading, if
    a list has no gold tree, or its parser was trained on the sentence.
    """

    def __init__(self, path: str | Path):
        self.files = list_files(Path(path))

    def __iter__(self) -> Iterator[CandidateList]:
        for path in self.files:
            yield from _checked(path)


def training_lists(lists: Any) -> Iterable[CandidateList]:
    """Return lists to learn from: those at a path, or the given CandidateLists, whose parser is not checked.

    Raises IncparseError for anything else.
    """
    if isinstance(lists, str | Path):
        return TrainingLists(lists)
    found = list(lists) if isinstance(lists, Iterable) else [lists]  # an iterator could only be read once
    for one in found:
        if not isinstance(one, CandidateList):
            raise IncparseError(f"{one!r:.60} is no CandidateList: pass these, or the path of files with lists")
    return found


def list_files(path: Path) -> list[Path]:
    """Return the files with lists at a path, sorted by name. Raises IncparseError if there are none."""
    if path.is_dir():
        found = sorted(file for pattern in PATTERNS for file in path.glob(pattern))
        if not found:
            raise IncparseError(f"{path}: the folder has no files with lists ({' or '.join(PATTERNS)})")
        return found
    if not path.is_file():
        raise IncparseError(f"{path}: there is no such file or folder with lists")
    return [path]


def _checked(path: Path) -> Iterator[CandidateList]:
    origin = ListOrigin.read(path)
    if origin is None:
        warnings.warn(
            f"{path}: no {path.name}{SUFFIX} says what the parser of these lists was trained on: if it has seen the "
            f"sentences, the reranker learns nothing useful",
            stacklevel=2,
        )
    for number, candidates in enumerate(read_lists(path), start=1):
        start = " ".join(candidates.words[:8])
        if candidates.gold is None:
            raise IncparseError(f"{path}: list {number} ({start!r}) has no gold tree to learn from")
        if origin is not None and sentence_key(candidates.words) in origin.trained_on:
            raise IncparseError(
                f"{path}: list {number} ({start!r}) is of a parser that was trained on this sentence, so its trees are "
                f"better than those of new sentences: make lists with `spacy-incparse rerank-train`"
            )
        yield candidates
