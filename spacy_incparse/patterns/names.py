"""Scope of names in a pattern: each is declared once, before references to it, and not under a negation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spacy_incparse.errors import PatternError
from spacy_incparse.patterns.lexer import Token


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
