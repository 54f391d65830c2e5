"""The parser of `incparse_chart`: sentences with the vectors of their words, and what a neural model makes of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from spacy_incparse.documents.configured_parser import ConfiguredParser
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:  # compiled modules and thinc layers are only loaded when a component needs them
    from spacy_incparse.chart.spans.span_parser import ScoredTags, SpanParser
    from spacy_incparse.pipeline.span_scorer import ModelScorer


@dataclass(frozen=True, slots=True)
class VectorSentence(Sentence):
    """A sentence with the vectors of its words, (n_words, width)."""

    vectors: Any = None

    @classmethod
    def of(cls, sentence: Sentence, vectors: Any) -> VectorSentence:
        """Return a sentence with vectors."""
        return cls(**{field.name: getattr(sentence, field.name) for field in fields(Sentence)}, vectors=vectors)


class ChartDecoder(ConfiguredParser):
    """A parser with a model that scores spans.

    max_length: longer sentences are parsed in pieces of at most so many words, so that time and memory stay bounded.
    """

    def __init__(self, parser: SpanParser, scorer: ModelScorer, search: dict[str, Any], nbest: int, max_length: int):
        super().__init__(parser, None, search, nbest)
        self._scorer, self._max_length, self._tags = scorer, max_length, parser.tags

    def tags_for(self, sentences: Sequence[Sentence], *, use_given: bool) -> list[ScoredTags]:
        """Return the tags of sentences with their fenceposts, or with `use_given` the words' own tags where given.

        Raises IncparseError for a sentence without vectors: its words are no longer those of the Doc's tokens.
        """
        from spacy_incparse.chart.spans.span_parser import ScoredTags

        cuts = [self._pieces(sentence) for sentence in sentences]
        rows = [piece for pieces in cuts for piece in pieces]
        if not rows:
            return []
        all_fences, all_tags = self._scorer.read(rows)
        fences, best_tags = iter(all_fences), iter(all_tags)
        found = []
        for sentence, pieces in zip(sentences, cuts, strict=True):
            own = [self._tags[tag] for piece in islice(best_tags, len(pieces)) for tag in piece.tolist()]
            tags = [given or tag for given, tag in zip(sentence.tags, own, strict=True)] if use_given else own
            found.append(ScoredTags(tags, islice(fences, len(pieces))))
        return found

    def _pieces(self, sentence: Sentence) -> list[Any]:
        """Return the vectors of a sentence's words, in pieces."""
        from spacy_incparse.chart.long_sentences import pieces

        vectors = getattr(sentence, "vectors", None)
        if vectors is None:
            start = " ".join(sentence.words[:8])
            raise IncparseError(
                f"the words of {start!r} are no longer tokens, since tokens were merged or split, and a neural parser "
                f"has no vectors for them: parse the text again"
            )
        return [vectors[first:last] for first, last in pieces(sentence.words, self._max_length)]


def tokens_of(doc: Doc, sentence: Sentence) -> Sequence[int] | None:
    """Return the tokens that are the words of a sentence; None if some word is no token of the Doc."""
    if sentence.tokens:
        return sentence.tokens
    places = {token.idx: token.i for token in doc if not token.is_space}
    found = [places.get(start, -1) for start in sentence.char_starts]
    is_word = (i >= 0 and doc[i].idx + len(doc[i]) == end for i, end in zip(found, sentence.char_ends, strict=True))
    return found if all(is_word) else None
