"""Regular expressions that cannot hang: Python's `re` if its backtracking is bounded, or else an automaton."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns.regex_automaton import Automaton, UnsupportedError
from spacy_incparse.patterns.regex_cost import cost_of
from spacy_incparse.patterns.regex_syntax import parsed

_CHEAP = 10_000_000  # the most steps on one text for which `re` is used
_BEARABLE = 10 * _CHEAP  # the same without an automaton


class BoundedRegex:
    """A regular expression to search in labels and words.

    Raises re.error if it is invalid, UnboundedError if it may run forever.
    """

    def __init__(self, text: str, *, ignores_case: bool = False):
        flags = re.IGNORECASE if ignores_case else 0
        self.text = text
        self._regex = re.compile(text, flags)
        self._expression = parsed(text, flags)
        self._cost = cost_of(self._expression)
        if self._cost is None and self._automaton is None:
            raise UnboundedError(self._obstacle)
        self._cheap_length = -1 if self._cost is None else self._cost.longest(_CHEAP)
        self._bearable_length = -1 if self._cost is None else self._cost.longest(_BEARABLE)

    @property
    def can_capture(self) -> bool:
        """Whether `groups` can be used: automata do not record the matches of groups."""
        return self._cost is not None

    def search(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text."""
        if len(text) > self._cheap_length and self._automaton:
            return self._automaton.search(text)
        return self._match(text) is not None

    def test_for(self, texts: Sequence[str]) -> Callable[[str], object]:
        """Return a function that is equivalent to `search` on these texts, but faster if they are short."""
        return self._regex.search if max(map(len, texts), default=0) <= self._cheap_length else self.search

    def groups(self, number: int, texts: Sequence[str]) -> list[str | None]:
        """Return the match of a group in each text, or None if the expression or the group does not match."""
        is_short = max(map(len, texts), default=0) <= self._bearable_length
        search = self._regex.search if is_short else self._match
        return [match.group(number) if (match := search(text)) else None for text in texts]

    @cached_property
    def _automaton(self) -> Automaton | None:
        try:
            return Automaton(self._expression)
        except UnsupportedError as unsupported:
            self._obstacle = str(unsupported)
            return None

    def _match(self, text: str) -> re.Match[str] | None:
        if len(text) > self._bearable_length:
            raise IncparseError(
                f"the regular expression /{self.text}/ may run forever on {text[:40]!r}, which has {len(text):,} "
                f"characters: write it with fewer repetitions"
            )
        return self._regex.search(text)


class UnboundedError(ValueError):
    """A regular expression that may run forever, and that has no equivalent automaton."""

    def __init__(self, obstacle: str):
        super().__init__(
            f"the regular expression may run forever: a repeated part can match in several ways, as in "
            f"(a+)+, and it is used with {obstacle}; remove one of the two"
        )


@lru_cache(maxsize=500)
def bounded_regex(text: str, ignores_case: bool = False) -> BoundedRegex:
    """Return a cached regular expression."""
    return BoundedRegex(text, ignores_case=ignores_case)
