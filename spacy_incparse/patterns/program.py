"""From syntax to what the compiled matcher runs: sets of nodes first, then a search for the nodes with names.

Each part of a pattern holds at a set of a tree's nodes. The sets follow from one another in one pass over the tree
each, so that the time is proportional to the size of the pattern times that of the tree (Gottlob, Koch & Pichler 2005,
"Efficient Algorithms for Processing XPath Queries", for a similar language). Only references to named nodes need more:
the sets then are too large, and a search with backtracking looks for nodes that fit together. The same search finds the
nodes that have names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any

from spacy_incparse.patterns.syntax import (
    And,
    Constraint,
    Description,
    Maybe,
    Node,
    Not,
    Or,
    Reference,
    Relation,
    Step,
)

NO_SET = -1
MAX_TESTS = 64  # bits of a mask


class SetOp(IntEnum):
    """How a set is made; the numbers are those of the compiled matcher."""

    FILL = 0  # value
    TEST = 1  # bit of the label's mask
    RELATION = 2  # target set, step, number, chain set
    AND = 3  # two sets
    OR = 4
    NOT = 5  # a set


class Op(IntEnum):
    """What the search does next; it goes on at the last choice where one of these fails."""

    CHOOSE = 0  # register, register it is related to, step back, number, chain set, set it is chosen from
    NAME = 1  # name, register
    SAME = 2  # name, register, negated: is it the node that has the name?
    LIKE = 3  # name, register, negated: has it the label of that node?
    CAPTURE = 4  # variable, register, number of the capture
    CHECK = 5  # register, set
    EITHER = 6  # where the other alternative begins
    GOTO = 7
    MAYBE = 8  # where to go on without it, slot
    FOUND = 9  # slot: not without it any more
    UNLESS = 10  # where to go on if it fails, slot
    FAIL = 11  # slot: it does not fail
    ACCEPT = 12


Instruction = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True)
class Program:
    """What the compiled matcher runs. Instructions are an operation with up to six numbers."""

    tests: tuple[Description, ...]  # by bit
    sets: tuple[Instruction, ...]  # the i-th makes set i
    result: int  # the set of nodes that match, or, with references, that may
    code: tuple[Instruction, ...]  # empty where nothing has a name
    names: tuple[str, ...]
    n_registers: int
    n_slots: int
    captures: tuple[tuple[int, int], ...]  # (bit of the test, group)
    n_variables: int
    has_references: bool
    uses_heads: bool
    required: int  # a tree that lacks a bit of this in all of its masks has no match


def compile_program(alternatives: tuple[Node, ...]) -> Program:
    """Return the program of a pattern's alternatives. Raises ValueError where it has too many descriptions."""
    sets = _Sets()
    result = sets.union([sets.node(node, True) for node in alternatives])
    required = (1 << MAX_TESTS) - 1
    for node in alternatives:
        required &= sum({1 << sets.bit(test) for test in _required(node)})
    code = _Code(sets)
    if any(_has(node, _is_kept) for node in alternatives):
        code.alternatives(alternatives)
    return Program(
        tests=tuple(sets.tests),
        sets=tuple(sets.instructions),
        result=result,
        code=tuple(code.instructions),
        names=tuple(code.names),
        n_registers=code.n_registers,
        n_slots=code.n_slots,
        captures=tuple(code.captures),
        n_variables=len(code.variables),
        has_references=any(_has(node, _is_reference) for node in alternatives),
        uses_heads=any(_has(node, _is_head) for node in alternatives),
        required=required,
    )


