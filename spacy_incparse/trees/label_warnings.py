"""Warnings about requested labels that no tree of this kind has, as in `phrases("np")`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import FUNCTIONS, PHRASES, ROOTS, bare_label, is_penn_tag

_PHRASES = frozenset([*PHRASES, *ROOTS, ""])
_PARTS = re.compile(r"[^-=|+/<>@]+")  # of labels that transforms make, such as S+VP or NP|<JJ-NN>
_warned: set[str] = set()  # once for each label in a process


def warn_of_unknown_labels(
    arrays: TreeArrays, labels: str | Collection[str], *, phrases_only: bool, stacklevel: int
) -> None:
    """Warn about labels that no tree of this kind has, and suggest similar ones; call it if no node was found.

    Labels of Penn-style trees may just be absent from this tree. If the tree has other labels, its treebank's labels
    are unknown, and no warning is issued.
    """
    present: frozenset[str] | None = None
    for label in [labels] if isinstance(labels, str) else labels:
        if label in _warned or _is_plausible(label, phrases_only):
            continue
        if present is None:
            present = _labels_in(arrays, phrases_only)
        if label in present or not all(_is_plausible(known, phrases_only) for known in present):
            continue
        _warned.add(label)
        warnings.warn(_message(label, present, phrases_only), UserWarning, stacklevel=stacklevel + 1)


def _is_plausible(label: str, phrases_only: bool) -> bool:
    """Return whether a label can occur in a Penn-style tree, as published or transformed."""
    if label in _PHRASES or (not phrases_only and is_penn_tag(label)):
        return True
    parts = _PARTS.findall(label)
    return len(parts) > 1 and all(part in _PHRASES or part in FUNCTIONS or part.isdigit() for part in parts)


def _labels_in(arrays: TreeArrays, phrases_only: bool) -> frozenset[str]:
    labels = zip(arrays.labels, arrays.sizes, strict=True)
    return frozenset(bare_label(label) for label, size in labels if size > 1 or not phrases_only)


def _message(label: str, present: Iterable[str], phrases_only: bool) -> str:
    if phrases_only and is_penn_tag(label):
        return (
            f"phrases({label!r}) finds nothing: {label!r} is a part of speech, and POS nodes are not phrases; "
            f"subtrees({label!r}) finds them"
        )
    known = sorted(_PHRASES.union(present) - {""})
    same = [other for other in known if other.casefold() == label.casefold()]
    near = same or get_close_matches(label.upper(), known) or get_close_matches(bare_label(label).upper(), known)
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else "docs/labels.md lists the labels"
    return f"no tree of this kind has the label {label!r}: {advice}"
