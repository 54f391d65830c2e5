"""Everything that a hybrid learns from a treebank, except for the weights: grammar, lexicon, generative model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from spacy_incparse.errors import ConfigError
from spacy_incparse.generative.config import GenerativeConfig
from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.hybrid_scorer import GenerativeScores, HybridScorer, ScoreMemo
from spacy_incparse.generative.model import GenerativeModel
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.encoded_sentence import Sentence
from spacy_incparse.incremental.grammar import Grammar
from spacy_incparse.incremental.kind import PAPER, PerceptronKind
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.incremental.parser import PerceptronModel, PerceptronParser
from spacy_incparse.incremental.scorer import Scorer
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.linear.weights import Weights
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import ConstituencyParser, FineTuner, Learner, ParserKind
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class HybridModel(PerceptronModel):
    """A model with a generative model of the same grammar; in training also others, each trained without one part."""

    generative: GenerativeModel
    generative_config: GenerativeConfig
    jackknife: Jackknife | None = None

    @classmethod
    def train(cls, model: PerceptronModel, trees: Sequence[Tree], config: ParserConfig) -> HybridModel:
        """Add generative models of normalized trees, whose labels must be in the model's grammar."""
        settings = GenerativeConfig(conjunctions=config.conjunctions)
        heads, grammar = model.heads, model.grammar
        n_folds = min(config.generative_folds, len(trees))
        jackknife = Jackknife.train(trees, n_folds, settings, heads, grammar) if n_folds > 1 else None
        generative = GenerativeModel.train(trees, settings, heads, grammar)
        parts = {name: getattr(model, name) for name in ("grammar", "lexicon", "heads", "punctuation")}
        return cls(**parts, generative=generative, generative_config=settings, jackknife=jackknife)

    def sentence(self, words: Sequence[str], tags: Tags) -> Sentence:
        """Return a sentence as numbers, to be scored by the model of all trees."""
        return self._sentence(words, tags, self.generative.vocabulary.encode(words), 0)

    def training_sentence(self, words: Sequence[str], tags: Tags) -> Sentence:
        """Return a training sentence as numbers, to be scored by a model that has not seen it."""
        number = None if self.jackknife is None else self.jackknife.numbers.get(tuple(words))
        if self.jackknife is None or number is None:
            return self.sentence(words, tags)
        vocabulary = self.jackknife.models[number].vocabulary
        return self._sentence(words, tags, vocabulary.encode(words), number + 1)

    def scorer(self, moves: Moves, weights: Weights, config: ParserConfig, *, training: bool = False) -> Scorer:
        """Return a scorer of moves under these weights and the generative models."""
        weight = config.train_generative_weight if training else config.generative_weight
        return HybridScorer(moves, config.templates, weights, self._scores(weight * weights.scale))

    def trained(self) -> HybridModel:
        """Return the model without what only training needs; always the same one, as its tables are slow to build."""
        return self._trained

    @cached_property
    def _trained(self) -> HybridModel:
        model = replace(self, jackknife=None)
        model.__dict__["_probabilities"] = self._probabilities[:1]  # compiled once, and cached as the property would do
        return model

    def parser(self, weights: Weights, config: ParserConfig, moves: Moves) -> HybridParser:
        """Return a parser with this model and these weights."""
        return HybridParser(self.trained(), weights, config, moves)

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack, with grammar and head rules only once."""
        own = self.generative.to_dict()
        shared = ("grammar", "heads")
        generative = {name: value for name, value in own.items() if name not in shared}
        return super().to_dict() | {"generative": generative, "generative_config": self.generative_config.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any], clusters: Clusters | None = None) -> HybridModel:
        """Undo `to_dict`, which leaves out clusters."""
        generative = data["generative"] | {"grammar": data["grammar"], "heads": data["heads"]}
        model = PerceptronModel.from_dict(data, clusters)
        return cls(
            model.grammar,
            model.lexicon,
            model.heads,
            model.punctuation,
            GenerativeModel.from_dict(generative),
            GenerativeConfig.from_dict(data["generative_config"]),
        )

    def _scores(self, unit: float) -> tuple[GenerativeScores, ...]:
        """Return the generative models' scores; all scorers of a unit share the tables, as their caches are large."""
        if unit not in self._scores_by_unit:
            memo = ScoreMemo()
            self._scores_by_unit.clear()
            self._scores_by_unit[unit] = tuple(
                GenerativeScores(one, unit, memo, number) for number, one in enumerate(self._probabilities)
            )
        return self._scores_by_unit[unit]

    @cached_property
    def _scores_by_unit(self) -> dict[float, tuple[GenerativeScores, ...]]:
        return {}

    @cached_property
    def _probabilities(self) -> tuple[Any, ...]:
        """The compiled tables of all generative models; those of the model of all trees come first."""
        moves = self.generative.moves(self.generative_config)
        folds = self.jackknife.models if self.jackknife else ()
        return (self.generative.probabilities(moves, self.generative_config), *(fold.probabilities for fold in folds))


