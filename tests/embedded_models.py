"""Which outputs in documents an embedded model decides on, and whether it is still the model that wrote them.

Outputs are compared to the letter as long as the models are those that `docs/models.json` names. A model that was
trained anew may give another tree, or another score, without a mistake in any document: then what differs is only asked
for in `STRICT`, the documents about the models' output; elsewhere the code must run, and its test says that it was
skipped. `python tests/readme.py --all` writes all outputs, and the file, anew.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import spacy_incparse

RECORD = Path(__file__).parents[1] / "docs" / "models.json"
MODELS = Path(spacy_incparse.__file__).parent / "data"
STRICT = ("README.md", "docs/formats.md", "docs/measures.md")
CALLS = ("spacy_incparse.load(", "$ spacy-incparse parse ", "python examples/")  # in documents that call a model


def may_differ(text: str, place: Path) -> bool:
    """Return whether code of a document may print something else, since it calls a model that was trained anew."""
    calls_model = any(call in text for call in CALLS)
    return calls_model and place.as_posix() not in STRICT and checksums() != json.loads(RECORD.read_text("utf8"))


@cache
def checksums() -> dict[str, str]:
    """Return a checksum of each embedded model."""
    paths = sorted(MODELS.glob("*/*/model"))
    return {"/".join(path.parts[-3:-1]): hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}


def record() -> None:
    """Name the models of now as those that wrote the outputs."""
    RECORD.write_text(json.dumps(checksums(), indent=2) + "\n", encoding="utf8")
