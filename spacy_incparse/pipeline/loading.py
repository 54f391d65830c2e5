"""`load`: whole pipelines by name or path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from spacy_incparse.data import find_pipeline
from spacy_incparse.pipeline.model_file import check_pipeline


def load(name: str | Path = "en", **kwargs: Any) -> Language:
    """Return a whole pipeline: an embedded one by its name, or one that was saved, by its path.

    `kwargs` go to `spacy.load` (`disable`, `exclude`, `config`, `vocab`). Raises ModelError where there is no such
    pipeline, or its weights are damaged or of another version: that is checked before anything is loaded.
    """
    folder = find_pipeline(name)
    exclude = kwargs.get("exclude", ())
    check_pipeline(folder, [exclude] if isinstance(exclude, str) else list(exclude))
    return spacy.load(folder, **kwargs)
