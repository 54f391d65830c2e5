"""The syntax tree of a pattern: nodes, their names, and constraints on the nodes around them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum

from spacy_incparse.trees.labels import ROOT_NAMES


class Step(IntEnum):
    """One step from a node A to a node B: B is A's child, its parent, its first child, and so on.

    Each step is followed by its inverse, or is its own. The numbers are those of forest_matcher.pyx.
    """

    SELF = 0
    ANY = 1
    SISTER = 2
    CHILD = 3
    PARENT = 4
    NTH_CHILD = 5
    NTH_CHILD_OF = 6
    ONLY_CHILD = 7
    ONLY_CHILD_OF = 8
    HEAD = 9
    HEAD_OF = 10
    NEXT_SISTER = 11
    PREVIOUS_SISTER = 12
    NEXT = 13
    PREVIOUS = 14

    @property
    def inverse(self) -> Step:
        """The step from B to A."""
        if self <= Step.SISTER:
            return self
        return Step(self + 1 if self % 2 else self - 1)


@dataclass(frozen=True)
class Atom:
    """A literal label or word, or a regular expression to search in it."""

    text: str
    is_regex: bool = False
    ignores_case: bool = False


@dataclass(frozen=True)
class Description:
    """A description of nodes by their labels: those that fit one of the atoms; without atoms, all nodes."""

    atoms: tuple[Atom, ...] = ()
    is_negated: bool = False
    by_category: bool = False  # `@`: the label without functions, also for regular expressions
    is_leaf: bool = False  # words only
    captures: tuple[tuple[int, str], ...] = ()  # (group of the regular expression, variable)
    attributes: tuple[tuple[str, Description], ...] = ()  # of a word's token: their names, and what their texts fit


_TEXTS = "ORTH NORM LOWER SHAPE PREFIX SUFFIX LEMMA POS TAG DEP ENT_TYPE ENT_IOB ENT_ID ENT_KB_ID"
_OTHERS = (
    "TEXT MORPH IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_UPPER IS_TITLE IS_PUNCT IS_STOP IS_OOV IS_CURRENCY IS_QUOTE "
    "IS_BRACKET IS_SENT_START LIKE_NUM LIKE_URL LIKE_EMAIL"
)
TOKEN_ATTRIBUTES = {name: f"{name.lower()}_" for name in _TEXTS.split()} | {k: k.lower() for k in _OTHERS.split()}
"""The attributes of tokens in patterns, as spaCy's Matcher names them -> those of a Token."""


def names_root(test: Description, names: Collection[str] = ROOT_NAMES) -> bool:
    """Return whether a description has a name of the root, which fits it whatever its label.

    In a tree whose top node has no label of `WRAPPERS`, the root is a node above it, which is added for patterns that
    name the root. `TOP_NODE` is also the top node itself, as in Tregex.
    """
    literals = [atom for atom in test.atoms if not atom.is_regex]
    return any((atom.text.upper() if atom.ignores_case else atom.text) in names for atom in literals)


@dataclass(frozen=True)
class Reference:
    """A node named earlier (`=name`), or any node with its label (`~name`)."""

    name: str
    by_label: bool = False
    is_negated: bool = False


@dataclass(frozen=True)
class Node:
    """A node of the pattern: its description, its name, and its constraints."""

    test: Description | Reference
    name: str | None = None
    constraint: Constraint | None = None


@dataclass(frozen=True)
class Relation:
    """The step leads to a node `target`.

    number: the N of NTH_CHILD and NTH_CHILD_OF; negative from the right.
    chain: one or more steps, with all nodes in between fitting this description; None: exactly one step.
    """

    step: Step
    target: Node
    number: int = 0
    chain: Description | None = None


@dataclass(frozen=True)
class And:
    """All parts hold."""

    parts: tuple[Constraint, ...]


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple[Constraint, ...]


@dataclass(frozen=True)
class Not:
    """The part does not hold."""

    part: Constraint


@dataclass(frozen=True)
class Maybe:
    """The part is optional; if it holds, its nodes get their names."""

    part: Constraint


Constraint = Relation | And | Or | Not | Maybe

ANYTHING = Description()


def parts_of(part: Node | Constraint) -> Iterator[Node | Constraint]:
    """Yield a part of a pattern and all parts inside it, each once: `A <= B` has B in two places."""
    pending: list[Node | Constraint] = [part]
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, Node):
            pending += [] if part.constraint is None else [part.constraint]
        elif isinstance(part, Relation):
            pending.append(part.target)
        else:
            pending += part.parts if isinstance(part, And | Or) else [part.part]


def has_names(part: Node | Constraint) -> bool:
    """Return whether any node in the part gets a name."""
    return any(isinstance(inner, Node) and inner.name is not None for inner in parts_of(part))


def has_references(part: Node | Constraint) -> bool:
    """Return whether the part depends on other nodes that were found, by `=name`, `~name` or a variable."""
    return any(
        isinstance(inner, Node) and (isinstance(inner.test, Reference) or bool(inner.test.captures))
        for inner in parts_of(part)
    )
