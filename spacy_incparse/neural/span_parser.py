"""A parser that finds the best tree by the scores of spans, which a neural model computes from word vectors."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, groupby
from typing import Any
from unicodedata import category

import numpy as np

from spacy_incparse.chart.charts import span_bounds, span_number, unmet, within
from spacy_incparse.errors import IncparseError
from spacy_incparse.neural.bracket_chart import best_brackets
from spacy_incparse.neural.brackets import Chain, best_trees, chain_brackets, label_marginals, tree_of_brackets
from spacy_incparse.neural.span_scorer import SINGLE_PRECISION, ModelScorer
from spacy_incparse.parsing.parse import (
    Constraint,
    Constraints,
    Input,
    Parse,
    Posterior,
    Tags,
    TreeScore,
    best_tag,
    check_sentence,
    checked_constraints,
)
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.settings import Settings, check_choice, check_range
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import batches

BLOCK_SPANS = 1 << 14  # scored at a time, so that time per block and memory are small
NBEST_LABELS = 8  # of a span: others are in no analysis but the best
MAX_NBEST_WORDS = 150  # longer sentences have one analysis: the forest of others grows with the third power
LEAST_SHARE = 1e-6  # phrases that are less probable are left out
BONUS = 1e7  # of a constraint, in float64, which leaves nine digits for the scores
MOST_MARKS = 20  # in a span that is forbidden: rows of dots can be long
CHOICES = ("score", "expected_f")

Pieces = Sequence[Any] | None
"""The fenceposts of a sentence's words; those of a sentence that is too long to be parsed at once are in several."""


@dataclass(frozen=True, kw_only=True)
class SpanSearch(Settings):
    """The settings of the search; all of them can be changed in a trained pipeline.

    choose: "score" returns the tree with the highest score; "expected_f" the one of the best expected F by `threshold`.
    threshold: the probability from which on a phrase is worth having; lower values give more phrases.
    choose_temperature: divides the scores for probabilities; higher values make trees more equally probable; None: the
        temperature that was fitted on held-out trees.
    """

    SEARCH = ("choose", "threshold", "choose_temperature")

    choose: str = "expected_f"
    threshold: float = 0.45
    choose_temperature: float | None = None

    def __post_init__(self) -> None:
        check_choice("choose", self.choose, CHOICES)
        check_range("threshold", self.threshold, 0, 1)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)


