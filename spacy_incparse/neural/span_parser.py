"""A parser that finds the best tree by the scores of spans, which a neural model computes from word vectors."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from spacy_incparse.chart.charts import unmet
from spacy_incparse.chart.sentence import span_bounds, span_number, within
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.neural.bracket_chart import best_brackets
from spacy_incparse.neural.brackets import Bracket, Chain, best_trees, chain_brackets, tree_of_brackets
from spacy_incparse.neural.losses import label_marginals
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
from spacy_incparse.parsing.parser import Parser, TagRequest
from spacy_incparse.settings import Settings, check_range
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

BLOCK_SPANS = 1 << 14  # scored at a time, so that time per block and memory are small
NBEST_LABELS = 8  # of a span: others are in no analysis but the best
SINGLE_PRECISION = 1e-2  # by how much scores differ if they are sums in single precision, which depend on the batch
MAX_NBEST_WORDS = 150  # longer sentences have one analysis: the forest of others grows with the third power


class LabelScorer(Protocol):
    """Scores all spans of sentences."""

    def label_scores(self, pieces: Sequence[Any]) -> list[np.ndarray]:
        """Return the scores of each piece's labels: float32 (n_spans, n_labels), spans as in `bracket_chart`."""


@dataclass(frozen=True)
class Decoded:
    """A piece's brackets, with labels as numbers, and the sum of their scores."""

    brackets: list[tuple[int, int, int]]
    score: float


class SpanParser(Parser):
    """A parser of sentences whose words a model has read.

    Its methods take `pieces`: the fenceposts of the sentence, for its `LabelScorer`; those of a sentence that is too
    long to be parsed at once are in several pieces.

    chains: the labels, each all phrases over the same words. tag_names: the tags that the model assigns.
    score_tolerance: by how much the scores of one tree may differ between two runs.
    """

    kind = "span_scores"

    def __init__(
        self,
        scorer: LabelScorer,
        chains: Sequence[Chain],
        tag_names: Sequence[str],
        heads: HeadRules,
        search: SpanSearch | None = None,
        temperature: float | None = None,
        score_tolerance: float = SINGLE_PRECISION,
    ):
        self.scorer, self.chains, self._tags = scorer, tuple(chains), tuple(tag_names)
        self.config, self.temperature = search or SpanSearch(), temperature
        self._heads, self.score_tolerance = heads, score_tolerance
        self._chain_ids = {chain: number for number, chain in enumerate(self.chains)}
        self._chains_of = chains_with(self.chains)

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that the parser was trained on."""
        return self._heads

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the model assigns."""
        return self._tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that the parser can assign, sorted."""
        return tuple(sorted({label for chain in self.chains for label in chain}))

    @property
    def tag_request(self) -> TagRequest | None:
        """None: the tags come from the model that scores the spans."""
        return None

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the highest-scoring tree."""
        return self.config.choose == "score"

    @property
    def has_exact_probabilities(self) -> bool:
        """True: it sums over all trees of a sentence, unless that is parsed piece by piece."""
        return True

    def with_search(self, **settings: object) -> Parser:
        """Return a parser with the same scores and other search settings."""
        search = self.config.with_search(**settings)
        known = (self.scorer, self.chains, self.tags, self.heads)
        found = SpanParser(*known, search, self.temperature, self.score_tolerance)
        return cast("Parser", found)

    def parse(
        self,
        words: Sequence[str],
        tags: Tags,
        constraints: Constraints = (),
        pieces: Sequence[Any] | None = None,
    ) -> Parse:
        """Return the best tree of a sentence. Raises IncparseError if it has no pieces."""
        return self.parse_batch([(words, tags, constraints, pieces)])[0]

    def parse_batch(self, sentences: Iterable[Input]) -> list[Parse]:
        """Return the parses of sentences, each given as the arguments of `parse`."""
        given = [(words, tags, *_checked(words, tags, *more)) for words, tags, *more in sentences]
        scores = self._all_scores([piece for *_, pieces in given for piece in pieces])
        return [self._parse(words, tags, limits, pieces, scores) for words, tags, limits, pieces in given]

    def nbest(
        self,
        words: Sequence[str],
        tags: Tags,
        k: int,
        constraints: Constraints = (),
        pieces: Sequence[Any] | None = None,
    ) -> list[Parse]:
        """Return up to `k` different trees, best first; the best one alone for a very long sentence."""
        limits, read = _checked(words, tags, constraints, pieces)
        if len(read) > 1 or len(words) > MAX_NBEST_WORDS:
            return [self.parse(words, tags, limits, read)]
        (scores,) = self.scorer.label_scores(read)
        values = constrained_scores(scores, self.chains, limits) if limits else scores.astype(np.float64)
        n_labels = min(NBEST_LABELS, values.shape[1])
        likely = np.sort(np.argsort(-values, axis=1, kind="stable")[:, :n_labels], axis=1)
        found = best_trees(likely, np.take_along_axis(values, likely, axis=1), len(words), k)
        lowest = found[0][0] - BONUS / 2  # trees below it satisfy fewer constraints
        return [
            self._finished([_decoded(brackets, scores)], [0], words, tags, limits)
            for total, brackets in found
            if total > lowest
        ]

    def score(
        self, words: Sequence[str], tags: Tags | None, tree: Tree, pieces: Sequence[Any] | None = None
    ) -> TreeScore:
        """Return the score of a given tree; None if it has phrases over the same words that training did not see."""
        _, read = _checked(words, tags, (), pieces)
        found = [(start, end, self._chain_ids.get(chain)) for start, end, chain in chain_brackets(tree.arrays)]
        brackets = [(start, end, label) for start, end, label in found if label is not None]
        if len(brackets) < len(found) or len(read) > 1:
            return TreeScore(tree, None, ())
        (scores,) = self.scorer.label_scores(read)
        return TreeScore(tree, _decoded(brackets, scores).score, ())

    def posterior(
        self,
        words: Sequence[str],
        tags: Tags,
        constraints: Constraints = (),
        pieces: Sequence[Any] | None = None,
        *,
        temperature: float | None = None,
    ) -> Posterior | None:
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
        block: list[Any] = []
        n_spans = 0
        for piece in pieces:
            block.append(piece)
            n_spans += len(piece) * (len(piece) - 1) // 2
            if n_spans >= BLOCK_SPANS:
                yield from self.scorer.label_scores(block)
                block, n_spans = [], 0
        yield from self.scorer.label_scores(block) if block else ()

    def _parse(
        self,
        words: Sequence[str],
        tags: Tags,
        constraints: list[Constraint],
        pieces: Sequence[Any],
        scores: Iterator[np.ndarray],
    ) -> Parse:
        decoded, firsts, first = [], [], 0
        for piece in pieces:
            n_words = len(piece) - 1
            decoded.append(self._decode(next(scores), n_words, within(constraints, first, first + n_words)))
            firsts.append(first)
            first += n_words
        return self._finished(decoded, firsts, words, tags, constraints)

    def _decode(self, scores: np.ndarray, n_words: int, constraints: list[Constraint]) -> Decoded:
        values = scores
        if self.config.choose == "expected_f":
            scale = np.float32(self.config.choose_temperature or self.temperature or 1.0)
            values = label_marginals(scores / scale, n_words)[1] - np.float32(self.config.threshold)
        if constraints:
            values = constrained_scores(values, self.chains, constraints)
        labels = values.argmax(axis=1)
        best = np.take_along_axis(values, labels[:, None], axis=1)[:, 0]
        _, spans = best_brackets(best.astype(np.float64), n_words)
        brackets = np.stack([*span_bounds(spans), labels[spans]], axis=1).tolist()
        return _decoded(brackets, scores)

    def _finished(
        self,
        decoded: Sequence[Decoded],
        firsts: Sequence[int],
        words: Sequence[str],
        tags: Tags,
        constraints: Sequence[Constraint],
    ) -> Parse:
        """Return the tree in which the phrases of pieces stand side by side."""
        brackets: list[Bracket] = [
            (first + start, first + end, self.chains[label])
            for piece, first in zip(decoded, firsts, strict=True)
            for start, end, label in piece.brackets
        ]
        tree = tree_of_brackets(brackets, words, list(map(best_tag, tags)))
        source = "chart" if len(decoded) == 1 else "relaxed"
        return Parse(tree, sum(piece.score for piece in decoded), source, unmet(constraints, tree))


