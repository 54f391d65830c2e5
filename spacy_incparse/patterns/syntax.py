"""The syntax tree of a pattern: nodes, their names, and constraints on the nodes around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum

from spacy_incparse.errors import PatternError

LABEL, QUOTED, REGEX, ANY = "label", "quoted", "regex", "any"


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


# Symbol of a relation -> step, its number, whether it is repeated. `$` may also be written `%`.
SYMBOLS: dict[str, tuple[Step, int, bool]] = {
    "<": (Step.CHILD, 0, False),
    "<<": (Step.CHILD, 0, True),
    ">": (Step.PARENT, 0, False),
    ">>": (Step.PARENT, 0, True),
    "<,": (Step.NTH_CHILD, 1, False),
    "<<,": (Step.NTH_CHILD, 1, True),
    ">,": (Step.NTH_CHILD_OF, 1, False),
    ">>,": (Step.NTH_CHILD_OF, 1, True),
    "<-": (Step.NTH_CHILD, -1, False),
    "<<-": (Step.NTH_CHILD, -1, True),
    ">-": (Step.NTH_CHILD_OF, -1, False),
    ">>-": (Step.NTH_CHILD_OF, -1, True),
    "<`": (Step.NTH_CHILD, -1, False),
    "<<`": (Step.NTH_CHILD, -1, True),
    ">`": (Step.NTH_CHILD_OF, -1, False),
    ">>`": (Step.NTH_CHILD_OF, -1, True),
    "<:": (Step.ONLY_CHILD, 0, False),
    "<<:": (Step.ONLY_CHILD, 0, True),
    ">:": (Step.ONLY_CHILD_OF, 0, False),
    ">>:": (Step.ONLY_CHILD_OF, 0, True),
    "<#": (Step.HEAD, 0, False),
    "<<#": (Step.HEAD, 0, True),
    ">#": (Step.HEAD_OF, 0, False),
    ">>#": (Step.HEAD_OF, 0, True),
    "$": (Step.SISTER, 0, False),
    "$+": (Step.NEXT_SISTER, 0, False),
    "$.": (Step.NEXT_SISTER, 0, False),
    "$++": (Step.NEXT_SISTER, 0, True),
    "$..": (Step.NEXT_SISTER, 0, True),
    "$-": (Step.PREVIOUS_SISTER, 0, False),
    "$,": (Step.PREVIOUS_SISTER, 0, False),
    "$--": (Step.PREVIOUS_SISTER, 0, True),
    "$,,": (Step.PREVIOUS_SISTER, 0, True),
    ".": (Step.NEXT, 0, False),
    "..": (Step.NEXT, 0, True),
    ",": (Step.PREVIOUS, 0, False),
    ",,": (Step.PREVIOUS, 0, True),
    "==": (Step.SELF, 0, False),
    ":": (Step.ANY, 0, False),
}
# Relations with a description of the nodes in between, as in `VP <+(VP) NP`.
CHAINS: dict[str, Step] = {"<+": Step.CHILD, ">+": Step.PARENT, ".+": Step.NEXT, ",+": Step.PREVIOUS}
SAME_OR_CHILD, LEAF_BELOW, CHILDREN = "<=", "<<<", "<..."


RELATION, NTH, CHAIN, END = "relation", "nth", "chain", "end"
ATOMS = (LABEL, QUOTED, REGEX, ANY)


@dataclass(frozen=True)
class Token:
    """A piece of a pattern; `kind` is one of the above, or the character itself for brackets and operators."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def column(self) -> int:
        """The column where the token begins, counted from 1."""
        return self.start + 1

    def __str__(self) -> str:
        return "the end" if self.kind == END else repr(self.text)


def tokenize(pattern: str) -> list[Token]:
    """Return the tokens of a pattern and one for its end. Raises PatternError for anything else."""
    tokens: list[Token] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise PatternError(pattern, position + 1, _no_token(pattern[position]))
        kind = match.lastgroup
        if kind is not None:
            text = match.group()
            tokens.append(Token(text if kind == "operator" else kind, text, *match.span()))
        position = match.end()
    return [*tokens, Token(END, "", len(pattern), len(pattern))]


def _any_of(symbols: list[str]) -> str:
    """Return a regular expression for the longest matching symbol."""
    return "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))


_RELATIONS = [*SYMBOLS, SAME_OR_CHILD, LEAF_BELOW, CHILDREN]
_RELATIONS += [symbol.replace("$", "%") for symbol in _RELATIONS if "$" in symbol]
_SPECIAL = r"\s()\[\]{}/|@!#%&=?><~.,$:;" + '"'
# A label such as PRP$ needs no quotes unless a node follows: in `NP$ VP`, `$` is the relation.
_DOLLAR = r"\$(?=[=|)\]&;}]|\s*$|\s+(?:[)\]|&;}<>.,$:?%\[]|==|!\s*[<>.,$:%\[(!?]))"
_TOKEN = re.compile(
    rf"\s+"
    rf"|(?P<{CHAIN}>{_any_of(list(CHAINS))})"
    rf"|(?P<{NTH}>[<>]-?\d+)"
    rf"|(?P<{RELATION}>{_any_of(_RELATIONS)})"
    rf"|(?P<{REGEX}>(?:i@)?/(?:\\.|[^/\\])*/)"
    rf'|(?P<{QUOTED}>(?:i@)?"(?:\\.|[^"\\])*")'
    rf"|(?P<{ANY}>__)"
    rf"|(?P<{LABEL}>(?:i@)?[^{_SPECIAL}]+(?:{_DOLLAR})?)"
    rf"|(?P<operator>[()\[\]{{}}|@!#&=?~;])",
    re.DOTALL,
)


def _no_token(character: str) -> str:
    if character == "/":
        return "the regular expression that begins here has no end; expected another '/'"
    if character == '"':
        return "the quoted label that begins here has no end; expected another '\"'"
    return f"unexpected {character!r}"


class Names:
    """The names in scope while a pattern is read from left to right.

    Alternatives do not see each other's names, so several of them may declare the same name; the rest of the pattern
    sees them all.
    """

    def __init__(self, pattern: str):
        self._pattern = pattern
        self._known: set[str] = set()
        self._groups: list[tuple[set[str], set[str]]] = []  # before the alternatives, and in those read so far
        self._n_negations = 0

    def declare(self, name: Token) -> None:
        """Give a name to a node."""
        if self._n_negations:
            raise self._error(name, f"the name {name} is under a '!': a node that must not exist cannot be found")
        if name.text in self._known:
            raise self._error(name, f"the name {name} is given twice; ={name.text} alone refers to the same node")
        self._known.add(name.text)

    def refer(self, name: Token) -> None:
        """Refer to the node of a name."""
        if name.text not in self._known:
            raise self._error(name, f"no node before has the name {name}")

    @contextmanager
    def negation(self) -> Iterator[None]:
        """Forbid names within this context."""
        self._n_negations += 1
        yield
        self._n_negations -= 1

    @contextmanager
    def alternatives(self) -> Iterator[None]:
        """Enclose alternatives, each of which begins with `alternative`."""
        self._groups.append((set(self._known), set()))
        yield
        self._known |= self._groups.pop()[1]

    def alternative(self) -> None:
        """Begin an alternative."""
        before, read = self._groups[-1]
        read |= self._known
        self._known = set(before)

    def _error(self, name: Token, what: str) -> PatternError:
        return PatternError(self._pattern, name.column, what)
