"""Tag and parse sentences in batches, handle failures, and encode the trees for storage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from spacy_incparse.documents.configured_parser import ConfiguredParser
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.parsers.parse import Parse, Tags, flat_tree
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.labels import UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

BATCH_WORDS = 10_000  # large enough to make the overhead per batch small, small enough to limit memory


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence and the string that stores its tree."""

    sentence: Sentence
    tags: Sequence[str]
    stored: str
    measures: str | None = None  # the string that stores the measures of the words
    unmet: Sequence[Constraint] = ()  # constraints that were dropped


def annotate(
    sentences: Sequence[Sentence],
    parser: ConfiguredParser,
    on_error: Callable[[Sentence, Exception], None],
    on_unmet: Callable[[Sentence, Sequence[Constraint]], None] = lambda sentence, constraints: None,
    *,
    use_given_tags: bool = False,
) -> list[ParsedSentence]:
    """Tag and parse the sentences of any Docs, and return a tree for each of them.

    If a sentence fails, it gets a flat tree and `on_error` is called; the other sentences are not affected. `on_unmet`
    is called with the constraints that a tree could not satisfy. With `use_given_tags`, the tagger only tags words
    without a tag.
    """
    parsed: list[ParsedSentence] = []
    for batch in _batches(sentences):
        try:
            parsed += _annotate_batch(batch, parser, use_given_tags)
        except Exception:
            parsed += [_annotate_one(sentence, parser, on_error, use_given_tags) for sentence in batch]
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


def _annotate_batch(batch: list[Sentence], parser: ConfiguredParser, use_given_tags: bool) -> list[ParsedSentence]:
    tags = parser.tags_for(batch, use_given=use_given_tags)
    given = [(s.words, t, s.constraints) if s.constraints else (s.words, t) for s, t in zip(batch, tags, strict=True)]
    parses = parser.parser.parse_batch(given)
    return [
        encode_parse(s, p, parser.fields(p, *sentence)) for s, p, sentence in zip(batch, parses, given, strict=True)
    ]


def encode_parse(sentence: Sentence, parse: Parse, fields: Sequence[str]) -> ParsedSentence:
    """Return a sentence with the string that stores a parse and further fields."""
    stored = _encode(parse.tree, sentence, parse.score, parse.source, fields)
    return ParsedSentence(sentence, parse.tree.tags, stored, None, parse.unmet)


def _annotate_one(
    sentence: Sentence,
    parser: ConfiguredParser,
    on_error: Callable[[Sentence, Exception], None],
    use_given_tags: bool,
) -> ParsedSentence:
    try:
        return _annotate_batch([sentence], parser, use_given_tags)[0]
    except Exception as error:
        on_error(sentence, error)
    tags = [tag or UNKNOWN_TAG for tag in sentence.tags]
    tree = flat_tree(sentence.words, tags)
    return ParsedSentence(sentence, tags, _encode(tree, sentence, None, "flat", [parser.heads_field(tree)]))


def nbest_parses(sentence: Sentence, parser: ConfiguredParser, k: int | None, *, use_given_tags: bool) -> list[Parse]:
    """Return up to `k` analyses of a sentence, starting with that of `annotate`; a flat tree if parsing fails."""
    try:
        (tags,) = parser.tags_for([sentence], use_given=use_given_tags)
        return parser.nbest_search.analyses(sentence.words, tags, sentence.constraints, k)
    except Exception:
        flat: Tags = [tag or UNKNOWN_TAG for tag in sentence.tags]
        return [Parse(flat_tree(sentence.words, flat), 0.0, "flat")]


def _encode(tree: Tree, s: Sentence, score: float | None, source: str, more: Sequence[str]) -> str:
    return encode(tree, s.char_starts, s.char_ends, origin=s.start_char, score=score, source=source, more=more)
