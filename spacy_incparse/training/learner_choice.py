"""Choose the settings of a reranker's learner by cross-validation over the lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from spacy_incparse.rerank.choice import How, base_f, choose, corpus_f
from spacy_incparse.rerank.data_building import select_lists
from spacy_incparse.rerank.learners import make_learner
from spacy_incparse.rerank.list_probabilities import candidate_values
from spacy_incparse.rerank.rerank_learner import RerankLearner
from spacy_incparse.rerank.reranking_data import RerankingData

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "risk": {"sigma": (0.1, 0.3, 1.0)},
    "log": {"sigma": (0.1, 0.3, 1.0)},
    "boost": {"smoothing": (0.0025, 0.01), "pair_weights": ("none", "f")},
}
"""The settings of each learner that are tried, in all combinations; those of other learners are their defaults."""
ROUNDS: dict[str, tuple[str, tuple[int, ...]]] = {"boost": ("rounds", (100, 300, 1000, 3000))}
"""Of learners that go on round by round: the setting with their number, and the numbers that one run tries."""

Report = Callable[[str], object]


def choose_learner(
    data: RerankingData,
    name: str,
    given: Mapping[str, Any],
    *,
    how: How = "score",
    n_folds: int = 5,
    report: Report = lambda _: None,
) -> RerankLearner:
    """Return a learner with the settings that give the highest F on held-out lists; ties go to the first.

    given: settings that are not chosen. how: how a candidate is chosen by its value. Raises ConfigError for an unknown
    learner or setting.
    """
    learners = [make_learner(name, **settings) for settings in _combinations(name, given)]
    key, rounds = ROUNDS[name] if name in ROUNDS and ROUNDS[name][0] not in given else ("", ())
    if min(n_folds, data.n_lists) < 2 or len(learners) * max(1, len(rounds)) == 1:
        return learners[0]
    tried = []
    base = base_f(data)
    for settings, learner in zip(_combinations(name, given), learners, strict=True):
        for number, f in held_out_f(data, learner, rounds or [learner.rounds], n_folds, how).items():
            both = settings | ({key: number} if key else {})
            tried.append((f, both))
            report(f"  {name}, {_shown(both)}: {100 * (f - base):+.2f} F by cross-validation")
    _, best = max(tried, key=lambda pair: pair[0])
    report(f"  chosen: {_shown(best)}")
    return make_learner(name, **best)


def held_out_f(
    data: RerankingData, learner: RerankLearner, rounds: Sequence[int], n_folds: int, how: How = "score"
) -> dict[int, float]:
    """Return for each number of rounds the F of all lists, each chosen by weights that were learned without its fold.

    Folds are contiguous, since neighbouring sentences are alike.
    """
    folds = np.arange(data.n_lists) * min(n_folds, data.n_lists) // data.n_lists
    chosen: dict[int, list[np.ndarray]] = defaultdict(list)
    for fold in range(folds[-1] + 1):
        inside = np.flatnonzero(folds == fold)
        first = data.list_starts[inside[0]]
        test = select_lists(data, inside)
        for number, weights in learner.path(select_lists(data, np.flatnonzero(folds != fold)), rounds):
            chosen[number].append(first + choose(test, candidate_values(test, weights), how))
    return {number: corpus_f(data, np.concatenate(parts)) for number, parts in chosen.items()}


def _combinations(name: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grid = {key: values for key, values in GRIDS.get(name, {}).items() if key not in given}
    for values in product(*grid.values()):
        yield dict(given) | dict(zip(grid, values, strict=True))


def _shown(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items()) or "defaults"
