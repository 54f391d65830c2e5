"""Learn a reranker's weights with the settings that cross-validation over the lists finds best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from spacy_incparse.rerank.choice import ChoiceRule, How, base_f
from spacy_incparse.rerank.cross_validation import Trial, best_trial, cross_validate
from spacy_incparse.rerank.learners import make_learner
from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "risk": {"sigma": (0.1, 0.3, 1.0)},
    "log": {"sigma": (0.1, 0.3, 1.0)},
    "boost": {"smoothing": (0.0025, 0.01), "pair_weights": ("none", "f")},
}
"""The settings of each learner that are tried, in all combinations; those of other learners are their defaults."""
ROUNDS = ("rounds", "passes", "max_iterations")  # settings that say how long a learner goes on
SCALES = (0.03, 0.1, 0.3, 1.0)  # of values as log probabilities, for the choice by expected F

Report = Callable[[str], object]
"""Called with a line of text after each step."""


class Learned(NamedTuple):
    """The weights of all lists, and how a tree is chosen by them."""

    weights: RerankerWeights
    rule: ChoiceRule


def learn_weights(
    data: RerankingData,
    name: str,
    given: Mapping[str, Any],
    *,
    how: How = "score",
    n_folds: int = 5,
    report: Report = lambda _: None,
) -> Learned:
    """Learn with the settings, the number of rounds and the scale of the highest F on held-out lists; ties: the first.

    given: settings of the learner that are not chosen. how: how a tree is chosen. Data of one list are learned with the
    first settings. Raises ConfigError for an unknown learner or setting.
    """
    learners = [make_learner(name, **settings) for settings in _combinations(name, given)]
    rules = [ChoiceRule(how)] if how == "score" else [ChoiceRule(how, scale) for scale in SCALES]
    has_rounds = not set(ROUNDS).isdisjoint(given)
    if data.n_lists < 2 or (len(learners) == len(rules) == 1 and has_rounds):
        return Learned(learners[0].learn(data), rules[-1])
    trials = cross_validate(data, learners, n_folds=min(n_folds, data.n_lists), rules=rules)
    trials = [trial for trial in trials if not has_rounds or trial.rounds == trial.learner.rounds]
    best, base = best_trial(trials), base_f(data)
    for trial in trials:
        report(f"  {_shown(trial, name)}: {100 * (trial.f - base):+.2f} F{'  *' if trial is best else ''}")
    *_, (_, weights) = best.learner.path(data, [best.rounds])
    return Learned(weights, best.rule)


def _combinations(name: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grid = {key: values for key, values in GRIDS.get(name, {}).items() if key not in given}
    for values in product(*grid.values()):
        yield dict(given) | dict(zip(grid, values, strict=True))


def _shown(trial: Trial, name: str) -> str:
    settings = trial.learner.settings.to_dict()
    shown = [f"{key} {settings[key]}" for key in GRIDS.get(name, {})]
    scale = [] if trial.rule.how == "score" else [f"scale {trial.rule.scale}"]
    return ", ".join([f"{name}: {trial.rounds} rounds", *shown, *scale])
