"""From Docs to stored trees: the batches that go to the tagger and the parser, and what happens where these fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.pipeline.configured_parser import Decoder
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.perceptron.perceptron_parser import Tags
    from spacy_incparse.tagging.tagger import Tagger

BATCH_WORDS = 10_000  # parsed at once: enough to make the overhead of a batch small, little enough to keep memory flat
UNKNOWN_TAG = "X"  # of a word in a flat tree where even the tagger failed


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence and the string that stores its tree."""

    sentence: Sentence
    tags: Sequence[str]
    stored: str
    measures: str | None = None  # the string that stores what each word costs
    unmet: Sequence[tuple] = ()  # constraints that were left out


def annotate(
    sentences: Sequence[Sentence],
    tagger: Tagger | None,
    decoder: Decoder,
    on_error: Callable[[Sentence, Exception], None],
    on_unmet: Callable[[Sentence, Sequence[tuple]], None] = lambda sentence, constraints: None,
    *,
    use_given_tags: bool = False,
) -> list[ParsedSentence]:
    """Tag and parse sentences of any Docs; every one of them gets a tree.

    A sentence in which something fails gets a flat tree, and `on_error` is told; the others do not suffer from it.
    `on_unmet` is told of constraints that a tree could not meet. With `use_given_tags` the tagger is asked only where a
    word has no tag.
    """
    parsed: list[ParsedSentence] = []
    for batch in _batches(sentences):
        try:
            parsed += _annotate_batch(batch, tagger, decoder, use_given_tags)
        except Exception:
            parsed += [_annotate_one(sentence, tagger, decoder, on_error, use_given_tags) for sentence in batch]
    for item in parsed:
        if item.unmet:
            on_unmet(item.sentence, item.unmet)
    return parsed


def _batches(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    batch: list[Sentence] = []
    n_words = 0
    for sentence in sentences:
        batch.append(sentence)
        n_words += len(sentence.words)
        if n_words >= BATCH_WORDS:
            yield batch
            batch, n_words = [], 0
    if batch:
        yield batch


def _annotate_batch(
    batch: list[Sentence], tagger: Tagger | None, decoder: Decoder, use_given_tags: bool
) -> list[ParsedSentence]:
    tags = sentence_tags(batch, tagger, decoder, use_given_tags)
    given = [(s.words, t, s.constraints) if s.constraints else (s.words, t) for s, t in zip(batch, tags, strict=True)]
    parses = decoder.parser.parse_batch(given)
    stored = [
        _encode(p.tree, s, p.score, p.source, decoder.fields(p, *sentence))
        for s, p, sentence in zip(batch, parses, given, strict=True)
    ]
    return [
        ParsedSentence(s, p.tree.tags, string, unmet=p.unmet)
        for s, p, string in zip(batch, parses, stored, strict=True)
    ]


def _annotate_one(
    sentence: Sentence,
    tagger: Tagger | None,
    decoder: Decoder,
    on_error: Callable[[Sentence, Exception], None],
    use_given_tags: bool,
) -> ParsedSentence:
    try:
        return _annotate_batch([sentence], tagger, decoder, use_given_tags)[0]
    except Exception as error:
        on_error(sentence, error)
    from spacy_incparse.derivations.treebank_parser import (
        flat_tree,
    )  # compiled modules stay unloaded until they are needed

    tags = [tag or UNKNOWN_TAG for tag in sentence.tags]
    tree = flat_tree(sentence.words, tags)
    return ParsedSentence(sentence, tags, _encode(tree, sentence, None, "flat", [decoder.heads_field(tree)]))


def _encode(tree: Tree, s: Sentence, score: float | None, source: str, more: Sequence[str]) -> str:
    return encode(tree, s.char_starts, s.char_ends, origin=s.start_char, score=score, source=source, more=more)


def sentence_tags(
    batch: Sequence[Sentence], tagger: Tagger | None, decoder: Decoder, use_given_tags: bool
) -> Sequence[Tags]:
    """Return the tags that sentences are parsed under: the tagger's, or given ones where there are any."""
    if not use_given_tags:
        return _own_tags(batch, tagger, decoder)
    untagged = [sentence for sentence in batch if not all(sentence.tags)]
    own = {id(sentence): tags for sentence, tags in zip(untagged, _own_tags(untagged, tagger, decoder), strict=True)}
    return [
        [given or guess for given, guess in zip(s.tags, own[id(s)], strict=True)] if id(s) in own else s.tags
        for s in batch
    ]


def _own_tags(batch: Sequence[Sentence], tagger: Tagger | None, decoder: Decoder) -> Sequence[Tags]:
    parser: Any = decoder.parser
    if tagger is None and parser.needs_tags:
        return [[UNKNOWN_TAG] * len(sentence.words) for sentence in batch]
    return parser.tag_with(tagger, [sentence.words for sentence in batch])
