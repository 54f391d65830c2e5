"""Choose a learner, its settings, the number of rounds and the rule of choice by cross-validation over lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.choice import ChoiceRule, choose, corpus_f
from spacy_incparse.rerank.data_selection import select_lists
from spacy_incparse.rerank.list_probabilities import candidate_values
from spacy_incparse.rerank.rerank_learner import Progress, RerankLearner
from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData

BY_SCORE = (ChoiceRule(),)


class Trial(NamedTuple):
    """How one learner did with one number of rounds and one rule of choice.

    f: of the choices in all held-out folds, summed over all sentences (0 to 1). chosen: (n_lists,) the candidates.
    """

    learner: RerankLearner
    rounds: int
    rule: ChoiceRule
    f: float
    chosen: np.ndarray


def cross_validate(
    data: RerankingData,
    learners: Sequence[RerankLearner],
    *,
    n_folds: int = 5,
    rules: Sequence[ChoiceRule] = BY_SCORE,
    progress: Progress | None = None,
) -> list[Trial]:
    """Return a trial for each learner, number of rounds and rule, in this order.

    Each list's candidate is chosen with weights learnt from the other folds. Learners that improve by rounds are tried
    with several numbers of rounds in one run: see `round_numbers`. progress: counts runs, one per learner and fold.
    """
    folds = contiguous_folds(data.n_lists, n_folds)
    trials: list[Trial] = []
    for number, learner in enumerate(learners):
        chosen: dict[tuple[int, ChoiceRule], list[np.ndarray]] = {}
        for fold, lists in enumerate(folds):
            for rounds, weights in _learnt_without(data, lists, learner):
                for rule, candidates in _choices(data, lists, weights, rules):
                    chosen.setdefault((rounds, rule), []).append(candidates)
            if progress:
                progress(number * n_folds + fold + 1, len(learners) * n_folds)
        for (rounds, rule), parts in chosen.items():
            joined = np.concatenate(parts)
            trials.append(Trial(learner, rounds, rule, corpus_f(data, joined), joined))
    return trials


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest F, the first of several."""
    return max(trials, key=lambda trial: trial.f)


def contiguous_folds(n_lists: int, n_folds: int) -> list[np.ndarray]:
    """Return the list numbers of each fold, ascending. Neighbours stay together, because they are of one document.

    Raises ConfigError unless there are at least 2 folds, and a list for each.
    """
    if not 2 <= n_folds <= n_lists:
        raise ConfigError(f"{n_lists} lists cannot be split into {n_folds} folds: choose from 2 to {n_lists}")
    ends = [number * n_lists // n_folds for number in range(n_folds + 1)]
    return [np.arange(start, end) for start, end in pairwise(ends)]


def round_numbers(rounds: int) -> list[int]:
    """Return numbers of rounds to try: all rounds, and halves, quarters, ... of them down to a 32nd."""
    return sorted({max(1, rounds >> halvings) for halvings in range(6)}) if rounds else [0]


def _learnt_without(
    data: RerankingData, lists: np.ndarray, learner: RerankLearner
) -> Iterator[tuple[int, RerankerWeights]]:
    others = np.setdiff1d(np.arange(data.n_lists), lists)
    return learner.path(select_lists(data, others), round_numbers(learner.rounds))


def _choices(
    data: RerankingData, lists: np.ndarray, weights: RerankerWeights, rules: Sequence[ChoiceRule]
) -> Iterator[tuple[ChoiceRule, np.ndarray]]:
    """Yield each rule with the candidates of the held-out lists that it chooses, numbered as in `data`."""
    held_out = select_lists(data, lists)
    values = candidate_values(held_out, weights)
    for rule in rules:
        yield rule, choose(held_out, values, rule.how, rule.scale) + data.list_starts[lists[0]]
