"""A pass over the training sentences: the loop that `spacy train` and the command `train` share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spacy_incparse.parsers.protocol import Convergence, Learner

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
    n_updates = n_wrong = n_done = 0
    total = len(examples) * learner.n_models
    for model in range(learner.n_models):
        for index in pass_order(len(examples), seed, number, model):
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
