"""A trained reranker: which features it sees, their weights, and how it chooses from a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np
import srsly

from spacy_incparse.errors import ConfigError, ModelError, damaged
from spacy_incparse.integer_arrays import pack, pack_gaps, unpack, unpack_gaps
from spacy_incparse.parsing.nbest import N_ANALYSES, NBestSearch, expected_f_values, probabilities
from spacy_incparse.parsing.parse import Input, Parse, Tags
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.rerank.data import How, RerankerWeights, SecondScore, columns_of, read_second_scores
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.features import DEFAULT, MAX_LENGTH, FeatureColumns, check_families
from spacy_incparse.settings import Settings, check_choice, check_number, check_range, checked_labels
from spacy_incparse.trees.heads import HeadRules

LOWEST, HIGHEST = 1e-6, 1e9  # of a temperature


@dataclass(frozen=True, kw_only=True)
class RerankerConfig(Settings):
    """Settings of a reranker.

    families: the names of the families of features. max_count: counts above it are equal. closed_tags: the tags of
    closed classes, for lexicalized families. n: how many candidates of a list it looks at. choose: "score" for the most
    probable tree, "expected_f" for the one with the best expected F, where a tree's probability is proportional to
    exp(scale F(x)). with_better: whether the lists have the trees that score higher than the parser's own
    (`NBestSearch`). base_temperature: what the base parser's scores are divided by; None: the parser's temperature.
    """

    SEARCH = ("n", "choose")

    families: Sequence[str] = DEFAULT
    max_count: int = 4
    closed_tags: Sequence[str] = ()
    n: int = 20
    choose: How = "score"
    scale: float = 1.0
    with_better: bool = False
    base_temperature: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", check_families(self.families))
        object.__setattr__(self, "closed_tags", checked_labels("closed_tags", self.closed_tags))
        check_number("max_count", self.max_count, 1, MAX_LENGTH)
        check_number("n", self.n, 1, N_ANALYSES)
        check_choice("choose", self.choose, get_args(How))
        check_number("scale", self.scale, 1e-6, 1e6, is_whole=False)
        if not isinstance(self.with_better, bool):
            raise ConfigError(f"with_better is {self.with_better!r}: it must be true or false")
        check_range("base_temperature", self.base_temperature, LOWEST, HIGHEST, may_be_none=True)

    def extractor(self, heads: HeadRules) -> FeatureExtractor:
        """Return what finds the features of trees."""
        return FeatureExtractor(self.families, heads, self.max_count, closed_tags=self.closed_tags)


class RankedParse(NamedTuple):
    """A candidate with its new score, and its probability among the candidates."""

    parse: Parse
    probability: float


@dataclass(eq=False, repr=False)
class Reranker:
    """Features, their weights and a temperature.

    columns: the features that the model knows, with one weight each. heads: the rules of the features that need heads.
    others: the models of the scores beside the base parser's, by name. The weights of all their columns come in their
    order.

        F(x) = weight of the base score (base score of x / base temperature)
             + sum of the weights of x's other scores times these
             + sum of the weights of x's features    (Collins 2000, eq. 4)

    The probability of x among the candidates is proportional to exp(F(x) / temperature).
    """

    config: RerankerConfig
    heads: HeadRules
    columns: FeatureColumns
    weights: RerankerWeights
    temperature: float = 1.0
    others: Mapping[str, SecondScore] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scores, features = self.weights
        self.weights = RerankerWeights(np.asarray(scores, np.float64), np.asarray(features, np.float32))

    @cached_property
    def extractor(self) -> FeatureExtractor:
        """What finds the features of trees."""
        return self.config.extractor(self.heads)

    def rerank(self, parses: Sequence[Parse], base_temperature: float) -> list[RankedParse]:
        """Return the first n candidates with their new scores, the chosen one first, the others by descending score.

        parses: the list of one sentence, the parser's own tree first, with its scores. Equal scores keep the order of
        the list, and trees that miss other constraints than the first are left out. A list of one candidate, or a flat
        tree, is returned unchanged.
        """
        candidates = [parse for parse in parses[: self.config.n] if parse.unmet == parses[0].unmet]
        if len(candidates) == 1 or candidates[0].source == "flat":
            return [RankedParse(candidates[0], 1.0)]
        scores = self.scores(candidates, base_temperature)
        found = [replace(parse, score=score) for parse, score in zip(candidates, scores, strict=True)]
        shares = probabilities(scores, self.temperature)
        order = sorted(range(len(found)), key=lambda i: -scores[i])
        if self.config.choose == "expected_f":
            values = expected_f_values([parse.tree for parse in found], probabilities(scores, 1 / self.config.scale))
            order.sort(key=lambda i: i != values.index(max(values)))
        return [RankedParse(found[i], shares[i]) for i in order]

    def scores(self, parses: Sequence[Parse], base_temperature: float) -> list[float]:
        """Return F of each candidate of a list."""
        trees = [parse.tree for parse in parses]
        starts, columns = self.extractor.columns(trees, self.columns)
        rows = np.repeat(np.arange(len(parses)), np.diff(starts))
        sums = np.bincount(rows, self.weights.features[columns], minlength=len(parses))
        base = np.array([parse.score for parse in parses]) / base_temperature
        others = {column: row for other in self.others.values() for column, row in other.scores(trees).items()}
        scores = np.array([base, *(others[column] for column in columns_of(self.others))])
        return (sums + (self.weights.scores[:, np.newaxis] * scores).sum(axis=0)).tolist()

    def with_settings(self, **settings: Any) -> Reranker:
        """Return a reranker with the same weights and another `n` or `choose`."""
        return replace(self, config=self.config.with_search(**settings))

    def without_zeros(self) -> Reranker:
        """Return the same reranker without the features whose weight is 0."""
        kept = np.flatnonzero(self.weights.features)
        weights = self.weights._replace(features=self.weights.features[kept])
        return replace(self, columns=self.columns.subset(kept), weights=weights)

    def to_bytes(self) -> bytes:
        """Return the reranker as bytes; `from_bytes` is the inverse."""
        return srsly.msgpack_dumps(
            {
                "config": self.config.to_dict(),
                "heads": self.heads.to_dict(),
                "temperature": float(self.temperature),
                "others": {name: other.to_bytes() for name, other in self.others.items()},
                "scores": self.weights.scores.astype("<f8").tobytes(),
                "columns": pack_gaps(self.columns.keys),
                "weights": pack(self.weights.features.view(np.uint32)),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Reranker:
        """Return the reranker that `to_bytes` wrote. Raises ModelError for anything else."""
        content = _content(data)
        with damaged("the reranker is damaged"):
            config = RerankerConfig.from_dict(content["config"])
            heads = HeadRules.from_dict(content["heads"])
        keys = unpack_gaps(content["columns"], "u8", "the reranker's features")
        if not (keys[1:] > keys[:-1]).all():
            raise ModelError("the reranker's features are damaged: their keys are not in ascending order")
        if len(content["scores"]) % 8:
            raise ModelError(f"the reranker is damaged: {len(content['scores']):,} bytes cannot be its scores")
        weights = RerankerWeights(
            np.frombuffer(content["scores"], dtype="<f8"),
            unpack(content["weights"], "u4", "the reranker's weights").view(np.float32),
        )
        for what, numbers in weights._asdict().items():
            if not np.isfinite(numbers).all():
                what = "weights" if what == "features" else what
                raise ModelError(f"the reranker is damaged: among its {what} are numbers that are not finite")
        others = read_second_scores(content["others"])
        n_others = len(columns_of(others))
        if len(weights.scores) != 1 + n_others or len(weights.features) != len(keys):
            found = f"{len(weights.scores)} + {len(weights.features)} weights"
            raise ModelError(f"the reranker is damaged: 1 + {n_others} scores, {len(keys)} features, but {found}")
        if not LOWEST <= content["temperature"] <= HIGHEST:
            raise ModelError(f"the reranker is damaged: its temperature is {content['temperature']!r}")
        return cls(config, heads, FeatureColumns(keys), weights, content["temperature"], others)


_TYPES = {
    "config": dict, "heads": dict, "temperature": float, "others": dict, "scores": bytes, "columns": bytes,
    "weights": bytes,
}  # fmt: skip


def _content(data: bytes) -> dict[str, Any]:
    """Return the parts of a stored reranker, each of the right type."""
    with damaged("not a reranker"):
        content = srsly.msgpack_loads(data)
    if not isinstance(content, dict):
        raise ModelError(f"not a reranker: {content!r:.40}")
    for name, kind in _TYPES.items():
        if not isinstance(content.get(name), kind):
            raise ModelError(f"the reranker is damaged: its {name} are {content.get(name)!r:.40}")
    return content


class RerankedSearch(NBestSearch):
    """Find the n-best list of a sentence with a parser's search, and rerank it.

    model_parser: the parser whose temperature is used by rerankers without one; see `base_temperature`.
    """

    def __init__(self, search: NBestSearch, model_parser: Parser, reranker: Reranker):
        self.parser: Any = RerankingParser(search.parser, self)
        self._search, self._model_parser, self._reranker = candidate_search(search, reranker), model_parser, reranker

    def ranked(self, *given: Any) -> list[RankedParse]:
        """Return the analyses with their new scores and probabilities, the chosen one first."""
        parses = self._search.analyses(*given, n=self._reranker.config.n)
        return self._reranker.rerank(parses, base_temperature(self._reranker, self._model_parser))

    def analyses(self, *given: Any, n: int | None = None) -> list[Parse]:
        """Return up to `n` analyses with their new scores, the chosen one first, the others by descending score.

        There are never more than the reranker looks at.
        """
        return [ranked.parse for ranked in self.ranked(*given)][:n]

    def beside(self, best: Parse, *given: Any, n: int | None = None) -> list[Parse]:
        """Return an analysis of a sentence, then the others as `analyses` orders them."""
        others = self.analyses(*given)
        return [best, *(parse for parse in others if parse.tree != best.tree)][:n]


def candidate_search(search: NBestSearch, reranker: Reranker) -> NBestSearch:
    """Return the search for lists like those that the reranker was trained on. search: that of the parser."""
    return NBestSearch(search.parser, with_better=True) if reranker.config.with_better else search


def base_temperature(reranker: Reranker, parser: Parser) -> float:
    """Return what a parser's scores are divided by before a reranker weighs them; 1 if neither has a temperature."""
    return reranker.config.base_temperature or parser.temperature or 1.0


class RerankingParser:
    """A parser whose trees a reranker has chosen. Everything else is that of the parser that finds the lists."""

    def __init__(self, parser: Parser, search: RerankedSearch):
        self._parser, self._search = parser, search

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_parser"], name)

    def parse(self, *given: Any) -> Parse:
        """Return the tree of a sentence that the reranker chooses, with the reranker's score."""
        return self._search.analyses(*given)[0]

    def parse_batch(self, sentences: Iterable[Input]) -> list[Parse]:
        """Return the parses of sentences, each given as the arguments of `parse`."""
        return [self.parse(*sentence) for sentence in sentences]

    def nbest(self, words: Sequence[str], tags: Tags, k: int, *more: Any) -> list[Parse]:
        """Return up to `k` different trees of a sentence, the chosen one first."""
        return self._search.analyses(words, tags, *more)[:k]
