"""Training a tagger and a parser on a treebank: passes, evaluation after each, and a state to resume from."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.errors import IncparseError, damaged
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.files import unfinished_path, write_bytes, write_file
from spacy_incparse.parsing.catalogue import kind_of_config
from spacy_incparse.parsing.parser import Learner, Parser, ParserKind
from spacy_incparse.settings import Settings
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.passes import (
    NO_EXTRA,
    ExtraTrees,
    PassSelection,
    Progress,
    TagSchedule,
    convergence_of,
    learn_pass,
)
from spacy_incparse.training.preparation import Preparation, TrainedModel, TrainingTask, tags_of
from spacy_incparse.training.temperature import fit_temperature
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class PassReport:
    """One pass over the training trees, numbered from 1.

    scores: scores on the held-out trees under predicted tags, as returned by `Scores.to_dict`; None without held-out
    trees.
    is_best: no earlier pass had a higher F; without held-out trees, each pass counts as better than the previous one.
    note: how far a learner that can tell is from the end.
    """

    number: int
    n_updates: int
    scores: dict[str, Any] | None
    seconds: float
    is_best: bool
    note: str = ""


OnPass = Callable[[PassReport, Tagger | None, Parser], None]
OnKept = Callable[[int | None], object]
NO_BEST = -1.0


def train_parser(
    train: Sequence[Tree],
    dev: Sequence[Tree],
    *,
    config: Settings,
    heads: HeadRules,
    kind: ParserKind | None = None,
    n_folds: int = 10,
    tagger_settings: Mapping[str, Any] | None = None,
    max_epochs: int = 10,
    seed: int = 0,
    base: TrainedModel | None = None,
    n_process: int = 1,
    extra: ExtraTrees | None = None,
    state_dir: Path | None = None,
    resume: bool = False,
    has_best: bool = True,
    on_pass: OnPass | None = None,
    on_kept: OnKept = lambda _: None,
    progress: Progress | None = None,
) -> None:
    """Train on normalized trees; `on_pass` gets each pass's report, the tagger and the parser with averaged weights.

    kind: the kind of parser; by default the one that the configuration is for. base: a trained model to continue from.
    n_process: so many processes train the models of jackknifing; their number has no effect on the weights.
    extra: more trees, of which each pass sees a part.
    The parser of a pass that is the best so far has a temperature, fitted on the held-out trees. The state is kept in
    `state_dir`: `on_kept` gets None when only the start of the run has been saved, then the number of finished passes.
    A resumed run continues after them, and gives the same models, to the bit, as if it had never stopped. If their best
    model is gone (`has_best`), the next one is the best so far. Raises IncparseError if the state belongs to other
    trees (including `dev` and `extra`), settings or word clusters, or if there is no state.
    """
    if not train:
        raise IncparseError("there is no tree to train on")
    task = TrainingTask(
        kind or kind_of_config(config), train, config, heads, n_folds=n_folds, tagger_settings=tagger_settings or {},
        seed=seed, base=base, n_process=n_process, extra=extra or NO_EXTRA,
    )  # fmt: skip
    state = TrainingState(state_dir, fingerprint([*task.trees, *dev], task.contents())) if state_dir else None
    preparation = _prepared(task, state, resume, on_kept, progress)
    n_passes, best = state.load_learner(preparation.learner) if state else (0, NO_BEST)
    if state:
        on_kept(n_passes)
    passes = Passes(task, preparation, dev, best if has_best else NO_BEST, progress)
    for number in range(n_passes + 1, (1 if task.kind.trains_in_one_pass else max_epochs) + 1):
        reached = convergence_of(preparation.learner)
        if reached and reached.is_reached:
            break
        report, parser = passes.run(number)
        if on_pass:
            on_pass(report, preparation.tagger, parser)
        if state:
            state.save_learner(preparation.learner, number, passes.best)
            on_kept(number)


def _prepared(
    task: TrainingTask, state: TrainingState | None, resume: bool, on_kept: OnKept, progress: Progress | None
) -> Preparation:
    """Return the preparation: that of the run in `state` if it is resumed and had finished it."""
    if state is None:
        return task.prepare(progress)
    if resume:
        kept = state.load_preparation(task)
        if kept is not None:
            return kept
    else:
        state.begin()
    on_kept(None)
    preparation = task.prepare(progress)
    state.save_preparation(preparation)
    return preparation


class Passes:
    """The passes of a training run and the best F so far."""

    def __init__(
        self, task: TrainingTask, preparation: Preparation, dev: Sequence[Tree], best: float, progress: Progress | None
    ):
        self.best = best
        self._learner, self._dev, self._progress, self._seed = preparation.learner, dev, progress, task.seed
        rows = tags_of(preparation.tagger, task.needs.tag_request, dev)
        self._given = [(tree.words, row) for tree, row in zip(dev, rows, strict=True)]
        interval = task.needs.gold_tag_interval
        selection = PassSelection(len(task.own), len(task.extra.trees), task.extra.weight, task.seed)
        self._schedule = TagSchedule(task.trees, preparation.tags, self._learner, interval, selection)

    def run(self, number: int) -> tuple[PassReport, Parser]:
        """Run a pass and return its report and the parser after it."""
        started = time.perf_counter()
        examples = self._schedule.examples(number)
        n_updates = learn_pass(examples, self._learner, self._seed, number, self._progress).n_updates
        parser = self._learner.parser()
        scores, is_best = None, True
        if self._dev:
            scores = score_trees(self._dev, [parse.tree for parse in parser.parse_batch(self._given)]).to_dict()
            is_best = scores["const_f"] > self.best
            if is_best:
                self.best = scores["const_f"]
                parser.temperature = fit_temperature(parser, self._dev, self._given)
        reached = convergence_of(self._learner)
        seconds = time.perf_counter() - started
        return PassReport(number, n_updates, scores, seconds, is_best, reached.note if reached else ""), parser


BEGUN = "begun.bin"  # marks that a run has started
PREPARATION = "preparation.bin"  # the tagger and the jackknifed tags
LEARNER = "learner.bin"  # raw weights, sums, the number of finished passes, the best F
NEURAL = "neural"  # a folder with the state of a neural parser (neural/training.py)


def forget(folder: Path) -> None:
    """Remove the state of a run, and its folder if that is empty."""
    for name in (LEARNER, PREPARATION, BEGUN):
        for path in (folder / name, unfinished_path(folder / name)):
            path.unlink(missing_ok=True)
    shutil.rmtree(folder / NEURAL, ignore_errors=True)
    with suppress(OSError):  # there is no folder, or it has files that are not ours
        folder.rmdir()


def is_begun(folder: Path) -> bool:
    """Return whether a folder has the state of a run."""
    return any((folder / name).exists() for name in (BEGUN, PREPARATION))


def fingerprint(trees: Sequence[Tree], settings: dict[str, Any]) -> str:
    """Return a checksum of trees and settings: a state can only be used with the same ones."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for tree in trees:
        digest.update(repr((tree.arrays.labels, tree.arrays.sizes, tree.arrays.words)).encode("utf8", "surrogatepass"))
    return digest.hexdigest()