class HybridParser(PerceptronParser):
    """A trained parser whose scores include a fixed multiple of a log probability (section 5)."""

    kind = "hybrid"
    model_type = HybridModel


@dataclass(frozen=True)
class FoldModel:
    """The parts of a fold's model that training uses; the counts are left out, since its tables contain them."""

    vocabulary: Vocabulary
    probabilities: Probabilities


@dataclass(frozen=True)
class Jackknife:
    """Models trained without one stretch of the trees each, and by a sentence's words the model that has not seen it.

    Equal sentences all belong to the stretch of the first of them, so that none is scored by a model that has seen it.
    """

    models: tuple[FoldModel, ...]
    numbers: dict[tuple[str, ...], int]

    @classmethod
    def train(
        cls, trees: Sequence[Tree], n_folds: int, config: GenerativeConfig, heads: HeadRules, grammar: Grammar
    ) -> Jackknife:
        """Train a model for each of `n_folds` stretches of the trees, on all other trees."""
        numbers: dict[tuple[str, ...], int] = {}
        for place, tree in enumerate(trees):
            numbers.setdefault(tree.words, place * n_folds // len(trees))
        models = []
        for fold in range(n_folds):
            # There are no others if all sentences are equal.
            others = [tree for tree in trees if numbers[tree.words] != fold] or list(trees)
            model = GenerativeModel.train(others, config, heads, grammar)
            models.append(FoldModel(model.vocabulary, model.probabilities(model.moves(config), config)))
        return cls(tuple(models), numbers)


_ACCURATE: dict[str, Any] = {
    "training": {"features": "accurate", "n_models": 2, "n_tags": 3, "train_generative_weight": 5.0},
    "search": {"generative_weight": 24.0, "outcome_filter_min_share": 0.002},
    "max_epochs": 6,
}
# Scores that include a log probability are further apart, and the best tree often scores far below others for a while.
_HYBRID: dict[str, Any] = {
    "training": PAPER["training"] | {"features": "paper+punct", "train_generative_weight": 10.0},
    "search": PAPER["search"] | {"generative_weight": 22.0, "gamma": 1e7, "beam_size": 400},
    "max_epochs": 6,
}


class HybridKind(PerceptronKind):
    """A perceptron with the log probability of a generative model as one more feature (section 5)."""

    name = "hybrid"
    part_name = "hybrid"
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"accurate": _ACCURATE, "hybrid": _HYBRID}

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the settings give a generative model a weight."""
        return bool(settings.get("train_generative_weight"))

    def config(self, settings: Mapping[str, Any]) -> ParserConfig:
        """Return the checked configuration. Raises ConfigError for an unknown name or a wrong value."""
        config = ParserConfig.from_dict(dict(settings))
        if not config.is_hybrid:
            raise ConfigError(
                "train_generative_weight is 0, but a hybrid needs a weight above 0 for its generative model: set it, "
                "or set kind to 'perceptron'"
            )
        return config

    def check_search(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for settings that are not settings of its search, or have wrong values."""
        ParserConfig(train_generative_weight=1.0).with_search(**settings)

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: ParserConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner with the grammar, lexicon and generative models of the trees."""
        from spacy_incparse.incremental.learner import ParserLearner, treebank_model

        model = treebank_model(trees, tags, config, heads, clusters)
        return ParserLearner(HybridModel.train(model, trees, config), config)

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Raise IncparseError: the generative model has already counted its treebank, and shares its grammar."""
        return ParserKind.fine_tuner(self, parser)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""

        return HybridParser.from_bytes(data, clusters)


HYBRID = HybridKind()
