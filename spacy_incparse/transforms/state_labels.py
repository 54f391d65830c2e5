"""The labels of markovized trees: categories, ancestors, the head's tag, and the siblings of an active node.

A label is a category, or the categories of a unary chain that has become one node, then the ancestors, then the tag of
the head word. The label of an *active* node, which stands between a phrase and some of its children, begins with the
phrase's and names other children::

    NP    S+VP    NP^S    VP^S[VBZ]    NP^S|<DT>    NP^S|<DT..JJ>

Characters of a treebank's label that have a meaning here are written as `%` and two hexadecimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

CHAIN, ANCESTOR, HEAD_TAG, ACTIVE = "+", "^", "[", "|"
_RESERVED = re.compile(r"[%+^|\[=]")  # "=" begins the names of tags among a grammar's states


@dataclass(frozen=True)
class LabelParts:
    """The parts of a label that say which phrases a node stands for."""

    categories: tuple[str, ...]  # of a chain, from the top down
    ancestors: tuple[str, ...]  # the parent first
    is_active: bool


@lru_cache(maxsize=100_000)
def label_parts(label: str) -> LabelParts:
    """Return the parts of a label of a markovized tree."""
    ancestors = label.partition(ACTIVE)[0].partition(HEAD_TAG)[0].split(ANCESTOR)[1:]
    return LabelParts(
        categories=tuple(map(unquote, chain_of(label).split(CHAIN))),
        ancestors=tuple(map(unquote, ancestors)),
        is_active=ACTIVE in label,
    )


def passive_label(chain: Iterable[str], ancestors: Iterable[str] = (), head_tag: str | None = None) -> str:
    """Return the label of a node that is no active one."""
    label = CHAIN.join(map(escape, chain)) + "".join(ANCESTOR + escape(label) for label in ancestors)
    return label if head_tag is None else f"{label}{HEAD_TAG}{escape(head_tag)}]"


def active_label(phrase: str, side: str, context: str) -> str:
    """Return the label of an active node of a phrase, whose own label is given."""
    return f"{phrase}{ACTIVE}{side}<{context}>"


def with_furthest_ancestor(label: str, ancestor: str) -> str:
    """Return a label with another furthest ancestor; the label must have one."""
    chain = chain_of(label)
    passive = label.partition(ACTIVE)[0].partition(HEAD_TAG)[0]
    ancestors = passive[len(chain) :].split(ANCESTOR)[1:-1]
    changed = "".join(ANCESTOR + name for name in [*ancestors, escape(ancestor)])
    return chain + changed + label[len(passive) :]


def chain_of(label: str) -> str:
    """Return the categories in a label, escaped and joined by `CHAIN`."""
    return label.partition(ACTIVE)[0].partition(HEAD_TAG)[0].partition(ANCESTOR)[0]


@lru_cache(maxsize=10_000)
def escape(label: str) -> str:
    """Return a treebank's label without the characters that have a meaning here."""
    return _RESERVED.sub(lambda match: f"%{ord(match[0]):02X}", label)
