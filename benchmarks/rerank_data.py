"""Features and counts of n-best lists for `reranking.py`, and the scores of what is chosen from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from base_lists import BaseLists

from spacy_incparse.evaluation.brackets import COLLINS
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.summaries import LabelCounts, Scores, SentenceScore
from spacy_incparse.parsing.nbest import ChoiceSettings, Recombination, phrases_of
from spacy_incparse.rerank.data import RerankingData, build_data, first_candidates
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.features import FAMILIES, FeatureColumns, check_families, closed_class_tags
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.reranker import columns_of
from spacy_incparse.trees.heads import HeadRules

MIN_LISTS = 5  # Collins (2000), section 3


@dataclass(frozen=True)
class StudyData:
    """Both parts' lists as arrays, with the features that vary in the train part.

    sentences: the scores of the dev part's candidates, each as if it were chosen. extractor: of all families. others:
    the columns of scores after the base parser's.
    """

    train: RerankingData
    dev: RerankingData
    sentences: Sequence[SentenceScore]
    columns: FeatureColumns
    extractor: FeatureExtractor
    others: Sequence[str]

    @classmethod
    def read(cls, lists: BaseLists, n: int) -> StudyData:
        """Read lists of at most n candidates."""
        closed_tags = closed_class_tags(found.gold for found in lists.train_lists() if found.gold)
        extractor = _extractor(("all",), lists.heads, closed_tags)
        keys = (extractor.keys(_trees(found, n)) for found in lists.train_lists())
        columns = FeatureColumns.select(keys, MIN_LISTS)
        dev = [found.first(n) for found in lists.dev_lists()]
        others = columns_of(lists.scores)
        train = build_data((found.first(n) for found in lists.train_lists()), extractor, columns, others)
        dev_data = build_data(dev, extractor, columns, others)
        return cls(train, dev_data, list(_sentences(dev)), columns, extractor, others)

    def with_scores(self, names: Sequence[str]) -> StudyData:
        """Return the data with the base parser's score and those of some models."""
        others = columns_of(names)
        kept = [0, *(1 + self.others.index(column) for column in others)]
        train, dev = (
            replace(data, scores=np.ascontiguousarray(data.scores[:, kept])) for data in (self.train, self.dev)
        )
        return replace(self, train=train, dev=dev, others=others)

    def shorter(self, n: int) -> StudyData:
        """Return the data of lists that end after n candidates."""
        train, dev = first_candidates(self.train, n), first_candidates(self.dev, n)
        starts = self.dev.list_starts[:-1]
        sentences = [
            self.sentences[start + place]
            for start, size in zip(starts, np.diff(dev.list_starts), strict=True)
            for place in range(size)
        ]
        return replace(self, train=train, dev=dev, sentences=sentences)

    def scores(self, chosen: np.ndarray) -> Scores:
        """Return the scores of chosen candidates of the dev part, given by their index among all."""
        return Scores.of([self.sentences[index] for index in chosen], LabelCounts(), COLLINS)

    def families(self, lists: BaseLists) -> dict[str, np.ndarray]:
        """Return the columns of each family, (n_features,) bool."""
        alone = {name: _extractor((name,), lists.heads, self.extractor.closed_tags) for name in FAMILIES}
        found = {name: np.zeros(len(self.columns), bool) for name in FAMILIES}
        n = int(np.diff(self.train.list_starts).max())
        for candidates in lists.train_lists():
            trees = _trees(candidates, n)
            for name, extractor in alone.items():
                found[name][extractor.columns(trees, self.columns)[1]] = True
        return found


def recombined_scores(lists: BaseLists, n: int) -> Scores:
    """Return the scores of trees made of the phrases of the dev part's lists, by the parser's own probabilities."""
    threshold = ChoiceSettings().choose_threshold
    gold, made = [], []
    for found in (found.first(n) for found in lists.dev_lists()):
        phrases = phrases_of(found.parses, found.temperature)
        trees = [parse.tree for parse in sorted(found.parses, key=lambda parse: -parse.score)]
        gold.append(found.gold)
        made.append(Recombination(trees, phrases, threshold).best_tree() if len(trees) > 1 else trees[0])
    return score_trees(gold, made)


def family_groups() -> dict[str, tuple[str, ...]]:
    """Return the families of Collins (2000), Charniak & Johnson (2005) and Huang (2008)."""
    return {name: check_families([name]) for name in ("collins", "charniak-johnson", "huang")}


def list_places(data: RerankingData, chosen: np.ndarray) -> list[int]:
    """Return the places of chosen candidates in their lists, from 0."""
    return (chosen - data.list_starts[:-1]).tolist()


def at_places(data: RerankingData, places: Sequence[int]) -> np.ndarray:
    """Return the candidates at these places of the lists."""
    return data.list_starts[:-1] + np.array(places, np.int64)


def _extractor(families: Sequence[str], heads: HeadRules, closed_tags: Sequence[str]) -> FeatureExtractor:
    return FeatureExtractor(check_families(families), heads, closed_tags=closed_tags)


def _trees(found: CandidateList, n: int) -> list:
    return [parse.tree for parse in islice(found.parses, n)]


def _sentences(lists: Sequence[CandidateList]) -> Iterator[SentenceScore]:
    for found in lists:
        trees = [parse.tree for parse in found.parses]
        yield from score_trees([found.gold] * len(trees), trees).per_sentence
