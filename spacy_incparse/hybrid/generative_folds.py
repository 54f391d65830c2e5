"""Generative models for training sentences: each sentence is scored by a model that has not seen it (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spacy_incparse.derivations.chains import Grammar
from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.generative.generative_model import GenerativeModel
from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import ALONE, Workers, run_in_order


@dataclass(frozen=True)
class FoldModel:
    """The parts of a fold's model that training uses; the counts are left out, since its tables contain them.

    source: the model and its settings, where other processes need the fold's model too.
    """

    vocabulary: Vocabulary
    probabilities: Probabilities
    source: tuple[GenerativeModel, GenerativeConfig] | None = None

    @classmethod
    def of(cls, model: GenerativeModel, config: GenerativeConfig, *, is_shared: bool = False) -> FoldModel:
        """Compile a model's tables; a shared one can be pickled."""
        tables = model.probabilities(model.moves(config), config)
        return cls(model.vocabulary, tables, (model, config) if is_shared else None)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source is None:
            raise TypeError("only a shared model of a fold can be pickled")
        return FoldModel.of, self.source


Train = Callable[[Sequence[Tree]], FoldModel]  # version 0.1 has this name


@dataclass(frozen=True)
class Folds:
    """Stretches of the trees, by the words of each tree, and how the models of the others are trained."""

    trees: Sequence[Tree]
    numbers: Mapping[tuple[str, ...], int]
    config: GenerativeConfig
    heads: HeadRules
    grammar: Grammar

    def others(self, fold: int) -> list[Tree]:
        """Return the trees of all other stretches; all trees if there is no other, because all sentences are equal."""
        return [tree for tree in self.trees if self.numbers[tree.words] != fold] or list(self.trees)

    def model(self, fold: int) -> GenerativeModel:
        """Return a model that has not seen a stretch."""
        return GenerativeModel.train(self.others(fold), self.config, self.heads, self.grammar)

    def worker(self) -> Callable[[int], GenerativeModel]:
        """Return `model`, for processes."""
        return self.model


@dataclass(frozen=True)
class Jackknife:
    """Models trained without one stretch of the trees each, and by a sentence's words the model that has not seen it.

    Equal sentences all belong to the stretch of the first of them, so that none is scored by a model that has seen it.
    """

    models: tuple[FoldModel, ...]
    numbers: dict[tuple[str, ...], int]

    @classmethod
    def train(
        cls,
        trees: Sequence[Tree],
        n_folds: int,
        config: GenerativeConfig,
        heads: HeadRules,
        grammar: Grammar,
        workers: Workers = ALONE,
    ) -> Jackknife:
        """Train a model for each of `n_folds` stretches of the trees, on all other trees.

        Any number of workers gives the same models; those of several can be pickled.
        """
        numbers: dict[tuple[str, ...], int] = {}
        for place, tree in enumerate(trees):
            numbers.setdefault(tree.words, place * n_folds // len(trees))
        folds = Folds(trees, numbers, config, heads, grammar)
        models = []
        for _, model in run_in_order(folds.worker, range(n_folds), *workers):
            one = replace(model, grammar=grammar, heads=heads)  # those of another process are copies
            models.append(FoldModel.of(one, config, is_shared=workers.number > 1))
        return cls(tuple(models), numbers)
