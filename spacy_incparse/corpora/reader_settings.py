"""What readers have in common: the names of fields, and decoding."""

from __future__ import annotations

import json  # srsly's rounds numbers, and cannot read large ones
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import srsly

from spacy_incparse.corpora.records import Unreadable


@dataclass(frozen=True)
class Fields:
    """The names of the fields of JSON objects and the columns of Parquet files that a document is read from."""

    text: str = "text"
    id: str = "id"


def meta_json(fields: Mapping[str, Any]) -> str:
    """Return the other fields of a document as JSON, which has no infinite numbers: they become null."""
    try:
        return exact_json(fields)
    except ValueError:
        return exact_json(loaded_json(json.dumps(fields)))


def exact_json(content: Any) -> str:
    """Return content as JSON with all its digits. Raises ValueError for infinite numbers."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:  # srsly's is not limited so
        return str(srsly.json_dumps(content))


def loaded_json(text: str) -> Any:
    """Return the content of JSON; Infinity and NaN, which other programs write, are null. Raises ValueError."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        return srsly.json_loads(text)


def decoded(data: bytes, name: str, file: str) -> str | Unreadable:
    """Return UTF-8 as text, without a byte order mark; otherwise what is wrong with the document of this name."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unreadable(name, file, f"byte 0x{data[error.start]:02x} at {error.start} is not UTF-8")