class _Sets:
    """Makes the instructions for sets, equal ones once.

    With `upper` a set holds all nodes where a part may be true, otherwise only such where it is: they differ where
    there are references.
    """

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.tests: dict[Description, int] = {}
        self._numbers: dict[Instruction, int] = {}
        self._by_type: dict[type, Callable[[Any, bool], int]] = {
            Relation: self._relation,
            And: self._and,
            Or: self._or,
            Not: self._not,
            Maybe: lambda part, upper: self.fill(True),
        }

    def node(self, node: Node, upper: bool) -> int:
        """Return the set of nodes that fit with all that must stand around them."""
        test = self._test(node.test, upper)
        return test if node.constraint is None else self._both(test, self.constraint(node.constraint, upper))

    def constraint(self, part: Constraint, upper: bool) -> int:
        """Return the set of nodes around which it holds."""
        return self._by_type[type(part)](part, upper)

    def description(self, description: Description) -> int:
        """Return the set of nodes that are described."""
        if not (description.atoms or description.is_leaf):
            return self.fill(not description.is_negated)
        return self._make(SetOp.TEST, self.bit(description))

    def bit(self, description: Description) -> int:
        """Return which bit of a mask tells whether a label fits."""
        plain = Description(description.atoms, description.is_negated, description.by_category, description.is_leaf)
        bit = self.tests.setdefault(plain, len(self.tests))
        if bit >= MAX_TESTS:
            raise ValueError(f"more than {MAX_TESTS} different labels; use lists (NP|VP) or regular expressions")
        return bit

    def fill(self, value: bool) -> int:
        """Return the set of all nodes, or of none."""
        return self._make(SetOp.FILL, int(value))

    def union(self, sets: list[int]) -> int:
        """Return the set of what is in any of them."""
        first, *others = sets
        for other in others:
            first = self._make(SetOp.OR, first, other)
        return first

    def _test(self, test: Description | Reference, upper: bool) -> int:
        if isinstance(test, Reference) or (test.captures and not upper):
            return self.fill(upper)
        return self.description(test)

    def _relation(self, relation: Relation, upper: bool) -> int:
        target = self.node(relation.target, upper)
        chain = NO_SET if relation.chain is None else self.description(relation.chain)
        return self._make(SetOp.RELATION, target, relation.step, relation.number, chain)

    def _and(self, part: And, upper: bool) -> int:
        first, *others = [self.constraint(inner, upper) for inner in part.parts]
        for other in others:
            first = self._both(first, other)
        return first

    def _or(self, part: Or, upper: bool) -> int:
        return self.union([self.constraint(inner, upper) for inner in part.parts])

    def _not(self, part: Not, upper: bool) -> int:
        return self._make(SetOp.NOT, self.constraint(part.part, not upper))

    def _both(self, first: int, second: int) -> int:
        everything = self._numbers.get(_padded(SetOp.FILL, 1))
        if everything in (first, second):
            return second if first == everything else first
        return self._make(SetOp.AND, first, second)

    def _make(self, *instruction: int) -> int:
        key = _padded(*instruction)
        if key not in self._numbers:
            self._numbers[key] = len(self.instructions)
            self.instructions.append(key)
        return self._numbers[key]


