"""The report of a repair: one line for each change, and the counts of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_incparse.repair.repairing import Change

COLUMNS = ("file", "tree", "rule", "start", "end", "before", "after", "probability")


@dataclass(frozen=True)
class FileChanges:
    """The changes in one file."""

    path: Path
    n_trees: int
    n_phrases: int
    changes: Sequence[Change]


def report_lines(files: Sequence[FileChanges]) -> Iterator[str]:
    """Yield a header and one line for each change, in the order in which they were made, with tab-separated values."""
    yield "\t".join(COLUMNS)
    for file in files:
        for change in file.changes:
            place = (file.path, change.tree + 1, change.rule, change.start, change.end)
            probability = "" if change.probability is None else f"{change.probability:.4f}"
            yield "\t".join([*map(str, place), change.before, change.after, probability])


def summary_lines(files: Sequence[FileChanges], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a table with the number of changes and of changed trees by rule, and the totals.

    reasons: that of each rule, by its name. The share is that of changes among the phrases that the files had.
    """
    changes: Counter[str] = Counter(change.rule for file in files for change in file.changes)
    pairs = {(number, change.tree, change.rule) for number, file in enumerate(files) for change in file.changes}
    trees: Counter[str] = Counter(rule for _, _, rule in pairs)
    n_phrases = sum(file.n_phrases for file in files)
    width = max(len("rule"), *map(len, reasons))
    yield f"{'rule':<{width}}  {'changes':>9}  {'trees':>9}  share of phrases  reason"
    for rule, reason in reasons.items():
        yield f"{_row(f'{rule:<{width}}', changes[rule], trees[rule], n_phrases)}  {reason}"
    n_changed = len({(number, tree) for number, tree, _ in pairs})
    yield _row(f"{'total':<{width}}", changes.total(), n_changed, n_phrases)


def _row(name: str, n_changes: int, n_trees: int, n_phrases: int) -> str:
    return f"{name}  {n_changes:>9,}  {n_trees:>9,}  {n_changes / max(n_phrases, 1):>16.3%}"
