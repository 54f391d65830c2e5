"""Training of tagger and parser on a treebank: passes, evaluation after each, and a state to resume from."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.parsers.catalogue import kind_of_config
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, ParserKind, TagRequest
from spacy_incparse.settings import Settings
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.passes import Progress, learn_pass, uses_gold_tags
from spacy_incparse.training.preparation import Preparation, Rows, needed_clusters, prepare
from spacy_incparse.training.temperature import fit_temperature
from spacy_incparse.training.training_state import TrainingState, fingerprint
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class PassReport:
    """One pass over the training trees, numbered from 1.

    scores: of the held-out trees under predicted tags, as `Scores.to_dict` gives them; None without held-out trees.
    is_best: no earlier pass had a higher F; without held-out trees each pass counts as better than the one before.
    """

    number: int
    n_updates: int
    scores: dict[str, Any] | None
    seconds: float
    is_best: bool


OnPass = Callable[[PassReport, Tagger | None, ConstituencyParser], None]


def train_parser(
    train: Sequence[Tree],
    dev: Sequence[Tree],
    *,
    config: Settings,
    heads: HeadRules,
    kind: ParserKind | None = None,
    n_folds: int = 10,
    tagger_settings: dict[str, Any] | None = None,
    max_epochs: int = 10,
    seed: int = 0,
    state_dir: Path | None = None,
    resume: bool = False,
    has_best: bool = True,
    on_pass: OnPass | None = None,
    on_kept: Callable[[int], object] = lambda _: None,
    progress: Progress | None = None,
) -> None:
    """Train on normalized trees; `on_pass` gets each pass's report, the tagger and the parser of averaged weights.

    kind: of the parser; by default the one that the configuration is for. The parser of a pass that is the best so far
    has a temperature, fitted on the held-out trees. After each pass the state is written to `state_dir`, and `on_kept`
    gets the number of passes there; with `resume` training goes on after them, and gives the same models, to the bit,
    as if it had never stopped. Without their best model (`has_best`) the next one is the best so far. Raises
    IncparseError if the state belongs to other trees (of `dev` too), settings or word clusters, or there is none.
    """
    if not train:
        raise IncparseError("there is no tree to train on")
    kind = kind or kind_of_config(config)
    needs = kind.needs(config)
    clusters = needed_clusters(needs)
    given: dict[str, Any] = {"n_folds": n_folds, "tagger_settings": tagger_settings or {}, "seed": seed}
    settings = {**given, **_contents(config, heads, clusters), "n_train": len(train)}
    state = TrainingState(state_dir, fingerprint([*train, *dev], settings)) if state_dir else None
    if state and resume:
        preparation = state.load_preparation(kind, train, config, heads, clusters)
    else:
        preparation = prepare(kind, train, config, heads, clusters, progress=progress, **given)
        if state:
            state.start(preparation)
    learner = preparation.learner
    n_passes, best = state.load_learner(learner) if state and resume else (0, -1.0)
    best = best if has_best else -1.0
    if state:
        on_kept(n_passes)
    dev_tags = tags_of(preparation.tagger, needs.tag_request, dev)
    schedule = TagSchedule(train, preparation, needs.gold_tag_interval)
    for number in range(n_passes + 1, (1 if kind.trains_in_one_pass else max_epochs) + 1):
        started = time.perf_counter()
        n_updates, _ = learn_pass(schedule.examples(number), learner, seed, number, progress)
        parser = learner.parser()
        scores = score_parser(parser, dev, dev_tags) if dev else None
        is_best = scores is None or scores["const_f"] > best
        if is_best:
            best = scores["const_f"] if scores else best
            if dev:
                parser.temperature = fit_temperature(parser, dev, dev_tags)
        if on_pass:
            report = PassReport(number, n_updates, scores, time.perf_counter() - started, is_best)
            on_pass(report, preparation.tagger, parser)
        if state:
            state.save_learner(learner, number, best)
            on_kept(number)


def _contents(config: Settings, heads: HeadRules, clusters: Clusters | None) -> dict[str, Any]:
    """Return what a training depends on; of clusters what is in them, since their file may change."""
    checksum = None if clusters is None else clusters.checksum()
    return {"config": config.to_dict(), "heads": heads.to_dict(), "clusters": checksum}


def tags_of(tagger: Tagger | None, request: TagRequest | None, trees: Sequence[Tree]) -> Rows:
    """Return the tags under which the words of trees are parsed; None for each word if the parser finds its own."""
    if tagger is None or request is None:
        return [[None] * len(tree.words) for tree in trees]
    return tagger.candidate_tags([tree.words for tree in trees], *request)


def score_parser(parser: ConstituencyParser, gold: Sequence[Tree], tags: Sequence[Tags]) -> dict[str, Any]:
    """Parse the words of gold trees under given tags and score the trees; words without a gold tree are not there."""
    parses = parser.parse_batch([(tree.words, row) for tree, row in zip(gold, tags, strict=True)])
    return score_trees(gold, [parse.tree for parse in parses]).to_dict()


class TagSchedule:
    """The training sentences with the tags that they have in each pass: a tagger's, and now and then their own."""

    def __init__(self, trees: Sequence[Tree], preparation: Preparation, interval: int):
        encode, self._interval = preparation.learner.encode, interval
        self._tagged = [encode(tree.words, row, tree) for tree, row in zip(trees, preparation.tags, strict=True)]
        self._gold = [encode(tree.words, tree.tags, tree) for tree in trees] if interval else []

    def examples(self, number: int) -> list[object]:
        """Return the sentences as they come in a pass, encoded for the learner."""
        return [
            self._gold[index] if uses_gold_tags(index, number, self._interval) else tagged
            for index, tagged in enumerate(self._tagged)
        ]
