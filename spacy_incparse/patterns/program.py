"""Compiling patterns for the matcher: first sets of nodes, then a search for nodes with names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spacy_incparse.patterns.instructions import MAX_TESTS, Instruction
from spacy_incparse.patterns.search_compiler import SearchCompiler
from spacy_incparse.patterns.set_compiler import SetCompiler
from spacy_incparse.patterns.syntax import (
    And,
    Constraint,
    Description,
    Node,
    Relation,
    Step,
    has_names,
    has_references,
    parts_of,
)


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
