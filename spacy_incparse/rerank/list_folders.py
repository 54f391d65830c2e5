"""N-best lists of the training sentences, each by a parser that has not seen the sentence (jackknifing)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.nbest import Oracle
from spacy_incparse.files import write_bytes
from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.rerank.data import SECOND_SCORES, SecondScore
from spacy_incparse.rerank.lists import CandidateList, read_lists, write_lists
from spacy_incparse.tagging.tagger import fold_numbers
from spacy_incparse.training.loop import fingerprint
from spacy_incparse.training.preparation import TrainedModel, tags_of
from spacy_incparse.training.settings import ParserRecipe
from spacy_incparse.training.temperature import best_temperature
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_workers


@dataclass(frozen=True)
class FoldTask:
    """The lists of one fold: the trees to train on, those to parse, and the file to write.

    scores: the names of the models (`SECOND_SCORES`) whose scores the candidates get beside the parser's. with_better:
    as in `NBestSearch`.

    The sentences are divided into contiguous folds. For each fold, a parser is trained on the others in the same way as
    the one that will be reranked, with a tagger of its own, and parses the fold. Each fold is one file, so that a run
    that was interrupted continues with the folds that are missing.
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

    def __str__(self) -> str:
        return f"fold {self.number}"

    def origin(self) -> ListOrigin | None:
        """Return the origin of the lists, None if there are none. Raises IncparseError if they are of another task."""
        origin = ListOrigin.read(self.path)
        if origin is None or not self.path.exists():
            return None
        if origin.settings != self.checksum:
            advice = "name another folder with --work, or delete this one"
            raise IncparseError(f"{self.path} was made with other trees or settings: {advice}")
        return origin

    def is_finished(self) -> bool:
        """Return whether the lists are there, with all scores. Raises IncparseError as `origin` does."""
        origin = self.origin()
        return origin is not None and set(self.scores) <= set(origin.scores)


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
    trees: Sequence[Tree], recipe: ParserRecipe, folder: Path, *, n_folds: int = 10, n: int = 20,
    scores: Sequence[str] = (), with_better: bool = True, n_process: int = 1,
) -> Iterator[FoldReport]:  # fmt: skip
    """Write jackknifed lists of `n` candidates of normalized trees to a folder; yield a report of each finished fold.

    Folds that an earlier run with the same trees and settings has finished come first and are not made again; scores
    that they lack are added. scores, with_better: see `FoldTask`. Raises IncparseError if the folder has lists of other
    trees or settings, or there are fewer than two folds or sentences.
    """
    tasks = list(fold_tasks(trees, recipe, folder, n_folds, n, scores, with_better))
    folder.mkdir(parents=True, exist_ok=True)
    finished = [task for task in tasks if task.is_finished()]
    foreign = {path for pattern in PATTERNS for path in folder.glob(pattern)}.difference(task.path for task in tasks)
    if foreign:  # whoever reads the folder would learn from them
        raise IncparseError(
            f"{min(foreign)} has lists of another run: move it, or keep the lists of this run in another folder"
        )
    yield from (FoldReport(task.number, len(task.held_out)) for task in finished)
    missing = [task for task in tasks if task not in finished]
    yield from (report for _, report in run_in_workers(_fold_parser, missing, min(n_process, max(1, len(missing)))))


def _fold_parser() -> Callable[[FoldTask], FoldReport]:
    return parse_fold


def fold_tasks(
    trees: Sequence[Tree], recipe: ParserRecipe, folder: Path, n_folds: int, n: int, scores: Sequence[str] = (),
    with_better: bool = True,
) -> Iterator[FoldTask]:  # fmt: skip
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


def list_settings(n: int, with_better: bool) -> dict[str, int]:
    """Return the settings of lists as a part of a checksum; that of lists without better trees is as it always was."""
    return {"n": n} | ({"with_better": 1} if with_better else {})


def parse_fold(task: FoldTask) -> FoldReport:
    """Train the parser of a fold, and write its lists; a file is written completely or not at all."""
    started = time.perf_counter()
    origin = task.origin()
    if origin is None:
        model = task.recipe.train(task.train)
        trained_on = frozenset(sentence_key(tree.words) for tree in task.train)
        origin = ListOrigin(sha256(model.checksum().encode()).hexdigest(), trained_on, task.checksum)
        lists = _held_out_lists(model, task)
    else:  # they only lack scores
        lists = list(read_lists(task.path))
    lists = list(_with_scores(lists, task))
    write_lists(task.path, lists)
    replace(origin, scores=tuple(sorted({*origin.scores, *task.scores}))).write(task.path)
    oracle = Oracle([1, task.n])
    for one, tree in zip(lists, task.held_out, strict=True):
        oracle.add(tree, [parse.tree for parse in one.parses])
    scores = oracle.report().scores
    return FoldReport(
        task.number, len(lists), scores[-1].mean_length, scores[0].f, scores[-1].f, time.perf_counter() - started
    )


