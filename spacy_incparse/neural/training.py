"""Train a neural pipeline pass by pass, so that it can go on after an interruption as if there had been none."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import create_evaluation_callback, train_while_improving
from spacy.util import registry, resolve_dot_names
from thinc.api import Model, Optimizer, fix_random_seed, get_current_ops, to_numpy

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import named
from spacy_incparse.pipeline.registered import set_steps
from spacy_incparse.training.loop import NEURAL, forget
from spacy_incparse.training.passes import PassSelection

PREFIX = "pass-"  # of the folder of what is finished: how many passes, and after a point, how many parts of the next
PART = 500  # updates
_HEAD, _OPTIMIZER = "state.json", "optimizer.npz"
_TABLES = ("mom1", "mom2", "averages")  # of the optimizer, by parameter


class NeuralPasses:
    """The passes of one training run, by the section [training] of the pipeline's config.

    selection: which examples of the training corpus are in a pass; None: all of them.

    A pass is spaCy's `train_while_improving` over the training corpus, in parts of `PART` updates. Each part begins
    with random numbers of its own: the pipeline's weights and the optimizer after it are all that the next one needs.
    """

    def __init__(self, nlp: Language, selection: PassSelection | None = None):
        config = nlp.config.interpolate()
        names = [config["training"][name] for name in ("train_corpus", "dev_corpus")]
        train_corpus, dev_corpus = resolve_dot_names(config, names)
        self._examples: list[Example] = list(train_corpus(nlp))
        self._selection = selection or PassSelection(len(self._examples))
        set_steps(nlp, self._of_pass(1))
        self._settings = registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
        self.nlp, self.optimizer = nlp, self._settings["optimizer"]
        self._evaluate = create_evaluation_callback(nlp, dev_corpus, self._settings["score_weights"])

    @property
    def number(self) -> int:
        """How many passes there are."""
        return int(self._settings["max_epochs"])

    def learn(
        self, number: int, on_step: Callable[[int, int], object], n_parts: int = 0,
        on_part: Callable[[int, int], object] = lambda n_parts, n_updates: None,
    ) -> int:  # fmt: skip
        """Make a pass; return how many updates it has.

        on_step: takes the numbers of sentences that the pass has learned from, and of all. n_parts: of the pass that
        are finished already. on_part: takes how many parts and updates of the pass are finished, after each part.
        """
        settings = self._settings
        seed = (settings["seed"] or 0) * self.number + number
        fix_random_seed(seed)
        chosen = self._of_pass(number)
        batches = list(settings["batcher"](random.sample(chosen, len(chosen))))
        n_done = sum(map(len, batches[: n_parts * PART]))
        for part in range(n_parts, max(-(-len(batches) // PART), 1)):
            if part:
                fix_random_seed(seed + (part << 20))
            updates = train_while_improving(
                self.nlp,
                self.optimizer,
                ((number, list(batch)) for batch in batches[part * PART : (part + 1) * PART]),
                lambda: (0.0, {}),  # it evaluates after the first update, whatever the frequency
                dropout=settings["dropout"],
                eval_frequency=sys.maxsize,
                accumulate_gradient=settings["accumulate_gradient"],
                patience=0,
                max_steps=0,
                exclude=settings["frozen_components"],
                annotating_components=settings["annotating_components"],
                before_update=settings["before_update"],
            )
            for batch, _, _ in updates:
                n_done += len(batch)
                on_step(n_done, len(chosen))
            on_part(part + 1, min((part + 1) * PART, len(batches)))
        return len(batches)

    def _of_pass(self, number: int) -> list[Example]:
        return [self._examples[place] for place in self._selection.of_pass(number)]

    def scores(self) -> tuple[float, dict[str, Any]]:
        """Return the score that chooses the best pass, and all scores on the dev corpus.

        The pipeline is first made ready to be saved, such as by fitting its temperature: what was saved after an
        earlier pass must not count.
        """
        with self._averaged():
            if self._settings["before_to_disk"]:
                self._settings["before_to_disk"](self.nlp)
            return self._evaluate()

    def save(self, scores: dict[str, Any], write: Callable[[Language], object]) -> None:
        """Let `write` write the pipeline with the averaged weights, if the optimizer averages."""
        weights = self._settings["score_weights"]
        self.nlp.meta["performance"] = {name: scores[name] for name in weights if scores.get(name) is not None}
        with self._averaged():
            write(self.nlp)

    def components(self) -> Iterator[tuple[str, Any]]:
        """Yield the components that learn, with their names."""
        for name, component in self.nlp.pipeline:
            if getattr(component, "is_trainable", False) and isinstance(getattr(component, "model", None), Model):
                yield name, component

    def _averaged(self) -> AbstractContextManager[object]:
        averages = self.optimizer.averages
        return self.nlp.use_params(averages) if averages else nullcontext()


class Finished(NamedTuple):
    """What is finished: how many passes and updates, the best score, the CPU seconds, and parts of the next pass."""

    n_passes: int = 0
    n_updates: int = 0
    best: float = -1.0
    seconds: float = 0.0
    n_parts: int = 0

    @property
    def folder(self) -> str:
        """The name of the folder of its state."""
        return f"{PREFIX}{self.n_passes}" + (f".{self.n_parts}" if self.n_parts else "")


def is_begun(folder: Path) -> bool:
    """Return whether a folder has the state of a neural training run."""
    return _last(folder / NEURAL) is not None


class NeuralState:
    """The state of one run, in a folder for those of all kinds; `checksum` tells its trees and settings from others."""

    def __init__(self, folder: Path, checksum: str):
        self._all, self._folder, self._checksum = folder, folder / NEURAL, checksum

    def begin(self) -> None:
        """Remove an older run, and mark that a new one has begun."""
        forget(self._all)
        self._write(Finished(), None)

    def save(self, passes: NeuralPasses, finished: Finished) -> None:
        """Save what the next pass needs. An interrupted save leaves the state before it."""
        self._write(finished, passes)
        for path in self._folder.glob(f"{PREFIX}*"):
            if path.name != finished.folder:
                shutil.rmtree(path, ignore_errors=True)

    def finished(self) -> Finished:
        """Return what is finished.

        Raises IncparseError if there is no run, or it has other trees or settings, and ModelError if it is damaged.
        """
        path = _last(self._folder)
        if path is None:
            raise IncparseError(f"there is no training to resume in {self._all}: start without --resume")
        with _damage(path):
            head = json.loads((path / _HEAD).read_text(encoding="utf8"))
            checksum, finished = head["checksum"], Finished(**head["finished"])
        if checksum != self._checksum:
            raise IncparseError(
                f"{path} belongs to a training with other trees or settings, such as --max-epochs: resume with the "
                f"same ones, or start a new training"
            )
        return finished

    def restore(self, passes: NeuralPasses, finished: Finished) -> None:
        """Set weights and optimizer to those after what is finished. Raises ModelError if they are damaged."""
        if finished.n_updates:
            path = self._folder / finished.folder
            with _damage(path):
                _read(path, passes)
            for _ in range(finished.n_updates):
                passes.optimizer.step_schedules()

    def _write(self, finished: Finished, passes: NeuralPasses | None) -> None:
        path = self._folder / finished.folder
        unfinished = self._folder / f"{path.name}.tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        with named(path):
            unfinished.mkdir(parents=True)
            head = {"checksum": self._checksum, "finished": finished._asdict(), "updates": {}}
            if passes is not None:
                for name, component in passes.components():
                    (unfinished / f"{name}.bin").write_bytes(component.to_bytes(exclude=["vocab"]))
                head["updates"] = _write_optimizer(unfinished / _OPTIMIZER, passes)
            (unfinished / _HEAD).write_text(json.dumps(head, indent=2), encoding="utf8")  # srsly would round scores
            shutil.rmtree(path, ignore_errors=True)
            unfinished.replace(path)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, BadZipFile, ModelError) as error:
        raise ModelError(f"{path} is damaged ({error}): start a new training") from error


def _last(folder: Path) -> Path | None:
    """Return the folder of the last finished pass or part."""
    found = []
    for path in folder.glob(f"{PREFIX}*"):
        numbers = path.name.removeprefix(PREFIX).split(".")
        if all(map(str.isdigit, numbers)):
            found.append((list(map(int, numbers)), path))
    return max(found, default=([], None))[1]


def _write_optimizer(path: Path, passes: NeuralPasses) -> dict[str, int]:
    """Write the optimizer's arrays; return how often each parameter was updated."""
    optimizer, arrays, updates = passes.optimizer, {}, {}
    for name, key in _parameters(passes):
        for table in _TABLES:
            array = (getattr(optimizer, table) or {}).get(key)
            if array is not None:
                arrays[f"{table}/{name}"] = to_numpy(array)
        if key in optimizer.nr_update:
            updates[name] = optimizer.nr_update[key]
    np.savez(path, **arrays)
    return updates