def _decoded(brackets: Sequence[tuple[int, int, int]], scores: np.ndarray) -> Decoded:
    total = sum(float(scores[span_number(start, end), label]) for start, end, label in brackets)
    return Decoded(list(map(tuple, brackets)), total)  # type: ignore[arg-type]


def _checked(
    words: Sequence[str], tags: Tags | None, constraints: Constraints = (), pieces: Sequence[Any] | None = None
) -> tuple[list[Constraint], Sequence[Any]]:
    """Return the constraints and the pieces of a sentence. Raises IncparseError if there are no pieces."""
    check_sentence(words, tags)
    if pieces is None:
        raise IncparseError("a parser with span scores needs the words' Doc: parse with the pipeline, nlp(text)")
    return checked_constraints(constraints, len(words)) if constraints else [], pieces


LEAST_SHARE = 1e-6  # phrases that are less probable are left out


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
        if label not in self._chains_of or not 0 <= start < end or row >= len(self._shares):
            raise KeyError(phrase)
        share = float(self._shares[row, self._chains_of[label]].sum(dtype=np.float64))
        if share < LEAST_SHARE:
            raise KeyError(phrase)
        return min(share, 1.0)

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


BONUS = 1e7  # in float64, which leaves nine digits for the scores


def constrained_scores(scores: np.ndarray, chains: Sequence[Chain], constraints: Sequence[Constraint]) -> np.ndarray:
    """Return span scores under which the best tree satisfies as many constraints as possible: float64.

    scores: (n_spans, n_labels), which are not changed. chains: the labels.
    """
    found = scores.astype(np.float64)
    for start, end, label, is_required in constraints:
        meant = [label is None or label in chain for chain in chains]
        found[span_number(start, end), meant] += BONUS if is_required else -BONUS
    return found


CHOICES = ("score", "expected_f")


@dataclass(frozen=True, kw_only=True)
class SpanSearch(Settings):
    """The settings of the search; all of them can be changed in a trained pipeline.

    choose: "score" returns the tree with the highest score; "expected_f" the one with the highest expected gain by the
        probabilities of brackets (Goodman 1996).
    threshold: with "expected_f", a bracket is worth having from this probability on; a lower one gives more brackets.
    choose_temperature: divides the scores for these probabilities; higher values make trees more equally probable;
        None: the temperature that was fitted on held-out trees, or 1.
    """

    SEARCH = ("choose", "threshold", "choose_temperature")

    choose: str = "expected_f"
    threshold: float = 0.45
    choose_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ConfigError(f"choose is {self.choose!r}: choose one of {', '.join(CHOICES)}")
        check_range("threshold", self.threshold, 0, 1)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)
