"""What the parts of a chart parser pass to one another: sentences, training examples, and what scores and prunes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar, Step
from spacy_incparse.chart.span_states import SpanStates
from spacy_incparse.parsing.parse import Tags

Mask: TypeAlias = np.ndarray | SpanStates
"""What pruning leaves: uint8 (n_spans, n_states), 0 for what is left out; or for each span the states that are left."""


@dataclass(frozen=True)
class ChartSentence:
    """The words of a sentence; for each its tag, several with their distances from the best one, or None."""

    words: Sequence[str]
    tags: Tags


@dataclass(frozen=True)
class ChartExample:
    """A sentence to learn from.

    forest: never empty. gold: the edges of the gold tree in pre-order, int32, as `Forest.find` returns them. number:
    the sentence's place among those of a learner.
    """

    sentence: ChartSentence
    forest: Forest
    gold: np.ndarray
    number: int = 0


class EdgeModel(Protocol):
    """A trained model that scores the edges of a forest."""

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar."""


class SpanPruner(Protocol):
    """Chooses the states that are worth a look over each span of a sentence."""

    def masks(self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()) -> Sequence[Mask]:
        """Return masks for `ChartBuilder.build`, the strictest first.

        gold: rules whose states are never left out.
        """

    def to_bytes(self) -> bytes:
        """Return the pruner as bytes, without the grammar of the charts."""
