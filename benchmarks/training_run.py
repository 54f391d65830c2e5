"""Train on a treebank once and parse its dev part: the parser and its training costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common  # noqa: F401  before numpy
from process_memory import peak_bytes

from spacy_incparse.cli.recipe import Recipe, read_recipe
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.loop import tags_of
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class Trained:
    """The parser after the last pass, its tagger (a generative parser has none), and the training costs."""

    recipe: Recipe
    tagger: Tagger | None
    parser: Parser
    seconds: float  # including the tagger and jackknifing
    peak_bytes: int
    n_passes: int


def train(
    trees: Sequence[Tree],
    config: str,
    *,
    gold_tags: bool,
    epochs: int | None,
    seed: int,
    clusters: str | None = None,
) -> Trained:
    """Train as `spacy-incparse train` does, but for a fixed number of passes and without held-out trees.

    config: a feature set or a file with settings. epochs: None uses the config's. gold_tags: learn from the treebank's
    tags instead of jackknifed ones. clusters: a language code or a file of word clusters.
    """
    recipe = read_recipe(config, max_epochs=epochs, seed=seed, clusters=clusters)
    started = time.perf_counter()
    tagger, parser = _train(trees, recipe, gold_tags)
    return Trained(recipe, tagger, parser, time.perf_counter() - started, peak_bytes(), recipe.max_epochs)


def _train(trees: Sequence[Tree], recipe: Recipe, gold_tags: bool) -> tuple[Tagger | None, Parser]:
    last: dict[str, Any] = {}
    recipe.train(
        trees,
        on_pass=lambda report, tagger, parser: last.update(tagger=tagger, parser=parser),
        **({"n_folds": 0} if gold_tags else {}),
    )
    return last["tagger"], last["parser"]


def tags_for(trained: Trained, trees: Sequence[Tree], *, gold_tags: bool) -> Sequence[Tags]:
    """Return the tags to parse the trees' words with."""
    return [tree.tags for tree in trees] if gold_tags else tags_of(trained.tagger, trained.parser.tag_request, trees)


def parse_and_score(
    parser: Parser, gold: Sequence[Tree], tags: Sequence[Tags], path: Path | None = None
) -> dict[str, Any]:
    """Parse the words of gold trees; return EVALB's figures (fractions), and `flat` and `relaxed` sentences.

    path: a file to save the trees to, if given.
    """
    parses = parser.parse_batch([(tree.words, row) for tree, row in zip(gold, tags, strict=True)])
    sources = [parse.source for parse in parses]
    trees = [parse.tree for parse in parses]
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{tree.to_string()}\n" for tree in trees), encoding="utf8")
    scores = score_trees(gold, trees).to_dict()
    return scores | {"flat": sources.count("flat"), "relaxed": sources.count("relaxed")}
