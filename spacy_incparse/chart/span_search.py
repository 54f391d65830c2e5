"""The search settings of a parser with span scores."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.settings import Settings, check_range

CHOICES = ("score", "expected_f")


@dataclass(frozen=True, kw_only=True)
class SpanSearch(Settings):
    """The settings of the search; all of them can be changed in a trained pipeline.

    choose: "score" returns the tree with the highest score; "expected_f" the one with the highest expected gain by the
        probabilities of brackets (Goodman 1996), divided by the temperature if there is one.
    threshold: with "expected_f", a bracket is worth having from this probability on; a lower one gives more brackets.
    """

    SEARCH = ("choose", "threshold")

    choose: str = "score"
    threshold: float = 0.45

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ConfigError(f"choose is {self.choose!r}: choose one of {', '.join(CHOICES)}")
        check_range("threshold", self.threshold, 0, 1)
