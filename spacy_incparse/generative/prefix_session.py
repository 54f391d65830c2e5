"""A sentence that arrives word by word: analyses and measures of every prefix, branches, and undo by a kept reference.

A session never changes. `push` returns another one, which refers to it, so you can push several words after the same
prefix, or go back to an earlier session. The memory of the search only grows, and is freed with the last session of a
sentence. Trees come from a beam that keeps analyses apart. Measures come from a wider one that merges analyses that no
later word can tell apart. Each beam absorbs a word when it is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

from spacy_incparse.errors import IncparseError
from spacy_incparse.generative.generative_model import GenerativeModel
from spacy_incparse.generative.measures import WordMeasures, word_measures
from spacy_incparse.parsers.parse import Parse, Tag, Tags
from spacy_incparse.parsers.pushed_words import NO_WORDS, check_n_analyses, check_word

ALL = 2**31 - 1
Analysis = tuple[float, Sequence[int], Sequence[int]]  # log probability, closings by word, leaves by word


class ParsesPrefixes(Protocol):
    """The parts of a generative parser that its sessions use."""

    model: GenerativeModel

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that it knows."""

    def to_parses(
        self,
        results: Sequence[tuple[float, list[int], list[int]]],
        source: str,
        words: Sequence[str],
        tags: Tags | None,
    ) -> list[Parse]:
        """Return the trees of analyses, best first."""


class PrefixSession:
    """The analyses of the words so far. Created by `GenerativeParser.start`."""

    look_ahead = 0  # words needed after a word before there is an answer for it: the model reads none

    def __init__(
        self,
        parser: ParsesPrefixes,
        sums: Any,
        trees: Any,
        previous: PrefixSession | None = None,
        word: tuple[str, Tag] | None = None,
    ):
        self.previous = previous
        self._parser, self._beams = parser, {"sums": sums, "trees": trees}
        self._levels: dict[str, int] = {} if previous is not None else {"sums": 0, "trees": 0}
        self._n_words = len(previous) + 1 if previous is not None else 0
        self._word = word
        self._node: tuple[int, tuple[int, ...]] = (0, ())

    def __len__(self) -> int:
        return self._n_words

    @property
    def answered(self) -> int:
        """The number of words with an answer: all of them."""
        return self._n_words

    @property
    def words(self) -> tuple[str, ...]:
        """The words pushed so far."""
        return tuple(word for word, _ in self._pushed())

    def push(self, word: str, tag: Tag = None) -> PrefixSession:
        """Return the session with one more word, under a tag or under all tags that the word may have.

        This session does not change. Raises IncparseError for a wrong word, or for a tag that the parser does not know.
        """
        check_word(word, tag, self._parser.tags)
        return self.after(word, tag)

    def after(self, word: str, tag: Tag = None) -> PrefixSession:
        """Return the same session as `push`, but check neither word nor tag: the parse of a Doc must not stop."""
        model = self._parser.model
        session = PrefixSession(self._parser, self._beams["sums"], self._beams["trees"], self, (word, tag))
        number = model.vocabulary.number(word, self._is_at_start())
        session._node = number, model.choices(number, tag)
        return session

    def best(self, *, complete: bool = False) -> Parse:
        """Return the best analysis of the words: a partial tree, with all open constituents closed after the last word.

        `complete`: the sentence ends here, and its end counts for the score. Raises IncparseError before the first
        word.
        """
        return self.nbest(1, complete=complete)[0]

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to k analyses with different trees, best first; scores are natural log probabilities."""
        check_n_analyses(k)
        level, beam = self._level("trees"), self._beams["trees"]
        words, tags = zip(*self._pushed(), strict=True)
        results, is_relaxed = beam.complete(level, ALL) if complete else (beam.analyses(level, ALL), False)
        source = "relaxed" if is_relaxed or self._any_relaxed() else "beam"
        return self._parser.to_parses(results, source, words, tags)[:k]

    def measures(self) -> WordMeasures:
        """Return the measures of the last word. Raises IncparseError before the first one."""
        self._level("sums")
        for session in self._unmeasured():
            session._measures = session._measure()
        return self._measures

    @cached_property
    def _measures(self) -> WordMeasures:
        return self._measure()

    def _measure(self) -> WordMeasures:
        """Compute the measures; those of the previous word have been computed."""
        assert self.previous is not None
        beam, level = self._beams["sums"], self._levels["sums"]
        return word_measures(
            beam.measures(level),
            self.previous._measures if self.previous._n_words else None,
            is_known=self._parser.model.vocabulary.is_known(self._node[0]),
            is_relaxed=beam.is_relaxed(level),
        )

    def _unmeasured(self) -> list[PrefixSession]:
        """Return the sessions up to here that have no measures yet, from left to right."""
        found, here = [], self
        while here._n_words and "_measures" not in here.__dict__ and here.previous is not None:
            found.append(here)
            here = here.previous
        return found[::-1]

    def _level(self, name: str) -> int:
        """Let a beam absorb the words that it has not seen yet, and return its level."""
        if not self._n_words:
            raise IncparseError(NO_WORDS)
        waiting, here = [], self
        while name not in here._levels and here.previous is not None:
            waiting.append(here)
            here = here.previous
        level = here._levels[name]
        for session in reversed(waiting):
            level = session._levels[name] = self._beams[name].push(level, *session._node)
        return level

    def _pushed(self) -> list[tuple[str, Tag]]:
        found, here = [], self
        while here.previous is not None and here._word is not None:
            found.append(here._word)
            here = here.previous
        return found[::-1]

    def _is_at_start(self) -> bool:
        """Return whether no word so far has a letter or digit: only its position may capitalize the next one."""
        here = self
        while here.previous is not None and here._word is not None:
            if any(character.isalnum() for character in here._word[0]):
                return False
            here = here.previous
        return True

    def _any_relaxed(self) -> bool:
        here, beam = self, self._beams["trees"]
        while here.previous is not None:
            if beam.is_relaxed(here._levels["trees"]):
                return True
            here = here.previous
        return False
