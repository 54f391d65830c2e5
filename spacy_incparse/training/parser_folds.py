"""N-best lists of the training sentences, each by a parser that has not seen the sentence (jackknifing).

The sentences are divided into contiguous folds. For each fold, a parser is trained on the others in the same way as the
one that will be reranked, with a tagger of its own, and parses the fold. Each fold is one file, so that a run that was
interrupted continues with the folds that are missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.oracle import Oracle
from spacy_incparse.learning.folds import fold_numbers
from spacy_incparse.parsers.nbest import NBestSearch
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_files import read_lists, write_lists
from spacy_incparse.rerank.second_score import SecondScore
from spacy_incparse.rerank.second_scores import SECOND_SCORES
from spacy_incparse.training.list_origin import ListOrigin, sentence_key
from spacy_incparse.training.parser_recipe import ParserRecipe
from spacy_incparse.training.preparation import TrainedModel, tags_of
from spacy_incparse.training.processes import run_tasks
from spacy_incparse.training.second_score_training import train_second_score
from spacy_incparse.training.temperature import best_temperature
from spacy_incparse.training.training_lists import PATTERNS
from spacy_incparse.training.training_state import fingerprint
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class FoldTask:
    """The lists of one fold: the trees to train on, those to parse, and the file to write.

    scores: the names of the models (`SECOND_SCORES`) whose scores the candidates get beside the parser's. with_better:
    as in `NBestSearch`.
    """

    number: int  # from 1
    train: Sequence[Tree]
    held_out: Sequence[Tree]
    recipe: ParserRecipe
    n: int  # candidates of a sentence
    path: Path
    checksum: str
    scores: Sequence[str] = ()
    with_better: bool = True


@dataclass(frozen=True)
class FoldReport:
    """A finished fold: the size of its lists, the F of their first and best trees, the seconds; 0 if it was there."""

    number: int
    n_sentences: int
    mean_length: float = 0.0
    f: float = 0.0
    oracle_f: float = 0.0
    seconds: float = 0.0


def make_lists(
    trees: Sequence[Tree],
    recipe: ParserRecipe,
    folder: Path,
    *,
    n_folds: int = 10,
    n: int = 20,
    scores: Sequence[str] = (),
    with_better: bool = True,
    n_process: int = 1,
) -> Iterator[FoldReport]:
    """Write jackknifed lists of `n` candidates of normalized trees to a folder; yield a report of each finished fold.

    Folds that an earlier run with the same trees and settings has finished come first and are not made again; scores
    that they lack are added. scores, with_better: see `FoldTask`. Raises IncparseError if the folder has lists of other
    trees or settings, or there are fewer than two folds or sentences.
    """
    tasks = list(fold_tasks(trees, recipe, folder, n_folds, n, scores, with_better))
    folder.mkdir(parents=True, exist_ok=True)
    finished = [task for task in tasks if is_finished(task)]
    _check_folder(folder, tasks)
    yield from (FoldReport(task.number, len(task.held_out)) for task in finished)
    missing = [task for task in tasks if task not in finished]
    for _, report in run_tasks(parse_fold, missing, min(n_process, max(1, len(missing)))):
        yield report


def fold_tasks(
    trees: Sequence[Tree],
    recipe: ParserRecipe,
    folder: Path,
    n_folds: int,
    n: int,
    scores: Sequence[str] = (),
    with_better: bool = True,
) -> Iterator[FoldTask]:
    """Yield the tasks of all folds that have sentences."""
    n_folds = min(n_folds, len(trees))
    numbers = fold_numbers(trees, n_folds)
    if len(set(numbers)) < 2:
        raise IncparseError(f"jackknifing needs at least two folds with different sentences, not {len(set(numbers))}")
    checksum = fingerprint(trees, recipe.contents() | list_settings(n, with_better) | {"n_folds": n_folds})
    for fold in sorted(set(numbers)):
        held_out = [tree for tree, number in zip(trees, numbers, strict=True) if number == fold]
        others = [tree for tree, number in zip(trees, numbers, strict=True) if number != fold]
        path = folder / f"fold-{fold + 1:03d}.jsonl.gz"
        yield FoldTask(fold + 1, others, held_out, recipe, n, path, checksum, scores, with_better)


def _check_folder(folder: Path, tasks: Iterable[FoldTask]) -> None:
    """Raise IncparseError if a folder has lists that the tasks do not make: whoever reads it would learn from them."""
    foreign = {path for pattern in PATTERNS for path in folder.glob(pattern)}.difference(task.path for task in tasks)
    if foreign:
        raise IncparseError(
            f"{min(foreign)} has lists of another run: move it, or keep the lists of this run in another folder"
        )


def list_settings(n: int, with_better: bool) -> dict[str, int]:
    """Return the settings of lists as a part of a checksum; that of lists without better trees is as it always was."""
    return {"n": n} | ({"with_better": 1} if with_better else {})


def is_finished(task: FoldTask) -> bool:
    """Return whether the lists of a fold are there, with all scores; see `_origin`."""
    origin = _origin(task)
    return origin is not None and set(task.scores) <= set(origin.scores)


def _origin(task: FoldTask) -> ListOrigin | None:
    """Return the origin of the lists of a fold, None without lists. Raises IncparseError if they are another task's."""
    origin = ListOrigin.read(task.path)
    if origin is None or not task.path.exists():
        return None
    if origin.settings != task.checksum:
        raise IncparseError(
            f"{task.path} was made with other trees or settings: name another folder with --work, or delete this one"
        )
    return origin


