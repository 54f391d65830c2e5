"""The state of a training run on disk, apart from the model: enough to continue after the last finished pass."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import unfinished_path, write_bytes, write_file
from spacy_incparse.parsing.parser import Learner
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.preparation import Preparation, TrainingTask
from spacy_incparse.trees.tree import Tree

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
        try:
            data = path.read_bytes()
            if name == LEARNER:  # the bytes after the line are the value of "rest"
                line, _, rest = data.partition(b"\n")
                content = json.loads(line) | {"rest": rest}
            else:
                content = srsly.msgpack_loads(data)
            checksum = content["checksum"]
        except Exception as error:
            raise ModelError(f"{path} is damaged ({error}): start a new training") from error
        if checksum != self.checksum:
            raise IncparseError(
                f"{path} belongs to a training with other trees or settings, including the trees that choose the best "
                f"pass: resume with the same ones, or start a new training"
            )
        return content
