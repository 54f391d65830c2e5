"""Tagging a training corpus with taggers that did not see it, so that a parser learns from realistic errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import Clusters, as_clusters
from spacy_incparse.tagging.tagger import Tagger, Tagging
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_order

N_EPOCHS = 5  # of each tagger


@dataclass(frozen=True)
class TagFolds:
    """A tagged corpus in folds, and the settings of the taggers of all but one fold.

    n_tags, tag_margin: as for `Tagger.candidate_tags`. settings: of `Tagger.train`.
    """

    sentences: Sequence[Sequence[str]]
    tags: Sequence[Sequence[str]]
    n_folds: int
    n_tags: int
    tag_margin: float
    settings: Mapping[str, Any]

    def tagged(self, fold: int) -> list[Tagging]:
        """Return the tags of a fold by a tagger trained on the others."""
        start, end = (len(self.sentences) * number // self.n_folds for number in (fold, fold + 1))
        tagger = Tagger.train(
            [*self.sentences[:start], *self.sentences[end:]], [*self.tags[:start], *self.tags[end:]], **self.settings
        )
        return tagger.candidate_tags(self.sentences[start:end], self.n_tags, self.tag_margin)

    def worker(self) -> Callable[[int], list[Tagging]]:
        """Return `tagged`, for processes."""
        return self.tagged


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
    settings = {"n_epochs": n_epochs, "clusters": as_clusters(clusters)} | train_settings
    folds = TagFolds(sentences, tags, n_folds, n_tags, tag_margin, settings)
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
