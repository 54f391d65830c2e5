"""Generative models for training sentences: each sentence is scored by a model that has not seen it (section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.derivations.chains import Grammar
from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.generative.generative_model import GenerativeModel
from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


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
