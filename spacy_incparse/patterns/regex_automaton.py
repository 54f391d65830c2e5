"""Regular expressions as automata, which read a text once, whatever the expression: for those that backtrack for ever.

An automaton is in many states at once, one for each way in which the text so far can be read. Which sets of states
follow each other is kept, so that most characters cost a look into a dict. It tells whether something is found, and not
where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from spacy_incparse.patterns.regex_syntax import Item, compiled_item, op

MAX_STATES = 5_000
_MAX_KEPT = 20_000
_FOUND = 0  # the state at the end of the expression
_CHARACTERS = {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}
_NAMES = {
    op.GROUPREF: "a reference to a group", op.GROUPREF_EXISTS: "a condition", op.ASSERT: "a look-ahead or look-behind",
    op.ASSERT_NOT: "a look-ahead or look-behind", op.SUBPATTERN: "flags for a part",
}  # fmt: skip

States = frozenset[int]


class UnsupportedError(Exception):
    """An expression that no automaton is made of, and what it is in it."""


class Automaton:
    """Finds out whether a parsed regular expression matches somewhere in a text. Raises UnsupportedError."""

    def __init__(self, expression: Any):
        self._expression = expression
        self._next: list[tuple[int, ...]] = [()]  # state -> those that follow it
        self._tests: list[re.Pattern[str] | None] = [None]  # state -> what has to be there, None: nothing
        self._reads = [False]  # state -> whether it takes a character
        self._places: list[int] = []  # the states that test a place: ^, $, \b
        self._start = self._sequence(expression, _FOUND)
        self._closures: dict[tuple[States, tuple[bool, ...]], States] = {}
        self._moves: dict[tuple[States, str], States] = {}

    def search(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text."""
        tests = [test for state in self._places if (test := self._tests[state])]
        states: States = frozenset()
        for i in range(len(text) + 1):
            states = self._closure(states, tuple([test.match(text, i) is not None for test in tests]))
            if _FOUND in states:
                return True
            if i < len(text):
                states = self._moved(states, text[i])
        return False

    def _closure(self, states: States, holds: tuple[bool, ...]) -> States:
        """Return the states, and a new beginning, with all that is reached from them at the same place."""
        known = self._closures.get((states, holds))
        if known is None:
            failed = {state for state, is_true in zip(self._places, holds, strict=True) if not is_true}
            found, pending = {self._start, *states}, [self._start, *states]
            while pending:
                state = pending.pop()
                if self._reads[state] or state in failed:
                    continue
                new = set(self._next[state]) - found
                found |= new
                pending += new
            if len(self._closures) >= _MAX_KEPT:
                self._closures.clear()
            known = self._closures[states, holds] = frozenset(found)
        return known

    def _moved(self, states: States, character: str) -> States:
        """Return the states after a character."""
        known = self._moves.get((states, character))
        if known is None:
            following: set[int] = set()
            for state in states:
                test = self._tests[state]
                if self._reads[state] and test and test.match(character):
                    following.update(self._next[state])
            if len(self._moves) >= _MAX_KEPT:
                self._moves.clear()
            known = self._moves[states, character] = frozenset(following)
        return known

    # Building, from the end of the expression to its beginning: each part gets the state that follows it.

    def _sequence(self, items: Iterable[Item], after: int) -> int:
        for item in reversed(list(items)):
            after = self._item(item, after)
        return after

    def _item(self, item: Item, after: int) -> int:
        kind, parts = item
        if kind in _CHARACTERS or kind is op.AT:
            state = self._state(after, test=compiled_item(self._expression, item), reads=kind is not op.AT)
            self._places += [state] * (kind is op.AT)
            return state
        if kind is op.SUBPATTERN and not (parts[1] or parts[2]):
            return self._sequence(parts[3], after)
        if kind is op.BRANCH:
            return self._state(*[self._sequence(branch, after) for branch in parts[1]])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(parts, after)
        raise UnsupportedError(_NAMES.get(kind, "an atomic group or possessive repetition"))

    def _repeat(self, parts: tuple[int, int, Iterable[Item]], after: int) -> int:
        least, most, body = parts
        start = after
        if most is op.MAXREPEAT:
            start = self._state()
            self._next[start] = (self._sequence(body, start), after)
            most = least
        for _ in range(most - least):
            start = self._state(self._sequence(body, start), after)
        for _ in range(least):
            start = self._sequence(body, start)
        return start

    def _state(self, *following: int, test: re.Pattern[str] | None = None, reads: bool = False) -> int:
        if len(self._next) >= MAX_STATES:
            raise UnsupportedError("so many repetitions")
        self._next.append(following)
        self._tests.append(test)
        self._reads.append(reads)
        return len(self._next) - 1
