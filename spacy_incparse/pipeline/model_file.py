"""Read and write the file with a component's weights, and find that file in other pipelines.

The file has a line with the format, a line with a checksum, and a compressed msgpack map of byte strings. Nothing in it
is ever executed. All of this is checked before any weights are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from configparser import Error as ConfigParserError
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import compress, crc32

import srsly

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

if TYPE_CHECKING:
    from confection import Config

FORMAT = b"spacy-incparse model 2"
_OLD_FORMAT = b"spacy-incparse model 1"  # not compressed
FACTORIES = ("incparse", "incparse_tagger", "incparse_reranker")  # components that have such a file


def pack(parts: Mapping[str, bytes]) -> bytes:
    """Return one byte string that contains the named parts; `unpack` is the inverse."""
    body = compress(srsly.msgpack_dumps(dict(parts)), 6)
    return b"%s\n%08x\n%s" % (FORMAT, crc32(body), body)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the packed parts. Raises ModelError if the format is unknown or the bytes are damaged."""
    head, _, rest = data.partition(b"\n")
    if head not in (FORMAT, _OLD_FORMAT) and FORMAT.startswith(head):
        raise ModelError("the model is truncated: it ends in its first line")
    if head not in (FORMAT, _OLD_FORMAT):
        shown = head[:40].decode("ascii", "replace")
        raise ModelError(f"the model is in format {shown!r}, but this version reads {FORMAT.decode()!r}: retrain it")
    checksum, _, body = rest.partition(b"\n")
    if checksum != b"%08x" % crc32(body):
        raise ModelError("the model is damaged or truncated: its checksum differs")
    try:
        parts = srsly.msgpack_loads(unzip(body, "its parts are") if head == FORMAT else body)
    except Exception as error:
        raise ModelError(f"the model is damaged: {error}") from None
    if not isinstance(parts, dict) or not all(isinstance(part, bytes) for part in parts.values()):
        raise ModelError("the model is damaged: it is not a map of byte strings")
    return parts


def check_pipeline(folder: Path, exclude: Collection[str] = ()) -> None:
    """Check the weights of all our components in a saved pipeline. Raises ModelError naming the invalid file.

    exclude: names of components that will not be loaded.
    """
    for _, path in _files(folder, *FACTORIES):
        if path.parent.name not in exclude:
            _read_file(path)


def read_parts(source: str | Path, *factories: str) -> dict[str, bytes]:
    """Return the parts of a component's weights in a pipeline, without loading the pipeline.

    `source` is as in `find_pipeline`; `factories` are in order of preference, and the first component of the best
    factory is used. Raises ModelError if the pipeline or component does not exist, or its file is damaged.
    """
    files = _files(find_pipeline(source), *factories)
    if not files:
        raise ModelError(f"the pipeline {str(source)!r} has no component {' or '.join(factories)}")
    _, path = min(files, key=lambda file: factories.index(file[0]))
    return _read_file(path)


@contextmanager
def named_errors(folder: str | Path) -> Iterator[None]:
    """Convert errors in reading a component's folder to a ModelError that names the folder."""
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


def read_components(folder: Path) -> list[dict[str, Any]]:
    """Return the settings of a saved pipeline's components that are not disabled, in their order.

    Raises ModelError for a damaged config.
    """
    config = _read_config(folder)
    components, nlp = config.get("components", {}), config.get("nlp", {})
    names = [name for name in nlp.get("pipeline", []) if name not in nlp.get("disabled", [])]
    return [components.get(name, {}) for name in names]


def _read_config(folder: Path) -> Config:
    from spacy.util import load_config

    try:
        return load_config(folder / "config.cfg")
    except (ValueError, OSError, ConfigParserError) as error:
        raise ModelError(
            f"{folder / 'config.cfg'}: the config cannot be read: {' '.join(str(error).split())}"
        ) from None


def _files(folder: Path, *factories: str) -> list[tuple[str, Path]]:
    """Return (factory, file) of the components with these factories, in the order of the config."""
    return [
        (settings["factory"], folder / name / "model")
        for name, settings in _read_config(folder).get("components", {}).items()
        if settings.get("factory") in factories
    ]


def _read_file(path: Path) -> dict[str, bytes]:
    with named_errors(path.parent):
        return unpack(path.read_bytes())
