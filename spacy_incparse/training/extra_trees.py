"""Trees to learn from beside those of the treebank: usually many, made by another parser (Petrov et al. 2010).

Grammar, lexicon and taggers are learned from all of them. A pass goes over all trees of the treebank and over a part of
the extra ones, and the next pass over the next part, so that a parser sees many different trees in little time.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from spacy_incparse.settings import check_range
from spacy_incparse.trees.tree import Tree

LEAST_WEIGHT, MAX_WEIGHT = 0.001, 100.0


class ExtraTrees(NamedTuple):
    """Normalized trees; `weight`: how often a pass sees each of them, on average, if it sees the others once."""

    trees: Sequence[Tree] = ()
    weight: float = 1.0

    def __str__(self) -> str:
        """Return how many there are, as the end of a number of sentences."""
        return f" and {len(self.trees):,} extra ones" if self.trees else ""


NO_EXTRA = ExtraTrees()


def check_weight(weight: float) -> None:
    """Raise ConfigError for a weight that is too small or too large."""
    check_range("extra_weight", weight, LEAST_WEIGHT, MAX_WEIGHT)


@dataclass(frozen=True)
class PassSelection:
    """Which sentences are in a pass, by their numbers: those of the treebank come first, then the extra ones."""

    n_own: int
    n_extra: int = 0
    weight: float = 1.0
    seed: int = 0

    @property
    def n_drawn(self) -> int:
        """The number of extra sentences in a pass; at least one, if there are any."""
        return max(round(self.weight * self.n_extra), 1) if self.n_extra else 0

    def __len__(self) -> int:
        return self.n_own + self.n_drawn

    def of_pass(self, number: int) -> Sequence[int]:
        """Return the sentences of a pass, numbered from 1. Each extra one is drawn before any is drawn again."""
        if not self.n_extra:
            return range(self.n_own)
        first = (number - 1) * self.n_drawn
        drawn = (self._order[place % self.n_extra] for place in range(first, first + self.n_drawn))
        return [*range(self.n_own), *sorted(drawn)]

    @cached_property
    def _order(self) -> list[int]:
        order = list(range(self.n_own, self.n_own + self.n_extra))
        random.Random(f"{self.seed} extra").shuffle(order)
        return order
