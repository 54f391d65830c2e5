"""Learn a reranker's weights with the settings that cross-validation over the lists finds best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from spacy_incparse.rerank.choice import ChoiceRule, How, base_f
from spacy_incparse.rerank.cross_validation import Trial, best_trial, cross_validate
from spacy_incparse.rerank.learners import make_learner
from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "risk": {"sigma": (0.05, 0.1, 0.3, 1.0)},
    "log": {"sigma": (0.05, 0.1, 0.3, 1.0)},
    "boost": {"smoothing": (0.01, 0.03), "pair_weights": ("none", "f")},
}
"""The settings of each learner that are tried, in all combinations; those of other learners are their defaults."""
ROUNDS = ("rounds", "passes", "max_iterations")  # settings that say how long a learner goes on
SCALES = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0)  # of values as log probabilities, for the choice by expected F
RULES = (ChoiceRule("score"), *(ChoiceRule("expected_f", scale) for scale in SCALES))

Report = Callable[[str], object]
"""Called with a line of text after each step."""


class Learned(NamedTuple):
    """The weights of all lists, how a tree is chosen by them, and the scale for the choice by expected F."""

    weights: RerankerWeights
    how: How
    scale: float = 1.0


def learn_weights(
    data: RerankingData,
    name: str,
    given: Mapping[str, Any],
    *,
    how: How | None = None,
    n_folds: int = 5,
    report: Report = lambda _: None,
) -> Learned:
    """Learn with the settings, the number of rounds and the choice of the highest F on held-out lists; ties: the first.

    given: settings of the learner that are not chosen. how: how a tree is chosen; None: the better way. Data of one
    list are learned with the first settings. Raises ConfigError for an unknown learner or setting.
    """
    learners = [make_learner(name, **settings) for settings in _combinations(name, given)]
    if data.n_lists < 2:
        return Learned(learners[0].learn(data), how or "score")
    has_rounds = not set(ROUNDS).isdisjoint(given)
    trials = cross_validate(data, learners, n_folds=min(n_folds, data.n_lists), rules=RULES)
    trials = [trial for trial in trials if not has_rounds or trial.rounds == trial.learner.rounds]
    best = best_trial([trial for trial in trials if how in (None, trial.rule.how)])
    _report(trials, best, base_f(data), name, report)
    *_, (_, weights) = best.learner.path(data, [best.rounds])
    by_f = [trial for trial in _alike(trials, best) if trial.rule.how == "expected_f"]
    return Learned(weights, best.rule.how, best_trial(by_f).rule.scale)


def _alike(trials: Sequence[Trial], one: Trial) -> list[Trial]:
    """Return the trials of the same weights."""
    return [trial for trial in trials if trial.learner is one.learner and trial.rounds == one.rounds]


def _report(trials: Sequence[Trial], best: Trial, base: float, name: str, report: Report) -> None:
    """Report the gains of each learner and number of rounds, with the better scale."""
    for first in trials[:: len(RULES)]:
        alike = _alike(trials, first)
        by_score, *by_f = alike
        better = best_trial(by_f)
        gains = f"{100 * (by_score.f - base):+.2f} F by score, {100 * (better.f - base):+.2f} by expected F"
        report(f"  {_shown(first, name)}: {gains} (scale {better.rule.scale:g}){'  *' if best in alike else ''}")


def _combinations(name: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grid = {key: values for key, values in GRIDS.get(name, {}).items() if key not in given}
    for values in product(*grid.values()):
        yield dict(given) | dict(zip(grid, values, strict=True))


def _shown(trial: Trial, name: str) -> str:
    settings = trial.learner.settings.to_dict()
    return ", ".join([f"{name}: {trial.rounds} rounds", *(f"{key} {settings[key]}" for key in GRIDS.get(name, {}))])
