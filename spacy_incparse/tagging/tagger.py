"""The part-of-speech tagger: averaged perceptron (Collins 2002, "Discriminative training methods for HMMs")."""

from __future__ import annotations

import json
import random
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly

from spacy_incparse.errors import ConfigError, IncparseError, ModelError, check_texts, damaged
from spacy_incparse.files import unzip
from spacy_incparse.integer_arrays import order_by, pack, pack_gaps, unpack, unpack_gaps
from spacy_incparse.linear.words import Clusters, as_clusters
from spacy_incparse.settings import MOST, MOST_SEED, check_number, is_list_of_strings
from spacy_incparse.tagging.tag_decoder import Decoder
from spacy_incparse.tagging.tagger_trainer import Trainer
from spacy_incparse.tagging.words import CLUSTER_TEMPLATES, TEMPLATES, TagDictionary, outcomes, parse_template
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_order

SCALE = 8  # weights are stored as multiples of 1/SCALE; those below 1/(2 * SCALE) become 0
MAX_WEIGHT = 2**15 - 1
CACHE_BYTES = 1 << 24  # for scores of word types seen so far

Progress = Callable[[int, float], None]  # called with the pass, from 1, and the share of words tagged right in it


@dataclass(frozen=True)
class TaggerSettings:
    """The parts of a tagger other than its weights."""

    labels: tuple[str, ...]
    templates: tuple[str, ...]
    dictionary: TagDictionary
    beam_size: int
    scale: int
    separators: str = ""  # of the parts of a tag

    def __post_init__(self):
        if self.beam_size < 1 or self.scale < 1 or not self.labels:
            raise ConfigError(
                f"a tagger needs at least 1 tag, and a beam and a scale of at least 1, not {len(self.labels)} tags, "
                f"beam_size={self.beam_size}, scale={self.scale}"
            )


Tagging = list[str | list[tuple[str, float]]]
"""A word's tag, or its possible tags, each with its gap to the best, which comes first."""


