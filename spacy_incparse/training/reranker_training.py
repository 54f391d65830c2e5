"""Train a reranker on n-best lists: its features, the choice of the learner's settings, and the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.data_building import build_data
from spacy_incparse.rerank.feature_columns import FeatureColumns
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.label_classes import closed_class_tags
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig
from spacy_incparse.rerank.reranking_data import RerankingData
from spacy_incparse.rerank.second_scores import SECOND_SCORES, columns_of
from spacy_incparse.training.learner_choice import Learned, Report, learn_weights
from spacy_incparse.training.rerank_settings import (
    RERANK_DEFAULTS,
    WEIGHTING_LOSSES,
    check_reranking,
    family_choices,
    losses,
)
from spacy_incparse.training.second_score_training import train_second_score
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


def learn_reranker(
    lists: Iterable[CandidateList], heads: HeadRules, settings: Mapping[str, Any], report: Report = lambda _: None
) -> Reranker:
    """Return a reranker trained on lists with gold trees, which are read several times.

    If some of them have trees that score higher than the parser's own, the reranker will have them in its lists, too.
    The median of their temperatures becomes the reranker's: that of the parser is fitted on the trees that the gain is
    measured on.

    heads: the head rules of the features. The models of second scores are trained on the gold trees. settings: see
    `RERANK_DEFAULTS`. Raises ConfigError for wrong settings, and IncparseError for lists that cannot be learned from.
    """
    check_reranking(settings)
    settings = RERANK_DEFAULTS | dict(settings)
    lists = _Shortened(lists, settings["n"])
    gold, temperatures = _gold_and_temperatures(lists)
    names, closed_tags = _score_names(lists, settings), closed_class_tags(gold)
    choices = (
        _learned(lists, heads, settings | {"families": families}, closed_tags, names, report)
        for families in family_choices(settings)
    )
    config, columns, learned = max(choices, key=lambda one: one.learned.f)  # the first of equals
    with_better = any(found.has_better for found in lists)
    config = replace(config, choose=learned.how, scale=learned.scale, n=learned.n or config.n)
    config = replace(config, with_better=with_better, base_temperature=median(temperatures))
    others = {name: train_second_score(name, gold, heads) for name in names}
    return Reranker(config, heads, columns, learned.weights, others=others).without_zeros()


class _Learned(NamedTuple):
    """What was learned with one choice of families."""

    config: RerankerConfig
    columns: FeatureColumns
    learned: Learned


def _learned(
    lists: Iterable[CandidateList],
    heads: HeadRules,
    settings: Mapping[str, Any],
    closed_tags: Sequence[str],
    names: Sequence[str],
    report: Report,
) -> _Learned:
    """Learn with one choice of families, and the scores of these names beside the parser's."""
    config = reranker_config(settings, closed_tags)
    columns, data = _columns_and_data(lists, config.extractor(heads), settings["min_lists"], columns_of(names))
    families = settings["families"]
    chosen = "" if families is None else f" of {families if isinstance(families, str) else ', '.join(families)}"
    report(f"{data.n_lists:,} lists with {data.n_candidates:,} trees; {data.n_features:,} features{chosen}")
    how, n_folds = settings["choose"], settings["n_folds"]
    learned = learn_weights(data, losses(settings), settings["learner"], how=how, n_folds=n_folds, report=report)
    return _Learned(config, columns, learned)


def _gold_and_temperatures(lists: Iterable[CandidateList]) -> tuple[list[Tree], list[float]]:
    seen = [(found.gold, found.temperature) for found in lists]
    return [gold for gold, _ in seen if gold is not None], [temperature for _, temperature in seen]


def reranker_config(settings: Mapping[str, Any], closed_tags: Sequence[str]) -> RerankerConfig:
    """Return the part of the settings of training that belongs to the model."""
    names = ("max_count", "n", *(["families"] if settings["families"] is not None else []))
    return RerankerConfig(**{name: settings[name] for name in names}, closed_tags=closed_tags)


def _score_names(lists: Iterable[CandidateList], settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the models beside the base parser: those that are set, or all whose scores the lists have."""
    if settings["scores"] is not None:
        return list(settings["scores"])
    if not set(losses(settings)).issubset(WEIGHTING_LOSSES):
        return []
    rows = [set(found.others) for found in lists]
    shared = set.intersection(*rows) if rows else set()
    return [name for name, score in SECOND_SCORES.items() if shared.issuperset(score.columns)]


def _columns_and_data(
    lists: Iterable[CandidateList], extractor: FeatureExtractor, min_lists: int, others: Sequence[str]
) -> tuple[FeatureColumns, RerankingData]:
    keys = (extractor.keys([parse.tree for parse in found.parses]) for found in lists)
    columns = FeatureColumns.select(keys, min_lists=min_lists)
    return columns, build_data(lists, extractor, columns, others)


class _Shortened:
    """Lists without the candidates after the first n, each time they are read."""

    def __init__(self, lists: Iterable[CandidateList], n: int):
        self._lists, self._n = lists, n

    def __iter__(self) -> Iterator[CandidateList]:
        for found in self._lists:
            yield found.first(self._n)
