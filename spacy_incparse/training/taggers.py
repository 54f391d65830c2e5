"""The tagger of a training run and those of jackknifing, trained side by side in several processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacy_incparse.parsers.protocol import TagRequest
from spacy_incparse.tagging.jackknife import N_EPOCHS, TagFolds
from spacy_incparse.tagging.tagger import Tagger, Tagging
from spacy_incparse.training.passes import Progress
from spacy_incparse.workers import run_in_order

_ALL = -1  # in place of a fold: the tagger of all sentences, which takes longest and therefore comes first


@dataclass(frozen=True)
class _Taggers:
    """The tasks of the workers: a tagger of all sentences, and the tags of each fold by a tagger of the others."""

    folds: TagFolds
    settings: Mapping[str, Any]

    def train(self, fold: int) -> Tagger | list[Tagging]:
        if fold != _ALL:
            return self.folds.tagged(fold)
        return Tagger.train(self.folds.sentences, self.folds.tags, **self.settings)

    def worker(self) -> Callable[[int], Tagger | list[Tagging]]:
        return self.train


def train_side_by_side(
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    request: TagRequest,
    n_folds: int,
    settings: Mapping[str, Any],
    n_process: int,
    report: Progress,
) -> tuple[Tagger, list[Tagging]]:
    """Return a tagger of all sentences, and their tags by taggers of the other folds; the same as in one process.

    settings: of `Tagger.train`. n_folds: at least 2.
    """
    folds = TagFolds(sentences, tags, n_folds, request.n_tags, request.margin, for_folds(settings))
    found: list[Any] = []
    for _, result in run_in_order(_Taggers(folds, settings).worker, range(_ALL, n_folds), n_process):
        found.append(result)
        report("training taggers", len(found), n_folds + 1)
    tagger, *rows = found
    return tagger, [row for fold in rows for row in fold]


def for_folds(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the taggers of jackknifing, which have fewer passes."""
    return {**settings, "n_epochs": N_EPOCHS}
