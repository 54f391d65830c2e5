"""The pipelines that come with the package, each in a folder written by `nlp.to_disk`."""

from __future__ import annotations

import os
from pathlib import Path

from spacy_incparse.errors import ModelError


def embedded_names() -> list[str]:
    """Return the names of the pipelines that come with this version."""
    return sorted(folder.parent.name for folder in Path(__file__).parent.glob("*/config.cfg"))


def find_pipeline(name: str | Path) -> Path:
    """Return the folder of a pipeline, given the name of an embedded pipeline, a path, or an installed package.

    A path takes precedence over a name. Raises ModelError if no pipeline is found.
    """
    if not isinstance(name, str | os.PathLike):
        raise ModelError(f"{name!r} is no pipeline: pass its name or its path, such as 'en'")
    embedded = Path(__file__).parent / name
    for folder in (Path(name), embedded):
        if (folder / "config.cfg").is_file():
            return folder
    from spacy.util import get_package_path, is_package  # after the others, which need no spaCy

    if is_package(str(name)):
        return _inside_package(get_package_path(str(name)))
    known = ", ".join(embedded_names()) or "none"
    if (Path(name) / "model-best" / "config.cfg").is_file():  # the folder of a training
        raise ModelError(f"{name} is no pipeline, but has one in it: {Path(name) / 'model-best'}")
    raise ModelError(
        f"cannot find the pipeline {str(name)!r}: it is not a folder with a config.cfg, an installed package or an "
        f"embedded pipeline (the embedded pipelines are: {known})"
    )


def _inside_package(path: Path) -> Path:
    """Return the data folder of an installed pipeline package, whose name contains the version."""
    return next(iter(sorted(path.glob("*/config.cfg"))), path / "config.cfg").parent
