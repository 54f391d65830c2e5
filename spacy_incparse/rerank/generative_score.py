"""The score of candidates by a generative model."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from spacy_incparse.generative.generative_parser import GenerativeParser
from spacy_incparse.rerank.second_score import SecondScore
from spacy_incparse.trees.tree import Tree


class GenerativeScore(SecondScore):
    """The natural log probability of tree, tags and words by a generative model (Roark 2001).

    A tree to which the model gives no probability gets the lowest score of its list.
    """

    name = "generative"
    columns = ("generative",)

    def __init__(self, parser: GenerativeParser):
        self.parser = parser

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the log probability of each tree of a list, all over the same words."""
        found = self.parser.log_probabilities(trees)
        lowest = min((score for score in found if score is not None and isfinite(score)), default=0.0)
        return {"generative": [lowest if score is None else max(score, lowest) for score in found]}

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> GenerativeScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(GenerativeParser.from_bytes(data))
