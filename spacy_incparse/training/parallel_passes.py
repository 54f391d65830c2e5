"""Passes in several workers, by iterative parameter mixing: see `learning/mixing.py`.

Workers are processes, or actors on the machines of a cluster, and last for the whole training. What they get and return
is small, but for the trees at the start: weights go through files. A worker that is killed is replaced, and its part of
the pass is done again from the same start.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Mixer
from spacy_incparse.training.extra_trees import PassSelection
from spacy_incparse.training.passes import PassCounts, Progress, TagSchedule, learn_pass
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.training.temperature import MAX_SENTENCES, ScoredAnalyses, best_temperature, scored_analyses
from spacy_incparse.trees.tree import Tree

ROUND_SENTENCES = 1000  # of each worker between two mixtures
_COUNT_BYTES = 8
_PIECES = 4  # of the held-out trees for each worker, since some take longer than others


class HeldOut(NamedTuple):
    """The trees that choose the best pass, with the tags that they are parsed under."""

    trees: Sequence[Tree]
    tags: Sequence[Tags]


@dataclass(frozen=True)
class Counts:
    """The numbers of examples that the parts have learned from, in a file for each part, since they are for progress.

    Machines that share a file system see each other's files when these have been closed.
    """

    folder: Path
    n_parts: int

    def reset(self) -> None:
        """Set all numbers to 0."""
        for part in range(self.n_parts):
            self._path(part).write_bytes(bytes(_COUNT_BYTES))

    def write(self, part: int, number: int) -> None:
        """Set the number of a part."""
        with self._path(part).open("r+b") as file:  # never empty, as it would be if it was written anew
            file.write(number.to_bytes(_COUNT_BYTES, "little"))

    def total(self) -> int:
        """Return the sum of the numbers."""
        return sum(int.from_bytes(self._path(part).read_bytes(), "little") for part in range(self.n_parts))

    def check(self) -> None:
        """Raise IncparseError if this machine does not see the files."""
        if not self._path(0).exists():
            raise IncparseError(
                f"{socket.gethostname()} does not see {self.folder}: train into a folder that all machines see"
            )

    def _path(self, part: int) -> Path:
        return self.folder / f"done-{part}"


@dataclass(frozen=True)
class Material:
    """What each worker gets when it starts.

    copier: makes its copy of the learner. tags: of the training trees. interval: see `uses_gold_tags`. done: where the
    workers write how many examples each part has learned from. n_parts: of a pass. selection: the sentences of each
    pass; by default all.
    """

    copier: Callable[[], Mixer]
    trees: Sequence[Tree]
    tags: Sequence[Tags]
    interval: int
    seed: int
    held_out: HeldOut
    n_parts: int
    done: Counts
    selection: PassSelection | None = None


class PartWorker:
    """A worker that does parts of passes and of evaluations.

    Raises IncparseError if it runs on a machine that does not see the folder through which weights go.
    """

    def __init__(self, material: Material):
        material.done.check()
        self.material, self.mixer = material, material.copier()
        self.schedule = TagSchedule(
            material.trees, material.tags, self.mixer.learner, material.interval, material.selection
        )
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

    def __call__(self, worker: PartWorker) -> tuple[PassCounts, Any]:
        """Learn, write the weights, and return the numbers of updates, and what `Mixer.finish_part` returns."""
        material = worker.material

        def count(_: str, n_done: int, __: int) -> None:
            material.done.write(self.part, n_done)

        worker.mixer.start_part()
        examples, n_parts = worker.schedule.examples(self.number), material.n_parts
        counts = learn_pass(
            examples, worker.mixer.learner, material.seed, self.number, count, part=self.part, n_parts=n_parts
        )
        return counts, worker.mixer.finish_part()


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
    """The passes of a learner and their evaluations, in several workers; `close` ends them.

    A pass over a large treebank has several rounds, each with a part for each worker. After each round, the weights are
    mixed: the longer workers learn apart, the less they know of what the others have learned, and the lower is F.
    """

    def __init__(self, mixer: Mixer, folder: Path, task: TrainingTask, tags: Sequence[Tags], held_out: HeldOut):
        self._mixer, self._held_out = mixer, held_out
        self._n_trees = len(task.selection)
        self._n_workers = min(task.workers.number, self._n_trees)
        self._n_parts = self._n_workers * n_rounds(self._n_trees, self._n_workers)
        interval, self._done = task.needs.gold_tag_interval, Counts(folder, self._n_parts)
        self._done.reset()
        material = Material(
            mixer.copier(), task.trees, tags, interval, task.seed, held_out, self._n_parts, self._done, task.selection
        )
        self._pool = task.workers.make_pool(partial(PartWorker, material), self._n_workers)
        self._number, self._written = 0, None  # of the pass whose parser is written

    def learn(self, number: int, progress: Progress | None) -> int:
        """Learn a pass, mix what the parts of each round have learned, and return the number of updates."""
        total = self._n_trees * self._mixer.learner.n_models

        def report() -> None:
            n_done = self._done.total() if progress else 0
            if progress and n_done:
                progress(f"pass {number}", n_done, total)

        self._done.reset()
        starts = range(0, self._n_parts, self._n_workers)
        n_updates = sum(self._learn_round(number, range(k, k + self._n_workers), report) for k in starts)
        self._number, self._written = number, self._mixer.write_parser()
        return n_updates

    def _learn_round(self, number: int, parts: range, report: Callable[[], None]) -> int:
        self._mixer.start_round()
        tasks = (LearnPart(number, part) for part in parts)
        found = {task.part: result for task, result in self._pool.run(tasks, on_wait=report)}
        self._mixer.finish_round([written for _, (_, written) in sorted(found.items())])
        return sum(counts.n_updates for counts, _ in found.values())

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
        """End the workers."""
        self._pool.close()

    def _parsed(self, n: int, *, analyses: bool) -> Iterator[Any]:
        """Yield what the workers return for pieces of the first held-out trees, in order."""
        size = -(-n // (_PIECES * self._n_workers))
        pieces = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        tasks = [ParsePiece(self._number, piece, self._written, analyses) for piece in pieces]
        found = {task.piece.start: result for task, result in self._pool.run(iter(tasks))}
        return (found[piece.start] for piece in pieces)


def n_rounds(n_trees: int, n_workers: int) -> int:
    """Return after how many rounds a pass is finished: in each, a worker learns from about `ROUND_SENTENCES`."""
    return max(1, round(n_trees / (n_workers * ROUND_SENTENCES)))
