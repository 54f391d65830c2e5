"""What a model has to offer whose scores of candidates stand beside those of the base parser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from spacy_incparse.trees.tree import Tree


class SecondScore(ABC):
    """A model that gives each candidate of a list some numbers, each of which has a weight of its own.

    name: of the model, as in `rerank-train --with`. columns: the names of the numbers, as in files of lists.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @abstractmethod
    def scores(self, trees: Sequence[Tree]) -> Mapping[str, Sequence[float]]:
        """Return for each column a finite number for each tree of a list, all over the same words."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the model as bytes."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> SecondScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
