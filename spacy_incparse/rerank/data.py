"""N-best lists as arrays, as the learners read them, and the choice of a candidate of each list by a model's values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite, log
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.parser import ChartParser
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.evaluation.nbest import list_counts
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.features import FeatureColumns
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.sparse_rows import row_sums, varies_in_list
from spacy_incparse.training.settings import ParserRecipe
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

How = Literal["score", "expected_f"]


class RerankerWeights(NamedTuple):
    """What a learner learns: F(x) = scores . base scores of x + sum of features over the features of x.

    scores: (n_scores,) float64. features: (n_features,) float64.
    """

    scores: np.ndarray
    features: np.ndarray


@dataclass(frozen=True)
class RerankingData:
    """The candidates of many sentences. All features are indicators; a count is several of them (>= 1, >= 2, ...).

    list_starts: (n_lists + 1,) int64, where the candidates of each list begin. feature_starts: (n_candidates + 1,)
    int64, where the features of each candidate begin. features: (n,) int32, the columns that are 1, ascending within a
    candidate; what all candidates of a list have is left out. scores: (n_candidates, n_scores) float64, real-valued
    features; column 0 is the base parser's score divided by its temperature. n_matched, n_phrases: (n_candidates,)
    int32, and n_gold: (n_lists,) int32, EVALB's counts of brackets: shared with the gold tree, in the candidate, in the
    gold tree. overlaps: for each list an (n, n) int32 array, the number of phrases that two candidates share (their own
    number on the diagonal).
    """

    list_starts: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    n_features: int
    scores: np.ndarray
    n_matched: np.ndarray
    n_phrases: np.ndarray
    n_gold: np.ndarray
    overlaps: tuple[np.ndarray, ...]

    @property
    def n_lists(self) -> int:
        """The number of sentences."""
        return len(self.list_starts) - 1

    @property
    def n_candidates(self) -> int:
        """The number of candidates of all sentences."""
        return len(self.feature_starts) - 1


def list_ids(data: RerankingData) -> np.ndarray:
    """Return the number of the list that each candidate belongs to, (n_candidates,) int64."""
    return np.repeat(np.arange(data.n_lists), np.diff(data.list_starts))


def sentence_f(data: RerankingData) -> np.ndarray:
    """Return each candidate's F against its gold tree, 0 to 1, (n_candidates,) float64; 0 if there are no brackets."""
    n_both = data.n_gold[list_ids(data)] + data.n_phrases
    return 2.0 * data.n_matched / np.maximum(n_both, 1)


def best_candidates(data: RerankingData) -> np.ndarray:
    """Return the index of x_{i,1} of each list among all candidates, (n_lists,) int64 (Collins 2000, section 2.1).

    It has the highest F; of several, the highest base score (footnote 3); of several again, it is the first.
    """
    # lexsort is stable and sorts by its last key first, so the best of each list comes to the list's start.
    order = np.lexsort((-data.scores[:, 0], -sentence_f(data), list_ids(data)))
    return order[data.list_starts[:-1]]


def is_best(data: RerankingData) -> np.ndarray:
    """Return for each candidate whether its F is the highest in its list, (n_candidates,) bool; several may have it."""
    f = sentence_f(data)
    return f == np.repeat(np.maximum.reduceat(f, data.list_starts[:-1]), np.diff(data.list_starts))


def candidate_values(data: RerankingData, weights: RerankerWeights) -> np.ndarray:
    """Return the ranking function F(x) of Collins (2000, section 2.1), (n_candidates,) float64."""
    # Multiplied and summed without BLAS, whose result may depend on the number of threads.
    base = (data.scores * weights.scores).sum(axis=1)
    return base + row_sums(data.feature_starts, data.features, weights.features)


def list_probabilities(values: np.ndarray, list_starts: np.ndarray) -> np.ndarray:
    """Return P(x) = e^F(x) / sum of e^F over its list (section 2.2.1), (n_candidates,) float64."""
    first, sizes = list_starts[:-1], np.diff(list_starts)
    weights = np.exp(values - np.repeat(np.maximum.reduceat(values, first), sizes))
    return weights / np.repeat(np.add.reduceat(weights, first), sizes)


