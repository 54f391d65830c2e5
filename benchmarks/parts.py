"""Save finished parts of a long measurement in a file, and reuse them as long as nothing has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import spacy_incparse
from spacy_incparse.errors import IncparseError

Figures = dict[str, Any]

# The packages that decide what a parser learns and how it parses.
PACKAGES = (
    "trees",
    "treebanks",
    "transforms",
    "evaluation",
    "linear",
    "parsing",
    "tagging",
    "incremental",
    "generative",
    "training",
)


class Parts:
    """Figures by part name, each with a checksum of everything that it depends on except these packages."""

    def __init__(self, path: Path, packages: Sequence[str] = PACKAGES):
        self._path, self._package = path, package_checksum(packages)
        self._kept: dict[str, Figures] = _read(path, self._package) if path.exists() else {}

    def get(self, name: str, checksum: str, measure: Callable[[], Figures]) -> Figures:
        """Return a part's figures, measuring them if they are not saved yet."""
        kept = self._kept.get(name)
        if kept is None or kept["checksum"] != checksum:
            self._kept[name] = kept = {"checksum": checksum, "figures": measure()}
            self._write()
        return kept["figures"]

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(".tmp")
        # The standard library writes enough digits to restore each figure exactly.
        unfinished.write_text(json.dumps({"package": self._package, "parts": self._kept}), encoding="utf8")
        unfinished.replace(self._path)


def package_checksum(packages: Sequence[str] = PACKAGES) -> str:
    """Return a checksum of the modules of packages, including compiled ones."""
    digest = hashlib.sha256()
    for name in packages:
        folder = Path(spacy_incparse.__file__).parent / name
        for path in sorted(path for path in folder.iterdir() if path.suffix in (".py", ".so", ".pyd")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path, package: str) -> dict[str, Figures]:
    """Return the figures of an earlier run, discarding those of another version of the package."""
    try:
        content = json.loads(path.read_text(encoding="utf8"))
        parts = {name: {key: part[key] for key in ("checksum", "figures")} for name, part in content["parts"].items()}
        return parts if content["package"] == package else {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IncparseError(f"{path} is damaged ({error!r}): delete it") from error
