"""A sentence that comes word by word to a parser whose features look ahead: it answers that many words late.

A session never changes: `push` gives another one, which refers to it. So going back to an earlier one, or pushing
several words after the same prefix, costs a reference. An answer is a search over the words that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import NoReturn, Protocol

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.parse import Parse, Tag, Tags
from spacy_incparse.parsers.protocol import TagRequest, TagSource
from spacy_incparse.parsers.pushed_words import NO_WORDS, check_n_analyses, check_word


class LookAheadParser(Protocol):
    """A parser, as its sessions need it."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that it knows."""

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that it has to be given."""

    @property
    def look_ahead(self) -> int | None:
        """How many words after the one that is absorbed it looks at; None: at the end of the sentence."""

    def nbest(self, words: Sequence[str], tags: Tags, k: int) -> list[Parse]:
        """Return up to `k` analyses of a sentence."""

    def prefix(self, words: Sequence[str], tags: Tags, n_words: int, k: int) -> list[Parse]:
        """Return up to `k` analyses of the first words of a sentence."""


class LookAheadSession:
    """Words and tags so far, linked to the session of one word less. Made by `Parser.start`."""

    def __init__(
        self,
        parser: LookAheadParser,
        tagger: TagSource | None = None,
        previous: LookAheadSession | None = None,
        word: tuple[str, Tag] = ("", None),
    ):
        self.previous = previous
        self._parser, self._tagger, self._word = parser, tagger, word
        self._n_words = 0 if previous is None else len(previous) + 1

    def __len__(self) -> int:
        return self._n_words

    @property
    def words(self) -> tuple[str, ...]:
        """The words pushed so far."""
        return tuple(session._word[0] for session in self._path())

    @property
    def look_ahead(self) -> int | None:
        """So many words behind a word must be there before it is answered for; None: the whole sentence.

        These are the words that features look at, and those that the tagger does where words come without tags.
        """
        reach = self._parser.look_ahead
        return None if reach is None else reach + self._tagger_reach

    @property
    def answered(self) -> int:
        """For how many of the words there is an answer before the sentence is complete."""
        reach = self._parser.look_ahead
        return 0 if reach is None else max(0, self._n_tagged - reach)

    def push(self, word: str, tag: Tag = None) -> LookAheadSession:
        """Give the session of one word more; this one stays as it is.

        Raises IncparseError for what is no word or no tag of the parser, and for one without a tag where there is no
        tagger.
        """
        check_word(word, tag, self._parser.tags)
        if not tag and self._tagger is None:
            raise IncparseError(f"{word!r} has no tag, and this parser finds none itself: push it with one")
        return LookAheadSession(self._parser, self._tagger, self, (word, tag or None))

    def best(self, *, complete: bool = False) -> Parse:
        """Give the best analysis of the words that are answered for: a partial tree, what is open in it closed.

        With `complete` the sentence ends with the last word, and all words are answered for. Raises IncparseError
        before the first word, and where none is answered for yet.
        """
        return self.nbest(1, complete=complete)[0]

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Give up to k analyses, different trees, the best first."""
        check_n_analyses(k)
        if not self._n_words:
            raise IncparseError(NO_WORDS)
        if complete:
            return self._parser.nbest(self.words, self._tags(self._n_words, complete=True), k)
        if self.look_ahead is None:
            raise IncparseError("this parser's features look at the end of the sentence: ask with complete=True")
        if not self.answered:
            raise IncparseError(
                f"no word is answered for yet: this parser looks {self.look_ahead} words ahead, and {self._n_words} "
                f"are there; push more, or ask with complete=True"
            )
        return self._parser.prefix(self.words[: self._n_tagged], self._tags(self._n_tagged), self.answered, k)

    def measures(self) -> NoReturn:
        """Raise IncparseError: the scores of this parser are no probabilities."""
        raise IncparseError(
            "this parser gives no probabilities of words, so that there are no measures: take a generative one, such "
            "as 'en_generative'"
        )

    @property
    def _tagger_reach(self) -> int:
        return 0 if self._tagger is None else self._tagger.look_ahead

    @cached_property
    def _n_tagged(self) -> int:
        """How many words from the first on have a tag that no later word changes: given ones, or the tagger's."""
        near_the_end = self._path()[max(0, self._n_words - self._tagger_reach) :]
        given = list(takewhile(lambda session: session._word[1], near_the_end))
        return self._n_words - len(near_the_end) + len(given)

    def _tags(self, n_words: int, *, complete: bool = False) -> Tags:
        """The tags of the first words; one that was not given is the tagger's when it first had all it looks at."""
        path, reach = self._path(), self._tagger_reach
        return [
            session._word[1] or (self if complete else path[n + reach])._own_tags[n]
            for n, session in enumerate(path[:n_words])
        ]

    @cached_property
    def _own_tags(self) -> Tags:
        """The tagger's tags of all words, as if there were no more."""
        assert self._tagger is not None
        request = self._parser.tag_request or TagRequest()
        return self._tagger.candidate_tags([self.words], *request)[0]

    def _path(self) -> list[LookAheadSession]:
        """The sessions from the first word to here."""
        found, here = [], self
        while here.previous is not None:
            found.append(here)
            here = here.previous
        return found[::-1]
