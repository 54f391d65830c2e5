"""Generative models for training sentences: each sentence is scored by a model that has not seen it (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.generative.generative_model import GenerativeModel
from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class FoldModel:
    """The parts of a fold's model that training uses; the counts are left out, since its tables contain them."""

    vocabulary: Vocabulary
    probabilities: Probabilities

    @classmethod
    def of(cls, model: GenerativeModel, config: GenerativeConfig) -> FoldModel:
        """Compile a model's tables."""
        return cls(model.vocabulary, model.probabilities(model.moves(config), config))


Train = Callable[[Sequence[Tree]], FoldModel]


@dataclass(frozen=True)
class Jackknife:
    """Models trained without one stretch of the trees each, and by a sentence's words the model that has not seen it.

    Equal sentences all belong to the stretch of the first of them, so that none is scored by a model that has seen it.
    """

    models: tuple[FoldModel, ...]
    numbers: dict[tuple[str, ...], int]

    @classmethod
    def train(cls, trees: Sequence[Tree], n_folds: int, train: Train) -> Jackknife:
        """Train a model with `train` for each of `n_folds` stretches of the trees, on all other trees."""
        numbers: dict[tuple[str, ...], int] = {}
        for place, tree in enumerate(trees):
            numbers.setdefault(tree.words, place * n_folds // len(trees))
        folds = range(n_folds)
        models = [train([tree for tree in trees if numbers[tree.words] != fold]) for fold in folds]
        return cls(tuple(models), numbers)
