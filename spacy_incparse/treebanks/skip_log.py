"""The malformed trees that a reader skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy_incparse.errors import TreebankError


@dataclass
class SkipLog:
    """The malformed places that a reader skipped, in the order of the files."""

    entries: list[TreebankError] = field(default_factory=list)  # each with path, line, column and message
    n_trees: int = 0  # skipped trees; the other entries are text outside trees, or files without trees

    def add(self, error: TreebankError, *, is_tree: bool = False) -> None:
        """Add a skipped place; `is_tree` says whether a tree was skipped there."""
        self.entries.append(error)
        self.n_trees += is_tree

    def update(self, other: SkipLog) -> None:
        """Add the places of another log behind these."""
        self.entries += other.entries
        self.n_trees += other.n_trees

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TreebankError]:
        return iter(self.entries)

    def __str__(self) -> str:
        count = f"{len(self)} malformed tree{'' if len(self) == 1 else 's'} skipped"
        return "\n  ".join([count + (":" if self.entries else ""), *map(str, self.entries)])
