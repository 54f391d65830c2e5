"""The file that holds a component's weights, and where to find that of another pipeline.

A line with the format, a line with a checksum, then a msgpack map of byte strings: nothing in it is ever executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import srsly

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import ModelError

FORMAT = b"spacy-incparse model 1"


def pack(parts: Mapping[str, bytes]) -> bytes:
    """Return one byte string that holds the named ones; `unpack` is the inverse."""
    body = srsly.msgpack_dumps(dict(parts))
    return b"%s\n%08x\n%s" % (FORMAT, crc32(body), body)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return what was packed. Raises ModelError where the format is another one or the bytes are damaged."""
    head, _, rest = data.partition(b"\n")
    if head != FORMAT:
        shown = head[:40].decode("ascii", "replace")
        raise ModelError(f"the model is in format {shown!r}, this version reads {FORMAT.decode()!r}: train it anew")
    checksum, _, body = rest.partition(b"\n")
    if checksum != b"%08x" % crc32(body):
        raise ModelError("the model is damaged or cut short: its checksum differs")
    return srsly.msgpack_loads(body)


def read_parts(source: str | Path, *factories: str) -> dict[str, bytes]:
    """Return the parts of the weights in a pipeline: those of its first component from one of these factories.

    `source` is as in `find_pipeline`; `factories` stand in the order of preference. Nothing else of it is loaded.
    """
    from spacy.util import load_config

    folder = find_pipeline(source)
    components = load_config(folder / "config.cfg")["components"]
    for factory in factories:
        for name, settings in components.items():
            if settings.get("factory") == factory:
                return _read_file(folder / name / "model")
    raise ModelError(f"the pipeline {str(source)!r} has no component {' or '.join(factories)}")


def _read_file(path: Path) -> dict[str, bytes]:
    try:
        return unpack(path.read_bytes())
    except (OSError, ModelError) as error:
        raise ModelError(f"{path}: {error}") from None
