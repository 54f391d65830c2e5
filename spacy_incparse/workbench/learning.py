"""The parser learns from accepted trees in a process of its own, which the page never waits for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy_incparse.files import write_bytes
from spacy_incparse.treebanks.reader import normalize
from spacy_incparse.trees.tree import Tree

HELD_OUT = 10  # every tenth accepted tree measures the parser, and is not learned from
_PASS = re.compile(r"^ *\d+ +[\d,]+ +[\d.]+ +[\d.]+ +([\d.]+)", re.MULTILINE)


class Learning:
    """Trains a parser, with `spacy-incparse train`, each time that so many more trees have been accepted.

    folder: where the model is kept. base: the pipeline that is fine-tuned on all accepted trees; None: a parser is
    trained on them alone. every: the number of trees, from which there is a first parser.
    """

    def __init__(self, folder: Path, base: str | None, *, every: int = 20, lang: str = "xx", epochs: int = 5):
        self.folder, self.every, self.model, self._log = folder, every, folder / "model", folder / "log.txt"
        self._options = ["--lang", lang] if base is None else ["--from", base]
        self._options += ["--max-epochs", str(epochs), "--force"]
        self.is_on, self.error = True, ""
        self.runs: list[dict[str, Any]] = []  # of each: the number of trees, and F on held-out trees after each pass
        self._process: subprocess.Popen[bytes] | None = None
        self._n_learned = 0

    @property
    def is_running(self) -> bool:
        """Whether a parser is being trained."""
        return self._process is not None

    def start_if_due(self, trees: Iterable[Tree], n_trees: int) -> bool:
        """Start to learn from all accepted trees if there are enough new ones; return whether it was started."""
        if not self.is_on or self._process or n_trees - self._n_learned < self.every:
            return False
        normal = [tree for tree in map(normalize, trees) if tree is not None]
        self._n_learned, self.error = n_trees, ""
        self.folder.mkdir(exist_ok=True)
        parts = {"dev.mrg": normal[::HELD_OUT], "train.mrg": [tree for k, tree in enumerate(normal) if k % HELD_OUT]}
        for name, part in parts.items():
            write_bytes(self.folder / name, "".join(f"{tree}\n" for tree in part).encode())
        command = [sys.executable, "-m", "spacy_incparse", "train", "train.mrg", "dev.mrg", "next", *self._options]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self.runs.append({"trees": n_trees, "f": []})
        return True

    def poll(self) -> bool:
        """Note how far the training is; return whether there is a new model, which has taken the place of the last."""
        if self._process is None:
            return False
        code, text = self._process.poll(), self._log.read_text("utf-8", errors="replace")
        self.runs[-1]["f"] = list(map(float, _PASS.findall(text)))
        if code is None:
            return False
        self._process, made, old = None, self.folder / "next" / "model-best", self.folder / "old"
        if code or not made.is_dir():
            last = (text.strip().splitlines() or ["it ended without a word"])[-1]
            self.error = f"learning failed: {last.removeprefix('Error: ')} (see {self._log})"
            return False
        shutil.rmtree(old, ignore_errors=True)
        if self.model.exists():
            self.model.rename(old)
        made.rename(self.model)
        for left in (old, self.folder / "next"):
            shutil.rmtree(left, ignore_errors=True)
        return True

    def wait(self) -> bool:
        """Wait for a training that runs, then do as `poll` does."""
        if self._process:
            self._process.wait()
        return self.poll()

    def stop(self) -> None:
        """End a training that runs; what it has learned is lost, and the last model stays."""
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._process, self._n_learned = None, 0


def actions_per_word(effort: Sequence[tuple[int, int]], block: int = 20) -> list[float]:
    """Return the corrections per word of each block of accepted sentences, given the words and corrections of each."""
    blocks = (effort[k : k + block] for k in range(0, len(effort), block))
    return [sum(n for _, n in one) / max(sum(words for words, _ in one), 1) for one in blocks]
