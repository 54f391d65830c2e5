"""The best that choosing from n-best lists can give, and how well the parser's own probabilities choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from spacy_incparse.evaluation.brackets import COLLINS, Bracket, EvalbParams, Rules, without_wrapper
from spacy_incparse.evaluation.evalb import score_trees
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
        """Return the figures as a JSON-serializable dict, described in docs/formats.md."""
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
            found = self.calibration
            lines += ["", "The probability of the first tree, and how often it is right:"]
            lines += ["mean probability      right  lists"]
            for mean, right, size in (*found.bins, (found.mean, found.right, found.n)):
                lines.append(f"{100 * mean:15.1f}%  {100 * right:9.1f}%  {size:5}")
            lines[-1] += f"  all; calibration error {100 * found.error:.2f}"
        return "\n".join([*lines, "", f"{self.n_lists:,} lists"])


class Oracle:
    """Adds up the oracle's choices list by list; the lists themselves are not kept.

    The oracle takes from each list the tree with the best F against the gold tree; its corpus F is the upper bound of
    every reranker of these lists (Charniak & Johnson 2005, section 3).
    """

    def __init__(self, sizes: Sequence[int], params: EvalbParams = COLLINS):
        self._params = params
        # For each length of lists the sums of matched brackets, brackets of both trees, ranks, gold trees, lengths.
        self._sums = {n: [0] * 5 for n in sorted(set(sizes))}
        self._probabilities: list[float] = []
        self._is_right: list[bool] = []
        self._n_lists = 0

    def add(self, gold: Tree, trees: Sequence[Tree], probability: float | None = None) -> None:
        """Add a list of trees, best first, and the probability of its first tree, if it is known.

        Raises IncparseError if a tree has other words than the gold tree.
        """
        trees = trees[: max(self._sums)]
        counts = list_counts(gold, trees, self._params)
        best, best_by_length = 0, []
        for i, count in enumerate(counts):
            best = i if count.f > counts[best].f else best  # ties go to the higher rank
            best_by_length.append(best)
        phrases = gold.spans()
        first_right = next((i for i, tree in enumerate(trees) if tree.spans() == phrases), len(trees))
        for n, sums in self._sums.items():
            length = min(n, len(trees))
            chosen = best_by_length[length - 1]
            n_matched, n_parsed, n_gold = counts[chosen]
            new = n_matched, n_parsed + n_gold, chosen + 1, first_right < length, length
            self._sums[n] = [a + b for a, b in zip(sums, new, strict=True)]
        self._n_lists += 1
        if probability is not None:
            self._probabilities.append(probability)
            self._is_right.append(first_right == 0)

    def report(self) -> OracleReport:
        """Return the figures of all lists added so far."""
        per_list, scores = 1 / max(self._n_lists, 1), []
        for n, (n_matched, n_brackets, *others) in self._sums.items():
            f = 2 * n_matched / n_brackets if n_brackets else 0.0
            scores.append(OracleScore(n, f, *(number * per_list for number in others)))
        return OracleReport(self._n_lists, tuple(scores), calibration(self._probabilities, self._is_right))


# `evalb.score_trees` compares pairs of trees, with all measures. Here the gold tree is prepared once, and what several
# trees have in common is looked up: trees of a list share most of their phrases.
class BracketCounts(NamedTuple):
    """EVALB's counts of brackets: shared by both trees, in the parsed tree, in the gold tree."""

    n_matched: int
    n_parsed: int
    n_gold: int

    @property
    def f(self) -> float:
        """The F of the parsed tree; 1 if neither tree has brackets."""
        n_brackets = self.n_parsed + self.n_gold
        return 2 * self.n_matched / n_brackets if n_brackets else 1.0


