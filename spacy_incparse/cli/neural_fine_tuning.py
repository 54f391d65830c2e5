"""`train --from` with a neural pipeline: the training starts from its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from spacy_incparse.cli.options import open_pipeline
from spacy_incparse.data import find_pipeline
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from confection import Config
    from spacy.language import Language

    from spacy_incparse.pipeline.chart_pipe import IncParserChart

_PARSERS = {"incparse": False, "incparse_combiner": False, "incparse_chart": True}  # whether they are neural
_TRANSFORMERS = ("curated_transformer", "transformer")
_SENTENCES = "sentencizer"
_OF_TRAINING = ("training", "corpora")  # sections of a config
_CORPORA = ("train", "dev")  # their paths


def is_neural_pipeline(base: str) -> bool:
    """Return whether the last parser of a pipeline is a neural one. Raises ModelError if there is no such pipeline."""
    return [_PARSERS[name] for name in _factories(base) if name in _PARSERS][-1:] == [True]


def has_transformer(base: str) -> bool:
    """Return whether a pipeline has a transformer, whose training needs other settings."""
    return any(name in _TRANSFORMERS for name in _factories(base))


def base_pipeline(base: str, config: Config, trees: Sequence[Tree]) -> Language:
    """Return the parser of a trained pipeline with what it needs, ready to learn from trees as a config says.

    The model gets outputs for those labels and tags of the trees that it does not know. The pipeline keeps its own
    components: `config` gives the sections for training, and the paths of its corpora.
    """
    nlp, found = open_pipeline(base)
    parser: Any = found
    parser.decoder  # noqa: B018  # raises its error if there are no weights
    left_out = [name for name in nlp.pipe_names if name not in _needed(nlp, parser)]
    if left_out:
        typer.echo(f"The new pipeline will not have the components {', '.join(left_out)} of {base}", err=True)
    for name in left_out:
        nlp.remove_pipe(name)
    bounds = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == _SENTENCES]
    if not bounds:
        nlp.add_pipe(_SENTENCES, first=True)
    parser.add_labels_of(trees)
    nlp.config = _merged(nlp.config, config, bounds or [_SENTENCES])
    return nlp


def _factories(base: str) -> list[str]:
    from spacy_incparse.pipeline.model_file import read_factories

    return read_factories(find_pipeline(base))


def _needed(nlp: Language, parser: IncParserChart) -> list[str]:
    """Return the names of the parser, of the layer that it listens to, and of the sentencizer."""
    return [
        name
        for name, component in nlp.pipeline
        if component is parser
        or nlp.get_pipe_meta(name).factory == _SENTENCES
        or parser.name in getattr(component, "listening_components", ())
    ]


def _merged(own: Config, config: Config, bounds: Sequence[str]) -> Config:
    """Return a pipeline's config with the sections for training of another; bounds: what sets sentence boundaries."""
    for section in _OF_TRAINING:
        own[section] = config[section]
    own["training"]["annotating_components"] = list(bounds)
    paths = config["paths"]
    own["paths"] = paths | own["paths"] | {name: paths[name] for name in _CORPORA}
    own["system"].update(config["system"])
    return own
