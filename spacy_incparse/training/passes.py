"""Passes over the training sentences: the loop that `spacy train` and the command `train` share, and their tags."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Convergence, Learner
from spacy_incparse.training.extra_trees import PassSelection
from spacy_incparse.trees.tree import Tree

Progress = Callable[[str, int, int], None]
"""Called with the current task, the number of finished steps, and the total number of steps."""

REPORT_EVERY = 50  # sentences


class PassCounts(NamedTuple):
    """n_updates: updates of the weights. n_wrong: sentences that the models got wrong, summed over the models."""

    n_updates: int
    n_wrong: int


def learn_pass(
    examples: Sequence[object], learner: Learner, seed: int, number: int, progress: Progress | None = None
) -> PassCounts:
    """Let each model learn from all examples once, in an order that depends on seed, pass and model."""
    orders = [pass_order(len(examples), seed, number, model) for model in range(learner.n_models)]
    total = sum(map(len, orders))
    n_updates = n_wrong = n_done = 0
    for model, order in enumerate(orders):
        for index in order:
            updates = learner.learn(examples[index], model)
            n_updates += updates
            n_wrong += updates > 0
            n_done += 1
            if progress and (n_done % REPORT_EVERY == 0 or n_done == total):
                progress(f"pass {number}", n_done, total)
    return PassCounts(n_updates, n_wrong)


def convergence_of(learner: Learner) -> Convergence | None:
    """Return how far a learner is from the end of its training; None if it cannot tell, as most cannot."""
    return getattr(learner, "convergence", None)


def pass_order(n_sentences: int, seed: int, number: int, model: int) -> list[int]:
    """Return the order in which a model sees the sentences in a pass; the same arguments always give the same order."""
    order = list(range(n_sentences))
    random.Random(f"{seed} {number}" if model == 0 else f"{seed} {number} {model}").shuffle(order)
    return order


def uses_gold_tags(index: int, number: int, interval: int) -> bool:
    """Return whether a sentence has its gold tags in a pass, as every interval-th sentence has."""
    return interval > 0 and (index + number) % interval == 0


class TagSchedule:
    """The training sentences with their tags in each pass: usually a tagger's, sometimes their own.

    Each is encoded when it is first needed.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        learner: Learner,
        interval: int,
        selection: PassSelection | None = None,
    ):
        self._trees, self._tags, self._learner, self._interval = trees, tags, learner, interval
        self._selection = selection or PassSelection(len(trees))
        self._tagged: list[object] = [None] * len(trees)
        self._gold: list[object] = [None] * len(trees)

    def example(self, index: int, number: int) -> object:
        """Return a sentence of a pass, encoded for the learner."""
        is_gold = uses_gold_tags(index, number, self._interval)
        known = self._gold if is_gold else self._tagged
        if known[index] is None:
            tree = self._trees[index]
            known[index] = self._learner.encode(tree.words, tree.tags if is_gold else self._tags[index], tree)
        return known[index]

    def examples(self, number: int) -> Sequence[object]:
        """Return the sentences of a pass."""
        return _PassExamples(self, number, self._selection.of_pass(number))


class _PassExamples(Sequence[object]):
    def __init__(self, schedule: TagSchedule, number: int, selected: Sequence[int]):
        self._schedule, self._number, self._selected = schedule, number, selected

    def __len__(self) -> int:
        return len(self._selected)

    def __getitem__(self, index: Any) -> Any:
        return self._schedule.example(self._selected[index], self._number)
