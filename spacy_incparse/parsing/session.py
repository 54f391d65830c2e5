"""Word-by-word parsing with features that look ahead: analyses lag behind the input by the length of the look-ahead."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import Any, NoReturn

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import NO_WORDS, Parse, Tag, Tags, check_n_analyses, check_word
from spacy_incparse.parsing.parser import Session, TagRequest, TagSource


class LookAheadSession(Session):
    """The words and tags pushed so far; each analysis is a search over these. Created by `Parser.start`.

    parser: one with a `look_ahead` (the words after the current one that its features use; None: up to the end of the
    sentence) and a method `prefix` that analyzes the first words of a sentence.
    """

    def __init__(
        self,
        parser: Any,
        tagger: TagSource | None = None,
        previous: LookAheadSession | None = None,
        word: tuple[str, Tag] = ("", None),
    ):
        super().__init__(previous, word)
        self._parser, self._tagger = parser, tagger
        self._tagger_reach = 0 if tagger is None else tagger.look_ahead

    @property
    def look_ahead(self) -> int | None:
        """The number of words needed after a word before it can be analyzed; None: the whole sentence.

        It covers the words that features use and, for words without tags, those that the tagger uses.
        """
        reach = self._parser.look_ahead
        return None if reach is None else reach + self._tagger_reach

    @property
    def answered(self) -> int:
        """The number of words that are analyzed before the sentence is complete."""
        reach = self._parser.look_ahead
        return 0 if reach is None else max(0, self._n_tagged - reach)

    def push(self, word: str, tag: Tag = None) -> LookAheadSession:
        """Return a session with one more word; this session does not change.

        Raises IncparseError if `word` is not a word, if the parser does not know the tag, or if there is neither a tag
        nor a tagger.
        """
        check_word(word, tag, self._parser.tags)
        if not tag and self._tagger is None:
            raise IncparseError(f"{word!r} has no tag, and this parser has no tagger: pass a tag to push()")
        return LookAheadSession(self._parser, self._tagger, self, (word, tag or None))

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to k analyses with different trees, best first."""
        check_n_analyses(k)
        if not self._n_words:
            raise IncparseError(NO_WORDS)
        if complete:
            return self._parser.nbest(self.words, self._tags(self._n_words, complete=True), k)
        if self.look_ahead is None:
            raise IncparseError("this parser's features use the end of the sentence: pass complete=True")
        if not self.answered:
            raise IncparseError(
                f"no word can be analyzed yet: this parser looks {self.look_ahead} words ahead, and the sentence has "
                f"{self._n_words} so far; push more words, or pass complete=True"
            )
        return self._parser.prefix(self.words[: self._n_tagged], self._tags(self._n_tagged), self.answered, k)

    def measures(self) -> NoReturn:
        """Raise IncparseError: the scores of this parser are not probabilities."""
        raise IncparseError(
            "this parser has no word probabilities and therefore no measures: use a generative parser, such "
            "as 'en_generative'"
        )

    @cached_property
    def _n_tagged(self) -> int:
        """Return how many of the first words have a final tag, which no later word can change."""
        near_the_end = self._path()[max(0, self._n_words - self._tagger_reach) :]
        given = list(takewhile(lambda session: session._word[1], near_the_end))
        return self._n_words - len(near_the_end) + len(given)

    def _tags(self, n_words: int, *, complete: bool = False) -> Tags:
        """Return the tags of the first words; missing tags are the tagger's, from when its look-ahead was first met."""
        path, reach = self._path(), self._tagger_reach
        return [
            session._word[1] or (self if complete else path[n + reach])._own_tags[n]
            for n, session in enumerate(path[:n_words])
        ]

    @cached_property
    def _own_tags(self) -> Tags:
        """Return the tagger's tags for all words, as if the sentence ended here."""
        assert self._tagger is not None
        request = self._parser.tag_request or TagRequest()
        return self._tagger.candidate_tags([self.words], *request)[0]
