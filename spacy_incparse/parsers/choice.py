"""The choice of a sentence's tree: among its n-best trees by score or expected F, or recombined from their phrases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from spacy_incparse.parsers.base import BaseParser
from spacy_incparse.parsers.choice_settings import ChoiceSettings
from spacy_incparse.parsers.constraints import Constraints, checked_constraints, required_spans
from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.nbest import phrases_of
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.recombination import Recombination

# The fitted temperature says how often the whole tree is right. For expected F, half of it was best on a held-out part
# of training trees; anything from 0.3 to 2 times the fitted one was better than the highest score. For recombined
# trees, 1 to 2 times the fitted one is alike.
SHARES_OF_FITTED = {"expected_f": 0.5, "recombined": 1.0}


class ChoosingParser(BaseParser):
    """A parser that returns the tree that its search settings choose."""

    config: ChoiceSettings

    @property
    def answers_with_best(self) -> bool:
        """Whether its tree is the highest-scoring one that it finds, and not one with a better expected F."""
        return self.config.chooses_by_score or self._choice_temperature is None

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the setting `choose` asks for, under constraints.

        Without a temperature, the highest-scoring tree is returned, with a warning. Raises ValueError if there are no
        words, or not as many tags as words.
        """
        temperature = self._choice_temperature
        if self.config.chooses_by_score or temperature is None:
            if not self.config.chooses_by_score:
                warnings.warn(_NO_TEMPERATURE.format(self.config.choose), stacklevel=2)
            return self.nbest(words, tags, 1, constraints)[0]
        parses = self.nbest(words, tags, self.config.choose_trees, constraints)
        comparable = [parse for parse in parses if parse.unmet == parses[0].unmet]
        if len(comparable) < 2:
            return parses[0]
        if self.config.choose == "expected_f":
            return max_expected_f(comparable, temperature)
        return self._recombined(comparable, temperature, tags, constraints)

    def _recombined(self, parses: Sequence[Parse], temperature: float, tags: Tags, constraints: Constraints) -> Parse:
        """Return the tree of the highest expected gain that can be made of the phrases of trees, with its own score.

        If the grammar cannot derive it, its score is the lowest one of the trees.
        """
        trees = [parse.tree for parse in parses]
        wanted = checked_constraints(constraints, len(trees[0].words))
        required = required_spans(wanted, parses[0].unmet)
        phrases = phrases_of(parses, temperature)
        tree = Recombination(trees, phrases, self.config.choose_threshold, required).best_tree()
        for parse in parses:
            if parse.tree == tree:
                return parse
        score = self.score(tree.words, tags, tree).score
        return replace(parses[0], tree=tree, score=parses[-1].score if score is None else score)

    @property
    def _choice_temperature(self) -> float | None:
        if self.config.choose_temperature is not None:
            return self.config.choose_temperature
        return None if self.temperature is None else SHARES_OF_FITTED.get(self.config.choose, 1.0) * self.temperature


_NO_TEMPERATURE = (
    "choose is {!r}, but the model has no temperature to turn its scores into probabilities: the tree with the "
    "highest score is returned. Fit a temperature with the component's calibrate(), or set choose_temperature"
)
