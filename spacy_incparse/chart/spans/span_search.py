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
        probabilities of brackets (Goodman 1996).
    threshold: with "expected_f", a bracket is worth having from this probability on; a lower one gives more brackets.
    choose_temperature: divides the scores for these probabilities; higher values make trees more equally probable;
        None: the temperature that was fitted on held-out trees, or 1.
    """

    SEARCH = ("choose", "threshold", "choose_temperature")

    choose: str = "expected_f"
    threshold: float = 0.45
    choose_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ConfigError(f"choose is {self.choose!r}: choose one of {', '.join(CHOICES)}")
        check_range("threshold", self.threshold, 0, 1)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)
