"""Compiling patterns for the matcher: first sets of nodes, then a search for nodes with names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
    has_names,
    has_references,
    names_root,
    parts_of,
)
from spacy_incparse.trees.labels import ROOT_NAMES, TOP_NODE


@dataclass(frozen=True)
class Program:
    """A program of the compiled matcher. An instruction is an operation with up to six numbers."""

    tests: tuple[Description, ...]  # by bit
    sets: tuple[Instruction, ...]  # instruction i builds set i
    result: int  # the set of nodes that match, or with references, that may match
    code: tuple[Instruction, ...]  # empty if nothing has a name
    names: tuple[str, ...]
    n_registers: int
    n_slots: int
    captures: tuple[tuple[int, int], ...]  # (bit of the test, group)
    n_variables: int
    has_references: bool
    uses_heads: bool
    required: int  # a tree has no match if one of these bits is in none of its masks
    roots: tuple[int, ...]  # bits that fit the root whatever its label, and that do not; of these, those of `_ROOT_`


def compile_program(alternatives: tuple[Node, ...]) -> Program:
    """Return the program of a pattern's alternatives. Raises ValueError if it is too long."""
    sets = SetCompiler()
    result = sets.union([sets.node(node, True) for node in alternatives])
    required = (1 << MAX_TESTS) - 1
    for node in alternatives:
        required &= sum({1 << sets.bit(test) for test in _required(node)})
    code = SearchCompiler(sets)
    if any(has_names(node) or has_references(node) for node in alternatives):
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
        has_references=any(map(has_references, alternatives)),
        uses_heads=any(map(_asks_for_heads, alternatives)),
        required=required,
        roots=tuple(
            sum(
                1 << bit for bit, test in enumerate(sets.tests) if test.is_negated == clears and names_root(test, names)
            )
            for names in (ROOT_NAMES, (TOP_NODE,))
            for clears in (False, True)
        ),
    )


def _required(node: Node) -> Iterator[Description]:
    """Yield the descriptions that some node must fit if this one matches."""
    pending: list[Node | Constraint | None] = [node]
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


def _asks_for_heads(node: Node) -> bool:
    return any(isinstance(part, Relation) and part.step in (Step.HEAD, Step.HEAD_OF) for part in parts_of(node))


NO_SET = -1
MAX_TESTS = 64  # bits of a mask
MAX_INSTRUCTIONS = 20_000  # of a search: each `<=` around named nodes, which has them in two places, doubles it


class SetOp(IntEnum):
    """Operations that build a set; the numbers are those of the compiled matcher."""

    FILL = 0  # value
    TEST = 1  # bit of the label's mask
    RELATION = 2  # target set, step, number, chain set
    AND = 3  # two sets
    OR = 4
    NOT = 5  # a set


class Op(IntEnum):
    """Operations of the search; if one fails, the search continues at the last choice."""

    CHOOSE = 0  # register, register it is related to, inverse step, number, chain set, set to choose from
    NAME = 1  # name, register
    SAME = 2  # name, register, negated: is it the node with the name?
    LIKE = 3  # name, register, negated: does it have that node's label?
    CAPTURE = 4  # variable, register, number of the capture
    CHECK = 5  # register, set
    EITHER = 6  # start of the other alternative
    GOTO = 7
    MAYBE = 8  # where to continue without it, slot
    FOUND = 9  # slot: no longer continue without it
    UNLESS = 10  # where to continue if it fails, slot
    FAIL = 11  # slot: it did not fail
    ACCEPT = 12


Instruction = tuple[int, int, int, int, int, int, int]


def padded(*numbers: int) -> Instruction:
    """Return an instruction padded to its full length."""
    full = [int(number) for number in numbers] + [0] * (7 - len(numbers))
    return full[0], full[1], full[2], full[3], full[4], full[5], full[6]


# The search finds which nodes get the names of a pattern, and if it refers to names, which nodes fit together: in that
# case the sets are upper bounds.


class SearchCompiler:
    """Builds the search for named nodes. Parts without names are left to the sets."""

    def __init__(self, sets: SetCompiler):
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
        """Write the whole search; register 0 is the node being tested."""
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
        if has_names(part) or has_references(part):
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
        if has_references(part):
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
        """Let a jump lead to the next instruction written."""
        operation, _, *rest = self.instructions[position]
        self.instructions[position] = padded(operation, len(self.instructions), *rest)

    def _emit(self, *instruction: int) -> None:
        if len(self.instructions) >= MAX_INSTRUCTIONS:
            raise ValueError("too many alternatives with named nodes inside one another, as in A <= (B=b <= (C=c ...))")
        self.instructions.append(padded(*instruction))

    @staticmethod
    def _number(numbers: dict[str, int], name: str) -> int:
        return numbers.setdefault(name, len(numbers))


# Each set is computed from others in one pass over the tree, so that the time is proportional to the product of the
# sizes of pattern and tree (as Gottlob, Koch & Pichler 2005, "Efficient Algorithms for Processing XPath Queries",
# show for a similar language).


class SetCompiler:
    """Builds the instructions for sets, without duplicates.

    With `upper` a set contains all nodes where a part may hold, otherwise only nodes where it does: these differ only
    for parts with references.
    """

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.tests: dict[Description, int] = {}
        self._numbers: dict[Instruction, int] = {}
        self._sets: dict[tuple[int, bool], tuple[Constraint, int]] = {}  # by identity; the part is kept alive
        self._by_type: dict[type, Callable[[Any, bool], int]] = {
            Relation: self._relation,
            And: self._and,
            Or: self._or,
            Not: self._not,
            Maybe: lambda part, upper: self.fill(True),
        }

    def node(self, node: Node, upper: bool) -> int:
        """Return the set of nodes that fit together with their constraints."""
        test = self._test(node.test, upper)
        return test if node.constraint is None else self._both(test, self.constraint(node.constraint, upper))

    def constraint(self, part: Constraint, upper: bool) -> int:
        """Return the set of nodes that satisfy a constraint; one that stands in two places is compiled once."""
        key = id(part), upper
        if key not in self._sets:
            self._sets[key] = part, self._by_type[type(part)](part, upper)
        return self._sets[key][1]

    def description(self, description: Description) -> int:
        """Return the set of nodes that fit a description."""
        if not (description.atoms or description.is_leaf):
            return self.fill(not description.is_negated)
        return self._make(SetOp.TEST, self.bit(description))

    def bit(self, description: Description) -> int:
        """Return the bit of a mask that tells whether a label fits."""
        plain = replace(description, captures=())
        bit = self.tests.setdefault(plain, len(self.tests))
        if bit >= MAX_TESTS:
            raise ValueError(f"more than {MAX_TESTS} different labels; use lists (NP|VP) or regular expressions")
        return bit

    def fill(self, value: bool) -> int:
        """Return the set of all nodes, or the empty set."""
        return self._make(SetOp.FILL, int(value))

    def union(self, sets: list[int]) -> int:
        """Return the union of the sets."""
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
        everything = self._numbers.get(padded(SetOp.FILL, 1))
        if everything in (first, second):
            return second if first == everything else first
        return self._make(SetOp.AND, first, second)

    def _make(self, *instruction: int) -> int:
        key = padded(*instruction)
        if key not in self._numbers:
            self._numbers[key] = len(self.instructions)
            self.instructions.append(key)
        return self._numbers[key]
