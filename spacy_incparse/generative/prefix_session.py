"""A sentence that comes word by word: analyses and measures of every prefix, branches, and undo by keeping a reference.

A session never changes. `push` gives another one, which refers to it; so one may push several words after the same
prefix, or go back to an earlier session. What the search holds is only added to, and freed with the last session of a
sentence. Trees come from a beam that keeps analyses apart, measures from a wider one that merges those that no later
word can tell apart; each absorbs a word when it is first asked for it.
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
Analysis = tuple[float, list[int], list[int]]  # log probability, closings by word, leaves by word


class ParsesPrefixes(Protocol):
    """A generative parser, as its sessions need it."""

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
        """Return the trees of analyses, the best first."""


class PrefixSession:
    """The analyses of some words, of which nothing more is known. Made by `GenerativeParser.start`."""

    look_ahead = 0  # words that must be there before a word is answered for: the model looks at none

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
        """For how many of the words there is an answer: for all."""
        return self._n_words

    @property
    def words(self) -> tuple[str, ...]:
        """The words pushed so far."""
        return tuple(word for word, _ in self._pushed())

    def push(self, word: str, tag: Tag = None) -> PrefixSession:
        """Give the session of one word more, under a tag or under all tags that the word may have.

        This session stays as it is. Raises IncparseError for what is no word or no tag of the parser.
        """
        check_word(word, tag, self._parser.tags)
        return self.after(word, tag)

    def after(self, word: str, tag: Tag = None) -> PrefixSession:
        """Do the same for a word and a tag of whatever kind: a parse of a Doc has to go on."""
        model = self._parser.model
        session = PrefixSession(self._parser, self._beams["sums"], self._beams["trees"], self, (word, tag))
        number = model.vocabulary.number(word, self._is_at_start())
        session._node = number, model.choices(number, tag)
        return session

    def best(self, *, complete: bool = False) -> Parse:
        """Give the best analysis of the words: a partial tree, all that is open in it closed behind the last word.

        With `complete` the end of the sentence is taken for reached, and counts for the score. Raises
        IncparseError before the first word.
        """
        return self.nbest(1, complete=complete)[0]

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Give up to k analyses, different trees, the best first; scores are natural log probabilities."""
        check_n_analyses(k)
        level, beam = self._level("trees"), self._beams["trees"]
        words, tags = zip(*self._pushed(), strict=True)
        results, is_relaxed = beam.complete(level, ALL) if complete else (beam.analyses(level, ALL), False)
        source = "relaxed" if is_relaxed or self._any_relaxed() else "beam"
        return self._parser.to_parses(results, source, words, tags)[:k]

    def measures(self) -> WordMeasures:
        """Give the measures of the last word. Raises IncparseError before the first one."""
        self._level("sums")
        for session in self._unmeasured():
            session._measures = session._measure()
        return self._measures

    @cached_property
    def _measures(self) -> WordMeasures:
        return self._measure()

    def _measure(self) -> WordMeasures:
        """Take the measures; those of the word before have been taken."""
        assert self.previous is not None
        beam, level = self._beams["sums"], self._levels["sums"]
        return word_measures(
            beam.measures(level),
            self.previous._measures if self.previous._n_words else None,
            is_known=self._parser.model.vocabulary.is_known(self._node[0]),
            is_relaxed=beam.is_relaxed(level),
        )

    def _unmeasured(self) -> list[PrefixSession]:
        """The sessions up to here without measures, from left to right."""
        found, here = [], self
        while here._n_words and "_measures" not in here.__dict__ and here.previous is not None:
            found.append(here)
            here = here.previous
        return found[::-1]

    def _level(self, name: str) -> int:
        """Let a beam absorb the words that it has not seen yet; give its level."""
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
        """Whether no word so far has a letter or digit: the next one may be a capital for its place alone."""
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
