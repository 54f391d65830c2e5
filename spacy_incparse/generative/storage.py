"""Outcomes in nested contexts as bytes.

A context has only outcomes of the context that it refines, and none more often. So an outcome is stored as its place in
the list of the other context, and what follows from the other context is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import check_size, order_by, pack, pack_gaps, unpack, unpack_gaps

_WHAT = "the counts"
_NO_LIMIT = 2**31 - 1

Ints = np.ndarray
Arrays = tuple[Ints, Ints, Ints, Ints, Ints]
Levels = Sequence[tuple[int, int]]  # the first number of each level, and that of the next one


def pack_counts(level_sizes: Sequence[int], arrays: Arrays) -> dict[str, bytes]:
    """Return the arrays of `NestedCounts` as named bytes: above, values, n_outcomes, outcomes, counts."""
    above, values, n_outcomes, outcomes, counts = arrays
    starts = np.cumsum(n_outcomes) - n_outcomes
    # By cell the cell of the same outcome in the context above, -1 for none.
    contexts = np.repeat(np.arange(len(above)), n_outcomes)
    keys, wanted = (contexts << 32) + outcomes, (above[contexts].astype(np.int64) << 32) + outcomes
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    if (keys[found] != wanted)[wanted >= 0].any():
        raise ValueError("a context has outcomes that the context above does not have")
    cells_above = np.where(wanted < 0, -1, found)
    places = np.where(cells_above < 0, outcomes, cells_above - np.repeat(starts[above], n_outcomes))
    is_first = _is_first(above)
    value_gaps = _gaps(values, np.flatnonzero(is_first))
    levels = _levels(level_sizes)
    packed = {
        "first_values": value_gaps[is_first],
        "value_gaps": value_gaps[~is_first],
        "n_outcomes": _unknown(n_outcomes, above, levels),
        "places": _gaps(places, starts)[_is_stored(above, n_outcomes)],
        "counts": _unknown(counts, cells_above, _cell_levels(levels, n_outcomes)),
    }
    return {"above": pack_gaps(above), **{name: pack(array.astype(np.int32)) for name, array in packed.items()}}


def unpack_counts(level_sizes: Sequence[int], packed: Mapping[str, Any]) -> Arrays:
    """Undo `pack_counts`. Raises ModelError for damaged bytes."""
    above, levels = unpack_gaps(packed["above"], "i4", _WHAT, sum(level_sizes)), _levels(level_sizes)
    _check_above(above, levels)
    n_outcomes = _with_unknown(packed["n_outcomes"], above, levels)
    n_cells = int(n_outcomes.sum(dtype=np.int64))
    check_size(b"".join(packed.values()), n_cells * n_outcomes.itemsize, _WHAT)
    cells_above, outcomes = _unpack_places(packed["places"], above, n_outcomes)
    levels = _cell_levels(levels, n_outcomes)
    for first, last in levels[1:]:
        outcomes[first:last] = outcomes[cells_above[first:last]]
    return (
        above,
        _unpack_values(packed, above),
        n_outcomes,
        outcomes,
        _with_unknown(packed["counts"], cells_above, levels),
    )


def _unpack_values(packed: Mapping[str, Any], above: Ints) -> Ints:
    is_first = _is_first(above)
    starts, gaps = np.flatnonzero(is_first), np.empty(len(above), np.int32)
    gaps[is_first] = unpack(packed["first_values"], "i4", _WHAT, len(starts))
    gaps[~is_first] = unpack(packed["value_gaps"], "i4", _WHAT, len(above) - len(starts))
    return _ascending(gaps, starts, np.diff(starts, append=len(above)))


def _unpack_places(data: Any, above: Ints, n_outcomes: Ints) -> tuple[Ints, Ints]:
    """Return by cell (an outcome of a context) its cell in the context above, -1 for none, and its place there."""
    starts = np.cumsum(n_outcomes) - n_outcomes
    is_stored = _is_stored(above, n_outcomes)
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


def _unknown(numbers: Ints, above: Ints, levels: Levels) -> Ints:
    """Return the numbers (1 or more) that are not 1 because the number above is 1, less 1."""
    return np.concatenate([numbers[:0], *(numbers[_undecided(numbers, above, level)] - 1 for level in levels)])


def _with_unknown(data: Any, above: Ints, levels: Levels) -> Ints:
    """Undo `_unknown`."""
    unknown, numbers, n_read = unpack(data, "i4", _WHAT), np.ones(len(above), np.int32), 0
    for level in levels:
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


def _check_above(above: Ints, levels: Levels) -> None:
    """Raise ModelError if a context is not within one of the level above."""
    for (lowest, highest), (first, last) in zip([(-1, 0), *levels], levels, strict=False):
        found = above[first:last]
        if len(found) and not lowest <= found.min() <= found.max() < highest:
            raise ModelError(f"{_WHAT} are damaged: they have contexts within none")


def _levels(level_sizes: Sequence[int]) -> Levels:
    ends = np.cumsum(level_sizes).tolist()
    return list(zip([0, *ends], ends, strict=False))


def _cell_levels(levels: Levels, n_outcomes: Ints) -> Levels:
    """Return the levels of cells in levels of contexts."""
    ends = np.concatenate([[0], np.cumsum(n_outcomes)])
    return [(int(ends[first]), int(ends[last])) for first, last in levels]


def _is_first(above: Ints) -> Ints:
    """Return whether each context is the first one within its context above."""
    return np.diff(above, prepend=-2) != 0


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
