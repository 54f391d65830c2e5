"""Batches for spaCy's training loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry, resolve_dot_names

from spacy_incparse.documents.live_parsers import components_of, parsing_names
from spacy_incparse.files import release_memory
from spacy_incparse.training.temperature import MAX_SENTENCES

Item = TypeVar("Item")


def create_pass_batcher() -> Callable[[Iterable[Item]], Iterator[list[Item]]]:
    """Return `batch_by_pass`, for `@batchers = "spacy_incparse.batch_by_pass.v1"` in a config."""
    return batch_by_pass


def batch_by_pass(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield all items as one batch, so that each training step is one pass over the treebank and evaluated once."""
    batch = list(items)
    if batch:
        yield batch


def create_free_memory() -> Callable[[Language, Mapping[str, Any]], None]:
    """Return `free_memory`, for `[training.before_update]` with `@callbacks = "spacy_incparse.free_memory.v1"`."""
    return free_memory


def free_memory(nlp: Language, update: Mapping[str, Any]) -> None:
    """Give memory that is no longer used back to the system, at every 50th update.

    PyTorch on the CPU asks for blocks of ever-changing sizes, so that a long training would need several times its
    memory.
    """
    if update["step"] % 50 == 0:  # what comes back is what a network's updates needed most
        release_memory()


def create_fit_steps() -> Callable[[Language], None]:
    """Return `fit_steps`, for `[initialize.after_init]` with `@callbacks = "spacy_incparse.fit_steps.v1"`."""
    return fit_steps


def fit_steps(nlp: Language) -> None:
    """Fit the learning-rate schedule to the size of the training corpus, and evaluate at least once per pass.

    Sets `total_steps` and `warmup_steps` of the schedule, if it has them, by the config's batches, `max_epochs` and
    `max_steps`, and lowers `eval_frequency` so that the last evaluation is near the end. Does nothing without a corpus,
    as in `spacy pretrain`, or for one that is streamed (`max_epochs = -1`).
    """

    config = nlp.config.interpolate()
    if config["training"]["max_epochs"] < 0:
        return
    try:
        (corpus,) = resolve_dot_names(config, [config["training"]["train_corpus"]])
        examples = list(corpus(nlp))
    except (ValueError, OSError):  # `spacy train` has read it before, so that nothing is hidden
        return
    set_steps(nlp, examples)


def create_calibrate() -> Callable[[Language], Language]:
    """Return `calibrate`, for `[training.before_to_disk]` with `@callbacks = "spacy_incparse.calibrate.v1"`."""
    return calibrate


def calibrate(nlp: Language) -> Language:
    """Fit the temperature of each component that is trained on the config's dev corpus, and return the pipeline."""
    config = nlp.config.interpolate()
    (corpus,) = resolve_dot_names(config, [config["training"]["dev_corpus"]])
    examples = list(islice(corpus(nlp), MAX_SENTENCES))
    with nlp.select_pipes(disable=_not_needed(nlp)):
        for example, doc in zip(examples, nlp.pipe([example.predicted for example in examples]), strict=True):
            example.predicted = doc
    for component in components_of(nlp):
        if component.name not in config["training"]["frozen_components"]:
            component.calibrate(examples)
    return nlp


def _not_needed(nlp: Language) -> list[str]:
    """Return the names of the components that no parser's temperature depends on.

    These are the ones after the last parser, and the parsers that only add trees, unless another component follows that
    may read them before a later parser.
    """
    parsing, names = parsing_names(nlp), list[str]()
    is_behind = True
    for name in reversed(nlp.pipe_names):
        if name in parsing:
            is_behind = False
            if not getattr(nlp.get_pipe(name), "set_tags", False):
                names.append(name)
        elif is_behind:
            names.append(name)
        else:
            break
    return names


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
