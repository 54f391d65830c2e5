"""Sentences some of whose words are hidden, so that an encoder learns to guess them (Devlin et al. 2019, section 3.1).

Words are hidden as a whole, with all their pieces: the other pieces of a rare word would often tell the missing one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from spacy_incparse.settings import check_range

KEPT = -1  # the target of a piece that is not to be guessed
MARKER = -1  # the word of a piece that marks the beginning or the end of a sentence
_POOL = 2000  # sentences among which those of similar lengths make a batch
_SHOWN_AS_MASK, _SHOWN_AS_OTHER = 0.8, 0.1  # of the hidden pieces; the others are shown as they are


class PieceSentence(NamedTuple):
    """A sentence in pieces: int64 (n_pieces,), and the number of the word of each, `MARKER` for none."""

    pieces: np.ndarray
    words: np.ndarray


class MaskedBatch(NamedTuple):
    """Sentences with hidden words, int64 (n_sentences, n_pieces), and the pieces to guess, `KEPT` for the others."""

    pieces: np.ndarray
    targets: np.ndarray


@dataclass(frozen=True)
class Masking:
    """How words are hidden.

    share: the part of the words that is to be guessed. mask: the number of the piece that stands for a hidden one.
    padding: the number of the piece behind the end of a sentence. n_pieces: of the vocabulary.
    """

    share: float
    mask: int
    padding: int
    n_pieces: int

    def __post_init__(self) -> None:
        check_range("share", self.share, 0, 1)

    def hide(self, sentences: Sequence[PieceSentence], rng: np.random.Generator) -> MaskedBatch:
        """Return a batch of sentences with other words hidden at each call."""
        shape = len(sentences), max(len(sentence.pieces) for sentence in sentences)
        shown, targets = np.full(shape, self.padding, np.int64), np.full(shape, KEPT, np.int64)
        for row, (pieces, words) in enumerate(sentences):
            is_hidden = self._hidden(words, rng)
            targets[row, : len(pieces)][is_hidden] = pieces[is_hidden]
            shown[row, : len(pieces)] = self._shown(pieces, is_hidden, rng)
        return MaskedBatch(shown, targets)

    def _hidden(self, words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        of_words = rng.random(int(words.max(initial=MARKER)) + 2) < self.share
        of_words[MARKER] = False
        return of_words[words]

    def _shown(self, pieces: np.ndarray, is_hidden: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        kinds = rng.random(len(pieces))
        others = rng.integers(self.n_pieces, size=len(pieces))
        is_other = kinds < _SHOWN_AS_MASK + _SHOWN_AS_OTHER
        shown = np.where(kinds < _SHOWN_AS_MASK, self.mask, np.where(is_other, others, pieces))
        return np.where(is_hidden, shown, pieces)


def batches(lengths: Sequence[int], n_pieces: int, rng: np.random.Generator) -> list[list[int]]:
    """Return the numbers of sentences in batches of at most `n_pieces` pieces with padding, in a random order.

    A longer sentence is a batch of its own.
    """
    order = iter(rng.permutation(len(lengths)).tolist())
    found: list[list[int]] = []
    while pool := list(islice(order, _POOL)):
        found += _filled(sorted(pool, key=lambda number: lengths[number]), lengths, n_pieces)
    return [found[i] for i in rng.permutation(len(found))]


def _filled(ascending: Iterable[int], lengths: Sequence[int], n_pieces: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in ascending:
        if batch and lengths[number] * (len(batch) + 1) > n_pieces:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
