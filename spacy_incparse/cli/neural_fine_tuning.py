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

_NEURAL = "incparse_chart"
_PARSERS = ("incparse", "incparse_combiner", _NEURAL)
_SENTENCES = "sentencizer"
_OF_TRAINING = ("training", "corpora")  # sections of a config
_CORPORA = ("train", "dev")  # their paths


def is_neural_pipeline(base: str) -> bool:
    """Return whether the last parser of a pipeline is a neural one. Raises ModelError if there is no such pipeline."""
    return _last_parser(base).get("factory") == _NEURAL


def has_transformer(base: str) -> bool:
    """Return whether the last parser of a pipeline reads a transformer, whose training needs other settings."""
    return "transformer" in str(_last_parser(base).get("model")).lower()  # in the names of layers or their package


def base_pipeline(base: str, config: Config, trees: Sequence[Tree]) -> Language:
    """Return the parser of a trained pipeline with what it needs, ready to learn from trees as a config says.

    The model gets outputs for those labels and tags of the trees that it does not know. The pipeline keeps its own
    components: `config` gives the sections for training, and the paths of its corpora.
    """
    from spacy_incparse.pipeline.scorers import const_score

    nlp, found = open_pipeline(base)
    parser: Any = found
    parser.decoder  # noqa: B018  # raises its error if there are no weights
    if parser.scorer is None:  # each pass would have a score of 0
        parser.scorer = const_score
    _leave_out_others(nlp, parser, base)
    bounds = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == _SENTENCES]
    if not bounds:
        typer.echo("A sentencizer sets the sentence boundaries in the new pipeline", err=True)
        nlp.add_pipe(_SENTENCES, first=True)
    parser.add_labels_of(trees)
    nlp.config = _merged(nlp.config, config, bounds or [_SENTENCES])
    return nlp


def pipeline_name(base: str) -> str:
    """Return a name for a pipeline: that of its folder, or of the folder of its training."""
    folder = find_pipeline(base).resolve()
    return folder.parent.name if folder.name == "model-best" else folder.name


def _last_parser(base: str) -> dict[str, Any]:
    """Return the settings of the last parser of a pipeline, without loading it; {}: it has none."""
    from spacy_incparse.pipeline.model_file import read_components

    parsers = [settings for settings in read_components(find_pipeline(base)) if settings.get("factory") in _PARSERS]
    return parsers[-1] if parsers else {}


def _leave_out_others(nlp: Language, parser: IncParserChart, base: str) -> None:
    """Remove the components that the parser does not need, and say so."""
    needed = _needed(nlp, parser)
    left_out = [name for name in nlp.component_names if name not in needed]
    if not left_out:
        return
    typer.echo(f"The new pipeline will not have the components {', '.join(left_out)} of {base}", err=True)
    settings = nlp.config.interpolate()["components"]  # they may refer to those of components that are left out
    has_tags = any("token.tag" in nlp.get_pipe_meta(name).assigns for name in left_out)
    for name in left_out:
        nlp.remove_pipe(name)
    for name in needed:
        nlp.get_pipe_config(name).update({key: value for key, value in settings[name].items() if key != "factory"})
    if has_tags and parser.tags == "doc":
        parser.tags, parser.set_tags = "own", True
        nlp.get_pipe_config(parser.name).update(tags="own", set_tags=True)


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
