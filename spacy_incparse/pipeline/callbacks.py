"""Callbacks that `spacy train` runs before it saves a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from spacy.language import Language
from spacy.util import resolve_dot_names

from spacy_incparse.documents.live_parsers import components_of
from spacy_incparse.training.temperature import MAX_SENTENCES


def create_calibrate() -> Callable[[Language], Language]:
    """Return `calibrate`, for `[training.before_to_disk]` with `@callbacks = "spacy_incparse.calibrate.v1"`."""
    return calibrate


def calibrate(nlp: Language) -> Language:
    """Fit the temperature of each component that is trained on the config's dev corpus, and return the pipeline."""
    config = nlp.config.interpolate()
    (corpus,) = resolve_dot_names(config, [config["training"]["dev_corpus"]])
    examples = list(islice(corpus(nlp), MAX_SENTENCES))
    for example, doc in zip(examples, nlp.pipe([example.predicted for example in examples]), strict=True):
        example.predicted = doc
    for component in components_of(nlp):
        if component.name not in config["training"]["frozen_components"]:
            component.calibrate(examples)
    return nlp
