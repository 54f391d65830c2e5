"""Relative frequencies with deleted interpolation (Jelinek & Mercer 1980): exact counts, weights by EM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import check_size, order_by, pack, pack_gaps, unpack, unpack_gaps

N_FOLDS = 10
N_ITERATIONS = 25
COUNT_BUCKETS, RATIO_BUCKETS = 8, 10
MAX_EVENTS = 1_500_000  # held-out events that EM uses; if there are more, only every n-th

Ints = np.ndarray
_Bounds = list[tuple[int, int]]  # the first number of each level, and that of the next one
_WHAT = "the counts"
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class NestedCounts:
    """Outcomes in nested contexts in the form that `generative_scorer.ContextTable` needs, without the weights.

    above, values: by context, the context that it refines (-1: none) and the value that it adds. Contexts are grouped
    by level and sorted by both. n_outcomes: by context. outcomes, counts: of all contexts, sorted within each.

    The weight of a context depends on its bucket: by level, by count, and by count per distinct outcome (Chen & Goodman
    1996). Each tenth of the training sentences is predicted from the counts of the other nine; EM maximizes the
    likelihood of all tenths together. The counts of the final table are those of all sentences.

    A context has only outcomes of the context that it refines, and none more often. So an outcome is stored as its
    place in the list of the other context, and what follows from the other context is left out.
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
        return np.add.reduceat(self.counts, _starts(self.n_outcomes), dtype=np.int64)

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

    def table_arguments(self, weights: Ints) -> tuple[Any, ...]:
        """Return the arguments of `ContextTable`, given the weight of each bucket."""
        arrays = (self.above, self.values, self.n_outcomes, self.outcomes, self.counts)
        own_weights = weights[_bucket_of(self.levels, self.totals, self.n_outcomes)]
        return len(self.level_sizes), *(array.tobytes() for array in arrays), own_weights.astype(np.float64).tobytes()

    def to_dict(self) -> dict[str, Any]:
        """Return the counts in a form suitable for msgpack: compressed arrays by name."""
        above, n_outcomes, starts = self.above, self.n_outcomes, _starts(self.n_outcomes)
        # By cell the cell of the same outcome in the context above, -1 for none.
        contexts = np.repeat(np.arange(len(above)), n_outcomes)
        wanted = (above[contexts].astype(np.int64) << 32) + self.outcomes
        cells_above = np.where(wanted < 0, -1, np.searchsorted((contexts << 32) + self.outcomes, wanted))
        places = np.where(cells_above < 0, self.outcomes, cells_above - np.repeat(starts[above], n_outcomes))
        is_first = np.diff(above, prepend=-2) != 0  # within its context above
        value_gaps = _gaps(self.values, np.flatnonzero(is_first))
        bounds = _bounds(self.level_sizes)
        packed = {
            "first_values": value_gaps[is_first],
            "value_gaps": value_gaps[~is_first],
            "n_outcomes": _unknown(n_outcomes, above, bounds),
            "places": _gaps(places, starts)[_is_stored(above, n_outcomes)],
            "counts": _unknown(self.counts, cells_above, _cell_bounds(bounds, n_outcomes)),
        }
        arrays = {"above": pack_gaps(above)} | {name: pack(array.astype(np.int32)) for name, array in packed.items()}
        return {"level_sizes": list(self.level_sizes), "arrays": arrays}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> NestedCounts:
        """Undo `to_dict`. Raises ModelError if the arrays do not match, so that no look-up can be out of bounds."""
        level_sizes, packed = tuple(data["level_sizes"]), data["arrays"]
        above, bounds = unpack_gaps(packed["above"], "i4", _WHAT, sum(level_sizes)), _bounds(level_sizes)
        for (lowest, highest), (first, last) in zip([(-1, 0), *bounds], bounds, strict=False):
            found = above[first:last]
            if len(found) and not lowest <= found.min() <= found.max() < highest:
                raise ModelError(f"{_WHAT} are damaged: they have contexts within none")
        is_first = np.diff(above, prepend=-2) != 0
        firsts, value_gaps = np.flatnonzero(is_first), np.empty(len(above), np.int32)
        value_gaps[is_first] = unpack(packed["first_values"], "i4", _WHAT, len(firsts))
        value_gaps[~is_first] = unpack(packed["value_gaps"], "i4", _WHAT, len(above) - len(firsts))
        values = _ascending(value_gaps, firsts, np.diff(firsts, append=len(above)))
        n_outcomes = _with_unknown(packed["n_outcomes"], above, bounds)
        n_cells = int(n_outcomes.sum(dtype=np.int64))
        check_size(b"".join(packed.values()), n_cells * n_outcomes.itemsize, _WHAT)
        cells_above, outcomes = _unpack_places(packed["places"], above, n_outcomes)
        bounds = _cell_bounds(bounds, n_outcomes)
        for first, last in bounds[1:]:
            outcomes[first:last] = outcomes[cells_above[first:last]]
        counts = _with_unknown(packed["counts"], cells_above, bounds)
        return cls(level_sizes, above, values, n_outcomes, outcomes, counts)


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


def _bucket_of(levels: Ints, totals: Ints, n_outcomes: Ints) -> Ints:
    """Return the buckets of contexts with these counts (at least 1) and numbers of distinct outcomes."""
    by_count = np.minimum(np.log2(totals).astype(np.int64), COUNT_BUCKETS - 1)
    by_ratio = np.minimum((2 * np.log2(totals / n_outcomes) + 1e-9).astype(np.int64), RATIO_BUCKETS - 1)
    return (levels * COUNT_BUCKETS + by_count) * RATIO_BUCKETS + by_ratio