class SpanParser(Parser):
    """A parser of sentences whose words a model has read; its methods take the pieces of a sentence.

    chains: the labels, each all phrases over the same words. tags: those that the model assigns. score_tolerance: by
    how much the scores of one tree may differ between two runs.
    """

    kind = "span_scores"
    tag_request = None
    has_exact_probabilities = True

    def __init__(
        self, scorer: ModelScorer, chains: Sequence[Chain], tags: Sequence[str], heads: HeadRules,
        search: SpanSearch | None = None, temperature: float | None = None, score_tolerance: float = SINGLE_PRECISION,
    ):  # fmt: skip
        self.scorer, self.chains, self.tags, self._heads = scorer, tuple(chains), tuple(tags), heads
        self.config, self.temperature, self.score_tolerance = search or SpanSearch(), temperature, score_tolerance
        self.labels = tuple(sorted({label for chain in self.chains for label in chain}))
        self._chains_of = chains_with(self.chains)

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that the parser was trained on."""
        return self._heads

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the highest-scoring tree."""
        return self.config.choose == "score"

    def with_search(self, **settings: Any) -> Parser:
        """Return a parser with the same scores and other search settings."""
        search = self.config.with_search(**settings)
        known = self.scorer, self.chains, self.tags, self.heads
        return SpanParser(*known, search, self.temperature, self.score_tolerance)

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = (), pieces: Pieces = None) -> Parse:
        """Return the best tree of a sentence. Raises IncparseError if it has no pieces."""
        return self.parse_batch([(words, tags, constraints, pieces)])[0]

    def parse_batch(self, sentences: Iterable[Input]) -> list[Parse]:
        """Return the parses of sentences, each given as the arguments of `parse`; pieces stand side by side."""
        given = [(words, tags, *_checked(words, tags, *more)) for words, tags, *more in sentences]
        all_scores = self._all_scores([piece for *_, pieces in given for piece in pieces])
        found = []
        for words, tags, limits, pieces in given:
            brackets: list[tuple[int, int, int]] = []
            total: float = 0
            first = 0
            for piece in pieces:
                scores, last = next(all_scores), first + len(piece) - 1
                decoded = self._decode(scores, words[first:last], within(limits, first, last))
                brackets += [(first + start, first + end, label) for start, end, label in decoded]
                total, first = total + _total(decoded, scores), last
            source = "chart" if len(pieces) == 1 else "relaxed"
            found.append(self._parse(brackets, total, words, tags, limits, source))
        return found

    def nbest(
        self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = (), pieces: Pieces = None
    ) -> list[Parse]:
        """Return up to `k` different trees, best first; the best one alone for a very long sentence."""
        limits, read = _checked(words, tags, constraints, pieces)
        if len(read) > 1 or len(words) > MAX_NBEST_WORDS:
            return [self.parse(words, tags, limits, read)]
        (scores,) = self.scorer.label_scores(read)
        values = constrained_scores(scores, self.chains, limits)
        values[mark_spans(words, limits)] -= BONUS
        n_labels = min(NBEST_LABELS, values.shape[1])
        likely = np.sort(np.argsort(-values, axis=1, kind="stable")[:, :n_labels], axis=1)
        found = best_trees(likely, np.take_along_axis(values, likely, axis=1), len(words), k)
        lowest = found[0][0] - BONUS / 2  # trees below it satisfy fewer constraints
        trees = [brackets for total, brackets in found if total > lowest]
        return [self._parse(brackets, _total(brackets, scores), words, tags, limits) for brackets in trees]

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree, pieces: Pieces = None) -> TreeScore:
        """Return the score of a given tree; None if it has phrases over the same words that training did not see."""
        _, read = _checked(words, tags, (), pieces)
        numbers = {chain: number for number, chain in enumerate(self.chains)}
        found = chain_brackets(tree.arrays)
        if len(read) > 1 or not all(chain in numbers for *_, chain in found):
            return TreeScore(tree, None, ())
        (scores,) = self.scorer.label_scores(read)
        return TreeScore(tree, _total([(start, end, numbers[chain]) for start, end, chain in found], scores), ())

    def posterior(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), pieces: Pieces = None, *,
        temperature: float | None = None,
    ) -> Posterior | None:  # fmt: skip
        """Return the exact probabilities of a sentence's trees and phrases; None without a temperature.

        With constraints, they are those of the trees that satisfy as many as possible.
        """
        limits, read = _checked(words, tags, constraints, pieces)
        scale = temperature or self.temperature
        if scale is None or len(read) > 1:
            return None
        (scores,) = self.scorer.label_scores(read)
        values = constrained_scores(scores / np.float32(scale), self.chains, limits)
        log_total, shares = label_marginals(values, len(words))
        log_total -= round(log_total / BONUS) * BONUS  # of the constraints
        return Posterior(scale, log_total, PhraseShares(shares, self._chains_of))

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Raise IncparseError: the component's model stores the weights."""
        raise IncparseError("a parser with span scores is stored as a part of its pipeline: use nlp.to_disk(path)")

    def _all_scores(self, pieces: Sequence[Any]) -> Iterator[np.ndarray]:
        """Yield the label scores of pieces, computed in blocks."""
        for block in batches(pieces, BLOCK_SPANS, lambda piece: len(piece) * (len(piece) - 1) // 2):
            yield from self.scorer.label_scores(block)

    def _decode(
        self, scores: np.ndarray, words: Sequence[str], constraints: Sequence[Constraint]
    ) -> list[tuple[int, int, int]]:
        """Return the brackets (start, end, label) of the best tree of a piece."""
        values, n_words = scores, len(words)
        if self.config.choose == "expected_f":
            scale = np.float32(self.config.choose_temperature or self.temperature or 1.0)
            values = label_marginals(scores / scale, n_words)[1] - np.float32(self.config.threshold)
        if constraints:
            values = constrained_scores(values, self.chains, constraints)
        labels = values.argmax(axis=1)
        best = np.take_along_axis(values, labels[:, None], axis=1)[:, 0].astype(np.float64)
        best[mark_spans(words, constraints)] -= BONUS
        _, spans = best_brackets(best, n_words)
        starts, ends = span_bounds(spans)
        return list(zip(starts.tolist(), ends.tolist(), labels[spans].tolist(), strict=True))

    def _parse(
        self, brackets: Sequence[tuple[int, int, int]], score: float, words: Sequence[str], tags: Tags,
        constraints: Sequence[Constraint], source: str = "chart",
    ) -> Parse:  # fmt: skip
        named = [(start, end, self.chains[label]) for start, end, label in brackets]
        tree = tree_of_brackets(named, words, list(map(best_tag, tags)))
        return Parse(tree, score, source, unmet(constraints, tree))


def _total(brackets: Iterable[tuple[int, int, int]], scores: np.ndarray) -> float:
    return sum(float(scores[span_number(start, end), label]) for start, end, label in brackets)


def _checked(
    words: Sequence[str], tags: Tags | None, constraints: Constraints = (), pieces: Pieces = None
) -> tuple[list[Constraint], Sequence[Any]]:
    """Return the constraints and the pieces of a sentence. Raises IncparseError if there are no pieces."""
    check_sentence(words, tags)
    if pieces is None:
        raise IncparseError("a parser with span scores needs the words' Doc: parse with the pipeline, nlp(text)")
    return checked_constraints(constraints, len(words)) if constraints else [], pieces


def mark_spans(words: Sequence[str], constraints: Iterable[Constraint] = ()) -> list[int]:
    """Return the numbers of the spans of punctuation alone, which are no phrases unless a constraint names them.

    Of 45,000 English and Indonesian trees, 20 have such phrases, mostly over symbols. A whole sentence may be one.
    """
    runs = [(key, len(list(run))) for key, run in groupby(map(is_mark, words))]
    ends = accumulate(length for _, length in runs)
    within_runs = [
        (start, stop)
        for (is_run, length), end in zip(runs, ends, strict=True)
        if is_run and length < len(words)
        for start in range(end - length, end)
        for stop in range(start + 1, min(end, start + MOST_MARKS) + 1)
    ]
    named = {(start, end) for start, end, *_ in constraints}
    return [span_number(start, end) for start, end in within_runs if (start, end) not in named]


@lru_cache(10_000)
def is_mark(word: str) -> bool:
    """Return whether a word is punctuation, and no sign that is read aloud, such as % or *."""
    return all(category(character)[0] == "P" and character not in "*#%&@/" for character in word)


def chains_with(chains: Sequence[Chain]) -> dict[str, np.ndarray]:
    """Return the numbers of the chains that have each label."""
    names = {name for chain in chains for name in chain}
    return {
        name: np.array([number for number, chain in enumerate(chains) if name in chain], np.int64) for name in names
    }


class PhraseShares(Mapping[Phrase, float]):
    """The probability of each phrase that is not negligible.

    Most sentences have thousands of possible phrases, of which few are asked for. shares: the probabilities of chains
    over spans, (n_spans, n_chains), spans as in `bracket_chart`. chains_of: the chains that have each label.
    """

    def __init__(self, shares: np.ndarray, chains_of: Mapping[str, np.ndarray]):
        self._shares, self._chains_of = shares, chains_of

    def __getitem__(self, phrase: Phrase) -> float:
        label, start, end = phrase
        row = span_number(start, end)
        if label in self._chains_of and 0 <= start < end and row < len(self._shares):
            share = float(self._shares[row, self._chains_of[label]].sum(dtype=np.float64))
            if share >= LEAST_SHARE:
                return min(share, 1.0)
        raise KeyError(phrase)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def items(self) -> ItemsView[Phrase, float]:
        """Return all phrases with their probabilities."""
        return self._all.items()

    @cached_property
    def _all(self) -> dict[Phrase, float]:
        found: dict[Phrase, float] = {}
        for label, chains in self._chains_of.items():
            sums = self._shares[:, chains].sum(axis=1, dtype=np.float64)
            rows = (sums >= LEAST_SHARE).nonzero()[0]
            starts, ends = span_bounds(rows)
            spans = zip(starts.tolist(), ends.tolist(), np.minimum(sums[rows], 1).tolist(), strict=True)
            found |= {(label, start, end): share for start, end, share in spans}
        return found


def constrained_scores(scores: np.ndarray, chains: Sequence[Chain], constraints: Sequence[Constraint]) -> np.ndarray:
    """Return span scores under which the best tree satisfies as many constraints as possible: float64.

    scores: (n_spans, n_labels), which are not changed. chains: the labels.
    """
    found = scores.astype(np.float64)
    for start, end, label, is_required in constraints:
        meant = [label is None or label in chain for chain in chains]
        found[span_number(start, end), meant] += BONUS if is_required else -BONUS
    return found
