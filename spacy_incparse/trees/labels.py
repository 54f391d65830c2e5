"""The parts of a treebank's label: NP-SBJ-1 has the category NP, the function SBJ and the index 1."""

from __future__ import annotations

import re
from functools import lru_cache

TRACE_TAG = "-NONE-"
ROOT = "TOP"
WRAPPERS = frozenset(["", "ROOT", "TOP", "VROOT", "S1"])  # root labels that treebanks put around a tree
UNKNOWN_TAG = "X"  # the tag of words without tags

_BARE_LABEL = re.compile(r"[^-=]+")  # a label that starts with a hyphen, such as -LRB-, does not match
_SEPARATOR = re.compile(r"[-=]")


@lru_cache(maxsize=10_000)  # labels are few, nodes are many
def bare_label(label: str) -> str:
    """Return a label without function tags and indices; one that starts with a hyphen, such as -LRB-, stays whole."""
    match = _BARE_LABEL.match(label)
    return match.group() if match else label


@lru_cache(maxsize=10_000)
def function_tags(label: str) -> str:
    """Return the function tags of a label, joined by "-": LOC-PRD for NP-LOC-PRD-1, "" if there are none."""
    behind = label[len(bare_label(label)) :]
    return "-".join(part for part in _SEPARATOR.split(behind) if part and not part.isdigit())