def _with_scores(lists: Iterable[CandidateList], task: FoldTask) -> Iterator[CandidateList]:
    """Yield lists with the scores that they lack, by models that have not seen the sentences either."""
    models: dict[str, SecondScore] = {}
    for found in lists:
        trees, others = [parse.tree for parse in found.parses], dict(found.others)
        for name in task.scores:
            if not others.keys() >= set(SECOND_SCORES[name].columns):
                if name not in models:
                    models[name] = SECOND_SCORES[name].train(task.train, task.recipe.heads)
                others |= models[name].scores(trees)
        yield replace(found, others=others)


def _held_out_lists(model: TrainedModel, task: FoldTask) -> list[CandidateList]:
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


# A reranker that learns from the lists of a parser on its own training sentences learns that the parser is nearly
# always right. So whoever makes lists writes down which sentences the parser has seen, and whoever learns from them
# checks it.

SUFFIX = ".origin.json"
FORMAT = "spacy-incparse list origin 1"


@dataclass(frozen=True)
class ListOrigin:
    """The parser that made the lists of a file.

    parser: a checksum of its weights. trained_on: the keys of the sentences that it was trained on (`sentence_key`).
    settings: a checksum of everything that the lists depend on, so that a later run can tell whether they are its own.
    scores: the names of the scores beside the parser's that the lists have.
    """

    parser: str
    trained_on: frozenset[str]
    settings: str = ""
    scores: tuple[str, ...] = ()

    def write(self, lists: Path) -> None:
        """Write the origin beside a file with lists."""
        content = {"format": FORMAT} | asdict(self) | {"trained_on": sorted(self.trained_on)}
        write_bytes(origin_path(lists), srsly.json_dumps(content).encode("ascii"))

    @classmethod
    def read(cls, lists: Path) -> ListOrigin | None:
        """Return the origin of a file with lists, or None if there is none. Raises IncparseError if it is damaged."""
        path = origin_path(lists)
        if not path.exists():
            return None
        try:
            content = srsly.read_json(path)
            if content["format"] != FORMAT:
                raise ValueError(f"it has the format {content['format']!r}")
            trained_on, scores = frozenset(map(str, content["trained_on"])), tuple(content.get("scores", ()))
            return cls(str(content["parser"]), trained_on, str(content["settings"]), scores)
        except (ValueError, KeyError, TypeError) as error:
            raise IncparseError(f"{path} cannot be read ({error}): make the lists again") from None


def origin_path(lists: Path) -> Path:
    """Return the path of the file that says where the lists of a file come from."""
    return lists.with_name(lists.name + SUFFIX)


def sentence_key(words: Iterable[str]) -> str:
    """Return a short key of a sentence's words; that two sentences share one is as good as impossible."""
    return sha256("\n".join(words).encode("utf8", "surrogatepass")).hexdigest()[:12]


PATTERNS = ("*.jsonl", "*.jsonl.gz")


class TrainingLists:
    """The lists of one or several files, which are read anew each time: they take more memory than what is learned.

    path: a file, or a folder of .jsonl and .jsonl.gz files. Raises IncparseError if there are none; while reading, if
    a list has no gold tree, or its parser was trained on the sentence.
    """

    def __init__(self, path: str | Path):
        path = Path(path)
        self.files = sorted(file for pattern in PATTERNS for file in path.glob(pattern)) if path.is_dir() else [path]
        if not self.files:
            raise IncparseError(f"{path}: the folder has no files with lists ({' or '.join(PATTERNS)})")
        if not path.exists():
            raise IncparseError(f"{path}: there is no such file or folder with lists")

    def __iter__(self) -> Iterator[CandidateList]:
        for path in self.files:
            origin = ListOrigin.read(path)
            if origin is None:
                warnings.warn(
                    f"{path}: no {path.name}{SUFFIX} says what the parser of these lists was trained on: if it has "
                    f"seen the sentences, the reranker learns nothing useful",
                    stacklevel=2,
                )
            for number, candidates in enumerate(read_lists(path), start=1):
                start = " ".join(candidates.words[:8])
                if candidates.gold is None:
                    raise IncparseError(f"{path}: list {number} ({start!r}) has no gold tree to learn from")
                if origin is not None and sentence_key(candidates.words) in origin.trained_on:
                    raise IncparseError(
                        f"{path}: list {number} ({start!r}) is of a parser that was trained on this sentence, so its "
                        f"trees are better than those of new sentences: make lists with `spacy-incparse rerank-train`"
                    )
                yield candidates


def training_lists(lists: Any) -> Iterable[CandidateList]:
    """Return lists to learn from: those at a path, or the given CandidateLists, whose parser is not checked.

    Raises IncparseError for anything else.
    """
    if isinstance(lists, str | Path):
        return TrainingLists(lists)
    found = list(lists) if isinstance(lists, Iterable) else [lists]  # an iterator could only be read once
    for one in found:
        if not isinstance(one, CandidateList):
            raise IncparseError(f"{one!r:.60} is no CandidateList: pass these, or the path of files with lists")
    return found
