"""The probabilities of phrases, given those of labels over spans, each computed when it is asked for."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from spacy_incparse.chart.forests.span_numbers import span_bounds, span_number
from spacy_incparse.chart.spans.chain_labels import Chain
from spacy_incparse.trees.arrays import Phrase

LEAST_SHARE = 1e-6  # phrases that are less probable are left out


def chains_with(chains: Sequence[Chain]) -> dict[str, np.ndarray]:
    """Return the numbers of the chains that have each label."""
    names = {name for chain in chains for name in chain}
    return {
        name: np.array([number for number, chain in enumerate(chains) if name in chain], np.int64) for name in names
    }


class PhraseShares(Mapping[Phrase, float]):
    """The probability of each phrase that is not negligible.

    Most sentences have thousands of possible phrases, of which few are asked for. shares: the probabilities of chains
    over spans, (n_spans, n_chains), spans as in `bracket_chart`. chains_of: the chains that have each label.
    """

    def __init__(self, shares: np.ndarray, chains_of: Mapping[str, np.ndarray]):
        self._shares, self._chains_of = shares, chains_of

    def __getitem__(self, phrase: Phrase) -> float:
        label, start, end = phrase
        row = span_number(start, end)
        if label not in self._chains_of or not 0 <= start < end or row >= len(self._shares):
            raise KeyError(phrase)
        share = float(self._shares[row, self._chains_of[label]].sum(dtype=np.float64))
        if share < LEAST_SHARE:
            raise KeyError(phrase)
        return min(share, 1.0)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def items(self) -> ItemsView[Phrase, float]:
        """Return all phrases with their probabilities."""
        return self._all.items()

    @cached_property
    def _all(self) -> dict[Phrase, float]:
        found: dict[Phrase, float] = {}
        for label, chains in self._chains_of.items():
            sums = self._shares[:, chains].sum(axis=1, dtype=np.float64)
            rows = (sums >= LEAST_SHARE).nonzero()[0]
            starts, ends = span_bounds(rows)
            spans = zip(starts.tolist(), ends.tolist(), np.minimum(sums[rows], 1).tolist(), strict=True)
            found |= {(label, start, end): share for start, end, share in spans}
        return found
