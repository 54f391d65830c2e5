"""The file that holds a component's weights, and where to find that of another pipeline.

A line with the format, a line with a checksum, then a msgpack map of byte strings: nothing in it is ever executed.
Whatever reads weights checks all of that before it takes anything over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from configparser import Error as ConfigParserError
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import srsly

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import ModelError

FORMAT = b"spacy-incparse model 1"
FACTORIES = ("incparse", "incparse_tagger")  # components with such a file


def pack(parts: Mapping[str, bytes]) -> bytes:
    """Return one byte string that holds the named ones; `unpack` is the inverse."""
    body = srsly.msgpack_dumps(dict(parts))
    return b"%s\n%08x\n%s" % (FORMAT, crc32(body), body)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return what was packed. Raises ModelError where the format is another one or the bytes are damaged."""
    head, _, rest = data.partition(b"\n")
    if head != FORMAT and FORMAT.startswith(head):
        raise ModelError("the model is cut short: it ends in its first line")
    if head != FORMAT:
        shown = head[:40].decode("ascii", "replace")
        raise ModelError(f"the model is in format {shown!r}, this version reads {FORMAT.decode()!r}: train it anew")
    checksum, _, body = rest.partition(b"\n")
    if checksum != b"%08x" % crc32(body):
        raise ModelError("the model is damaged or cut short: its checksum differs")
    try:
        parts = srsly.msgpack_loads(body)
    except Exception as error:
        raise ModelError(f"the model is damaged: {error}") from None
    if not isinstance(parts, dict) or not all(isinstance(part, bytes) for part in parts.values()):
        raise ModelError("the model is damaged: it is no map of byte strings")
    return parts


def check_pipeline(folder: Path, exclude: Collection[str] = ()) -> None:
    """Check the weights of all our components in a saved pipeline. Raises ModelError, naming the file that is wrong.

    exclude: names of components that are not going to be loaded.
    """
    for _, path in _files(folder, *FACTORIES):
        if path.parent.name not in exclude:
            _read_file(path)


def read_parts(source: str | Path, *factories: str) -> dict[str, bytes]:
    """Return the parts of the weights in a pipeline: those of its first component from one of these factories.

    `source` is as in `find_pipeline`; `factories` stand in the order of preference. Nothing else of it is loaded.
    Raises ModelError where there is no such pipeline or component, or its file is damaged.
    """
    files = _files(find_pipeline(source), *factories)
    if not files:
        raise ModelError(f"the pipeline {str(source)!r} has no component {' or '.join(factories)}")
    _, path = min(files, key=lambda file: factories.index(file[0]))
    return _read_file(path)


@contextmanager
def named_errors(folder: str | Path) -> Iterator[None]:
    """Let what goes wrong in reading a component's folder be a ModelError that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise ModelError(
            f"{folder}: the model is incomplete: {Path(error.filename or folder).name!r} is missing"
        ) from None
    except ModelError as error:
        raise ModelError(f"{Path(folder) / 'model'}: {error}") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder}: the component cannot be read: {error}") from None


def _files(folder: Path, *factories: str) -> list[tuple[str, Path]]:
    """Return factory and file of the components from these factories, in the order of the config."""
    from spacy.util import load_config

    try:
        components = load_config(folder / "config.cfg").get("components", {})
    except (ValueError, OSError, ConfigParserError) as error:
        raise ModelError(
            f"{folder / 'config.cfg'}: the config cannot be read: {' '.join(str(error).split())}"
        ) from None
    return [
        (settings["factory"], folder / name / "model")
        for name, settings in components.items()
        if settings.get("factory") in factories
    ]


def _read_file(path: Path) -> dict[str, bytes]:
    with named_errors(path.parent):
        return unpack(path.read_bytes())