def parse_fold(task: FoldTask) -> FoldReport:
    """Train the parser of a fold, and write its lists; a file is written completely or not at all."""
    started = time.perf_counter()
    lists, origin = _lists_and_origin(task)
    lists = list(with_scores(lists, task))
    write_lists(task.path, lists)
    replace(origin, scores=tuple(sorted({*origin.scores, *task.scores}))).write(task.path)
    oracle = Oracle([1, task.n])
    for one, tree in zip(lists, task.held_out, strict=True):
        oracle.add(tree, [parse.tree for parse in one.parses])
    scores = oracle.report().scores
    return FoldReport(
        task.number, len(lists), scores[-1].mean_length, scores[0].f, scores[-1].f, time.perf_counter() - started
    )


def _lists_and_origin(task: FoldTask) -> tuple[list[CandidateList], ListOrigin]:
    """Return the lists of a fold and where they come from; those in the file, if they only lack scores."""
    if (origin := _origin(task)) is not None:
        return list(read_lists(task.path)), origin
    model = task.recipe.train(task.train)
    trained_on = frozenset(sentence_key(tree.words) for tree in task.train)
    origin = ListOrigin(sha256(model.checksum().encode()).hexdigest(), trained_on, task.checksum)
    return held_out_lists(model, task), origin


def with_scores(lists: Iterable[CandidateList], task: FoldTask) -> Iterator[CandidateList]:
    """Yield lists with the scores that they lack, by models that have not seen the sentences either."""
    models: dict[str, SecondScore] = {}
    for found in lists:
        trees, others = [parse.tree for parse in found.parses], dict(found.others)
        for name in task.scores:
            if not others.keys() >= set(SECOND_SCORES[name].columns):
                if name not in models:
                    models[name] = train_second_score(name, task.train, task.recipe.heads)
                others |= models[name].scores(trees)
        yield replace(found, others=others)


def held_out_lists(model: TrainedModel, task: FoldTask) -> list[CandidateList]:
    """Return the lists of a fold's sentences, with the parser's temperature, which is fitted on them.

    As elsewhere (training/temperature.py), it is fitted without the trees that score higher than the parser's own.
    """
    search = NBestSearch(model.parser.with_search(**task.recipe.search), with_better=task.with_better)
    tags = tags_of(model.tagger, model.parser.tag_request, task.held_out)
    has_better = search.parser.answers_with_best  # which were not in the list if it were not `with_better`
    scores, is_right, found = [], [], []
    for tree, row in zip(task.held_out, tags, strict=True):
        parses = search.analyses(tree.words, row, n=task.n)
        scores.append([parse.score for parse in parses if not (has_better and parse.score > parses[0].score)])
        is_right.append(parses[0].tree.spans() == tree.spans())
        found.append(parses)
    temperature = best_temperature(scores, is_right)
    return [CandidateList(tuple(p), temperature, tree) for p, tree in zip(found, task.held_out, strict=True)]
