"""Passes in several processes, by iterative parameter mixing: see `learning/mixing.py`.

Processes last for the whole training. What they get and return is small, but for the trees at the start: weights go
through files. A process that is killed is replaced, and does its part of the pass again from the same start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Mixer
from spacy_incparse.training.extra_trees import PassSelection
from spacy_incparse.training.passes import PassCounts, Progress, TagSchedule, learn_pass
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.training.temperature import MAX_SENTENCES, ScoredAnalyses, best_temperature, scored_analyses
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import WorkerPool

_PIECES = 4  # of the held-out trees for each process, since some take longer than others


class HeldOut(NamedTuple):
    """The trees that choose the best pass, with the tags that they are parsed under."""

    trees: Sequence[Tree]
    tags: Sequence[Tags]


@dataclass(frozen=True)
class Material:
    """What each process gets when it starts.

    copier: makes its copy of the learner. tags: of the training trees. interval: see `uses_gold_tags`. done: the file
    with the number of examples that each part has learned from. selection: the sentences of each pass; by default all.
    """

    copier: Callable[[], Mixer]
    trees: Sequence[Tree]
    tags: Sequence[Tags]
    interval: int
    seed: int
    held_out: HeldOut
    n_parts: int
    done: Path
    selection: PassSelection | None = None


class PartWorker:
    """A process that does parts of passes and of evaluations."""

    def __init__(self, material: Material):
        self.material, self.mixer = material, material.copier()
        self.schedule = TagSchedule(
            material.trees, material.tags, self.mixer.learner, material.interval, material.selection
        )
        self.done = _counters(material.done, material.n_parts)
        self._parser: tuple[int, ConstituencyParser] | None = None

    def __call__(self, task: Callable[[PartWorker], Any]) -> Any:
        """Return what a task returns."""
        return task(self)

    def parser(self, number: int, written: Any) -> ConstituencyParser:
        """Return the parser after a pass, which is read once."""
        if self._parser is None or self._parser[0] != number:
            self._parser = number, self.mixer.read_parser(written)
        return self._parser[1]


@dataclass(frozen=True)
class LearnPart:
    """The task to learn one part of a pass."""

    number: int
    part: int

    def __str__(self) -> str:
        return f"pass {self.number}"

    def __call__(self, worker: PartWorker) -> PassCounts:
        """Learn, write the weights, and return the numbers of updates."""
        material = worker.material

        def count(_: str, n_done: int, __: int) -> None:
            worker.done[self.part] = n_done

        worker.mixer.start_part()
        examples, n_parts = worker.schedule.examples(self.number), material.n_parts
        counts = learn_pass(
            examples, worker.mixer.learner, material.seed, self.number, count, part=self.part, n_parts=n_parts
        )
        worker.mixer.finish_part(self.part)
        return counts


@dataclass(frozen=True)
class ParsePiece:
    """The task to parse a piece of the held-out trees by the parser after a pass; `analyses`: for its temperature."""

    number: int
    piece: slice
    written: Any
    analyses: bool = False

    def __str__(self) -> str:
        return f"the evaluation of pass {self.number}"

    def __call__(self, worker: PartWorker) -> list[Tree] | ScoredAnalyses:
        """Return the parser's trees, or what its temperature is fitted to."""
        parser = worker.parser(self.number, self.written)
        held_out = worker.material.held_out
        trees, tags = held_out.trees[self.piece], held_out.tags[self.piece]
        if self.analyses:
            return scored_analyses(parser, trees, tags)
        return [
            parse.tree for parse in parser.parse_batch([(t.words, row) for t, row in zip(trees, tags, strict=True)])
        ]


class ParallelPasses:
    """The passes of a learner and their evaluations, in several processes; `close` ends them."""

    def __init__(self, mixer: Mixer, folder: Path, task: TrainingTask, tags: Sequence[Tags], held_out: HeldOut):
        self._mixer, self._held_out = mixer, held_out
        self._n_parts, self._n_trees = min(task.n_process, len(task.selection)), len(task.selection)
        interval, done = task.needs.gold_tag_interval, folder / "done"
        self._done = _counters(done, self._n_parts)
        material = Material(
            mixer.copier(), task.trees, tags, interval, task.seed, held_out, self._n_parts, done, task.selection
        )
        self._pool: WorkerPool[Any, Any] = WorkerPool(partial(PartWorker, material), self._n_parts)
        self._number, self._written = 0, None  # of the pass whose parser is written

    def learn(self, number: int, progress: Progress | None) -> int:
        """Learn a pass, mix what its parts have learned, and return the number of updates."""
        n_parts, total = self._n_parts, self._n_trees * self._mixer.learner.n_models

        def report() -> None:
            if progress and self._done.any():
                progress(f"pass {number}", int(self._done.sum()), total)

        self._done[:] = 0
        self._mixer.start_pass()
        tasks = (LearnPart(number, part) for part in range(n_parts))
        n_updates = sum(counts.n_updates for _, counts in self._pool.run(tasks, on_wait=report))
        self._mixer.finish_pass(n_parts)
        self._number, self._written = number, self._mixer.write_parser()
        return n_updates

    def scores(self) -> dict[str, Any]:
        """Return the scores of the parser after the last pass on the held-out trees."""
        gold = self._held_out.trees
        found = [tree for trees in self._parsed(len(gold), analyses=False) for tree in trees]
        return score_trees(gold, found).to_dict()

    def temperature(self) -> float:
        """Return the parser's temperature, as `fit_temperature` does."""
        n = min(MAX_SENTENCES, len(self._held_out.trees))
        found = list(self._parsed(n, analyses=True))
        scores = [row for piece in found for row in piece.scores]
        return best_temperature(scores, [right for piece in found for right in piece.is_right])

    def close(self) -> None:
        """End the processes."""
        self._pool.close()

    def _parsed(self, n: int, *, analyses: bool) -> Iterator[Any]:
        """Yield what the processes return for pieces of the first held-out trees, in order."""
        size = -(-n // (_PIECES * self._n_parts))
        pieces = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        tasks = [ParsePiece(self._number, piece, self._written, analyses) for piece in pieces]
        found = {task.piece.start: result for task, result in self._pool.run(iter(tasks))}
        return (found[piece.start] for piece in pieces)


def _counters(path: Path, n_parts: int) -> np.ndarray:
    """Return the numbers of examples that the parts have learned from, which all processes share."""
    return np.memmap(path, np.int64, "r+" if path.exists() else "w+", shape=(n_parts,))