class _Code:
    """Makes the search for named nodes. Whatever has no name in it is left to the sets."""

    def __init__(self, sets: _Sets):
        self.instructions: list[Instruction] = []
        self.names: dict[str, int] = {}
        self.variables: dict[str, int] = {}
        self.captures: list[tuple[int, int]] = []
        self.n_registers, self.n_slots = 1, 0
        self._sets = sets
        self._by_type: dict[type, Callable[[Any, int], None]] = {
            Relation: self._relation,
            And: self._and,
            Or: self._or,
            Not: self._not,
            Maybe: self._maybe,
        }

    def alternatives(self, nodes: tuple[Node, ...]) -> None:
        """Write the whole search; register 0 is the node that is looked at."""
        self._either([(self._sets.node(node, True), partial(self._node, node, 0)) for node in nodes], 0)
        self._emit(Op.ACCEPT)

    def _node(self, node: Node, register: int) -> None:
        test = node.test
        if isinstance(test, Reference):
            operation = Op.LIKE if test.by_label else Op.SAME
            self._emit(operation, self._number(self.names, test.name), register, int(test.is_negated))
        else:
            for group, variable in test.captures:
                self._emit(Op.CAPTURE, self._number(self.variables, variable), register, len(self.captures))
                self.captures.append((self._sets.bit(test), group))
        if node.name is not None:
            self._emit(Op.NAME, self._number(self.names, node.name), register)
        if node.constraint is not None:
            self._constraint(node.constraint, register)

    def _constraint(self, part: Constraint, register: int) -> None:
        if _has(part, _is_kept):
            self._by_type[type(part)](part, register)

    def _relation(self, relation: Relation, register: int) -> None:
        chosen, self.n_registers = self.n_registers, self.n_registers + 1
        chain = NO_SET if relation.chain is None else self._sets.description(relation.chain)
        among = self._sets.node(relation.target, True)
        self._emit(Op.CHOOSE, chosen, register, relation.step.inverse, relation.number, chain, among)
        self._node(relation.target, chosen)

    def _and(self, part: And, register: int) -> None:
        for inner in part.parts:
            self._constraint(inner, register)

    def _or(self, part: Or, register: int) -> None:
        holds = [self._sets.constraint(inner, True) for inner in part.parts]
        writes = [partial(self._constraint, inner, register) for inner in part.parts]
        self._either(list(zip(holds, writes, strict=True)), register)

    def _either(self, alternatives: list[tuple[int, Callable[[], None]]], register: int) -> None:
        exits = []
        for k, (holds, write) in enumerate(alternatives):
            is_last = k == len(alternatives) - 1
            start = len(self.instructions)
            if not is_last:
                self._emit(Op.EITHER, 0)
            self._emit(Op.CHECK, register, holds)
            write()
            if not is_last:
                exits.append(len(self.instructions))
                self._emit(Op.GOTO, 0)
                self._set_target(start)
        for position in exits:
            self._set_target(position)

    def _not(self, part: Not, register: int) -> None:
        if _has(part, _is_reference):
            self._guarded(Op.UNLESS, part.part, Op.FAIL, register)

    def _maybe(self, part: Maybe, register: int) -> None:
        self._guarded(Op.MAYBE, part.part, Op.FOUND, register)

    def _guarded(self, opening: Op, part: Constraint, closing: Op, register: int) -> None:
        start, slot = len(self.instructions), self.n_slots
        self.n_slots += 1
        self._emit(opening, 0, slot)
        self._emit(Op.CHECK, register, self._sets.constraint(part, True))
        self._constraint(part, register)
        self._emit(closing, slot)
        self._set_target(start)

    def _set_target(self, position: int) -> None:
        """Let a jump lead to what is written next."""
        operation, _, *rest = self.instructions[position]
        self.instructions[position] = _padded(operation, len(self.instructions), *rest)

    def _emit(self, *instruction: int) -> None:
        self.instructions.append(_padded(*instruction))

    @staticmethod
    def _number(numbers: dict[str, int], name: str) -> int:
        return numbers.setdefault(name, len(numbers))


def _padded(*numbers: int) -> Instruction:
    padded = [int(number) for number in numbers] + [0] * (7 - len(numbers))
    return padded[0], padded[1], padded[2], padded[3], padded[4], padded[5], padded[6]


def _has(part: Node | Constraint, kind: Callable[[Any], bool]) -> bool:
    """Whether a part of the pattern, or something in it, is of a kind."""
    pending: list[Any] = [part]
    while pending:
        part = pending.pop()
        if kind(part):
            return True
        if isinstance(part, Node):
            pending += [] if part.constraint is None else [part.constraint]
        elif isinstance(part, Relation):
            pending.append(part.target)
        else:
            pending += part.parts if isinstance(part, And | Or) else [part.part]
    return False


def _required(node: Node) -> Iterator[Description]:
    """Yield the descriptions that some node has to fit for this one to match."""
    pending: list[Any] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Node):
            if isinstance(part.test, Description) and (part.test.atoms or part.test.is_leaf):
                yield part.test
            pending.append(part.constraint)
        elif isinstance(part, Relation):
            pending.append(part.target)
        elif isinstance(part, And):
            pending += part.parts


def _is_reference(part: Any) -> bool:
    return isinstance(part, Node) and (isinstance(part.test, Reference) or bool(part.test.captures))


def _is_kept(part: Any) -> bool:
    return isinstance(part, Node) and (part.name is not None or _is_reference(part))


def _is_head(part: Any) -> bool:
    return isinstance(part, Relation) and part.step in (Step.HEAD, Step.HEAD_OF)
