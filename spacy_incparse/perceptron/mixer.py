"""Perceptrons that learn parts of a pass side by side, and exchange their weights through files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from uuid import uuid4

from spacy_incparse.learning.mixing import mix_parts, read_start, write_part, write_start
from spacy_incparse.learning.weights import AveragedWeights, Weights
from spacy_incparse.perceptron.learner import ParserLearner
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.perceptron.perceptron_parser import PerceptronModel, PerceptronParser

SCALE = 16  # units in a weight of 1 where all steps have that size: the mixture of two of them is a fraction


class PerceptronMixer:
    """A learner, and the folder of the files. One of them starts and ends the rounds; its copies learn the parts."""

    def __init__(self, learner: ParserLearner, folder: Path):
        self.learner, self._folder = learner, folder
        learner.refine(SCALE)

    def copier(self) -> Callable[[], PerceptronMixer]:
        """Return a function that makes a copy in another process; it can be pickled."""
        learner = self.learner
        sizes = learner.weights.n_columns, learner.weights.scale
        return partial(_copy, learner.model, learner.config, *sizes, self._folder)

    def start_round(self) -> None:
        """Write what the parts of the next round start from, and remove what those of the last one have left."""
        for path in self._folder.glob("part-*"):
            path.unlink(missing_ok=True)
        for path, weights in self._tables("start"):
            write_start(weights, path)

    def start_part(self) -> None:
        """Set a copy to the start of the round."""
        for path, weights in self._tables("start"):
            read_start(weights, path)

    def finish_part(self) -> str:
        """Write what a copy has learned into files whose name no other copy will use, and return that name."""
        name = f"part-{uuid4().hex}"
        for k, weights in enumerate(self.learner.tables):
            write_part(weights, self._path("start", k), self._path(name, k))
        return name

    def finish_round(self, parts: Sequence[str]) -> None:
        """Mix what the parts have learned, by the names of their files."""
        for k, weights in enumerate(self.learner.tables):
            mix_parts(weights, [self._path(name, k) for name in parts])
        self.learner.forget_parser()

    def write_parser(self) -> int:
        """Write the averaged weights of the parser so far; return their scale."""
        weights = self.learner.parser().weights
        self._path("parser", 0).write_bytes(weights.view())
        return weights.scale

    def read_parser(self, scale: int) -> PerceptronParser:
        """Return the parser that was written, in a copy."""
        own = self.learner.weights
        weights = Weights(own.bits, own.n_columns, scale)
        with self._path("parser", 0).open("rb") as file:
            file.readinto(weights.view())
        return self.learner.parser_with(weights)

    def _tables(self, name: str) -> Iterator[tuple[Path, AveragedWeights]]:
        return ((self._path(name, k), weights) for k, weights in enumerate(self.learner.tables))

    def _path(self, name: str, number: int) -> Path:
        return self._folder / f"{name}-{number}"


def _copy(model: PerceptronModel, config: ParserConfig, n_columns: int, scale: int, folder: Path) -> PerceptronMixer:
    return PerceptronMixer(ParserLearner(model, config, n_columns=n_columns, scale=scale), folder)