def _read(path: Path, passes: NeuralPasses) -> None:
    for name, component in passes.components():
        component.from_bytes((path / f"{name}.bin").read_bytes(), exclude=["vocab"])
    optimizer: Optimizer = passes.optimizer
    keys = dict(_parameters(passes))
    for name, n_updates in json.loads((path / _HEAD).read_text(encoding="utf8"))["updates"].items():
        optimizer.nr_update[keys[name]] = n_updates
    ops = get_current_ops()
    with (path / _OPTIMIZER).open("rb") as file, np.load(file) as arrays:  # closed even if it is damaged
        for place in arrays.files:
            table, _, name = place.partition("/")
            getattr(optimizer, table)[keys[name]] = ops.asarray(arrays[place])


def _parameters(passes: NeuralPasses) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield a name for each parameter that says its place, with its key, which is another one in each process."""
    for part, component in passes.components():
        for k, node in enumerate(component.model.walk()):
            for name in node.param_names:
                yield f"{part}/{k}/{name}", (node.id, name)
            for number, shim in enumerate(node.shims):  # PyTorch's modules within a layer
                module: Any = getattr(shim, "_model", None)
                for name, _ in module.named_parameters() if hasattr(module, "named_parameters") else ():
                    yield f"{part}/{k}.{number}/{name}", (shim.id, name)