class Tagger:
    """A tagger for raw words, from `train` or `from_bytes`. Immutable except for a cache; thread-safe."""

    def __init__(self, settings: TaggerSettings, weights: SparseWeights, clusters: Clusters | None = None):
        check_weights(weights, 1 + max(map(max, outcomes(settings.labels, settings.separators))))
        self.settings, self.weights, self.clusters = settings, weights, clusters
        self.labels = settings.labels
        self._decoder = Decoder(settings, clusters, max(CACHE_BYTES // (5 * 4 * len(self.labels)), 256))
        self._decoder.set_weights(*weights.to_arguments())
        self._turn = threading.Lock()  # the decoder's workspace holds one sentence at a time

    @classmethod
    def train(
        cls,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        n_epochs: int = 10,
        seed: int = 0,
        beam_size: int = 4,
        margin: int = 20,
        templates: Sequence[str] | None = None,
        clusters: Clusters | str | Path | None = None,
        class_min_count: int = 3,
        only_min_count: int = 20,
        only_min_share: float = 0.995,
        separators: str = "",
        progress: Progress | None = None,
    ) -> Tagger:
        """Train a tagger on raw words and their tags; the same input and seed give the same tagger, to the bit.

        Raises IncparseError if there is nothing to learn from or the numbers of words and tags differ.

        n_epochs: number of passes over the sentences.
        seed: for the order of the sentences in each pass.
        beam_size: the most tag sequences to keep after a word, in training and tagging.
        margin: by how much (in updates) the right tag must win.
        templates: features, see tagging/words.py; None: TEMPLATES, and with clusters CLUSTER_TEMPLATES too.
        clusters: word clusters to store with the tagger: a language code or a file; None: none.
        class_min_count: the possible tags of words seen at least this often are features of their neighbors.
        only_min_count, only_min_share: words seen at least this often, and with one tag in at least this share, always
            get this tag.
        separators: characters between the parts of a tag, such as "_" in N_ACC_SG; each part then has weights of its
            own, which tags share.
        progress: is called after each pass.
        """
        check_settings({name: value for name, value in locals().items() if name in SETTINGS})
        _check_corpus(sentences, tags)
        dictionary = TagDictionary.from_corpus(
            sentences, tags, class_min_count=class_min_count, only_min_count=only_min_count,
            only_min_share=only_min_share,
        )  # fmt: skip
        labels, clusters = tuple(sorted({tag for row in tags for tag in row})), as_clusters(clusters)
        if templates is None:
            templates = (*TEMPLATES, *CLUSTER_TEMPLATES) if clusters else TEMPLATES
        settings = TaggerSettings(labels, tuple(templates), dictionary, beam_size, SCALE, separators)
        trainer = Trainer(settings, clusters, margin)
        trainer.add_corpus(sentences, tags)
        order, generator = list(range(len(sentences))), random.Random(seed)
        for epoch in range(1, n_epochs + 1):
            generator.shuffle(order)
            n_wrong = trainer.train_epoch(order)
            if progress:
                progress(epoch, 1 - n_wrong / trainer.n_words)
        keys, lengths, tag_numbers, values = trainer.averaged_weights(SCALE)
        weights = SparseWeights(keys, lengths, tag_numbers, values.clip(-MAX_WEIGHT, MAX_WEIGHT))
        return cls(settings, weights, clusters)

    @cached_property
    def look_ahead(self) -> int:
        """Number of words that the tagger uses after each word."""
        return max(0, *(atom.offset for text in self.settings.templates for atom in parse_template(text)))

    def tag(self, words: Sequence[str]) -> list[str]:
        """Return one tag per word; none for an empty sentence."""
        return self.tag_batch([words])[0]

    def tag_batch(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return one list of tags per sentence."""
        with self._turn:
            return list(map(self._decoder.tag, sentences))

    def candidate_tags(self, sentences: Sequence[Sequence[str]], n_tags: int, margin: float) -> list[Tagging]:
        """Return one row per sentence with an entry per word: its tag, or its candidate tags.

        Candidates are up to `n_tags` pairs (tag, gap), the best first; a gap is how much less the sequence scores with
        this tag (see `k_best`), at most `margin`.
        """
        with self._turn:
            return list(map(self._decoder.lattice, sentences, repeat(n_tags), repeat(margin)))

    def k_best(self, words: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """Return for each word up to k pairs (tag, score), the best first; the first tag is the one from `tag`.

        A score is that of the best tag sequence with only this word's tag replaced, up to a constant per word, in
        units of averaged weights: differences tell how much worse the sequence would be.
        """
        with self._turn:
            best, scores = self._decoder.substitution_scores(words)
        found = []
        for chosen, row in zip(best, scores, strict=True):
            ranked = sorted((tag != chosen, -score, tag) for tag, score in enumerate(row))[:k]
            # If the dictionary chose or the beam erred, another tag can score above the chosen: both are equal.
            found.append([(self.labels[tag], min(row[tag], row[chosen]) / self.settings.scale) for *_, tag in ranked])
        return found

    def to_bytes(self) -> bytes:
        """Return the whole tagger as bytes; the same tagger has the same bytes."""
        return pack_tagger(asdict(self.settings), self.weights, self.clusters.to_bytes() if self.clusters else None)

    @classmethod
    def from_bytes(cls, data: bytes) -> Tagger:
        """Return the tagger in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        stored, weights, clusters = unpack_tagger(data)
        with damaged(f"the tagger's settings are not complete: {_RETRAIN}"):
            check_texts(stored["labels"], "tags")
            for name in ("classes", "only_tags"):
                check_texts(stored["dictionary"][name], f"dictionary of {name}")
            settings = TaggerSettings(
                labels=tuple(stored["labels"]),
                templates=tuple(stored["templates"]),
                dictionary=TagDictionary(**stored["dictionary"]),
                beam_size=int(stored["beam_size"]),
                scale=int(stored["scale"]),
                separators=str(stored.get("separators", "")),
            )
            return cls(settings, weights, None if clusters is None else Clusters.from_bytes(clusters))

    def __reduce__(self):
        return type(self).from_bytes, (self.to_bytes(),)


def _check_corpus(sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> None:
    if len(sentences) != len(tags):
        raise IncparseError(f"the tagger was given {len(sentences)} sentences but tags for {len(tags)}")
    for number, (words, row) in enumerate(zip(sentences, tags, strict=True), 1):
        if len(words) != len(row):
            raise IncparseError(
                f"sentence {number} has {len(words)} words but {len(row)} tags: give every word one tag"
            )
    if not any(len(words) for words in sentences):
        raise IncparseError("the tagger has nothing to learn from: give it at least one tagged word")


MOST_HYPOTHESES = 10_000  # the search has room for this many at every word


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for an unknown setting of `Tagger.train` or an invalid value."""
    for name in settings:
        if name not in SETTINGS:
            raise ConfigError(f"the tagger has no setting {name!r}: choose from {', '.join(SETTINGS)}")
    for name, value in settings.items():
        if name in _WHOLE:
            check_number(f"the tagger's {name}", value, *_WHOLE[name])
    check_number("the tagger's only_min_share", settings.get("only_min_share", 1), 0, 1, is_whole=False)
    templates, clusters = settings.get("templates"), settings.get("clusters")
    if not (templates is None or is_list_of_strings(templates)):
        raise ConfigError(f"the tagger's templates are {templates!r}: they must be a list of templates, or None")
    for text in templates or ():
        parse_template(text)
    if not (clusters is None or isinstance(clusters, Clusters | str | Path)):
        raise ConfigError(
            f"the tagger's clusters is {clusters!r}: it must be a language code, the path of a file, or None"
        )


# The minimum and maximum of each whole number.
_WHOLE = {
    "n_epochs": (1, MOST), "seed": (0, MOST_SEED), "beam_size": (1, MOST_HYPOTHESES), "margin": (0, MOST),
    "class_min_count": (0, MOST), "only_min_count": (0, MOST),
}  # fmt: skip
SETTINGS = (*_WHOLE, "only_min_share", "templates", "clusters", "separators")


N_EPOCHS = 5  # of the tagger of a fold
ALL = -1  # in place of a fold: the tagger of all sentences, which takes longest and therefore comes first


class TagFolds(NamedTuple):
    """A tagged corpus in folds. n_tags, tag_margin: as for `Tagger.candidate_tags`. settings: of `Tagger.train`.

    n_epochs: of the taggers of all but one fold.
    """

    sentences: Sequence[Sequence[str]]
    tags: Sequence[Sequence[str]]
    n_folds: int
    n_tags: int
    tag_margin: float
    settings: Mapping[str, Any]
    n_epochs: int = N_EPOCHS

    def trained(self, fold: int) -> Any:
        """Return the tags of a fold by a tagger trained on the others; for `ALL` the tagger of all."""
        if fold == ALL:
            return Tagger.train(self.sentences, self.tags, **self.settings)
        start, end = (len(self.sentences) * number // self.n_folds for number in (fold, fold + 1))
        others = [[*rows[:start], *rows[end:]] for rows in (self.sentences, self.tags)]
        tagger = Tagger.train(*others, **{**self.settings, "n_epochs": self.n_epochs})
        return tagger.candidate_tags(self.sentences[start:end], self.n_tags, self.tag_margin)

    def worker(self) -> Callable[[int], Any]:
        """Return `trained`, for processes."""
        return self.trained


def jackknife_tags(
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    n_folds: int = 10,
    *,
    n_epochs: int = N_EPOCHS,
    n_tags: int = 1,
    tag_margin: float = 0.0,
    clusters: Clusters | str | Path | None = None,
    n_process: int = 1,
    progress: Callable[[int, int], None] | None = None,
    **train_settings: Any,
) -> list[Tagging]:
    """Tag each fold with a tagger trained on the others; the result is deterministic, with any number of processes.

    With n_tags above 1 a word may have several: see `Tagger.candidate_tags`. Folds are contiguous, since otherwise a
    document's words would help to tag the rest of it. `progress` is called with the number of finished folds and of
    all folds. With fewer sentences than folds, every sentence is a fold. Raises ConfigError for fewer than two folds
    or sentences.
    """
    n_folds = min(n_folds, len(sentences))
    if n_folds < 2:
        raise ConfigError(f"jackknifing needs at least two folds and two sentences, not {n_folds}")
    settings = {"clusters": as_clusters(clusters)} | train_settings
    folds = TagFolds(sentences, tags, n_folds, n_tags, tag_margin, settings, n_epochs)
    tagged: list[Tagging] = []
    for fold, rows in run_in_order(folds.worker, range(n_folds), n_process):
        tagged += rows
        if progress:
            progress(fold + 1, n_folds)
    return tagged


def fold_numbers(trees: Sequence[Tree], n_folds: int) -> list[int]:
    """Return the fold of each tree, from 0: contiguous stretches, since sentences of a text help to parse each other.

    Equal sentences all belong to the fold of the first of them, so that no model has seen a sentence of its fold.
    """
    first: dict[tuple[str, ...], int] = {}
    for place, tree in enumerate(trees):
        first.setdefault(tree.words, place * n_folds // len(trees))
    return [first[tree.words] for tree in trees]


_RETRAIN = "copy the file again or retrain the tagger"


@dataclass(frozen=True)
class SparseWeights:
    """Contexts sorted by key, each with `lengths[c]` cells: ascending tag ids and nonzero integer weights."""

    keys: np.ndarray  # uint32
    lengths: np.ndarray  # int32
    tags: np.ndarray  # int32
    values: np.ndarray  # int32, in the range of int16

    def to_arguments(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Return the arrays' bytes, which `Decoder.set_weights` takes."""
        return self.keys.tobytes(), self.lengths.tobytes(), self.tags.tobytes(), self.values.tobytes()


def pack_tagger(settings: Mapping[str, Any], weights: SparseWeights, clusters: bytes | None = None) -> bytes:
    """Return the model as bytes; the same model has the same bytes. `weights` are as `check_weights` wants them."""
    message = {
        # ASCII, so that any word can be written, even lone surrogates
        "settings": zlib.compress(json.dumps(settings).encode("ascii"), 6),
        **pack_weights(weights.keys, weights.lengths, weights.tags, weights.values),
    }
    if clusters is not None:
        message["clusters"] = clusters
    return srsly.msgpack_dumps(message)


def unpack_tagger(data: bytes) -> tuple[dict[str, Any], SparseWeights, bytes | None]:
    """Return the parts in bytes from `pack_tagger`. Raises ModelError for any others."""
    with damaged(f"the tagger's bytes do not have the expected content: {_RETRAIN}"):
        message = srsly.msgpack_loads(data)
        settings, weights = unzip(message["settings"], "the tagger's settings are"), unpack_weights(message)
        return json.loads(settings), SparseWeights(*weights), message.get("clusters")


def check_weights(weights: SparseWeights, n_tags: int) -> None:
    """Raise ModelError if the arrays are inconsistent, so that no lookup can leave them."""
    n_cells = len(weights.tags)
    if len(weights.keys) != len(weights.lengths) or weights.lengths.sum() != n_cells or len(weights.values) != n_cells:
        raise ModelError(f"the tagger's weights do not fit together: {len(weights.keys)} contexts, {n_cells} cells")
    if n_cells and (weights.tags.max() >= n_tags or weights.tags.min() < 0 or weights.lengths.min() < 1):
        raise ModelError(f"the tagger has weights for tags beyond its {n_tags}: {_RETRAIN}")
    if len(weights.keys) and (weights.keys[0] == 0 or not (weights.keys[1:] > weights.keys[:-1]).all()):
        raise ModelError(f"the tagger's contexts are not in order: {_RETRAIN}")


# What is likely depends on the context, so numbers are packed in the order of what is known when they are read.
_WHAT = "the tagger's weights"
_LARGEST = 2**15 - 1  # of a value
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pack_weights(keys: np.ndarray, lengths: np.ndarray, tags: np.ndarray, values: np.ndarray) -> dict[str, bytes]:
    """Return the arrays of `SparseWeights`, which `check_weights` accepts, as named bytes."""
    ends = np.cumsum(lengths)
    starts, order, others = ends - lengths, order_by(lengths), np.delete(values, ends - 1)
    gaps = [np.zeros(0, tags.dtype)]
    for cells in _later_cells(lengths):
        before = tags[cells - 1]
        gaps.append((tags[cells] - before - 1)[order_by(before)])
    # Updates take from one tag what they give another: sums are mostly 0, and replace the last value of each context.
    sums = np.add.reduceat(values, starts) if len(starts) else values
    return {
        "keys": pack_gaps(keys),
        "lengths": pack(lengths),
        "first_tags": pack(tags[starts[order]]),
        "tag_gaps": pack(np.concatenate(gaps)),
        "values": pack(others),
        "sums": pack(sums[order]),
    }


def unpack_weights(packed: Mapping[str, Any]) -> Arrays:
    """Undo `pack_weights`. Raises ModelError for damaged bytes."""
    keys = unpack_gaps(packed["keys"], "u4", _WHAT)
    lengths = unpack(packed["lengths"], "i4", _WHAT, len(keys))
    if lengths.min(initial=1) < 1:
        raise ModelError(f"{_WHAT} are damaged: they have contexts without a tag")
    ends, order = np.cumsum(lengths), order_by(lengths)
    return keys, lengths, _unpacked_tags(packed, lengths, ends, order), _unpacked_values(packed, lengths, ends, order)


def _unpacked_tags(packed: Mapping[str, Any], lengths: np.ndarray, ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    n_cells = int(ends[-1]) if len(ends) else 0
    gaps = unpack(packed["tag_gaps"], "i4", _WHAT, n_cells - len(ends))
    tags = np.zeros(n_cells, np.int32)
    tags[(ends - lengths)[order]] = unpack(packed["first_tags"], "i4", _WHAT, len(ends))
    n_read = 0
    for cells in _later_cells(lengths):
        before = tags[cells - 1]
        order = order_by(before)
        tags[cells[order]] = before[order] + 1 + gaps[n_read : n_read + len(cells)]
        n_read += len(cells)
    return tags


def _unpacked_values(packed: Mapping[str, Any], lengths: np.ndarray, ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    n_cells = int(ends[-1]) if len(ends) else 0
    is_last = np.zeros(n_cells, bool)
    is_last[ends - 1] = True
    values = np.zeros(n_cells, np.int64)
    values[~is_last] = unpack(packed["values"], "i4", _WHAT, n_cells - len(ends))
    sums = np.zeros(len(ends), np.int64)
    sums[order] = unpack(packed["sums"], "i4", _WHAT, len(ends))
    if len(ends):
        values[ends - 1] = sums - np.add.reduceat(values, ends - lengths)
    if np.abs(values).max(initial=0) > _LARGEST:
        raise ModelError(f"{_WHAT} are damaged: they have values out of range")
    return values.astype(np.int32)


def _later_cells(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the places of all second cells of contexts, then of all third ones, and so on."""
    cells, left = np.cumsum(lengths) - lengths, lengths
    while len(longer := np.flatnonzero(left > 1)):
        cells, left = cells[longer] + 1, left[longer] - 1
        yield cells
