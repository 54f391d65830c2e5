"""The trees of each pass, and passes over them: the loop that `spacy train` and the command `train` share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy_incparse.settings import check_range
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsing.parse import Tags
    from spacy_incparse.parsing.parser import Convergence, Learner

LEAST_WEIGHT, MAX_WEIGHT = 0.001, 100.0


class ExtraTrees(NamedTuple):
    """Normalized trees; `weight`: how often a pass sees each of them, on average, if it sees the others once.

    Extra trees stand beside those of the treebank: usually many, made by another parser (Petrov et al. 2010). Grammar,
    lexicon and taggers are learned from all of them. A pass goes over all trees of the treebank and a part of the extra
    ones, and the next pass over the next part, so that a parser sees many different trees in little time.
    """

    trees: Sequence[Tree] = ()
    weight: float = 1.0

    def __str__(self) -> str:
        """Return how many there are, as the end of a number of sentences."""
        return f" and {len(self.trees):,} extra ones" if self.trees else ""


NO_EXTRA = ExtraTrees()


def check_weight(weight: float) -> None:
    """Raise ConfigError for a weight that is too small or too large."""
    check_range("extra_weight", weight, LEAST_WEIGHT, MAX_WEIGHT)


@dataclass(frozen=True)
class PassSelection:
    """Which sentences are in a pass, by their numbers: those of the treebank come first, then the extra ones."""

    n_own: int
    n_extra: int = 0
    weight: float = 1.0
    seed: int = 0

    @property
    def n_drawn(self) -> int:
        """The number of extra sentences in a pass; at least one, if there are any."""
        return max(round(self.weight * self.n_extra), 1) if self.n_extra else 0

    def __len__(self) -> int:
        return self.n_own + self.n_drawn

    def of_pass(self, number: int) -> Sequence[int]:
        """Return the sentences of a pass, numbered from 1. Each extra one is drawn before any is drawn again."""
        if not self.n_extra:
            return range(self.n_own)
        first = (number - 1) * self.n_drawn
        drawn = (self._order[place % self.n_extra] for place in range(first, first + self.n_drawn))
        return [*range(self.n_own), *sorted(drawn)]

    @cached_property
    def _order(self) -> list[int]:
        order = list(range(self.n_own, self.n_own + self.n_extra))
        random.Random(f"{self.seed} extra").shuffle(order)
        return order


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
    orders = []  # the same arguments always give the same orders
    for model in range(learner.n_models):
        orders.append(list(range(len(examples))))
        random.Random(f"{seed} {number}" if model == 0 else f"{seed} {number} {model}").shuffle(orders[-1])
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


def uses_gold_tags(index: int, number: int, interval: int) -> bool:
    """Return whether a sentence has its gold tags in a pass, as every interval-th sentence has."""
    return interval > 0 and (index + number) % interval == 0


class TagSchedule:
    """The training sentences with their tags in each pass: usually a tagger's, sometimes their own.

    Each is encoded when it is first needed.
    """

    def __init__(
        self, trees: Sequence[Tree], tags: Sequence[Tags], learner: Learner, interval: int,
        selection: PassSelection | None = None,
    ):  # fmt: skip
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
