"""Scores of candidates beside that of the base parser, by models that the reranker has of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from spacy_incparse.errors import ModelError
from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.generative.generative_parser import GenerativeParser
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class SecondScore(ABC):
    """A model that scores the candidates of a list; the higher, the better."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> SecondScore:
        """Return a model trained on normalized trees."""

    @abstractmethod
    def scores(self, trees: Sequence[Tree]) -> list[float]:
        """Return a finite score of each tree of a list, all over the same words."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the model as bytes."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> SecondScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""


class GenerativeScore(SecondScore):
    """The natural log probability of tree, tags and words by a generative model (Roark 2001).

    A tree to which the model gives no probability gets the lowest score of its list.
    """

    name = "generative"

    def __init__(self, parser: GenerativeParser):
        self.parser = parser

    @classmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> GenerativeScore:
        """Return a model trained on normalized trees, in one pass."""
        return cls(GenerativeParser.train(trees, GenerativeConfig(), heads))

    def scores(self, trees: Sequence[Tree]) -> list[float]:
        """Return a score of each tree of a list, all over the same words."""
        found = self.parser.log_probabilities(trees)
        lowest = min((score for score in found if score is not None and isfinite(score)), default=0.0)
        return [lowest if score is None else max(score, lowest) for score in found]

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> GenerativeScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(GenerativeParser.from_bytes(data))


SECOND_SCORES: dict[str, type[SecondScore]] = {score.name: score for score in (GenerativeScore,)}
"""All second scores, by name."""


def read_second_scores(contents: dict[str, bytes]) -> dict[str, SecondScore]:
    """Return models from their bytes by name. Raises ModelError for another name or damaged bytes."""
    for name in contents:
        if name not in SECOND_SCORES:
            raise ModelError(f"the reranker has a score {name!r:.40} that this version does not know")
    return {name: SECOND_SCORES[name].from_bytes(data) for name, data in contents.items()}