def list_counts(gold: Tree, trees: Iterable[Tree], params: EvalbParams = COLLINS) -> list[BracketCounts]:
    """Return the counts of each tree against the gold tree, the same as those of `score_trees`.

    Raises IncparseError if a tree has other words than the gold tree.
    """
    rules, classes = _prepared(params)
    # The gold tags decide which words are deleted on both sides, so a phrase counts the same in all trees.
    counted = _CountedBrackets([tag not in rules.deleted_tags for tag in rules.tags(gold)], rules, classes or {})
    # A trace may be on one side only, and equality that is not transitive depends on the order of the brackets.
    is_simple = classes is not None and rules.deleted_tags.isdisjoint(rules.not_in_length.intersection(gold.tags))
    brackets = Counter(counted.of(gold))
    n_gold, repeated = brackets.total(), {bracket: n for bracket, n in brackets.items() if n > 1}
    counts = []
    for tree in trees:
        if not is_simple or tree.words != gold.words:
            (score,) = score_trees([gold], [tree], params=params).per_sentence
            counts.append(BracketCounts(score.n_matched, score.n_parsed, score.n_gold))
            continue
        found = counted.of(tree)
        n_matched = len(brackets.keys() & set(found))
        for bracket, n in repeated.items():
            n_matched += max(min(n, found.count(bracket)) - 1, 0)
        counts.append(BracketCounts(n_matched, len(found), n_gold))
    return counts


class _CountedBrackets(dict[Bracket, Bracket | None]):
    """Maps a phrase of a tree to the bracket that counts, or to None; one label stands for all its equals."""

    def __init__(self, is_kept: Sequence[bool], rules: Rules, classes: dict[str, str]):
        super().__init__()
        self.positions = [0, *accumulate(is_kept)]  # of each word among those that are left
        self._rules, self._classes = rules, classes

    def of(self, tree: Tree) -> list[Bracket]:
        phrases, offset = without_wrapper(tree.spans()), tree.start
        if offset:
            phrases = [(label, start - offset, end - offset) for label, start, end in phrases]
        return [bracket for phrase in phrases if (bracket := self[phrase]) is not None]

    def __missing__(self, phrase: Bracket) -> Bracket | None:
        label, start, end = phrase
        cut = self._rules.bracket_label(label)
        begin, behind = self.positions[start], self.positions[end]
        bracket = None
        if begin < behind and cut is not None:
            same = self._classes.get(cut, cut) if self._rules.params.labeled else ""
            bracket = (same, begin, behind)
        self[phrase] = bracket
        return bracket


@lru_cache(maxsize=8)
def _prepared(params: EvalbParams) -> tuple[Rules, dict[str, str] | None]:
    """Return the rules, and for each label of EQ_LABEL one that stands for all its equals.

    None instead of these if EQ_LABEL is not transitive.
    """
    equals: dict[str, set[str]] = {}
    for a, b in params.eq_labels:
        equals.setdefault(a, {a}).add(b)
        equals.setdefault(b, {b}).add(a)
    if any(equals[other] != same for same in equals.values() for other in same):
        return Rules(params), None
    return Rules(params), {label: min(same) for label, same in equals.items()}


N_BINS = 10


@dataclass(frozen=True)
class Calibration:
    """The expected calibration error (Naeini et al. 2015): the mean gap between probability and accuracy.

    Gaps are computed in bins of equal width and weighted by the size of the bins.
    """

    error: float
    mean: float  # of the probabilities
    right: float  # share of right predictions
    n: int
    bins: tuple[tuple[float, float, int], ...]  # of each non-empty bin: mean, share right, size

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a JSON-serializable dict."""
        return asdict(self) | {"bins": list(self.bins)}


def calibration(probabilities: Sequence[float], is_right: Sequence[bool]) -> Calibration | None:
    """Return how well probabilities from 0 to 1 match the outcomes, or None if there are none."""
    n = len(probabilities)
    if not n:
        return None
    by_bin: dict[int, list[int]] = {}
    for i, probability in enumerate(probabilities):
        by_bin.setdefault(min(int(probability * N_BINS), N_BINS - 1), []).append(i)
    bins = tuple(
        (sum(probabilities[i] for i in found) / len(found), sum(is_right[i] for i in found) / len(found), len(found))
        for _, found in sorted(by_bin.items())
    )
    error = sum(size / n * abs(mean - right) for mean, right, size in bins)
    return Calibration(error, sum(probabilities) / n, sum(is_right) / n, n, bins)
