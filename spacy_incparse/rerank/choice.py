"""Choose one candidate of each list by a model's values, and score the choice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.rerank.data import (
    RerankingData,
    best_candidates,
    candidate_values,
    list_probabilities,
    select_lists,
)
from spacy_incparse.rerank.learner import RerankLearner

How = Literal["score", "expected_f"]


class ChoiceRule(NamedTuple):
    """How to choose a candidate by its value F(x).

    how: "score", the highest value; "expected_f", the highest expected F against all candidates of the list, where a
    candidate's probability is proportional to exp(scale F(x)) (Goodman 1996).
    """

    how: How = "score"
    scale: float = 1.0


def choose(data: RerankingData, values: np.ndarray, how: How = "score", scale: float = 1.0) -> np.ndarray:
    """Return the chosen candidate of each list as its index among all candidates, (n_lists,) int64.

    values: (n_candidates,) F(x), as from `candidate_values`. how, scale: see `ChoiceRule`. Ties go to the first.
    Raises ValueError if "expected_f" is asked for and the data has no overlaps.
    """
    if how == "expected_f":
        if len(data.overlaps) != data.n_lists:
            raise ValueError(f"expected F needs the overlaps of {data.n_lists} lists, not of {len(data.overlaps)}")
        parts = np.split(list_probabilities(scale * values, data.list_starts), data.list_starts[1:-1])
        values = np.concatenate([expected_f(o, p) for o, p in zip(data.overlaps, parts, strict=True)])
    chosen = [start + np.argmax(values[start:end]) for start, end in pairwise(data.list_starts)]
    return np.array(chosen, np.int64)


def expected_f(overlaps: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return each candidate's expected F against its list: 2 sum_b p_b |a and b| / (|a| + sum_b p_b |b|).

    overlaps: (n, n), phrases that two candidates share. probabilities: (n,).
    """
    sizes = np.diagonal(overlaps)
    shared = (overlaps * probabilities).sum(axis=1)
    return 2 * shared / np.maximum(sizes + (sizes * probabilities).sum(), 1e-300)  # trees without phrases have 0


def corpus_f(data: RerankingData, chosen: np.ndarray) -> float:
    """Return the F of the chosen candidates over all sentences by EVALB's counts, 0 to 1."""
    matched, phrases = data.n_matched[chosen].sum(), data.n_phrases[chosen].sum()
    return Agreement(int(matched), int(data.n_gold.sum()), int(phrases)).f


def oracle_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest F each."""
    return corpus_f(data, best_candidates(data))


def base_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest base score."""
    return corpus_f(data, choose(data, data.scores[:, 0]))


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
    rules: Sequence[ChoiceRule] = (ChoiceRule(),),
) -> list[Trial]:
    """Return a trial for each learner, number of rounds and rule, in this order.

    Each list's candidate is chosen with weights learnt from the other folds. Learners that improve by rounds are tried
    with several numbers of rounds in one run: see `round_numbers`.
    """
    folds = contiguous_folds(data.n_lists, n_folds)
    trials: list[Trial] = []
    for learner in learners:
        chosen: dict[tuple[int, ChoiceRule], list[np.ndarray]] = {}
        for lists in folds:
            others, held_out = np.setdiff1d(np.arange(data.n_lists), lists), select_lists(data, lists)
            for rounds, weights in learner.path(select_lists(data, others), round_numbers(learner.n_rounds)):
                values = candidate_values(held_out, weights)
                for rule in rules:
                    candidates = choose(held_out, values, *rule) + data.list_starts[lists[0]]  # as numbered in `data`
                    chosen.setdefault((rounds, rule), []).append(candidates)
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
