"""A training task and its preparation before the first pass: the tagger, jackknifed tags, and a learner."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from spacy_incparse.linear.words import Clusters, read_clusters
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Learner, Parser, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.settings import Settings
from spacy_incparse.tagging.tagger import ALL, N_EPOCHS, TagFolds, Tagger, jackknife_tags
from spacy_incparse.training.passes import NO_EXTRA, ExtraTrees, Progress
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_order

Rows = Sequence[Tags]


class TrainedModel(NamedTuple):
    """A parser to continue training from, and its tagger; a parser that finds its own tags has none."""

    tagger: Tagger | None
    parser: Parser

    def checksum(self) -> str:
        """Return a checksum of both."""
        parts = [self.parser.to_bytes(), *([self.tagger.to_bytes()] if self.tagger else [])]
        return " ".join(hashlib.sha256(part).hexdigest() for part in parts)


class Preparation(NamedTuple):
    """The learner and, if the parser needs tags, the tagger of all trees and the training tags (one row per tree)."""

    tagger: Tagger | None
    tags: Rows
    learner: Learner


@dataclass(frozen=True)
class TrainingTask:
    """Normalized trees, and the settings of what to learn from them.

    own: the trees of the treebank. n_folds: folds of jackknifing; below 2, the parser is trained on gold tags. base: a
    trained model to continue from; of the settings of the parser and tagger, none is used then. n_process:
    processes that train models of jackknifing; their number has no effect.
    """

    kind: ParserKind
    own: Sequence[Tree]
    config: Settings
    heads: HeadRules
    n_folds: int = 10
    tagger_settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    base: TrainedModel | None = None
    n_process: int = 1
    extra: ExtraTrees = NO_EXTRA

    @cached_property
    def trees(self) -> Sequence[Tree]:
        """The trees of the treebank, then the extra ones."""
        return [*self.own, *self.extra.trees]

    @cached_property
    def needs(self) -> TrainingNeeds:
        """The needs of the configuration; a trained model keeps its clusters and learns on its own tagger's tags."""
        if self.base is None:
            return self.kind.needs(self.config)
        return TrainingNeeds(tag_request=self.base.parser.tag_request)

    @cached_property
    def clusters(self) -> Clusters | None:
        """The word clusters that the configuration names, read once."""
        needs = self.needs
        return None if needs.clusters is None else read_clusters(needs.clusters, max_words=needs.cluster_words)

    def prepare(self, progress: Progress | None = None) -> Preparation:
        """Train the tagger on all trees, tag each fold with a tagger of the other folds, and read the grammar.

        A parser that finds its own tags gets none, and a trained model keeps its tagger. Raises IncparseError if there
        is nothing to learn from, or the model cannot be fine-tuned.
        """
        if self.base is None:
            tagger, tags = self._tag(progress or (lambda what, done, total: None))
        else:
            tagger = self.base.tagger
            tags = tags_of(tagger, self.base.parser.tag_request, self.trees)
        return Preparation(tagger, tags, self.learner(tags))

    def learner(self, tags: Rows) -> Learner:
        """Return the learner before the first pass, for these tags of the trees."""
        if self.base is None:
            return self.kind.learner(self.trees, tags, self.config, self.heads, self.clusters)
        tuner = self.kind.fine_tuner(self.base.parser)
        tuner.extend(self.trees, tags)
        return tuner

    def contents(self) -> dict[str, Any]:
        """Return what training depends on except the trees; for clusters a checksum, since their file may change."""
        found = {
            "n_folds": self.n_folds,
            "tagger_settings": dict(self.tagger_settings),
            "seed": self.seed,
            "config": self.config.to_dict(),
            "heads": self.heads.to_dict(),
            "clusters": None if self.clusters is None else self.clusters.checksum(),
            "n_train": len(self.trees),
        }
        if self.base is not None:
            found["base"] = self.base.checksum()
        if self.extra.trees:
            found |= {"n_extra": len(self.extra.trees), "extra_weight": self.extra.weight}
        return found

    def _tag(self, report: Progress) -> tuple[Tagger | None, Rows]:
        words, gold_tags = [tree.words for tree in self.trees], [tree.tags for tree in self.trees]
        request = self.needs.tag_request
        if request is None:
            return None, gold_tags
        n_folds = min(self.n_folds, len(self.trees))
        settings = {"seed": self.seed, "clusters": self.clusters} | dict(self.tagger_settings)
        if n_folds > 1 and self.n_process > 1:
            folds, found = TagFolds(words, gold_tags, n_folds, *request, settings), list[Any]()
            for _, result in run_in_order(folds.worker, range(ALL, n_folds), self.n_process):
                found.append(result)
                report("training taggers", len(found), n_folds + 1)
            return found[0], [row for rows in found[1:] for row in rows]
        n_epochs = settings.get("n_epochs", 10)
        tagger = Tagger.train(
            words, gold_tags, progress=lambda done, _: report("training the tagger", done, n_epochs), **settings
        )
        if n_folds < 2:
            return tagger, gold_tags
        tags = jackknife_tags(
            words, gold_tags, n_folds=n_folds, n_tags=request.n_tags, tag_margin=request.margin,
            progress=lambda done, n: report("jackknifing tags", done, n), **{**settings, "n_epochs": N_EPOCHS},
        )  # fmt: skip
        return tagger, tags


def tags_of(tagger: Tagger | None, request: TagRequest | None, trees: Sequence[Tree]) -> Rows:
    """Return the tags under which the words of trees are parsed; None for each word if the parser finds its own."""
    if tagger is None or request is None:
        return [[None] * len(tree.words) for tree in trees]
    return tagger.candidate_tags([tree.words for tree in trees], *request)
