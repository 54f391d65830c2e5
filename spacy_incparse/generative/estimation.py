"""Relative frequencies with deleted interpolation (Jelinek & Mercer 1980): exact counts, weights by EM.

The weight of a context depends on its bucket: by level, by count, and by count per distinct outcome (Chen & Goodman
1996). Each tenth of the training sentences is predicted from the counts of the other nine; EM maximizes the likelihood
of all tenths together. The counts of the final table are those of all sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.generative.storage import pack_counts, unpack_counts

N_FOLDS = 10
N_ITERATIONS = 25
COUNT_BUCKETS, RATIO_BUCKETS = 8, 10
MAX_EVENTS = 1_500_000  # held-out events that EM uses; if there are more, only every n-th

Ints = np.ndarray


@dataclass(frozen=True)
class NestedCounts:
    """Outcomes in nested contexts in the form that `contexts.ContextTable` needs, without the weights.

    above, values: by context, the context that it refines (-1: none) and the value that it adds. Contexts are grouped
    by level and sorted by both. n_outcomes: by context. outcomes, counts: of all contexts, sorted within each.
    """

    level_sizes: tuple[int, ...]
    above: Ints
    values: Ints
    n_outcomes: Ints
    outcomes: Ints
    counts: Ints

    @property
    def levels(self) -> Ints:
        """The level of each context."""
        return np.repeat(np.arange(len(self.level_sizes)), self.level_sizes)

    @property
    def totals(self) -> Ints:
        """The count of each context."""
        starts = np.concatenate([[0], np.cumsum(self.n_outcomes)])
        sums = np.concatenate([[0], np.cumsum(self.counts)])
        return sums[starts[1:]] - sums[starts[:-1]]

    def buckets(self) -> Ints:
        """Return the bucket of each context."""
        return bucket_of(self.levels, self.totals, self.n_outcomes)

    def without_rare(self, min_count: int) -> NestedCounts:
        """Return the counts without contexts seen less than `min_count` times; those of the first level are kept."""
        kept = (self.totals >= min_count) | (self.levels == 0)
        numbers = np.append(np.cumsum(kept) - 1, -1)  # the last one is that of -1
        kept_outcomes = np.repeat(kept, self.n_outcomes)
        return NestedCounts(
            tuple(np.bincount(self.levels[kept], minlength=len(self.level_sizes)).tolist()),
            numbers[self.above[kept]].astype(np.int32),
            self.values[kept],
            self.n_outcomes[kept],
            self.outcomes[kept_outcomes],
            self.counts[kept_outcomes],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts in a form suitable for msgpack: compressed arrays by name."""
        arrays = self.above, self.values, self.n_outcomes, self.outcomes, self.counts
        return {"level_sizes": list(self.level_sizes), "arrays": pack_counts(self.level_sizes, arrays)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> NestedCounts:
        """Undo `to_dict`. Raises ModelError if the arrays do not match, so that no look-up can be out of bounds."""
        level_sizes = tuple(data["level_sizes"])
        found = cls(level_sizes, *unpack_counts(level_sizes, data["arrays"]))
        n_contexts, n_outcomes = len(found.n_outcomes), len(found.outcomes)
        sizes = (
            (sum(found.level_sizes), len(found.above), len(found.values)),
            (found.n_outcomes.sum(), len(found.counts)),
        )
        if any(size != n_contexts for size in sizes[0]) or any(size != n_outcomes for size in sizes[1]):
            raise ModelError(
                f"the model is damaged: {n_contexts} contexts and {n_outcomes} outcomes do not fit together"
            )
        if n_contexts and (found.n_outcomes.min() < 1 or found.counts.min() < 1):
            raise ModelError("the model is damaged: it has contexts without a count")
        return found


def count(rows: Ints) -> tuple[NestedCounts, Ints]:
    """Count rows of (values..., outcome); also return the context of each row at each level, as an int32 table."""
    n_levels = rows.shape[1] - 1
    outcomes = rows[:, -1].astype(np.int64)
    here = np.full(len(rows), -1, np.int64)
    paths = np.empty((len(rows), n_levels), np.int32)
    parts: list[tuple[Ints, ...]] = []
    n_before = 0
    for level in range(n_levels):
        keys, here = np.unique((here << 32) + rows[:, level], return_inverse=True)
        pairs, counts = np.unique((here << 32) + outcomes, return_counts=True)
        n_outcomes = np.bincount(pairs >> 32, minlength=len(keys))
        parts.append((keys >> 32, keys & 0xFFFFFFFF, n_outcomes, pairs & 0xFFFFFFFF, counts))
        here = here.reshape(-1) + n_before
        paths[:, level] = here
        n_before += len(keys)
    columns = [np.concatenate(column).astype(np.int32) for column in zip(*parts, strict=True)]
    return NestedCounts(tuple(len(part[0]) for part in parts), *columns), paths


def bucket_of(levels: Ints, totals: Ints, n_outcomes: Ints) -> Ints:
    """Return the buckets of contexts with these counts (at least 1) and numbers of distinct outcomes."""
    by_count = np.minimum(np.log2(totals).astype(np.int64), COUNT_BUCKETS - 1)
    by_ratio = np.minimum((2 * np.log2(totals / n_outcomes) + 1e-9).astype(np.int64), RATIO_BUCKETS - 1)
    return (levels * COUNT_BUCKETS + by_count) * RATIO_BUCKETS + by_ratio


def estimate_weights(rows: Ints, paths: Ints, folds: Ints, base: Ints, min_count: int = 1) -> Ints:
    """Return lambda by bucket for rows of (values..., outcome) with their contexts, tenths and base probabilities.

    Contexts after the first level count as unseen if their count is below `min_count`.
    """
    n_levels = paths.shape[1]
    shares = np.zeros(paths.shape)  # the outcome's share of the context's count, without the row's own tenth
    buckets = np.full(paths.shape, -1, np.int64)
    for level in range(n_levels):
        totals, n_outcomes, counts = _deleted_counts(paths[:, level].astype(np.int64), rows[:, -1], folds)
        seen = totals >= (min_count if level else 1)
        shares[seen, level] = counts[seen] / totals[seen]
        buckets[seen, level] = bucket_of(np.full(int(seen.sum()), level), totals[seen], n_outcomes[seen])
    step = -(-len(rows) // MAX_EVENTS)
    return _expectation_maximisation(shares[::step], buckets[::step], base[::step], n_levels)


def _deleted_counts(contexts: Ints, outcomes: Ints, folds: Ints) -> tuple[Ints, Ints, Ints]:
    """Return by row the context's count, its distinct outcomes and the outcome's count, all without the row's tenth."""
    _, contexts = np.unique(contexts, return_inverse=True)
    n_contexts = int(contexts.max()) + 1
    _, pairs = np.unique((contexts << 32) + outcomes, return_inverse=True)
    context_of = np.zeros(int(pairs.max()) + 1, np.int64)
    context_of[pairs] = contexts
    pair_counts = np.bincount(pairs)
    in_fold, pair_in_fold, fold_counts = np.unique(pairs * N_FOLDS + folds, return_inverse=True, return_counts=True)
    counts = pair_counts[pairs] - fold_counts[pair_in_fold]
    totals = (
        np.bincount(contexts)[contexts]
        - np.bincount(contexts * N_FOLDS + folds, minlength=n_contexts * N_FOLDS)[contexts * N_FOLDS + folds]
    )
    # An outcome that a context has only in one tenth is not among its outcomes without that tenth.
    lost = fold_counts == pair_counts[in_fold // N_FOLDS]
    lost_in = np.bincount(
        context_of[in_fold // N_FOLDS] * N_FOLDS + in_fold % N_FOLDS, weights=lost, minlength=n_contexts * N_FOLDS
    ).astype(np.int64)
    n_outcomes = np.bincount(context_of, minlength=n_contexts)[contexts] - lost_in[contexts * N_FOLDS + folds]
    return totals, n_outcomes, counts


def _expectation_maximisation(shares: Ints, buckets: Ints, base: Ints, n_levels: int) -> Ints:
    """Maximize sum log P over lambda by bucket; P = sum_k lambda_k prod_{j>k} (1 - lambda_j) share_k + rest * base."""
    n_buckets = n_levels * COUNT_BUCKETS * RATIO_BUCKETS
    weights = np.full(n_buckets + 1, 0.5)
    weights[n_buckets] = 0.0  # of unseen contexts
    places = np.where(buckets < 0, n_buckets, buckets)
    for _ in range(N_ITERATIONS):
        left = np.ones(len(base))
        joint = np.empty(shares.shape)  # probability that the outcome occurs and is drawn from the level
        for level in range(n_levels - 1, -1, -1):
            here = weights[places[:, level]]
            joint[:, level] = left * here * shares[:, level]
            left *= 1 - here
        posterior = joint / (joint.sum(axis=1) + left * base)[:, None]
        reached = 1 - np.cumsum(posterior[:, ::-1], axis=1)[:, ::-1] + posterior
        taken = np.bincount(places.ravel(), weights=posterior.ravel(), minlength=n_buckets + 1)
        asked = np.bincount(places.ravel(), weights=reached.ravel(), minlength=n_buckets + 1)
        weights[:-1] = ((taken + 0.5) / (asked + 1.0))[:-1]
    return np.clip(weights[:-1], 1e-6, 1 - 1e-6)


def to_table_arguments(counts: NestedCounts, weights: Ints) -> tuple[Any, ...]:
    """Return the arguments of `ContextTable`."""
    arrays = (counts.above, counts.values, counts.n_outcomes, counts.outcomes, counts.counts)
    return (
        len(counts.level_sizes),
        *(array.astype(np.int32).tobytes() for array in arrays),
        weights[counts.buckets()].astype(np.float64).tobytes(),
    )
