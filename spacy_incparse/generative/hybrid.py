"""Everything that a hybrid learns from a treebank, except for the weights: grammar, lexicon, generative model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.hybrid_scorer import GenerativeScores, HybridScorer, ScoreMemo
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.model import GenerativeModel, Vocabulary
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.grammar import Grammar
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.incremental.parser import PerceptronModel
from spacy_incparse.incremental.scorer import Scorer
from spacy_incparse.incremental.sentence import Sentence
from spacy_incparse.linear.weights import Weights
from spacy_incparse.linear.words import Clusters
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.tagging.tagger import fold_numbers
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

N_FOLDS = 10  # generative models, each trained without one part, that score the training sentences; below 2: one of all


@dataclass(frozen=True)
class HybridModel(PerceptronModel):
    """A model with a generative model of the same grammar; in training also others, each trained without one part."""

    generative: GenerativeModel
    generative_config: GenerativeConfig
    jackknife: Jackknife | None = None

    @classmethod
    def train(cls, model: PerceptronModel, trees: Sequence[Tree]) -> HybridModel:
        """Add generative models of normalized trees, whose labels must be in the model's grammar."""
        settings, n_folds = GenerativeConfig(), min(N_FOLDS, len(trees))
        heads, grammar = model.heads, model.grammar
        jackknife = Jackknife.train(trees, n_folds, settings, heads, grammar) if n_folds > 1 else None
        generative = GenerativeModel.train(trees, settings, heads, grammar)
        return cls(grammar, model.lexicon, heads, model.punctuation, generative, settings, jackknife)

    def sentence(self, words: Sequence[str], tags: Tags, *generative: Any) -> Sentence:
        """Return a sentence as numbers, to be scored by the model of all trees unless numbers of another are given."""
        return super().sentence(words, tags, *(generative or (self.generative.vocabulary.encode(words), 0)))

    def training_sentence(self, words: Sequence[str], tags: Tags) -> Sentence:
        """Return a training sentence as numbers, to be scored by a model that has not seen it."""
        number = None if self.jackknife is None else self.jackknife.numbers.get(tuple(words))
        if self.jackknife is None or number is None:
            return self.sentence(words, tags)
        return self.sentence(words, tags, self.jackknife.vocabularies[number].encode(words), number + 1)

    def scorer(self, moves: Moves, weights: Weights, config: ParserConfig, *, training: bool = False) -> Scorer:
        """Return a scorer of moves under these weights and the generative models.

        All scorers of a unit share the models' scores, as the caches of these are large.
        """
        unit = weights.scale * (config.train_generative_weight if training else config.generative_weight)
        if unit not in self._scores_by_unit:
            memo = ScoreMemo()
            scores = [GenerativeScores(one, unit, memo, number) for number, one in enumerate(self._probabilities)]
            self._scores_by_unit.clear()
            self._scores_by_unit[unit] = tuple(scores)
        return HybridScorer(moves, config.templates, weights, self._scores_by_unit[unit])

    def trained(self) -> HybridModel:
        """Return the model without what only training needs; always the same one, as its tables are slow to build."""
        return self._trained

    @cached_property
    def _trained(self) -> HybridModel:
        model = replace(self, jackknife=None)
        model.__dict__["_probabilities"] = self._probabilities[:1]  # compiled once, and cached as the property would do
        return model

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack, with grammar and head rules only once."""
        own = self.generative.to_dict()
        generative = {name: value for name, value in own.items() if name not in ("grammar", "heads")}
        return super().to_dict() | {"generative": generative, "generative_config": self.generative_config.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any], clusters: Clusters | None = None) -> HybridModel:
        """Undo `to_dict`, which leaves out clusters."""
        generative = data["generative"] | {"grammar": data["grammar"], "heads": data["heads"]}
        model = PerceptronModel.from_dict(data, clusters)
        parts = GenerativeModel.from_dict(generative), GenerativeConfig.from_dict(data["generative_config"])
        return cls(model.grammar, model.lexicon, model.heads, model.punctuation, *parts)

    @cached_property
    def _scores_by_unit(self) -> dict[float, tuple[GenerativeScores, ...]]:
        return {}

    @cached_property
    def _probabilities(self) -> tuple[Any, ...]:
        """The compiled tables of all generative models; those of the model of all trees come first."""
        return (self.generative.compile()[1], *(self.jackknife.probabilities if self.jackknife else ()))


@dataclass(frozen=True)
class Jackknife:
    """Models trained without one stretch of the trees each, and by a sentence's words the model that has not seen it.

    Equal sentences all belong to the stretch of the first of them, so that none is scored by a model that has seen it.
    Of each model training uses the vocabulary and the tables; the counts are left out, since the tables contain them.
    """

    vocabularies: tuple[Vocabulary, ...]
    probabilities: tuple[Probabilities, ...]
    numbers: dict[tuple[str, ...], int]

    @classmethod
    def train(
        cls, trees: Sequence[Tree], n_folds: int, config: GenerativeConfig, heads: HeadRules, grammar: Grammar
    ) -> Jackknife:
        """Train a model for each of `n_folds` stretches of the trees, on all other trees."""
        numbers = {tree.words: number for tree, number in zip(trees, fold_numbers(trees, n_folds), strict=True)}
        vocabularies, probabilities = [], []
        for fold in range(n_folds):
            # If there is no other, because all sentences are equal, all trees are counted.
            others = [tree for tree in trees if numbers[tree.words] != fold] or list(trees)
            model = GenerativeModel.train(others, config, heads, grammar)
            vocabularies.append(model.vocabulary)
            probabilities.append(model.compile()[1])
        return cls(tuple(vocabularies), tuple(probabilities), numbers)


def read_model(data: dict[str, Any], clusters: Clusters | None = None) -> PerceptronModel:
    """Return the model in what `to_dict` returned: a hybrid's, or a plain one."""
    return (HybridModel if "generative" in data else PerceptronModel).from_dict(data, clusters)
