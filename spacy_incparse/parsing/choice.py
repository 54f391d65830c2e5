"""The choice of a sentence's tree: among its n-best trees by score or expected F, or recombined from their phrases."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spacy_incparse.errors import ConfigError
from spacy_incparse.parsing.nbest import NBestSearch, max_expected_f, phrases_of
from spacy_incparse.parsing.parse import Constraints, Input, Parse, Tags, checked_constraints, required_spans
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.parsing.recombination import Recombination
from spacy_incparse.settings import MOST, Settings, check_number, check_range


class ChoosingParser(Parser):
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
        # The tree of the highest expected gain that can be made of the phrases of trees, with its own score. If the
        # grammar cannot derive it, its score is the lowest one of the trees.
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

    def parse_batch(self, sentences: Iterable[Input]) -> list[Parse]:
        """Return the parses of sentences, each given as the arguments of `parse`."""
        if not self.config.chooses_by_score:
            return super().parse_batch(sentences)
        parses: list[Parse] = []
        for words, tags, *constraints in sentences:
            parses += self.nbest(words, tags, 1, *constraints)
        return parses

    def _candidates(self, words: Sequence[str], tags: Tags, constraints: Constraints) -> list[Parse]:
        """Return the trees to choose from, best first; all miss the same constraints."""
        n = self.config.choose_trees
        if self.config.chooses_from_lists:
            found = self._lists.analyses(words, tags, constraints, n=n)
        else:
            found = self.nbest(words, tags, n, constraints)
        comparable = [parse for parse in found if parse.unmet == found[0].unmet]
        return sorted(comparable, key=lambda parse: -parse.score)

    @cached_property
    def _lists(self) -> NBestSearch:
        return NBestSearch(self.with_search(choose="score"), with_better=True)

    @property
    def _choice_temperature(self) -> float | None:
        return self.temperature if self.config.choose_temperature is None else self.config.choose_temperature


_NO_TEMPERATURE = (
    "choose is {!r}, but the model has no temperature to turn its scores into probabilities: the tree with the "
    "highest score is returned. Fit a temperature with the component's calibrate(), or set choose_temperature"
)


CHOICES = ("score", "expected_f", "recombined")
SOURCES = ("search", "lists")
CHOICE_SETTINGS = ("choose", "choose_from", "choose_trees", "choose_temperature", "choose_threshold")


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Settings):
    """Search settings of all parsers: the choice of a sentence's tree.

    choose: "score" returns the tree with the highest score; "expected_f" the one with the best expected F among the
        n-best trees, see parsing/nbest.py; "recombined" makes a new tree from their phrases, whose expected F is
        better still, see parsing/recombination.py.
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
