"""What happens before the first pass: the tagger, jackknifed tags, and a learner with grammar and lexicon."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from spacy_incparse.lexicon.cluster_files import read_clusters
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.perceptron.learner import ParserLearner
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.perceptron.perceptron_parser import Tags
from spacy_incparse.tagging.jackknife import jackknife_tags
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

Rows = Sequence[Tags]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, of how much


class Preparation(NamedTuple):
    """The tagger of all trees, the tags that the parser is trained on (one row a tree), and the parser's learner."""

    tagger: Tagger
    tags: Rows
    learner: ParserLearner


def prepare(
    trees: Sequence[Tree],
    config: ParserConfig,
    heads: HeadRules,
    clusters: Clusters | None,
    *,
    n_folds: int = 10,
    tagger_settings: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Preparation:
    """Train the tagger on normalised trees and tag each fold of them with a tagger of the other folds.

    clusters: those that the configuration names. n_folds below 2 trains the parser on gold tags. Raises IncparseError
    where there is nothing to learn from.
    """
    words = [tree.words for tree in trees]
    gold_tags = [tree.tags for tree in trees]
    settings = {"seed": seed, "clusters": clusters} | (tagger_settings or {})
    report = progress or (lambda what, done, total: None)
    n_epochs = settings.get("n_epochs", 10)
    tagger = Tagger.train(
        words, gold_tags, progress=lambda done, _: report("training the tagger", done, n_epochs), **settings
    )
    tags: Rows = gold_tags
    if min(n_folds, len(trees)) > 1:
        settings.pop("n_epochs", None)  # a fold's tagger takes the fewer passes that jackknifing has by default
        tags = jackknife_tags(
            words,
            gold_tags,
            n_folds=n_folds,
            n_tags=config.n_tags,
            tag_margin=config.tag_margin,
            progress=lambda done, n: report("jackknifing tags", done, n),
            **settings,
        )
    return Preparation(tagger, tags, ParserLearner.from_treebank(trees, tags, config, heads, clusters))


def config_clusters(config: ParserConfig) -> Clusters | None:
    """Read the word clusters that a configuration names."""
    return None if config.clusters is None else read_clusters(config.clusters, max_words=config.cluster_words)


def pass_order(n_sentences: int, seed: int, number: int, model: int) -> list[int]:
    """Give the order in which a model sees the sentences in a pass; the same numbers always give the same order."""
    order = list(range(n_sentences))
    random.Random(f"{seed} {number}" if model == 0 else f"{seed} {number} {model}").shuffle(order)
    return order


def uses_gold_tags(index: int, number: int, interval: int) -> bool:
    """Whether the sentence of an index has its gold tags in a pass; in each pass every interval-th sentence has."""
    return interval > 0 and (index + number) % interval == 0
