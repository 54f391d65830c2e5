"""The measurements of `reranking.py` on one treebank's lists; finished ones are kept.

Settings, rounds, the length of the lists and the scale of the choice are chosen by cross-validation over the train
part's lists. Then the learner learns from all of them, and chooses from the dev part's lists once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from base_lists import BaseLists
from parts import Figures, Parts
from rerank_data import StudyData, at_places, family_groups, list_places, recombined_scores
from rerank_sides import LOG, RULES, Side

from spacy_incparse.evaluation.summaries import Scores
from spacy_incparse.rerank.data import (
    ChoiceRule,
    How,
    RerankerWeights,
    base_f,
    best_candidates,
    candidate_values,
    choose,
    corpus_f,
    select_features,
)
from spacy_incparse.rerank.learner import RerankLearner, find_learner
from spacy_incparse.rerank.training import best_trial, cross_validate

N_FOLDS = 5
FAMILY_SIGMAS = (0.1, 0.3, 1.0)  # of log loss, for each family: few features need a weaker prior than many


@dataclass(frozen=True)
class Choice:
    """What cross-validation has chosen, and its F there less that of the most probable trees of the same lists."""

    n: int
    settings: Mapping[str, Any]
    rounds: int
    rule: ChoiceRule
    gain: float
    by_rounds: Mapping[int, float]  # the gain for each number of rounds


class Study:
    """All measurements; n_best: the lengths of the lists to choose from, the longest one last."""

    def __init__(
        self,
        lists: BaseLists,
        parts: Parts,
        checksum: str,
        *,
        n_best: Sequence[int],
        most_rounds: int = 10_000,
    ):
        self.lists, self.n_best = lists, n_best
        self._parts, self._checksum, self._most_rounds = parts, checksum, most_rounds

    @cached_property
    def data(self) -> StudyData:
        """The longest lists, with the base parser's score alone."""
        return self.all_data.with_scores(())

    @cached_property
    def all_data(self) -> StudyData:
        """The longest lists, with all scores."""
        return StudyData.read(self.lists, self.n_best[-1])

    def base(self) -> dict[str, list[int]]:
        """Return the places chosen without a reranker: own, most probable, best, and of best expected F."""

        def make() -> Figures:
            train, dev = self.data.train, self.data.dev
            base = base_f(train)
            gains = {s: corpus_f(train, choose(train, train.scores[:, 0], "expected_f", s)) - base for s in _SCALES}
            scale = max(gains, key=lambda s: gains[s])
            found = {
                "own": dev.list_starts[:-1],
                "most-probable": choose(dev, dev.scores[:, 0]),
                "expected-f": choose(dev, dev.scores[:, 0], "expected_f"),
                "expected-f-scaled": choose(dev, dev.scores[:, 0], "expected_f", scale),
                "oracle": best_candidates(dev),
            }
            places = {name: list_places(dev, chosen) for name, chosen in found.items()}
            return {"places": places, "scale": scale, "train": gains[scale], "unscaled": gains[1.0]}

        return self._part("base", {}, make)

    def recombined(self) -> Scores:
        """Return the scores of trees made of the phrases of the dev part's lists, as by the setting `choose`."""
        return recombined_scores(self.lists, self.n_best[-1])

    def choice(self, side: Side, how: How) -> Choice:
        """Choose a side's settings by cross-validation."""
        tried = [
            (n, settings, rounds, ChoiceRule(how, scale), gain)
            for n in self._lengths(side)
            for settings, rounds, rule, scale, gain in self._trials(side, n)
            if rule == how
        ]
        n, settings, rounds, rule, gain = max(tried, key=lambda trial: trial[-1])
        same = [trial for trial in tried if trial[:2] == (n, settings) and trial[3] == rule]
        return Choice(n, settings, rounds, rule, gain, {trial[2]: trial[4] for trial in same})

    def places(self, side: Side, choice: Choice) -> dict[int, list[int]]:
        """Return the places that are chosen from the dev part's lists after each number of rounds, the chosen last."""

        def make() -> Figures:
            data = self.shorter(choice.n, side)
            learner = find_learner(side.learner)(**choice.settings)
            found = {}
            for rounds, weights in learner.path(data.train, sorted(choice.by_rounds)):
                values = candidate_values(data.dev, weights)
                found[str(rounds)] = list_places(data.dev, choose(data.dev, values, choice.rule.how, choice.rule.scale))
            return found

        name = f"{side.name}, {choice.rule.how}: dev part"
        settings = {"n": choice.n, "settings": choice.settings, "rule": [choice.rule.how, choice.rule.scale]}
        found = self._part(name, settings | {"rounds": sorted(choice.by_rounds)}, make)
        return {int(rounds): places for rounds, places in found.items()}

    def weights(self, side: Side, choice: Choice) -> RerankerWeights:
        """Return what a side learns from all lists with the settings chosen."""
        learner = find_learner(side.learner)(**choice.settings)
        *_, (_, weights) = learner.path(self.shorter(choice.n, side).train, [choice.rounds])
        return weights

    def scores(self, places: Sequence[int]) -> Scores:
        """Return the scores of candidates of the dev part."""
        return self.data.scores(at_places(self.data.dev, places))

    def family_gains(self) -> dict[str, Figures]:
        """Return for each family, group, and all: the number of features, and the gains on both parts.

        The learner is log loss, which is fast, on lists of 20; its prior is chosen for each.
        """

        def make() -> Figures:
            columns = self.data.families(self.lists)
            groups = {name: np.any([columns[f] for f in members], axis=0) for name, members in family_groups().items()}
            wholes = {"all": np.ones(len(self.data.columns), bool)} | groups
            return {name: self._family(kept) for name, kept in (wholes | columns).items()}

        return self._part("families", {"sigmas": FAMILY_SIGMAS}, make)

    def _family(self, is_kept: np.ndarray) -> Figures:
        data = self.shorter(min(20, self.n_best[-1]))
        train, dev = select_features(data.train, is_kept), select_features(data.dev, is_kept)
        learners = [find_learner(LOG.learner)(**LOG.fixed, sigma=sigma) for sigma in FAMILY_SIGMAS]
        best = best_trial(cross_validate(train, learners, n_folds=N_FOLDS))
        values = candidate_values(dev, best.learner.learn(train))
        gain = corpus_f(dev, choose(dev, values)) - base_f(dev)
        return {"n": int(is_kept.sum()), "train": best.f - base_f(train), "dev": gain}

    def _trials(self, side: Side, n: int) -> list[list[Any]]:
        """Return settings, rounds, rule, scale and gain of all trials of a side."""

        def make() -> Figures:
            train = self.shorter(n, side).train
            rules = [rule for rules in RULES.values() for rule in rules]
            found = cross_validate(train, self._learners(side), n_folds=N_FOLDS, rules=rules)
            base = base_f(train)
            shown = [[t.learner.to_dict(), t.rounds, t.rule.how, t.rule.scale, t.f - base] for t in found]
            return {"trials": shown}

        settings = [learner.to_dict() for learner in self._learners(side)]
        return self._part(f"{side.name}, {n} trees: settings", {"n": n, "settings": settings}, make)["trials"]

    def _lengths(self, side: Side) -> list[int]:
        return [n for n in self.n_best if n <= side.most_trees] or [self.n_best[0]]

    def _learners(self, side: Side) -> list[RerankLearner]:
        return list(side.learners(self._most_rounds))

    def shorter(self, n: int, side: Side | None = None) -> StudyData:
        """Return the data of lists of at most n candidates, with the scores that a side uses."""
        data = self.all_data.with_scores(side.scores) if side and side.scores else self.data
        return data if n == self.n_best[-1] else data.shorter(n)

    def _part(self, name: str, settings: Figures, make: Callable[[], Figures]) -> Figures:
        def shown() -> Figures:
            started = time.process_time()
            figures = make()
            print(f"{name}  {time.process_time() - started:.1f} s", file=sys.stderr, flush=True)
            return figures

        return self._parts.get(name, f"{self._checksum} {settings}", shown)


_SCALES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
