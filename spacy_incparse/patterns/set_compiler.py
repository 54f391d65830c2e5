"""Compiling patterns to sets: the nodes at which each part of a pattern holds.

Each set is computed from others in one pass over the tree, so that the time is proportional to the product of the
sizes of pattern and tree (as Gottlob, Koch & Pichler 2005, "Efficient Algorithms for Processing XPath Queries",
show for a similar language).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy_incparse.patterns.instructions import MAX_TESTS, NO_SET, Instruction, SetOp, padded
from spacy_incparse.patterns.syntax import And, Constraint, Description, Maybe, Node, Not, Or, Reference, Relation


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
        plain = Description(description.atoms, description.is_negated, description.by_category, description.is_leaf)
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
