"""The best that choosing from n-best lists can give, and how well the parser's own probabilities choose.

The oracle takes from each list the tree with the best F against the gold tree; its corpus F is the upper bound of
every reranker of these lists (Charniak & Johnson 2005, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spacy_incparse.evaluation.calibration import Calibration, calibration
from spacy_incparse.evaluation.list_counts import list_counts
from spacy_incparse.evaluation.params import COLLINS, EvalbParams
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class OracleScore:
    """The oracle's choice from the first n trees of each list; means and shares are over lists."""

    n: int
    f: float  # of the chosen trees, over the whole corpus
    mean_rank: float  # of the chosen trees, from 1
    has_gold: float  # share of lists with a tree that has exactly the gold tree's phrases
    mean_length: float  # of the lists, cut to n trees

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a JSON-serializable dict."""
        return asdict(self)


@dataclass(frozen=True)
class OracleReport:
    """The oracle for several n, and the calibration of the first trees (None if no list has probabilities)."""

    n_lists: int
    scores: tuple[OracleScore, ...]
    calibration: Calibration | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-serializable dict, described in docs/output.md."""
        calibrated = {} if self.calibration is None else {"calibration": self.calibration.to_dict()}
        return {"lists": self.n_lists, "oracle": [score.to_dict() for score in self.scores], **calibrated}

    def format(self) -> str:
        """Return the figures as tables."""
        lines = ["    n  oracle F  mean rank  with gold  mean length"]
        for score in self.scores:
            lines.append(
                f"{score.n:5}  {100 * score.f:8.2f}  {score.mean_rank:9.2f}  {100 * score.has_gold:8.1f}%  "
                f"{score.mean_length:11.1f}"
            )
        if self.calibration is not None:
            lines += ["", *_calibration_lines(self.calibration)]
        return "\n".join([*lines, "", f"{self.n_lists:,} lists"])


class Oracle:
    """Adds up the oracle's choices list by list; the lists themselves are not kept."""

    def __init__(self, sizes: Sequence[int], params: EvalbParams = COLLINS):
        self._params = params
        self._sums = [_Sums(n) for n in sorted(set(sizes))]
        self._probabilities: list[float] = []
        self._is_right: list[bool] = []
        self._n_lists = 0

    def add(self, gold: Tree, trees: Sequence[Tree], probability: float | None = None) -> None:
        """Add a list of trees, best first, and the probability of its first tree, if it is known.

        Raises IncparseError if a tree has other words than the gold tree.
        """
        trees = trees[: self._sums[-1].n]
        counts = list_counts(gold, trees, self._params)
        best, best_by_length = 0, []
        for i, count in enumerate(counts):
            best = i if count.f > counts[best].f else best  # ties go to the higher rank
            best_by_length.append(best)
        phrases = gold.spans()
        first_right = next((i for i, tree in enumerate(trees) if tree.spans() == phrases), len(trees))
        for sums in self._sums:
            length = min(sums.n, len(trees))
            chosen = best_by_length[length - 1]
            sums.add(counts[chosen], chosen + 1, first_right < length, length)
        self._n_lists += 1
        if probability is not None:
            self._probabilities.append(probability)
            self._is_right.append(first_right == 0)

    def report(self) -> OracleReport:
        """Return the figures of all lists added so far."""
        scores = tuple(sums.score(self._n_lists) for sums in self._sums)
        return OracleReport(self._n_lists, scores, calibration(self._probabilities, self._is_right))


class _Sums:
    """Sums over lists, each cut to its first n trees."""

    def __init__(self, n: int):
        self.n = n
        self._n_matched = self._n_brackets = 0
        self._ranks = self._n_with_gold = self._lengths = 0

    def add(self, counts: tuple[int, int, int], rank: int, has_gold: bool, length: int) -> None:
        n_matched, n_parsed, n_gold = counts
        self._n_matched += n_matched
        self._n_brackets += n_parsed + n_gold
        self._ranks += rank
        self._n_with_gold += has_gold
        self._lengths += length

    def score(self, n_lists: int) -> OracleScore:
        f = 2 * self._n_matched / self._n_brackets if self._n_brackets else 0.0
        per_list = 1 / max(n_lists, 1)
        return OracleScore(self.n, f, self._ranks * per_list, self._n_with_gold * per_list, self._lengths * per_list)


def _calibration_lines(found: Calibration) -> list[str]:
    rows = [f"{100 * mean:15.1f}%  {100 * right:9.1f}%  {size:5}" for mean, right, size in found.bins]
    return [
        "The probability of the first tree, and how often it is right:",
        "mean probability      right  lists",
        *rows,
        f"{100 * found.mean:15.1f}%  {100 * found.right:9.1f}%  {found.n:5}  all; calibration error "
        f"{100 * found.error:.2f}",
    ]
