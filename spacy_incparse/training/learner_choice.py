"""Learn a reranker's weights with the settings that cross-validation over the lists finds best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.rerank.choice import ChoiceRule, How, base_f
from spacy_incparse.rerank.cross_validation import Trial, best_trial, cross_validate
from spacy_incparse.rerank.data_selection import first_candidates
from spacy_incparse.rerank.learners import make_learner
from spacy_incparse.rerank.rerank_learner import RerankLearner
from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData

SIGMAS = (0.03, 0.1, 0.3, 1.0, 3.0)
GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "risk": {"sigma": SIGMAS},
    "log": {"target": ("shared", "best"), "sigma": SIGMAS},
    "boost": {"smoothing": (0.003, 0.01, 0.03), "pair_weights": ("none", "f")},
    "log-greedy": {"smoothing": (0.3, 1.0, 3.0)},
    "perceptron": {"base_weight": (10.0, 30.0, 100.0)},
}
"""The settings of each learner that are tried, in all combinations; other settings have their defaults."""
LENGTHS = (10, 20, 50)  # of shorter lists that are tried, with the settings that are best for the longest ones
ROUNDS = ("rounds", "passes", "max_iterations")  # settings that say how long a learner goes on
SCALES = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0)  # of values as log probabilities, for the choice by expected F
RULES = (ChoiceRule("score"), *(ChoiceRule("expected_f", scale) for scale in SCALES))

Report = Callable[[str], object]
"""Called with a line of text after each step."""


class Learned(NamedTuple):
    """The weights of all lists, how a tree is chosen by them, and the scale for the choice by expected F.

    n: of how many candidates of a list it chooses; None: of all. f: in the cross-validation (0 to 1).
    """

    weights: RerankerWeights
    how: How
    scale: float = 1.0
    n: int | None = None
    f: float = 0.0


class _Tried(NamedTuple):
    """The trials of lists of some length, in the order of learners, rounds and rules, and the best one."""

    data: RerankingData
    n: int | None
    trials: list[Trial]
    best: Trial


def learn_weights(
    data: RerankingData,
    names: Sequence[str],
    given: Mapping[str, Any],
    *,
    how: How | None = None,
    n_folds: int = 5,
    report: Report = lambda _: None,
) -> Learned:
    """Learn with the learner, settings, rounds, rule of choice and length of lists of the highest F on held-out lists.

    names: of the learners to choose from. given: settings of the learners that are not chosen. how: how a tree is
    chosen; None: the better way. Data of one list are learned with the first learner and settings. Shorter lists
    (`LENGTHS`) are tried with the settings that are best for whole ones, which costs a fraction of all combinations.
    Ties go to the first. Raises ConfigError for an unknown learner or setting.
    """
    learners = [make_learner(name, **settings) for name in names for settings in _combinations(name, given)]
    if data.n_lists < 2:
        return Learned(learners[0].learn(data), how or "score")
    has_rounds = not set(ROUNDS).isdisjoint(given)

    def tried(data: RerankingData, learners: Sequence[RerankLearner], n: int | None = None) -> _Tried:
        trials = cross_validate(data, learners, n_folds=min(n_folds, data.n_lists), rules=RULES)
        trials = [trial for trial in trials if not has_rounds or trial.rounds == trial.learner.rounds]
        return _Tried(data, n, trials, best_trial([trial for trial in trials if how in (None, trial.rule.how)]))

    longest = tried(data, learners)
    shorter = (tried(first_candidates(data, n), [longest.best.learner], n) for n in _shorter_lengths(data))
    lengths = [longest, *shorter]
    best = max(lengths, key=lambda one: one.best.f)
    for one in lengths:
        _report(one, best.best, base_f(data), report)
    *_, (_, weights) = best.best.learner.path(best.data, [best.best.rounds])
    by_f = [trial for trial in _alike(best.trials, best.best) if trial.rule.how == "expected_f"]
    return Learned(weights, best.best.rule.how, best_trial(by_f).rule.scale, best.n, best.best.f)


def _shorter_lengths(data: RerankingData) -> list[int]:
    longest = int(np.diff(data.list_starts).max())
    return [n for n in LENGTHS if n < longest]


def _alike(trials: Sequence[Trial], one: Trial) -> list[Trial]:
    """Return the trials of the same weights."""
    return [trial for trial in trials if trial.learner is one.learner and trial.rounds == one.rounds]


def _report(tried: _Tried, best: Trial, base: float, report: Report) -> None:
    """Report the gains of each learner and number of rounds, with the better scale."""
    trees = "" if tried.n is None else f", the first {tried.n} trees"
    for first in tried.trials[:: len(RULES)]:
        alike = _alike(tried.trials, first)
        by_score, *by_f = alike
        better = best_trial(by_f)
        gains = f"{100 * (by_score.f - base):+.2f} F by score, {100 * (better.f - base):+.2f} by expected F"
        mark = "  *" if any(trial is best for trial in alike) else ""
        report(f"  {_shown(first)}{trees}: {gains} (scale {better.rule.scale:g}){mark}")


def _combinations(name: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grid = {key: values for key, values in GRIDS.get(name, {}).items() if key not in given}
    for values in product(*grid.values()):
        yield dict(given) | dict(zip(grid, values, strict=True))


def _shown(trial: Trial) -> str:
    name, settings = trial.learner.name, trial.learner.settings.to_dict()
    return ", ".join([f"{name}: {trial.rounds} rounds", *(f"{key} {settings[key]}" for key in GRIDS.get(name, {}))])
