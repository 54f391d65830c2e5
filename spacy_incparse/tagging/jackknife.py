"""Tagging a training corpus with taggers that did not see it, so that a parser learns from realistic errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.lexicon.cluster_files import as_clusters
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.tagging.tagger import Tagger, Tagging


def jackknife_tags(
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    n_folds: int = 10,
    *,
    n_epochs: int = 5,
    n_tags: int = 1,
    tag_margin: float = 0.0,
    clusters: Clusters | str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **train_settings: Any,
) -> list[Tagging]:
    """Tag each fold with a tagger trained on the others; the result is deterministic.

    With n_tags above 1 a word may have several: see `Tagger.candidate_tags`. Folds are contiguous, since otherwise a
    document's words would help to tag the rest of it. `progress` is called with the number of finished folds and of
    all folds. With fewer sentences than folds, every sentence is a fold. Raises ConfigError for fewer than two folds
    or sentences.
    """
    n_folds = min(n_folds, len(sentences))
    if n_folds < 2:
        raise ConfigError(f"jackknifing needs at least two folds and two sentences, not {n_folds}")
    clusters = as_clusters(clusters)
    bounds = [len(sentences) * fold // n_folds for fold in range(n_folds + 1)]
    tagged: list[Tagging] = []
    for fold, (start, end) in enumerate(pairwise(bounds)):
        tagger = Tagger.train(
            [*sentences[:start], *sentences[end:]],
            [*tags[:start], *tags[end:]],
            n_epochs=n_epochs,
            clusters=clusters,
            **train_settings,
        )
        tagged += tagger.candidate_tags(sentences[start:end], n_tags, tag_margin)
        if progress:
            progress(fold + 1, n_folds)
    return tagged
