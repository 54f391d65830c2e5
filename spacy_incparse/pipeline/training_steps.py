"""Count the updates of a training run, on which its learning-rate schedule depends."""

from __future__ import annotations

import random
from collections.abc import Sequence

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

WARM_UP = 0.05  # the part of a training run in which the learning rate grows
EVALUATED = 0.97  # of a pass, so that the last evaluation comes before the end, whatever the order of the batches


def set_steps(nlp: Language, examples: Sequence[Example]) -> None:
    """Fit the section [training] of a pipeline's config to the examples of a pass.

    Sets the steps of a learning-rate schedule with warm-up, such as `warmup_linear.v1`, and lowers `eval_frequency` to
    less than a pass: `spacy train` keeps no weights before its first evaluation.
    """
    settings, training = nlp.config.interpolate()["training"], nlp.config["training"]
    batcher = registry.resolve({"batcher": settings["batcher"]})["batcher"]
    shuffled = random.Random(0).sample(examples, len(examples))  # in batches by words, the order changes their number
    n_batches = max(1, sum(1 for _ in batcher(shuffled)))
    limits = [n for n in (n_batches * settings["max_epochs"], settings["max_steps"]) if n]
    in_pass = min(n_batches, *limits) if limits else n_batches
    training["eval_frequency"] = min(settings["eval_frequency"], max(1, int(EVALUATED * in_pass)))
    optimizer = training["optimizer"]
    rate = optimizer.get("learn_rate") if isinstance(optimizer, dict) else None
    if isinstance(rate, dict) and "total_steps" in rate and limits:
        rate["total_steps"] = min(limits)
        rate["warmup_steps"] = max(1, round(WARM_UP * rate["total_steps"]))
