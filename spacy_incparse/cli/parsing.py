"""Stream text through a pipeline, and return its sentences with their trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_incparse.cli.streaming import stream
from spacy_incparse.documents.live_parsers import LiveParser, deciding_parser, names_from_parsers_on
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.tree_storage import AnchoredTree, anchored_trees
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.tokens import penn_to_raw


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence with its analyses, best first; the words are those of the trees."""

    paragraph: int  # from 1; for tokenized input, the number of the sentence
    start: int  # first character in the paragraph
    text: str
    char_starts: Sequence[int]  # of each word in `text`
    char_ends: Sequence[int]
    parses: Sequence[Parse]
    temperature: float | None = None  # of the model, if the analyses come from it


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Join lines into paragraphs, which end at blank lines; newlines become spaces."""
    paragraph: list[str] = []
    for line in lines:
        if line and not line.isspace():
            paragraph.append(line)
        elif paragraph:
            yield " ".join(paragraph)
            paragraph = []
    if paragraph:
        yield " ".join(paragraph)


def split_words(line: str) -> list[str]:
    """Split a line at blanks. A no-break space is part of a word, as in treebanks."""
    return [word for word in re.split(r"[ \t\f\v\r]+", line) if word]


def tokenized_docs(lines: Iterable[str], vocab: Vocab, *, ptb: bool = False) -> Iterator[Doc]:
    """Yield a Doc with one sentence for each line that has words; with `ptb`, they are in Penn spelling."""
    for line in lines:
        words = [penn_to_raw(word) if ptb else word for word in split_words(line)]
        if words:
            starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
            yield Doc(vocab, words=words, sent_starts=starts)


def parse_texts(
    nlp: Language,
    texts: Iterable[str | Doc],
    *,
    nbest: int | None = None,
    n_process: int = 1,
    batch_size: int | None = None,
) -> Iterator[ParsedSentence]:
    """Yield the sentences of texts in order, each with up to `nbest` analyses by the pipeline's last parser.

    If that is a reranker, the analyses are in its order. Without `nbest`, each has the tree and the score on its Doc.
    """
    if nbest is None:
        for number, doc in enumerate(stream(nlp, texts, n_process=n_process, batch_size=batch_size), start=1):
            text = doc.text
            yield from (_stored(number, text, tree) for tree in anchored_trees(doc))
        return
    # A Doc has one tree per sentence: the other trees come from the parser itself, after the components before it.
    analyser = deciding_parser(nlp)
    with nlp.select_pipes(disable=names_from_parsers_on(nlp)):
        for number, doc in enumerate(stream(nlp, texts, n_process=n_process, batch_size=batch_size), start=1):
            text = doc.text
            yield from (_analysed(number, text, analyser, sentence, nbest) for sentence in analyser.sentences_of(doc))


def _stored(number: int, text: str, found: AnchoredTree) -> ParsedSentence:
    parse = Parse(found.tree, found.score or 0.0, found.source)
    cut = text[found.start_char : found.end_char]
    return ParsedSentence(number, found.start_char, cut, found.char_starts, found.char_ends, [parse])


def _analysed(number: int, text: str, component: LiveParser, sentence: Sentence, k: int) -> ParsedSentence:
    start = sentence.start_char
    return ParsedSentence(
        number,
        start,
        text[start : sentence.end_char],
        [offset - start for offset in sentence.char_starts],
        [offset - start for offset in sentence.char_ends],
        component.nbest_parses(sentence, k),
        component.decoder.temperature,
    )
