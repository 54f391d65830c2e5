"""A learner for parsers that are trained in one pass, such as those based on counts."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.trees.tree import Tree


class FinishedLearner:
    """A learner whose parser is already trained; passes over the sentences change nothing."""

    n_models = 1

    def __init__(self, parser: ConstituencyParser):
        self._parser = parser

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return None: the parser does not learn from single sentences."""
        return None

    def learn(self, example: object, number: int = 0) -> int:
        """Return 0, the number of updates."""
        return 0

    def parser(self) -> ConstituencyParser:
        """Return the parser."""
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Return no bytes: training changes nothing."""
        return b""

    def state_from_bytes(self, data: bytes) -> None:
        """Do nothing."""