def build_data(
    lists: Iterable[CandidateList], extractor: FeatureExtractor, columns: FeatureColumns, others: Sequence[str] = ()
) -> RerankingData:
    """Return the arrays of lists; the lists themselves are read one by one and not kept.

    columns: the features that have a column. others: the names of the scores by other models that
    follow the base parser's. Raises IncparseError for a list without candidates, without a gold tree or without one of
    these scores, naming the list's number, from 1.
    """
    n_features, features, scores, counts, n_gold, overlaps = [], [], [], [], [], []
    for number, found in enumerate(lists, start=1):
        scores.append(_list_scores(number, found, others))
        if found.gold is None:
            raise IncparseError(
                f"list {number} has no gold tree, so nothing can be learnt from it: give the gold trees"
            )
        trees = [parse.tree for parse in found.parses]
        starts, present = extractor.columns(trees, columns)
        n_features.append(np.diff(starts))
        features.append(present)
        counts.append(np.array(list_counts(found.gold, trees), np.int32))
        n_gold.append(counts[-1][0, 2])
        overlaps.append(phrase_overlaps(trees))
    if not scores:
        raise IncparseError("there are no lists to learn from")
    all_counts = np.concatenate(counts)
    return RerankingData(
        _starts(map(len, scores)), _starts(np.concatenate(n_features)), np.concatenate(features), len(columns),
        np.concatenate(scores), all_counts[:, 0], all_counts[:, 1], np.array(n_gold), tuple(overlaps),
    )  # fmt: skip


def _list_scores(number: int, found: CandidateList, others: Sequence[str]) -> np.ndarray:
    """Return the scores of one list, (n, n_scores)."""
    if not found.parses:
        raise IncparseError(f"list {number} has no candidates: leave it out")
    for column in others:
        if column not in found.others:
            name = next((name for name, score in SECOND_SCORES.items() if column in score.columns), column)
            raise IncparseError(
                f"list {number} has no {column} scores: make them with `spacy-incparse rerank-train --with {name}`"
            )
    base = np.array([parse.score for parse in found.parses]) / found.temperature
    scores = np.column_stack([base, *(found.others[name] for name in others)])
    if not np.isfinite(scores).all():
        raise IncparseError(f"list {number} has a candidate whose score is not a finite number")
    return scores


def phrase_overlaps(trees: Sequence[Tree]) -> np.ndarray:
    """Return the number of phrases (label, start, end) that each two trees share, (n, n) int32."""
    ids: dict[Phrase, int] = {}
    rows = [[ids.setdefault(phrase, len(ids)) for phrase in tree.spans()] for tree in trees]
    has_phrase = np.zeros((len(trees), len(ids)), np.int32)
    for row, phrases in enumerate(rows):
        has_phrase[row, phrases] = 1
    return has_phrase @ has_phrase.T


def select_lists(data: RerankingData, lists: np.ndarray) -> RerankingData:
    """Return the data of some lists, given their numbers in the order wanted; columns stay the same."""
    part = _of_rows(data, data.list_starts[:-1][lists], np.diff(data.list_starts)[lists])
    return replace(part, n_gold=data.n_gold[lists], overlaps=tuple(data.overlaps[number] for number in lists))


def first_candidates(data: RerankingData, n: int) -> RerankingData:
    """Return the data of lists that end after n candidates, at least 1."""
    part = _of_rows(data, data.list_starts[:-1], np.minimum(np.diff(data.list_starts), n))
    varies = varies_in_list(part.list_starts, part.feature_starts, part.features, data.n_features)
    return replace(_of_places(part, varies), overlaps=tuple(overlap[:n, :n] for overlap in data.overlaps))


