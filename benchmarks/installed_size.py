"""Print how many bytes a package and its dependencies take beyond spaCy and its own, in the running environment.

    python installed_size.py benepar
    python installed_size.py "spacy-incparse[transformers]"

Compiled Python files are left out. benepar_comparison.py runs this in each of its environments.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

GENERATED = (".pyc", ".c", ".cpp")  # in a folder that is installed as it is, without a wheel


def installed_bytes(requirement: str, without: str = "spacy") -> int:
    """Return the bytes of the distributions that a requirement needs, except those that the other one needs."""
    shared = needed(without)
    return sum(_bytes(found) for name, found in needed(requirement).items() if name not in shared)


def needed(requirement: str) -> dict[str, Distribution]:
    """Return a requirement's distribution and those of its dependencies, by name."""
    found: dict[str, Distribution] = {}
    done: set[str] = set()
    waiting = [Requirement(requirement)]
    while waiting:
        wanted = waiting.pop()
        key = f"{canonicalize_name(wanted.name)}{sorted(wanted.extras)}"
        if key not in done:
            done.add(key)
            found[canonicalize_name(wanted.name)] = one = distribution(wanted.name)
            waiting += _dependencies(one, wanted.extras)
    return found


def _dependencies(found: Distribution, extras: Iterable[str]) -> list[Requirement]:
    lines = map(Requirement, found.requires or ())
    return [
        line
        for line in lines
        if line.marker is None or any(line.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def _bytes(found: Distribution) -> int:
    paths = [Path(str(file.locate())) for file in found.files or ()]
    spec = find_spec(canonicalize_name(found.name).replace("-", "_")) if not any(map(_is_code, paths)) else None
    if spec is not None and spec.origin:  # an editable installation: the package is elsewhere
        paths = [path for path in Path(spec.origin).parent.rglob("*") if path.suffix not in GENERATED]
    return sum(path.stat().st_size for path in paths if path.suffix != ".pyc" and path.is_file())


def _is_code(path: Path) -> bool:
    return path.suffix == ".py" and not path.name.startswith("__editable__")


if __name__ == "__main__":
    print(installed_bytes(sys.argv[1]))
