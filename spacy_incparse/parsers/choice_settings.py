"""The search settings of all parsers that say which of a sentence's n-best trees is its tree."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.settings import MOST, Settings, check_number, check_range

CHOICES = ("score", "expected_f", "recombined")
CHOICE_SETTINGS = ("choose", "choose_trees", "choose_temperature", "choose_threshold")


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Settings):
    """Search settings of all parsers: the choice of a sentence's tree.

    choose: "score" returns the tree with the highest score; "expected_f" the one with the best expected F among the
        n-best trees, see parsers/expected_f.py; "recombined" makes a new tree from their phrases, whose expected F is
        better still, see parsers/recombination.py. The trees are those that the search has at the end: with a wider
        one (gamma, beam_size), there are more, and the choice is better.
    choose_trees: the most of these trees.
    choose_temperature: divides the scores for this expectation; higher values make the trees more equally probable;
        None: for "recombined" the temperature that was fitted on held-out trees, for "expected_f" half of it.
    choose_threshold: for "recombined", the probability from which on a phrase is worth having; lower values give more
        phrases.
    """

    choose: str = "score"
    choose_trees: int = 50
    choose_temperature: float | None = None
    choose_threshold: float = 0.45

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ConfigError(f"choose is {self.choose!r}: choose one of {', '.join(CHOICES)}")
        check_number("choose_trees", self.choose_trees, 1, MOST)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)
        check_range("choose_threshold", self.choose_threshold, 0.05, 0.95)

    @property
    def chooses_by_score(self) -> bool:
        """Whether the tree is simply the highest-scoring one."""
        return self.choose == "score" or self.choose_trees == 1