def estimate_weights(rows: Ints, paths: Ints, folds: Ints, base: Ints, min_count: int = 1) -> Ints:
    """Return lambda by bucket for rows of (values..., outcome) with their contexts, tenths and base probabilities.

    Contexts after the first level count as unseen if their count is below `min_count`. EM maximizes sum log P over
    lambda by bucket; P = sum_k lambda_k prod_{j>k} (1 - lambda_j) share_k + rest * base.
    """
    n_levels = paths.shape[1]
    n_buckets = n_levels * COUNT_BUCKETS * RATIO_BUCKETS
    shares = np.zeros(paths.shape)  # the outcome's share of the context's count, without the row's own tenth
    places = np.full(paths.shape, n_buckets, np.int64)  # buckets, the last one of unseen contexts
    for level in range(n_levels):
        totals, n_outcomes, counts = _deleted_counts(paths[:, level].astype(np.int64), rows[:, -1], folds)
        seen = totals >= (min_count if level else 1)
        shares[seen, level] = counts[seen] / totals[seen]
        places[seen, level] = _bucket_of(np.full(int(seen.sum()), level), totals[seen], n_outcomes[seen])
    step = -(-len(rows) // MAX_EVENTS)
    shares, places, base = shares[::step], places[::step], base[::step]
    weights = np.full(n_buckets + 1, 0.5)
    weights[n_buckets] = 0.0
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
    cells = contexts * N_FOLDS + folds
    totals = np.bincount(contexts)[contexts] - np.bincount(cells, minlength=n_contexts * N_FOLDS)[cells]
    # An outcome that a context has only in one tenth is not among its outcomes without that tenth.
    lost = fold_counts == pair_counts[in_fold // N_FOLDS]
    lost_cells = context_of[in_fold // N_FOLDS] * N_FOLDS + in_fold % N_FOLDS
    lost_in = np.bincount(lost_cells, weights=lost, minlength=n_contexts * N_FOLDS).astype(np.int64)
    n_outcomes = np.bincount(context_of, minlength=n_contexts)[contexts] - lost_in[cells]
    return totals, n_outcomes, counts


def _unpack_places(data: Any, above: Ints, n_outcomes: Ints) -> tuple[Ints, Ints]:
    """Return by cell (an outcome of a context) its cell in the context above, -1 for none, and its place there."""
    starts, is_stored = _starts(n_outcomes), _is_stored(above, n_outcomes)
    gaps = np.zeros(len(is_stored), np.int32)
    gaps[is_stored] = unpack(data, "i4", _WHAT, int(is_stored.sum()))
    places = _ascending(gaps, starts, n_outcomes)
    limits = np.where(above < 0, _NO_LIMIT, n_outcomes[above])
    if gaps.min(initial=0) < 0 or (places[starts + n_outcomes - 1] >= limits).any() or places.min(initial=0) < 0:
        raise ModelError(f"{_WHAT} are damaged: they have outcomes that the context above does not have")
    cells_above = np.repeat(starts[above].astype(np.int32), n_outcomes)
    cells_above += places
    cells_above[: int(n_outcomes[above < 0].sum())] = -1
    return cells_above, places


def _is_stored(above: Ints, n_outcomes: Ints) -> Ints:
    """Return whether each cell's place is stored: not if its context has all outcomes of the context above."""
    return np.repeat((above < 0) | (n_outcomes < n_outcomes[above]), n_outcomes)


def _unknown(numbers: Ints, above: Ints, bounds: _Bounds) -> Ints:
    """Return the numbers (1 or more) that are not 1 because the number above is 1, less 1."""
    return np.concatenate([numbers[:0], *(numbers[_undecided(numbers, above, level)] - 1 for level in bounds)])


def _with_unknown(data: Any, above: Ints, bounds: _Bounds) -> Ints:
    """Undo `_unknown`."""
    unknown, numbers, n_read = unpack(data, "i4", _WHAT), np.ones(len(above), np.int32), 0
    for level in bounds:
        places = _undecided(numbers, above, level)
        found = unknown[n_read : n_read + len(places)]
        if len(found) < len(places) or found.min(initial=0) < 0:
            raise ModelError(f"{_WHAT} are damaged: there are not {len(places):,} numbers for a level")
        numbers[places] += found
        n_read += len(found)
    if n_read != len(unknown):
        raise ModelError(f"{_WHAT} are damaged: there are {len(unknown):,} numbers, not {n_read:,}")
    return numbers


def _undecided(numbers: Ints, above: Ints, level: tuple[int, int]) -> Ints:
    """Return the places of a level where the number above is not 1, in the order of that number."""
    of_level = above[slice(*level)]
    limits = np.where(of_level < 0, _NO_LIMIT, numbers[of_level])
    places = np.flatnonzero(limits != 1)
    return places[order_by(limits[places])] + level[0]


def _bounds(sizes: Sequence[int]) -> _Bounds:
    ends = np.cumsum(sizes).tolist()
    return list(zip([0, *ends], ends, strict=False))


def _cell_bounds(bounds: _Bounds, n_outcomes: Ints) -> _Bounds:
    """Return the bounds of cells in levels of contexts."""
    ends = np.concatenate([[0], np.cumsum(n_outcomes)])
    return [(int(ends[first]), int(ends[last])) for first, last in bounds]


def _starts(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths


def _gaps(ascending: Ints, starts: Ints) -> Ints:
    """Return the first number of each ascending series, and for the others, how many the series leaves out before."""
    gaps = np.diff(ascending, prepend=0) - 1
    gaps[starts] = ascending[starts]
    return gaps


def _ascending(gaps: Ints, starts: Ints, lengths: Ints) -> Ints:
    """Undo `_gaps`."""
    steps = gaps + np.int32(1)
    steps[starts] -= 1
    sums = np.cumsum(steps, dtype=np.int32)
    return sums - np.repeat((sums - steps)[starts], lengths)
