"""Is one parser better than another? Paired bootstrap over sentences (Efron and Tibshirani 1993; Koehn 2004)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.summaries import VALID, Scores, format_evalb
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class Bootstrap:
    """The difference in labeled F between two parsers, as fractions; positive if the second is better."""

    difference: float
    low: float  # the 95% interval of the difference
    high: float
    p_value: float  # two-sided
    n_samples: int

    def to_dict(self) -> dict[str, float]:
        """Return all fields as a JSON-serializable dict."""
        return asdict(self)

    def format(self) -> str:
        """Return the difference in points of F (percent), as one line."""
        points = f"{100 * self.difference:+.2f} (95 %: {100 * self.low:+.2f} to {100 * self.high:+.2f})"
        return f"Difference in F {points}, p = {self.p_value:.4f}, {self.n_samples} samples"


def compare(a: Scores, b: Scores, *, n: int = 1000, seed: int = 0) -> Bootstrap:
    """Compare two runs over the same gold sentences with `n` samples of equal size, drawn with replacement.

    The p-value is the share of samples whose difference is at least as far from the observed one as that is from 0
    (with 1 added to both counts, so that it is never 0). Sentences that either run leaves out are left out of both.
    Raises IncparseError if the runs differ in their number of sentences or `n` is below 1.
    """
    if len(a.per_sentence) != len(b.per_sentence):
        sizes = f"{len(a.per_sentence)} and {len(b.per_sentence)} sentences"
        raise IncparseError(f"cannot compare runs over {sizes}: both must be scored against the same gold trees")
    if n < 1:
        raise IncparseError(f"the bootstrap needs at least 1 sample, not {n}")
    pairs = zip(a.per_sentence, b.per_sentence, strict=True)
    rows = [[*x[2:5], *y[2:5]] for x, y in pairs if x.status == y.status == VALID]  # matched, gold and parsed brackets
    counts = np.array(rows, dtype=np.int64).reshape(-1, 6)
    difference = float(_difference(counts.sum(axis=0)))
    generator = np.random.default_rng(seed)
    size = len(counts)
    draws = (generator.integers(size, size=size) if size else np.zeros(0, np.int64) for _ in range(n))
    samples = np.array([_difference(counts[draw].sum(axis=0)) for draw in draws])
    # Swapped runs must get the same p-value, so rounding must not decide ties.
    n_as_far = int(np.sum(np.abs(samples - difference) >= abs(difference) - 1e-12))
    low, high = np.quantile(samples, [0.025, 0.975])
    return Bootstrap(difference, float(low), float(high), (n_as_far + 1) / (n + 1), n)


def _difference(counts: np.ndarray) -> float:
    matched_a, gold_a, parsed_a, matched_b, gold_b, parsed_b = counts
    return 2 * matched_b / max(1, gold_b + parsed_b) - 2 * matched_a / max(1, gold_a + parsed_a)


@dataclass(frozen=True)
class ScoreReport:
    """The result of `score`; `second` and `bootstrap` are None unless requested."""

    first: Scores
    second: Scores | None = None
    bootstrap: Bootstrap | None = None
    as_evalb: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of the first scores, the second's under "second", the comparison under "bootstrap"."""
        result = self.first.to_dict()
        if self.second is not None:
            result["second"] = self.second.to_dict()
        if self.bootstrap is not None:
            result["bootstrap"] = self.bootstrap.to_dict()
        return result

    def format(self) -> str:
        """Return the report as text: EVALB's summary and the tables, or in EVALB mode the program's output."""
        first, *second = (
            format_evalb(scores) if self.as_evalb else scores.format() for scores in (self.first, self.second) if scores
        )
        if not second:
            return first
        comparison = [self.bootstrap.format()] if self.bootstrap is not None else []
        return "\n\n".join(["##### First", first, "##### Second", *second, *comparison])


def report_scores(
    gold: Iterable[Tree],
    parsed: Iterable[Tree],
    parsed2: Iterable[Tree] | None = None,
    *,
    params: EvalbParams = COLLINS,
    as_evalb: bool = False,
    n_bootstrap: int = 0,
    seed: int = 0,
) -> ScoreReport:
    """Score the trees of one or two parsers and, if `n_bootstrap` is above 0, compare the two.

    Raises IncparseError as `score_trees` does, and if a comparison is requested without a second parser.
    """
    if n_bootstrap and parsed2 is None:
        raise IncparseError("the bootstrap compares two parsers: give a second file of parsed trees")
    gold = list(gold)
    first = score_trees(gold, parsed, params=params, as_evalb=as_evalb)
    if parsed2 is None:
        return ScoreReport(first, as_evalb=as_evalb)
    second = score_trees(gold, parsed2, params=params, as_evalb=as_evalb)
    comparison = compare(first, second, n=n_bootstrap, seed=seed) if n_bootstrap else None
    return ScoreReport(first, second, comparison, as_evalb)
