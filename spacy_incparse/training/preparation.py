"""What happens before the first pass: the tagger, jackknifed tags, and a learner with grammar and lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from spacy_incparse.lexicon.cluster_files import read_clusters
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import Learner, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.settings import Settings
from spacy_incparse.tagging.jackknife import jackknife_tags
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.passes import Progress
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

Rows = Sequence[Tags]


class Preparation(NamedTuple):
    """The parser's learner and, if it needs tags, the tagger of all trees and the tags to train on (one row a tree)."""

    tagger: Tagger | None
    tags: Rows
    learner: Learner


def prepare(
    kind: ParserKind,
    trees: Sequence[Tree],
    config: Settings,
    heads: HeadRules,
    clusters: Clusters | None,
    *,
    n_folds: int = 10,
    tagger_settings: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Preparation:
    """Train the tagger on normalized trees and tag each fold of them with a tagger of the other folds.

    A parser that finds its own tags gets none. clusters: those that the configuration names. n_folds below 2 trains
    the parser on gold tags. Raises IncparseError if there is nothing to learn from.
    """
    request = kind.needs(config).tag_request
    tagger: Tagger | None = None
    tags: Rows = [tree.tags for tree in trees]
    if request is not None:
        settings = {"seed": seed, "clusters": clusters} | (tagger_settings or {})
        tagger, tags = _tag(trees, request, n_folds, settings, progress or (lambda what, done, total: None))
    return Preparation(tagger, tags, kind.learner(trees, tags, config, heads, clusters))


def _tag(
    trees: Sequence[Tree], request: TagRequest, n_folds: int, settings: dict[str, Any], report: Progress
) -> tuple[Tagger, Rows]:
    words = [tree.words for tree in trees]
    gold_tags = [tree.tags for tree in trees]
    n_epochs = settings.get("n_epochs", 10)
    tagger = Tagger.train(
        words, gold_tags, progress=lambda done, _: report("training the tagger", done, n_epochs), **settings
    )
    if min(n_folds, len(trees)) < 2:
        return tagger, gold_tags
    folds = {name: value for name, value in settings.items() if name != "n_epochs"}  # their taggers take fewer passes
    tags = jackknife_tags(
        words,
        gold_tags,
        n_folds=n_folds,
        n_tags=request.n_tags,
        tag_margin=request.margin,
        progress=lambda done, n: report("jackknifing tags", done, n),
        **folds,
    )
    return tagger, tags


def needed_clusters(needs: TrainingNeeds) -> Clusters | None:
    """Read the word clusters that a configuration names."""
    return None if needs.clusters is None else read_clusters(needs.clusters, max_words=needs.cluster_words)
