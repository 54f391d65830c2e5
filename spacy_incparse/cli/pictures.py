"""`parse --format svg|html`: draw all sentences in one document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from spacy_incparse.cli.writing import SENTENCE_WRITERS, penn_spelling
from spacy_incparse.viz.page import page_pieces
from spacy_incparse.viz.picture import Entry, Picture, markup, side_by_side

if TYPE_CHECKING:
    from spacy_incparse.cli.parsing import ParsedSentence

# The sentences, whether each has a list of analyses, Penn spelling -> pieces of output
Writer = Callable[[Iterable["ParsedSentence"], bool, bool], Iterator[str]]


def find_writer(name: str) -> Writer:
    """Return the function that writes sentences in the named format."""
    return {"svg": write_svg, "html": write_page}.get(name) or _by_sentence(name)


def write_svg(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one SVG document with one row per sentence and its analyses side by side."""
    yield markup(Picture([_row(sentence, is_list, ptb) for sentence in sentences]), "tree")


def write_page(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield an HTML page in which users can fold and search trees; each tree as soon as it is parsed."""
    yield from page_pieces((Picture([_row(sentence, is_list, ptb)]) for sentence in sentences), "tree")


def _row(sentence: ParsedSentence, is_list: bool, ptb: bool) -> list[Entry]:
    trees = [penn_spelling(parse.tree) if ptb else parse.tree for parse in sentence.parses]
    if not is_list:
        return [Entry(trees[0])]
    captions = [f"{rank} · score {parse.score:.6g}" for rank, parse in enumerate(sentence.parses, start=1)]
    return side_by_side(trees, captions)


def _by_sentence(name: str) -> Writer:
    write = SENTENCE_WRITERS[name]

    def write_all(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
        for number, sentence in enumerate(sentences, start=1):
            yield from write(number, sentence, is_list, ptb)

    return write_all
