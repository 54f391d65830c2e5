"""Make the learners' arrays of candidate lists: features, base scores, EVALB's counts and overlaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.list_counts import list_counts
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.data_selection import starts_of
from spacy_incparse.rerank.reranking_data import RerankingData
from spacy_incparse.rerank.second_scores import name_of
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree


class ColumnExtractor(Protocol):
    """Whatever finds the features of trees."""

    def columns(self, trees: Sequence[Tree], columns: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return starts (n_trees + 1,) and the columns (n,) that are 1, ascending within a tree."""


def build_data(
    lists: Iterable[CandidateList], extractor: ColumnExtractor, columns: Any, others: Sequence[str] = ()
) -> RerankingData:
    """Return the arrays of lists; the lists themselves are read one by one and not kept.

    columns: the features that have a column, with `len(columns)`. others: the names of the scores by other models that
    follow the base parser's. Raises IncparseError for a list without candidates, without a gold tree or without one of
    these scores, naming the list's number, from 1.
    """
    parts = [_part(number, candidates, extractor, columns, others) for number, candidates in enumerate(lists, start=1)]
    if not parts:
        raise IncparseError("there are no lists to learn from")
    return RerankingData(
        list_starts=starts_of([len(part.scores) for part in parts]),
        feature_starts=starts_of(np.concatenate([part.n_features for part in parts])),
        features=np.concatenate([part.features for part in parts]),
        n_features=len(columns),
        scores=np.concatenate([part.scores for part in parts]),
        n_matched=np.concatenate([part.n_matched for part in parts]),
        n_phrases=np.concatenate([part.n_phrases for part in parts]),
        n_gold=np.array([part.n_gold for part in parts], np.int32),
        overlaps=tuple(part.overlaps for part in parts),
    )


class _Part(NamedTuple):
    n_features: np.ndarray  # of each candidate
    features: np.ndarray
    scores: np.ndarray  # (n, n_scores)
    n_matched: np.ndarray
    n_phrases: np.ndarray
    n_gold: int
    overlaps: np.ndarray


def _part(
    number: int, candidates: CandidateList, extractor: ColumnExtractor, columns: Any, others: Sequence[str]
) -> _Part:
    if not candidates.parses:
        raise IncparseError(f"list {number} has no candidates: leave it out")
    if candidates.gold is None:
        raise IncparseError(f"list {number} has no gold tree, so nothing can be learnt from it: give the gold trees")
    trees = [parse.tree for parse in candidates.parses]
    base = np.array([parse.score for parse in candidates.parses]) / candidates.temperature
    for name in others:
        if name not in candidates.others:
            raise IncparseError(
                f"list {number} has no {name} scores: make them with `spacy-incparse rerank-train --with "
                f"{name_of(name)}`"
            )
    scores = np.column_stack([base, *(candidates.others[name] for name in others)])
    if not np.isfinite(scores).all():
        raise IncparseError(f"list {number} has a candidate whose score is not a finite number")
    n_features, features = _varying(*extractor.columns(trees, columns))
    return _Part(n_features, features, scores, *_bracket_counts(candidates.gold, trees), phrase_overlaps(trees))


def _bracket_counts(gold: Tree, trees: Sequence[Tree]) -> tuple[np.ndarray, np.ndarray, int]:
    """Return EVALB's brackets: matched (n,) int32, in the tree (n,) int32, and in the gold tree."""
    counts = np.array(list_counts(gold, trees), np.int32)
    return counts[:, 0], counts[:, 1], int(counts[0, 2])


def phrase_overlaps(trees: Sequence[Tree]) -> np.ndarray:
    """Return the number of phrases (label, start, end) that each two trees share, (n, n) int32."""
    ids: dict[Phrase, int] = {}
    rows = [[ids.setdefault(phrase, len(ids)) for phrase in tree.spans()] for tree in trees]
    has_phrase = np.zeros((len(trees), len(ids)), np.int32)
    for row, phrases in enumerate(rows):
        has_phrase[row, phrases] = 1
    return has_phrase @ has_phrase.T


def _varying(starts: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of features of each candidate, and the features, without those that all candidates have."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    # Strictly ascending within a row: that a column is 1 is said once.
    if np.any((np.diff(rows) == 0) & (np.diff(columns) <= 0)):
        raise ValueError("the columns of a tree must be ascending")
    _, position, counts = np.unique(columns, return_inverse=True, return_counts=True)
    kept = counts[position] < len(starts) - 1
    n_features = np.bincount(rows[kept], minlength=len(starts) - 1)
    return n_features, columns[kept].astype(np.int32)
