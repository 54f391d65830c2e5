"""Probabilities of phrases, against sums over all labels of all spans, one by one."""

import numpy as np
import pytest

from spacy_incparse.neural.span_parser import LEAST_SHARE, PhraseShares, chains_with

CHAINS = [("S",), ("NP",), ("S", "VP"), ("NP", "NP"), ("VP", "S")]
N_WORDS = 5


def expected(shares):
    """The probability of each phrase, by spans in the order of their ends, then of their starts."""
    found = {}
    spans = [(start, end) for end in range(1, N_WORDS + 1) for start in range(end)]
    for (start, end), row in zip(spans, shares, strict=True):
        for chain, share in zip(CHAINS, row, strict=True):
            for label in set(chain):
                found[label, start, end] = found.get((label, start, end), 0.0) + float(share)
    return {phrase: min(share, 1.0) for phrase, share in found.items() if share >= LEAST_SHARE}


@pytest.fixture
def shares():
    generator = np.random.default_rng(0)
    found = generator.dirichlet(np.full(len(CHAINS) + 1, 0.3), N_WORDS * (N_WORDS + 1) // 2)[:, :-1]
    found[::3] *= LEAST_SHARE / 10
    found[1, :] = 0.4  # sums above 1 are rounding errors
    return found.astype(np.float32)


def test_phrases_have_the_sums_of_their_chains(shares):
    found, known = PhraseShares(shares, chains_with(CHAINS)), expected(shares)
    assert dict(found) == pytest.approx(known)
    assert dict(found.items()) == pytest.approx(known)
    assert {phrase: found[phrase] for phrase in known} == pytest.approx(known)
    assert len(found) == len(known)
    assert max(found.values()) == 1.0


def test_other_phrases_are_not_there(shares):
    found = PhraseShares(shares, chains_with(CHAINS))
    for phrase in [("PP", 0, 1), ("S", 0, 1), ("S", 0, N_WORDS + 1), ("S", 3, 3), ("S", -1, 2)]:
        assert phrase not in found
        assert found.get(phrase, 0.0) == 0.0
