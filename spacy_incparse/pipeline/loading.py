"""Load whole pipelines by name or path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import INSTALL_TRANSFORMERS, ModelError, has_transformers
from spacy_incparse.pipeline.model import check_pipeline
from spacy_incparse.pipeline.tree_pipe import TreePipe


def load(name: str | Path = "en", **kwargs: Any) -> Language:
    """Return a whole pipeline, given the name of an embedded pipeline or the path of a saved one.

    `kwargs` are passed to `spacy.load` (`disable`, `exclude`, `config`, `vocab`). Raises ModelError if the pipeline
    does not exist, or its weights are damaged or from another version. This is checked before anything is loaded.
    """
    folder = find_pipeline(name)
    exclude = kwargs.get("exclude", ())
    check_pipeline(folder, [exclude] if isinstance(exclude, str) else list(exclude))
    return spacy.load(folder, **kwargs)


def load_for_texts(name: str) -> Language:
    """Return a whole pipeline that takes texts of any length, and does not store measures of words.

    Raises ModelError if it cannot be loaded.
    """
    folder = find_pipeline(name)
    try:
        nlp = load(folder)
    except (ValueError, ImportError, KeyError) as error:
        raise ModelError(f"the pipeline {name!r} cannot be loaded: {_hint(str(error))}{error}") from error
    nlp.max_length = sys.maxsize  # spaCy's limit is for components that need a lot of memory for long texts
    for _, component in nlp.pipeline:
        if isinstance(component, TreePipe):
            component.measures = False  # they take longer than the trees
    return nlp


def _hint(error: str) -> str:
    """Return what to install, if an error is about a component of a package that is not installed."""
    if "curated_transformer" in error.replace("-", "_") and not has_transformers():
        return f"it needs {INSTALL_TRANSFORMERS}. "
    return ""