def select_features(data: RerankingData, is_kept: np.ndarray) -> RerankingData:
    """Return the data without the other features' ones; columns keep their numbers. is_kept: (n_features,) bool."""
    return _of_places(data, is_kept[data.features])


def _of_rows(data: RerankingData, starts: np.ndarray, sizes: np.ndarray) -> RerankingData:
    """Return the data of lists that begin at some candidates and have these sizes."""
    rows = _ranges(starts, sizes)
    n_features = np.diff(data.feature_starts)[rows]
    return replace(
        data, list_starts=_starts(sizes), feature_starts=_starts(n_features),
        features=data.features[_ranges(data.feature_starts[:-1][rows], n_features)], scores=data.scores[rows],
        n_matched=data.n_matched[rows], n_phrases=data.n_phrases[rows],
    )  # fmt: skip


def _of_places(data: RerankingData, is_kept: np.ndarray) -> RerankingData:
    """Return the data with those entries of `features` that are kept."""
    rows = np.repeat(np.arange(data.n_candidates), np.diff(data.feature_starts))
    n_features = np.bincount(rows[is_kept], minlength=data.n_candidates)
    return replace(data, feature_starts=_starts(n_features), features=data.features[is_kept])


def _starts(sizes: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return where parts of these sizes begin, and the end of the last, (n + 1,) int64."""
    return np.concatenate(([0], np.cumsum(np.fromiter(sizes, np.int64)))).astype(np.int64)


def _ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the numbers start, start + 1, ..., start + size - 1 of all pairs, joined."""
    return np.repeat(starts - _starts(sizes)[:-1], sizes) + np.arange(sizes.sum())


class ChoiceRule(NamedTuple):
    """How to choose a candidate by its value F(x).

    how: "score", the highest value; "expected_f", the highest expected F against all candidates of the list, where a
    candidate's probability is proportional to exp(scale F(x)) (Goodman 1996).
    """

    how: How = "score"
    scale: float = 1.0


def choose(data: RerankingData, values: np.ndarray, how: How = "score", scale: float = 1.0) -> np.ndarray:
    """Return the chosen candidate of each list as its index among all candidates, (n_lists,) int64.

    values: (n_candidates,) F(x), as from `candidate_values`. how, scale: see `ChoiceRule`. Ties go to the first.
    """
    if how == "expected_f":
        parts = np.split(list_probabilities(scale * values, data.list_starts), data.list_starts[1:-1])
        values = np.concatenate([expected_f(o, p) for o, p in zip(data.overlaps, parts, strict=True)])
    chosen = [start + np.argmax(values[start:end]) for start, end in pairwise(data.list_starts)]
    return np.array(chosen, np.int64)


def expected_f(overlaps: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return each candidate's expected F against its list: 2 sum_b p_b |a and b| / (|a| + sum_b p_b |b|).

    overlaps: (n, n), phrases that two candidates share. probabilities: (n,).
    """
    sizes = np.diagonal(overlaps)
    shared = (overlaps * probabilities).sum(axis=1)
    return 2 * shared / np.maximum(sizes + (sizes * probabilities).sum(), 1e-300)  # trees without phrases have 0


def corpus_f(data: RerankingData, chosen: np.ndarray) -> float:
    """Return the F of the chosen candidates over all sentences by EVALB's counts, 0 to 1."""
    matched, phrases = data.n_matched[chosen].sum(), data.n_phrases[chosen].sum()
    return Agreement(int(matched), int(data.n_gold.sum()), int(phrases)).f


def base_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest base score."""
    return corpus_f(data, choose(data, data.scores[:, 0]))


TEMPERATURE = 1.0  # of the chart: that of training, since the weights of the columns scale them anyway
LEAST = 1e-3  # the lowest probability that counts, and one minus the highest: the chart may lack what it pruned
CHART_PASSES, TAG_FOLDS = 3, 5


class SecondScore(ABC):
    """A model that gives each candidate of a list some numbers, each of which has a weight of its own.

    name: of the model, as in `rerank-train --with`. columns: the names of the numbers, as in files of lists.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    parser_type: ClassVar[Any]

    def __init__(self, parser: Any):
        self.parser = parser

    @classmethod
    @abstractmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> SecondScore:
        """Return a model trained on normalized trees."""

    @abstractmethod
    def scores(self, trees: Sequence[Tree]) -> Mapping[str, Sequence[float]]:
        """Return for each column a finite number for each tree of a list, all over the same words."""

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SecondScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(cls.parser_type.from_bytes(data))


class ChartScore(SecondScore):
    """What the chart of all trees of a sentence says of its candidates (Goodman 1996; Hall, Durrett & Klein 2014).

    chart-right: the expected number of a tree's phrases that are right, the sum of their probabilities.
    chart-expected-f: the tree's expected F in percent, 200 times this number / (phrases of the tree + sum of the
        probabilities of all phrases of the chart).
    chart-odds: the sum of its phrases' log odds log(p / (1 - p)). Up to a constant of the sentence, this is the log
        probability of the tree if each phrase were there or not whatever the others.

    A tree that is not in the chart has these scores, too: phrases that it lacks have the lowest probability that
    counts. The chart is that of the first tree's tags. Where there is none, as for sentences of more words than
    `ChartParser.max_words`, all scores are 0.
    """

    name = "chart"
    columns = ("chart-right", "chart-expected-f", "chart-odds")
    parser_type = ChartParser

    @classmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> ChartScore:
        """Train on jackknifed tags, one a word: those of candidates are as good, and there is no tagger to store."""
        recipe = ParserRecipe("chart", ChartConfig(n_tags=1), heads, n_tag_folds=TAG_FOLDS, n_passes=CHART_PASSES)
        return cls(recipe.train(trees).parser)

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the scores of each tree of a list, all over the same words."""
        posterior = self.parser.posterior(trees[0].words, trees[0].tags, temperature=TEMPERATURE)
        if posterior is None:
            return {column: [0.0] * len(trees) for column in self.columns}
        n_expected, rows = sum(posterior.phrases.values()), []
        for tree in trees:
            found = [posterior.phrases.get(phrase, 0.0) for phrase in dict.fromkeys(tree.spans())]
            n_right, bounded = sum(found), [min(max(p, LEAST), 1 - LEAST) for p in found]
            odds = sum(log(p / (1 - p)) for p in bounded)
            rows.append((n_right, 200 * n_right / (len(found) + n_expected), odds))
        return dict(zip(self.columns, map(list, zip(*rows, strict=True)), strict=True))


class GenerativeScore(SecondScore):
    """The natural log probability of tree, tags and words by a generative model (Roark 2001).

    A tree to which the model gives no probability gets the lowest score of its list.
    """

    name = "generative"
    columns = ("generative",)
    parser_type = GenerativeParser

    @classmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> GenerativeScore:
        """Count the events of the trees."""
        return cls(GenerativeParser.train(trees, GenerativeConfig(), heads))

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the log probability of each tree of a list, all over the same words."""
        found = self.parser.log_probabilities(trees)
        lowest = min((score for score in found if score is not None and isfinite(score)), default=0.0)
        return {"generative": [lowest if score is None else max(score, lowest) for score in found]}


SECOND_SCORES: dict[str, type[SecondScore]] = {score.name: score for score in (GenerativeScore, ChartScore)}
"""All second scores, by name."""


def columns_of(names: Iterable[str]) -> list[str]:
    """Return the columns of second scores in order."""
    return [column for name in names for column in SECOND_SCORES[name].columns]


def read_second_scores(contents: dict[str, bytes]) -> dict[str, SecondScore]:
    """Return models from their bytes by name. Raises ModelError for another name or damaged bytes."""
    for name in contents:
        if name not in SECOND_SCORES:
            raise ModelError(f"the reranker has a score {name!r:.40} that this version does not know")
    return {name: SECOND_SCORES[name].from_bytes(data) for name, data in contents.items()}
