"""Run a pipeline on Docs that have annotations already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spacy.language import Language

from spacy_incparse.pipeline.tree_pipe import TreePipe


@contextmanager
def given(nlp: Language, annotations: set[str], tags: str | None = None) -> Iterator[None]:
    """Disable the components that would add annotations that the Docs already have; set the `tags` of all parsers."""
    givers = [name for name in nlp.pipe_names if annotations.intersection(nlp.get_pipe_meta(name).assigns)]
    parsers = [pipe for _, pipe in nlp.components if isinstance(pipe, TreePipe)]
    before = [parser.tags for parser in parsers]
    try:
        for parser in parsers:
            parser.tags = tags or parser.tags
        with nlp.select_pipes(disable=givers):
            yield
    finally:
        for parser, own in zip(parsers, before, strict=True):
            parser.tags = own
