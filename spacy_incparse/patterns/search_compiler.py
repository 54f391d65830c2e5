"""Compiling patterns to a search with backtracking, for questions that sets cannot answer.

The search finds which nodes get the names of a pattern, and if it refers to names, which nodes fit together: in that
case the sets are upper bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy_incparse.patterns.instructions import MAX_INSTRUCTIONS, NO_SET, Instruction, Op, padded
from spacy_incparse.patterns.set_compiler import SetCompiler
from spacy_incparse.patterns.syntax import (
    And,
    Constraint,
    Maybe,
    Node,
    Not,
    Or,
    Reference,
    Relation,
    has_names,
    has_references,
)


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