class TrainingState:
    """A folder with the state of one run; `checksum` is its fingerprint."""

    def __init__(self, folder: Path, checksum: str):
        self.folder, self.checksum = folder, checksum

    def begin(self) -> None:
        """Remove an older run, and mark that a new one has started: if killed from now on, it can be resumed."""
        forget(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(BEGUN, {})

    def save_preparation(self, preparation: Preparation) -> None:
        """Save the work done before the first pass."""
        tagger = preparation.tagger and preparation.tagger.to_bytes()
        self._write(PREPARATION, {"tagger": tagger, "tags": [list(row) for row in preparation.tags]})

    def load_preparation(self, task: TrainingTask) -> Preparation | None:
        """Return the preparation of the run, with the learner before the first pass; None if it is not finished.

        Raises IncparseError if there is no run, or it belongs to another task.
        """
        if not (self.folder / PREPARATION).exists():
            self._read(BEGUN)
            return None
        content = self._read(PREPARATION)
        tagger = None if content["tagger"] is None else Tagger.from_bytes(content["tagger"])
        return Preparation(tagger, content["tags"], task.learner(content["tags"]))

    def save_learner(self, learner: Learner, n_passes: int, best: float) -> None:
        """Save the learner after a pass; an interrupted write leaves the state of the previous pass."""
        head = {"checksum": self.checksum, "n_passes": n_passes, "best": best}
        # A line with the other values precedes the learner: a message that contains it would be one more copy.
        # F has all its digits, which srsly's JSON would round: another pass with the same F must not be the best one.
        pieces = [f"{json.dumps(head)}\n".encode(), learner.state_to_bytes()]

        def write(path: Path) -> None:
            with path.open("wb") as file:
                file.writelines(pieces)

        write_file(self.folder / LEARNER, write)

    def load_learner(self, learner: Learner) -> tuple[int, float]:
        """Set a learner to the last finished pass; return its number and the best F so far, -1 without a pass."""
        if not (self.folder / LEARNER).exists():
            return 0, -1.0
        head = self._read(LEARNER)
        learner.state_from_bytes(head["rest"])
        return head["n_passes"], head["best"]

    def _write(self, name: str, content: dict[str, Any]) -> None:
        write_bytes(self.folder / name, srsly.msgpack_dumps({"checksum": self.checksum, **content}))

    def _read(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        if not path.exists():
            raise IncparseError(f"there is no training to resume in {self.folder}: start without --resume")
        with damaged(f"{path} is damaged: start a new training"):
            data = path.read_bytes()
            if name == LEARNER:  # the bytes after the line are the value of "rest"
                line, _, rest = data.partition(b"\n")
                content = json.loads(line) | {"rest": rest}
            else:
                content = srsly.msgpack_loads(data)
            checksum = content["checksum"]
        if checksum != self.checksum:
            raise IncparseError(
                f"{path} belongs to a training with other trees or settings, including the trees that choose the best "
                f"pass: resume with the same ones, or start a new training"
            )
        return content
