"""One training on a treebank and one parse of its dev part: the parser and what it cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import common  # noqa: F401  before numpy
from process_memory import peak_bytes

from spacy_incparse.cli.recipe import Recipe, read_recipe
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.search.parser import Parser
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.loop import train_parser
from spacy_incparse.trees.tree import Tree

Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Trained:
    """The parser after the last pass, its tagger, and what training took."""

    tagger: Tagger
    parser: Parser
    seconds: float  # tagger and jackknifing included
    peak_bytes: int
    n_passes: int


def train(trees: Sequence[Tree], config: str, *, gold_tags: bool, epochs: int | None, seed: int) -> Trained:
    """Train as `spacy-incparse train` does, but for a fixed number of passes: no held-out tree is looked at.

    config: a feature set or a file with settings. epochs: None for those of the config. With gold_tags the parser
    learns from the treebank's tags, else from jackknifed ones.
    """
    recipe: Recipe = read_recipe(config, max_epochs=epochs, seed=seed)
    last: dict[str, Any] = {}
    started = time.perf_counter()
    train_parser(
        trees,
        [],
        config=recipe.parser_config,
        heads=recipe.heads,
        n_folds=0 if gold_tags else recipe.training["n_folds"],
        tagger_settings=recipe.training["tagger"],
        max_epochs=recipe.max_epochs,
        seed=seed,
        on_pass=lambda report, tagger, parser: last.update(tagger=tagger, parser=parser),
    )
    return Trained(last["tagger"], last["parser"], time.perf_counter() - started, peak_bytes(), recipe.max_epochs)


def tags_for(trained: Trained, trees: Sequence[Tree], *, gold_tags: bool) -> Tags:
    """Give the tags that trees are parsed under."""
    return (
        [tree.tags for tree in trees]
        if gold_tags
        else trained.parser.tag_with(trained.tagger, [tree.words for tree in trees])
    )


def parse_and_score(parser: Parser, gold: Sequence[Tree], tags: Tags) -> dict[str, Any]:
    """Parse the words of gold trees and score: EVALB's figures (fractions), `flat` and `relaxed` sentences."""
    parses = parser.parse_batch([(tree.words, row) for tree, row in zip(gold, tags, strict=True)])
    sources = [parse.source for parse in parses]
    scores = score_trees(gold, [parse.tree for parse in parses]).to_dict()
    return scores | {"flat": sources.count("flat"), "relaxed": sources.count("relaxed")}
