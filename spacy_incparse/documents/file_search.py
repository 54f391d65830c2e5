"""Match the rules of a ConstituentMatcher in Parquet files of sentences, file by file, in several processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy_incparse.documents.rows import annotated_format, read_rows, row_tree, sentence_files
from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns import Match, Pattern
from spacy_incparse.trees.arrays import without_nested
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_order

_COLUMNS = ("id", "sentence", "start", "text", "tokens", "spans")


class FileGroup(NamedTuple):
    """A named node of a match, by its characters in the document."""

    label: str
    start_char: int
    end_char: int
    text: str


class FileMatch(NamedTuple):
    """A match in a file: the rule, the document with the number of its sentence, the matched node, and named nodes."""

    key: str
    id: str
    sentence: int
    label: str
    start_char: int
    end_char: int
    text: str
    groups: dict[str, FileGroup]


@dataclass(frozen=True)
class Rule:
    """The part of a matcher's rule that can be sent to other processes."""

    key: str
    patterns: Sequence[Pattern]
    nested: str
    every: bool


def search_files(rules: Sequence[Rule], paths: Iterable[str | Path], n_process: int) -> Iterator[FileMatch]:
    """Return the matches in files, folders and globs, in the order of the files, sentences, and rules.

    n_process: -1, as for `nlp.pipe`, stands for all processors. Raises IncparseError for other values below 1.
    """
    if n_process < 1:
        if n_process != -1:
            raise IncparseError(f"n_process is {n_process}: it must be 1 or more, or -1 for all processors")
        n_process = os.cpu_count() or 1
    files: list[Path] = []
    for path in paths:
        found = sentence_files(path)
        if not found and annotated_format(path) != "parquet":
            raise IncparseError(f"{path}: no Parquet file with sentences was found")
        files += found
    results = run_in_order(partial(_prepare, tuple(rules)), files, min(n_process, max(len(files), 1)))
    return chain.from_iterable(matches for _, matches in results)


def _prepare(rules: Sequence[Rule]) -> Any:
    return partial(_search, rules)


def _search(rules: Sequence[Rule], path: Path) -> list[FileMatch]:
    found: list[FileMatch] = []
    for row in read_rows(path, _COLUMNS):
        if row["tokens"] is None:  # a document without trees, in a table of `spacy_incparse.ray.Annotate`
            continue
        tree = row_tree(row)
        for rule in rules:
            for match in find(tree, rule.patterns, nested=rule.nested, every=rule.every):
                groups = {name: _group(row, node) for name, node in match.groups.items()}
                found.append(FileMatch(rule.key, row["id"], row["sentence"], *_group(row, match.node), groups))
    return found


def _group(row: dict[str, Any], node: Tree) -> FileGroup:
    start, end = row["tokens"][node.start]["start"], row["tokens"][node.end - 1]["end"]
    return FileGroup(node.label, start, end, row["text"][start - row["start"] : end - row["start"]])


def find(tree: Tree, patterns: Iterable[Pattern], *, nested: str = "all", every: bool = False) -> list[Match]:
    """Return the matches of the patterns in pre-order; a node that several patterns match belongs to the first.

    With `every`, return a node once for each way to assign names to nodes.
    """
    found: dict[tuple[int, bool], list[Match]] = {}
    for pattern in patterns:
        by_node: dict[tuple[int, bool], list[Match]] = {}
        for match in pattern.search(tree, every=every):
            by_node.setdefault((match.node.index, match.is_word), []).append(match)
        for node, matches in by_node.items():
            if every:
                found.setdefault(node, []).extend(matches)
            else:
                found.setdefault(node, matches)
    indices = sorted({index for index, _ in found})
    kept = set(without_nested(tree.arrays, indices, nested))
    return [match for node in sorted(found) if node[0] in kept for match in found[node]]
