"""The choice of a sentence's tree: among its n-best trees by score or expected F, or recombined from their phrases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from spacy_incparse.parsers.base import BaseParser
from spacy_incparse.parsers.choice_settings import ChoiceSettings
from spacy_incparse.parsers.constraints import Constraints, checked_constraints, required_spans
from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.nbest import NBestSearch, phrases_of
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.recombination import Recombination


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
        parses = self._candidates(words, tags, constraints)
        if len(parses) < 2:
            return parses[0]
        if self.config.choose == "expected_f":
            return max_expected_f(parses, temperature)
        return self._recombined(parses, temperature, tags, constraints)

    def _candidates(self, words: Sequence[str], tags: Tags, constraints: Constraints) -> list[Parse]:
        """Return the trees to choose from, best first; all miss the same constraints."""
        n = self.config.choose_trees
        if self.config.chooses_from_lists:
            found = self._lists.analyses(words, tags, constraints, n)
        else:
            found = self.nbest(words, tags, n, constraints)
        comparable = [parse for parse in found if parse.unmet == found[0].unmet]
        return sorted(comparable, key=lambda parse: -parse.score)

    @cached_property
    def _lists(self) -> NBestSearch:
        return NBestSearch(self.with_search(choose="score"), with_better=True)

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
        return self.temperature if self.config.choose_temperature is None else self.config.choose_temperature


_NO_TEMPERATURE = (
    "choose is {!r}, but the model has no temperature to turn its scores into probabilities: the tree with the "
    "highest score is returned. Fit a temperature with the component's calibrate(), or set choose_temperature"
)
