"""How many updates a training has, which its learning rate needs to know: it grows, and falls to 0 at the end."""

from __future__ import annotations

import random
from collections.abc import Sequence

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

WARM_UP = 0.05  # the part of a training in which the learning rate grows


def set_steps(nlp: Language, examples: Sequence[Example]) -> None:
    """Fit the section [training] of a pipeline's config to the examples of a pass.

    Sets the steps of a learning rate with warm-up, such as `warmup_linear.v1`, and lowers `eval_frequency` to the
    batches of a pass: `spacy train` keeps no weights before its first evaluation.
    """
    settings, training = nlp.config.interpolate()["training"], nlp.config["training"]
    batcher = registry.resolve({"batcher": settings["batcher"]})["batcher"]
    shuffled = random.Random(0).sample(examples, len(examples))  # in batches by words, the order changes their number
    n_batches = max(1, sum(1 for _ in batcher(shuffled)))
    training["eval_frequency"] = min(settings["eval_frequency"], n_batches)
    n_steps = [n_batches * settings["max_epochs"], settings["max_steps"]]
    rate = training["optimizer"]["learn_rate"]
    if isinstance(rate, dict) and "total_steps" in rate and any(n_steps):
        rate["total_steps"] = min(n for n in n_steps if n)
        rate["warmup_steps"] = max(1, round(WARM_UP * rate["total_steps"]))
