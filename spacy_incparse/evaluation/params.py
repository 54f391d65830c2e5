"""Scoring parameters, as in EVALB's ``.prm`` files; COLLINS.prm as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_incparse.errors import IncparseError


@dataclass(frozen=True)
class EvalbParams:
    """What to count and what to treat as equal; field names follow the keys of a ``.prm`` file.

    ``max_error``: with ``as_evalb`` scoring stops after more than ``max_error + 1`` errors, as in the program; None
    never stops. ``debug`` is read so that existing files work, and has no effect.
    ``quote_labels``: tags that EVALB (version of 2006) may restore if the two trees differ in length.
    """

    delete_labels: tuple[str, ...] = ()
    delete_labels_for_length: tuple[str, ...] = ()
    eq_labels: tuple[tuple[str, str], ...] = ()
    eq_words: tuple[tuple[str, str], ...] = ()
    quote_labels: tuple[str, ...] = ()
    labeled: bool = True
    cutoff_len: int = 40
    max_error: int | None = None
    debug: int = 0


COLLINS = EvalbParams(
    delete_labels=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_labels_for_length=("-NONE-",),
    eq_labels=(("ADVP", "PRT"),),
)
"""COLLINS.prm, the parameters used in papers on the Penn Treebank (Collins 1997), without a limit on errors."""


def read_params(path: str | Path) -> EvalbParams:
    """Read a ``.prm`` file. Raises IncparseError naming the file and, if a line is wrong, the line."""
    try:
        text = Path(path).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise IncparseError(f"{path}: cannot read the parameter file ({error})") from error
    return parse_params(text, path=path)


def parse_params(text: str, *, path: str | Path = "<string>") -> EvalbParams:
    """Parse the text of a ``.prm`` file: a key and its value per line; lines that begin with ``#`` are comments.

    Keys: DEBUG, MAX_ERROR, CUTOFF_LEN, LABELED, DELETE_LABEL, DELETE_LABEL_FOR_LENGTH, QUOTE_LABEL, EQ_LABEL,
    EQ_WORD, DISC_ONLY. Of repeated keys with one number the last counts; the others add up. Missing keys have
    EVALB's defaults: nothing deleted, nothing equal, labeled, cut-off 40, at most 10 errors.
    Raises IncparseError with file and line for an unknown key or an invalid value.
    """
    lists: dict[str, list] = {key: [] for key in _LISTS}
    numbers = {"MAX_ERROR": 10, "CUTOFF_LEN": 40, "LABELED": 1, "DEBUG": 0, "DISC_ONLY": 0}
    for line_number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        key, _, value = line.strip().replace("\t", " ").partition(" ")
        if not key or line.startswith("#"):
            continue
        try:
            if key in lists:
                lists[key].append(_LISTS[key](value))
            else:
                numbers[key] = _number(key, value, known=numbers)
        except ValueError as error:
            raise IncparseError(f"{path}:{line_number}: {error}") from None
    return _params(lists, numbers)


def _params(lists: dict[str, list], numbers: dict[str, int]) -> EvalbParams:
    return EvalbParams(
        delete_labels=tuple(lists["DELETE_LABEL"]),
        delete_labels_for_length=tuple(lists["DELETE_LABEL_FOR_LENGTH"]),
        eq_labels=tuple(lists["EQ_LABEL"]),
        eq_words=tuple(lists["EQ_WORD"]),
        quote_labels=tuple(lists["QUOTE_LABEL"]),
        labeled=bool(numbers["LABELED"]),
        cutoff_len=numbers["CUTOFF_LEN"],
        max_error=numbers["MAX_ERROR"],
        debug=numbers["DEBUG"],
    )


def _number(key: str, value: str, *, known: dict[str, int]) -> int:
    if key not in known:
        raise ValueError(f"unknown parameter {key!r}; choose from {', '.join(sorted([*known, *_LISTS]))}")
    try:
        number = int(value)
    except ValueError:
        raise ValueError(f"{key} needs a whole number, not {value.strip()!r}") from None
    if key == "DISC_ONLY" and number:
        raise ValueError(
            "DISC_ONLY 1 scores discontinuous constituents alone, which these trees do not have; remove it"
        )
    return number


def _one(value: str) -> str:
    parts = value.split()
    if len(parts) != 1:
        raise ValueError(f"expected one label, found {value.strip()!r}")
    return parts[0]


def _pair(value: str) -> tuple[str, str]:
    parts = value.split()
    if len(parts) != 2:
        raise ValueError(f"expected two values that count as equal, found {value.strip()!r}")
    return parts[0], parts[1]


_LISTS: dict[str, Callable[[str], Any]] = {
    "DELETE_LABEL": _one,
    "DELETE_LABEL_FOR_LENGTH": _one,
    "QUOTE_LABEL": _one,
    "EQ_LABEL": _pair,
    "EQ_WORD": _pair,
}
