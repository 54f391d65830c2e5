"""`load`: load whole pipelines by name or path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from spacy_incparse.data import find_pipeline
from spacy_incparse.pipeline.model_file import check_pipeline


def load(name: str | Path = "en", **kwargs: Any) -> Language:
    """Return a whole pipeline, given the name of an embedded pipeline or the path of a saved one.

    `kwargs` are passed to `spacy.load` (`disable`, `exclude`, `config`, `vocab`). Raises ModelError if the pipeline
    does not exist, or its weights are damaged or from another version. This is checked before anything is loaded.
    """
    folder = find_pipeline(name)
    exclude = kwargs.get("exclude", ())
    check_pipeline(folder, [exclude] if isinstance(exclude, str) else list(exclude))
    return spacy.load(folder, **kwargs)
