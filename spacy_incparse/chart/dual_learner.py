"""Training by the factored dual, one sentence at a time (Taskar et al. 2004): all forests and marginals are kept."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import srsly

from spacy_incparse.chart.crf import BracketLoss
from spacy_incparse.chart.dual_edges import DualEdges, word_scores
from spacy_incparse.chart.factored_dual import DualExample, DualityGap, FactoredDual
from spacy_incparse.chart.lexical_spans import LexicalSpans
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.sentence import ChartExample
from spacy_incparse.chart.span_predictions import JackknifedPredictors
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import unzip
from spacy_incparse.parsing.parser import Convergence

MAX_EDGES = 60_000_000  # of all sentences together, each of which takes about 50 bytes


@dataclass(frozen=True)
class DualSettings:
    """c: the cost of a unit of slack. tolerance: of the duality gap, relative to the primal objective."""

    c: float
    tolerance: float


class DualLearner:
    """A model in training by the factored dual; its sentences are added before they are learned from.

    pcfg: has the scores of words, which are not learned. predictors: for LEXICAL+AUX.
    """

    learns = needs_all = True
    temperature: float | None = None

    def __init__(
        self,
        reader: LexicalSpans,
        pcfg: Pcfg,
        loss: BracketLoss,
        settings: DualSettings,
        predictors: JackknifedPredictors | None = None,
    ):
        self.reader, self.pcfg, self.loss, self.settings, self.predictors = reader, pcfg, loss, settings, predictors
        self.dual = FactoredDual([], len(reader.numbers), settings.c)
        self.gap: DualityGap | None = None
        self._examples: dict[int, DualExample] = {}
        self._n_edges = 0

    @property
    def convergence(self) -> Convergence | None:
        """The duality gap after the last pass."""
        if self.gap is None:
            return None
        gap, tolerance = self.gap.relative, self.settings.tolerance
        note = f"primal {self.gap.primal:.4f}, dual {self.gap.dual:.4f}, gap {100 * gap:.2f} %"
        return Convergence(note, is_reached=gap < tolerance)

    def add(self, example: ChartExample) -> None:
        """Add a sentence. Raises IncparseError if there is no room for it."""
        if example.number in self._examples:
            return
        self._n_edges += example.forest.n_edges
        if self._n_edges > MAX_EDGES:
            raise IncparseError(
                f"the forests of the first {len(self._examples) + 1:,} sentences have more than {MAX_EDGES:,} edges, "
                f"which learner = 'dual' keeps in memory: lower max_length, prune more, or use learner = 'margin'"
            )
        found = self._examples[example.number] = self._dual_example(example)
        self.dual.add(found, len(self.reader.numbers))

    def learn(self, example: ChartExample) -> int:
        """Visit a sentence, unless the gap is small enough; return the number of updates."""
        reached = self.convergence is not None and self.convergence.is_reached
        return 0 if reached else self.dual.visit(self._examples[example.number])

    def finish_batch(self) -> int:
        """Measure the duality gap at the end of a pass; return 0, the number of updates."""
        if self.convergence is None or not self.convergence.is_reached:
            self.gap = self.dual.gap()
        return 0

    def model(self) -> DualEdges:
        """Return the model learned so far."""
        predictor = self.predictors.final if self.predictors else None
        return DualEdges.of_learned(self.reader, self.dual.weights, self.pcfg, predictor)

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        edges = [example.marginals.nonzero()[0] for example in self.dual.examples]
        values = [example.marginals[found] for example, found in zip(self.dual.examples, edges, strict=True)]
        content = {
            "gap": None if self.gap is None else [self.gap.primal, self.gap.dual],
            "weights": self.dual.weights.tobytes(),
            "sizes": [len(found) for found in edges],
            "edges": np.concatenate([*edges, np.zeros(0, np.int64)]).astype(np.int32).tobytes(),
            "values": np.concatenate([*values, np.zeros(0)]).tobytes(),
        }
        return zlib.compress(srsly.msgpack_dumps(content), 1)

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned for the same sentences. Raises ModelError for anything else."""
        try:
            content = srsly.msgpack_loads(unzip(data, "the training state is"))
            ends = np.cumsum(content["sizes"])[:-1]
            edges = np.split(np.frombuffer(content["edges"], np.int32), ends)
            values = np.split(np.frombuffer(content["values"]), ends)
            weights = np.frombuffer(content["weights"]).copy()
            gap = None if content["gap"] is None else DualityGap(*content["gap"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the training state is damaged ({error!r}): start the training anew") from None
        examples = self.dual.examples
        fits = len(edges) == len(examples) and len(weights) == len(self.dual.weights)
        if not fits or any(
            found.max(initial=0) >= example.forest.n_edges for found, example in zip(edges, examples, strict=True)
        ):
            raise ModelError("the training state belongs to other sentences: start the training anew")
        self.gap, self.dual.weights = gap, weights
        for example, found, marginals in zip(examples, edges, values, strict=True):
            example.marginals[:] = 0.0
            example.marginals[found] = marginals

    def _dual_example(self, example: ChartExample) -> DualExample:
        forest, gold, words = example.forest, example.gold, example.sentence.words
        losses, constant = self.loss.of_edges(forest, gold)
        fixed = word_scores(self.pcfg, words, forest)
        predictions = self.predictors.of(example.sentence, forest) if self.predictors else None
        features = self.reader.read(forest, words, predictions)
        return DualExample(forest, gold, features, losses + fixed, constant - float(fixed[gold].sum()))
