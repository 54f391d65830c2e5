"""The pipelines that come with the package: each is a folder here, as `nlp.to_disk` writes it."""

from __future__ import annotations

from pathlib import Path

from spacy_incparse.errors import ModelError


def embedded_names() -> list[str]:
    """Return the names of the pipelines that come with this version."""
    return sorted(folder.parent.name for folder in Path(__file__).parent.glob("*/config.cfg"))


def find_pipeline(name: str | Path) -> Path:
    """Return the folder of a pipeline: an embedded one by its name, any other by its path or as an installed package.

    A path wins over a name where both would fit. Raises ModelError where there is none.
    """
    from spacy.util import get_package_path, is_package

    embedded = Path(__file__).parent / name
    for folder in (Path(name), embedded):
        if (folder / "config.cfg").is_file():
            return folder
    if is_package(str(name)):
        return _inside_package(get_package_path(str(name)))
    known = ", ".join(embedded_names()) or "none"
    raise ModelError(
        f"no pipeline {str(name)!r}: it is no folder with a config.cfg, no installed package and no embedded pipeline "
        f"(there are: {known})"
    )


def _inside_package(path: Path) -> Path:
    """An installed pipeline package holds its data in a folder with the version in its name."""
    return next(iter(sorted(path.glob("*/config.cfg"))), path / "config.cfg").parent
