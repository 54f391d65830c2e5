"""The choice of a sentence's tree among its n-best trees: the highest score, or the best expected F."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

from spacy_incparse.parsers.base import BaseParser
from spacy_incparse.parsers.choice_settings import ChoiceSettings
from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.nbest import NBestSearch
from spacy_incparse.parsers.parse import Parse, Tags

# The fitted temperature says how often the whole tree is right. For expected F, half of it was best on a held-out part
# of training trees; anything from 0.3 to 2 times the fitted one was better than the highest score.
SHARE_OF_FITTED = 0.5


class ChoosingParser(BaseParser):
    """A parser that returns the tree that its search settings choose."""

    config: ChoiceSettings

    @property
    def answers_with_best(self) -> bool:
        """Whether its tree is the highest-scoring one that it finds, and not the one with the best expected F."""
        return self.config.chooses_by_score or self._choice_temperature is None

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the setting `choose` asks for, under constraints.

        Without a temperature, "expected_f" falls back to the highest-scoring tree, with a warning. Raises ValueError if
        there are no words, or not as many tags as words.
        """
        temperature = self._choice_temperature
        if self.config.chooses_by_score or temperature is None:
            if not self.config.chooses_by_score:
                warnings.warn(_NO_TEMPERATURE, stacklevel=2)
            return self.nbest(words, tags, 1, constraints)[0]
        parses = self.candidates(words, tags, self.config.choose_trees, constraints)
        comparable = [parse for parse in parses if parse.unmet == parses[0].unmet]
        return max_expected_f(comparable, temperature) if len(comparable) > 1 else parses[0]

    def candidates(self, words: Sequence[str], tags: Tags, n: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to n trees to choose from, the highest-scoring one of the parser's own search first."""
        return self._by_score.analyses(words, tags, constraints, n)

    @cached_property
    def _by_score(self) -> NBestSearch:
        return NBestSearch(self.with_search(choose="score"))

    @property
    def _choice_temperature(self) -> float | None:
        if self.config.choose_temperature is not None:
            return self.config.choose_temperature
        return None if self.temperature is None else SHARE_OF_FITTED * self.temperature


_NO_TEMPERATURE = (
    "choose is 'expected_f', but the model has no temperature to turn its scores into probabilities: the tree with the "
    "highest score is returned. Fit a temperature with the component's calibrate(), or set choose_temperature"
)
