"""Hidden words: whole ones, never markers, in the stated shares; and batches with every sentence once."""

import numpy as np
import pytest

from spacy_incparse.encoders.masked_words import KEPT, MARKER, Masking, PieceSentence, batches
from spacy_incparse.errors import ConfigError

MASK, PADDING, N_PIECES = 4, 0, 1000


def random_sentences(n, rng):
    """Sentences of words of one to three pieces, between two markers."""
    found = []
    for _ in range(n):
        sizes = rng.integers(1, 4, size=rng.integers(1, 30))
        words = np.array([MARKER, *np.repeat(np.arange(len(sizes)), sizes), MARKER])
        found.append(PieceSentence(rng.integers(10, N_PIECES, size=len(words)), words))
    return found


def hidden(share=0.2, n=400, seed=0):
    rng = np.random.default_rng(seed)
    sentences = random_sentences(n, rng)
    return sentences, Masking(share, MASK, PADDING, N_PIECES).hide(sentences, rng)


def test_hidden_words():
    sentences, batch = hidden()
    n_words = n_hidden = 0
    for (pieces, words), shown, targets in zip(sentences, batch.pieces, batch.targets, strict=True):
        n = len(pieces)
        assert (shown[n:] == PADDING).all()
        assert (targets[n:] == KEPT).all()
        is_hidden = targets[:n] != KEPT
        assert (targets[:n][is_hidden] == pieces[is_hidden]).all()
        assert (shown[:n][~is_hidden] == pieces[~is_hidden]).all()
        assert not is_hidden[words == MARKER].any()
        of_words = [is_hidden[words == word] for word in range(words.max() + 1)]
        assert all(one.all() or not one.any() for one in of_words)
        n_words, n_hidden = n_words + len(of_words), n_hidden + sum(one.all() for one in of_words)
    assert n_hidden / n_words == pytest.approx(0.2, abs=0.02)


def test_what_stands_for_hidden_pieces():
    """Devlin et al. (2019), section 3.1: the mask in 80 % of the cases, another piece in 10 %, the same in 10 %."""
    _, batch = hidden()
    of_hidden = batch.targets != KEPT
    shown, targets = batch.pieces[of_hidden], batch.targets[of_hidden]
    assert np.mean(shown == MASK) == pytest.approx(0.8, abs=0.03)
    assert np.mean(shown == targets) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(("share", "n_kept"), [(0.0, 0), (1.0, None)])
def test_nothing_or_everything_is_hidden(share, n_kept):
    sentences, batch = hidden(share, 20)
    n_hidden = (batch.targets != KEPT).sum()
    assert n_hidden == (n_kept if n_kept is not None else sum(len(one.pieces) - 2 for one in sentences))


def test_other_words_are_hidden_each_time():
    rng = np.random.default_rng(0)
    sentences, masking = random_sentences(20, rng), Masking(0.2, MASK, PADDING, N_PIECES)
    assert (masking.hide(sentences, rng).targets != masking.hide(sentences, rng).targets).any()
    assert all((a == b).all() for a, b in zip(hidden()[1], hidden()[1], strict=True))


def test_a_share_is_between_0_and_1():
    with pytest.raises(ConfigError, match="share is 2"):
        Masking(2, MASK, PADDING, N_PIECES)


@pytest.mark.parametrize("n_pieces", [1, 50, 10_000])
def test_batches_have_every_sentence_once(n_pieces):
    lengths = np.random.default_rng(0).integers(1, 80, size=5000).tolist()
    found = batches(lengths, n_pieces, np.random.default_rng(1))
    assert sorted(number for batch in found for number in batch) == list(range(5000))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= n_pieces
    assert found == batches(lengths, n_pieces, np.random.default_rng(1))
    assert found != batches(lengths, n_pieces, np.random.default_rng(2))


def test_batches_of_nothing():
    assert batches([], 10, np.random.default_rng(0)) == []
