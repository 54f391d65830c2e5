"""Choose one candidate of each list by a model's values, and score the choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.rerank.data import (
    RerankerWeights,
    RerankingData,
    best_candidates,
    candidate_values,
    list_probabilities,
)
from spacy_incparse.rerank.data_building import select_lists
from spacy_incparse.rerank.learner import Progress, RerankLearner
from spacy_incparse.settings import check_number

How = Literal["score", "expected_f"]


@dataclass(frozen=True)
class ChoiceRule:
    """How to choose a candidate by its value F(x).

    how: "score", the highest value; "expected_f", the highest expected F against all candidates of the list, where a
    candidate's probability is proportional to exp(scale F(x)) (Goodman 1996).
    """

    how: How = "score"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise ConfigError(f"how is {self.how!r}: choose from {', '.join(get_args(How))}")
        check_number("scale", self.scale, 1e-6, 1e6, is_whole=False)


def choose(data: RerankingData, values: np.ndarray, how: How = "score", scale: float = 1.0) -> np.ndarray:
    """Return the chosen candidate of each list as its index among all candidates, (n_lists,) int64.

    values: (n_candidates,) F(x), as from `candidate_values`. how, scale: see `ChoiceRule`. Ties go to the first.
    Raises ValueError if "expected_f" is asked for and the data has no overlaps.
    """
    rule = ChoiceRule(how, scale)
    if rule.how == "expected_f":
        values = _expected_f(data, list_probabilities(rule.scale * values, data.list_starts))
    chosen = [start + np.argmax(values[start:end]) for start, end in pairwise(data.list_starts)]
    return np.array(chosen, np.int64)


def expected_f(overlaps: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return each candidate's expected F against its list: 2 sum_b p_b |a and b| / (|a| + sum_b p_b |b|).

    overlaps: (n, n), phrases that two candidates share. probabilities: (n,).
    """
    sizes = np.diagonal(overlaps)
    shared = (overlaps * probabilities).sum(axis=1)
    return 2 * shared / np.maximum(sizes + (sizes * probabilities).sum(), 1e-300)  # trees without phrases have 0


def agreement(data: RerankingData, chosen: np.ndarray) -> Agreement:
    """Return EVALB's counts of brackets, summed over the chosen candidates; its `f` is the corpus F, 0 to 1."""
    matched, phrases = data.n_matched[chosen].sum(), data.n_phrases[chosen].sum()
    return Agreement(int(matched), int(data.n_gold.sum()), int(phrases))


def corpus_f(data: RerankingData, chosen: np.ndarray) -> float:
    """Return the F of the chosen candidates over all sentences, 0 to 1."""
    return agreement(data, chosen).f


def oracle_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest F each."""
    return corpus_f(data, best_candidates(data))


def base_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest base score."""
    return corpus_f(data, choose(data, data.scores[:, 0]))


def _expected_f(data: RerankingData, probabilities: np.ndarray) -> np.ndarray:
    if len(data.overlaps) != data.n_lists:
        raise ValueError(f"expected F needs the overlaps of {data.n_lists} lists, not of {len(data.overlaps)}")
    parts = np.split(probabilities, data.list_starts[1:-1])
    return np.concatenate([expected_f(o, p) for o, p in zip(data.overlaps, parts, strict=True)])


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
