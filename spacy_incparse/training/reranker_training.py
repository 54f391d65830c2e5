"""Train a reranker on n-best lists: its features, the choice of the learner's settings, and the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.data_building import build_data
from spacy_incparse.rerank.feature_columns import FeatureColumns
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.label_classes import closed_class_tags
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig
from spacy_incparse.rerank.reranking_data import RerankingData
from spacy_incparse.training.learner_choice import Report, learn_weights
from spacy_incparse.training.rerank_settings import RERANK_DEFAULTS, check_reranking
from spacy_incparse.trees.heads import HeadRules


def learn_reranker(
    lists: Iterable[CandidateList], heads: HeadRules, settings: Mapping[str, Any], report: Report = lambda _: None
) -> Reranker:
    """Return a reranker trained on lists with gold trees, which are read three times.

    heads: the head rules of the features. settings: see `RERANK_DEFAULTS`. Raises ConfigError for wrong settings, and
    IncparseError for lists that cannot be learned from.
    """
    check_reranking(settings)
    settings = RERANK_DEFAULTS | dict(settings)
    lists = _Shortened(lists, settings["n"])
    config = reranker_config(settings, closed_class_tags(found.gold for found in lists if found.gold is not None))
    columns, data = _columns_and_data(lists, config.extractor(heads), settings["min_lists"])
    report(f"{data.n_lists:,} lists with {data.n_candidates:,} trees; {data.n_features:,} features")
    learned = learn_weights(
        data, settings["loss"], settings["learner"], how=settings["choose"], n_folds=settings["n_folds"], report=report
    )
    config = replace(config, choose=learned.how, scale=learned.scale)
    return Reranker(config, heads, columns, learned.weights).without_zeros()


def reranker_config(settings: Mapping[str, Any], closed_tags: Sequence[str]) -> RerankerConfig:
    """Return the part of the settings of training that belongs to the model."""
    names = ("max_count", "n", *(["families"] if settings["families"] is not None else []))
    return RerankerConfig(**{name: settings[name] for name in names}, closed_tags=closed_tags)


def _columns_and_data(
    lists: Iterable[CandidateList], extractor: FeatureExtractor, min_lists: int
) -> tuple[FeatureColumns, RerankingData]:
    keys = (extractor.keys([parse.tree for parse in found.parses]) for found in lists)
    columns = FeatureColumns.select(keys, min_lists=min_lists)
    return columns, build_data(lists, extractor, columns)


class _Shortened:
    """Lists without the candidates after the first n, each time they are read."""

    def __init__(self, lists: Iterable[CandidateList], n: int):
        self._lists, self._n = lists, n

    def __iter__(self) -> Iterator[CandidateList]:
        for found in self._lists:
            yield CandidateList(tuple(found.parses[: self._n]), found.temperature, found.gold)
