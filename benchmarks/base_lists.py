"""N-best lists for `reranking.py`: jackknifed lists of a train part, and lists of the dev part. Finished ones are kept.

A parser is trained for each fold of the train part and one on all of it, in the same way and with a fixed number of
passes, so that nothing is chosen on the dev part. Candidates also get a generative model's log probability; the model
of a fold is trained on the same trees as its parser, so it has not seen the fold's sentences either.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import common  # noqa: F401  before numpy

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.errors import IncparseError
from spacy_incparse.rerank.list_folders import (
    FoldReport,
    FoldTask,
    ListOrigin,
    fold_tasks,
    list_settings,
    make_lists,
    parse_fold,
    sentence_key,
)
from spacy_incparse.rerank.lists import CandidateList, read_lists
from spacy_incparse.training.loop import fingerprint
from spacy_incparse.training.settings import ParserRecipe
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

SCORES = ("generative",)  # names of `rerank.data.SECOND_SCORES`


@dataclass(frozen=True)
class BaseLists:
    """The lists of both parts in files, which are read anew each time.

    folds, dev: the files, and the trees that their parsers were trained on. heads: the head rules. scores: the names
    of the models whose scores the candidates have beside the parser's.
    """

    folds: Sequence[FoldTask]
    dev: FoldTask
    heads: HeadRules
    scores: Sequence[str] = SCORES

    def train_lists(self) -> Iterator[CandidateList]:
        """Yield the jackknifed lists of the train part."""
        for fold in self.folds:
            yield from read_lists(fold.path)

    def dev_lists(self) -> Iterator[CandidateList]:
        """Yield the lists of the dev part with the folds' median temperature, since their own is fitted on them."""
        temperature = median(next(read_lists(fold.path)).temperature for fold in self.folds)
        for found in read_lists(self.dev.path):
            yield replace(found, temperature=temperature)


def base_lists(
    train: Sequence[Tree],
    dev: Sequence[Tree],
    folder: Path,
    config: str,
    *,
    n: int,
    n_folds: int,
    seed: int = 0,
    epochs: int | None = None,
    lang: str = "en",
    scores: Sequence[str] = SCORES,
    with_better: bool = False,
    n_process: int = 1,
) -> BaseLists:
    """Return lists of at most n candidates of a configuration's parsers, making those that are not in the folder."""
    made = parser_recipe(config, seed=seed, epochs=epochs, lang=lang)
    settings = {"n_folds": n_folds, "n": n, "scores": scores, "with_better": with_better}
    for report in make_lists(train, made, folder / "train", **settings, n_process=n_process):
        _show(f"fold {report.number}", report)
    folds = list(fold_tasks(train, made, folder / "train", **settings))
    task = _dev_task(train, dev, made, folder, n, scores, with_better)
    if not task.is_finished():
        _show("dev part", parse_fold(task))
    return BaseLists(folds, task, made.heads, scores)


def finished_lists(
    train: Sequence[Tree],
    dev: Sequence[Tree],
    folder: Path,
    config: str,
    *,
    n: int,
    n_folds: int,
    lang: str = "en",
    scores: Sequence[str] = SCORES,
    with_better: bool = False,
) -> BaseLists:
    """Return lists that an earlier version has made, with whatever settings; only missing scores are added.

    Raises IncparseError if they are not lists of these trees and folds.
    """
    made = parser_recipe(config, lang=lang)
    folds = fold_tasks(train, made, folder / "train", n_folds, n, scores, with_better)
    tasks = [*folds, _dev_task(train, dev, made, folder, n, scores, with_better)]
    found = []
    for task in tasks:
        origin = ListOrigin.read(task.path)
        if origin is None or origin.trained_on != {sentence_key(tree.words) for tree in task.train}:
            raise IncparseError(f"{task.path}: there are no lists by a parser of these trees and folds")
        found.append(replace(task, checksum=origin.settings))
        if not found[-1].is_finished():
            _show(task.path.name, parse_fold(found[-1]))
    return BaseLists(found[:-1], found[-1], made.heads, scores)


def _dev_task(
    train: Sequence[Tree],
    dev: Sequence[Tree],
    made: ParserRecipe,
    folder: Path,
    n: int,
    scores: Sequence[str],
    with_better: bool,
) -> FoldTask:
    checksum = fingerprint([*train, *dev], made.contents() | list_settings(n, with_better) | {"n_train": len(train)})
    return FoldTask(0, train, dev, made, n, folder / "dev.jsonl.gz", checksum, scores, with_better)


def parser_recipe(config: str, *, seed: int = 0, epochs: int | None = None, lang: str = "en") -> ParserRecipe:
    """Return how the parsers are trained. epochs: None uses the configuration's."""
    found = read_recipe(config, lang=lang, max_epochs=epochs, seed=seed)
    return ParserRecipe(
        kind=found.kind.name,
        config=found.parser_config,
        heads=found.heads,
        n_tag_folds=found.training["n_folds"],
        tagger_settings=found.training["tagger"],
        seed=found.training["seed"],
        n_passes=found.max_epochs,
    )


def _show(name: str, report: FoldReport) -> None:
    if report.seconds:
        figures = f"F {100 * report.f:.2f}, best trees {100 * report.oracle_f:.2f}, {report.mean_length:.1f} trees each"
        print(
            f"{name}: {report.n_sentences:,} sentences, {figures}, {report.seconds:.0f} s", file=sys.stderr, flush=True
        )
