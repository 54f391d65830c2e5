"""The search settings of all parsers that say which of a sentence's n-best trees is its tree."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.settings import MOST, Settings, check_number, check_range

CHOICES = ("score", "expected_f", "recombined")
SOURCES = ("search", "lists")
CHOICE_SETTINGS = ("choose", "choose_from", "choose_trees", "choose_temperature", "choose_threshold")


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Settings):
    """Search settings of all parsers: the choice of a sentence's tree.

    choose: "score" returns the tree with the highest score; "expected_f" the one with the best expected F among the
        n-best trees, see parsers/expected_f.py; "recombined" makes a new tree from their phrases, whose expected F is
        better still, see parsers/recombination.py.
    choose_from: "search" chooses among the trees that the search has at the end: with a wider one (gamma, beam_size),
        there are more, and the choice is better; "lists" chooses among the tree of the search and those of the n-best
        lists, which also hold trees that score higher, and takes three times as long or more; None: "lists" for
        "expected_f", "search" for "recombined".
    choose_trees: how many trees to choose from, at most.
    choose_temperature: divides the scores for this expectation; higher values make the trees more equally probable;
        None: the temperature that was fitted on held-out trees.
    choose_threshold: for "recombined", the probability from which on a phrase is worth having; lower values give more
        phrases.
    """

    choose: str = "score"
    choose_from: str | None = None
    choose_trees: int = 50
    choose_temperature: float | None = None
    choose_threshold: float = 0.45

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ConfigError(f"choose is {self.choose!r}: choose one of {', '.join(CHOICES)}")
        if self.choose_from is not None and self.choose_from not in SOURCES:
            raise ConfigError(f"choose_from is {self.choose_from!r}: choose one of {', '.join(SOURCES)}, or None")
        check_number("choose_trees", self.choose_trees, 1, MOST)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)
        check_range("choose_threshold", self.choose_threshold, 0.05, 0.95)

    @property
    def chooses_by_score(self) -> bool:
        """Whether the tree is simply the highest-scoring one."""
        return self.choose == "score" or self.choose_trees == 1

    @property
    def chooses_from_lists(self) -> bool:
        """Whether the trees to choose from are those of the n-best lists."""
        return self.choose_from == "lists" or (self.choose_from is None and self.choose == "expected_f")
