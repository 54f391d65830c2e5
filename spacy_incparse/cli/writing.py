"""The output formats of `parse` except pictures, described in docs/output.md."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import srsly

from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_files import LIST_WRITERS
from spacy_incparse.tokens import raw_to_penn
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.cli.parsing import ParsedSentence
    from spacy_incparse.parsers.parse import Parse

# Number of the sentence (from 1), the sentence, whether to list its analyses, Penn spelling -> pieces of output
SentenceWriter = Callable[[int, "ParsedSentence", bool, bool], Iterator[str]]


def write_penn(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one tree per line; in a list, each follows a line that identifies it, a comment in bracket files."""
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield parse.tree.to_string(ptb=ptb)


def write_pretty(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield indented trees as wide as the terminal, each followed by an empty line."""
    width = shutil.get_terminal_size().columns
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield parse.tree.to_string(width=width, ptb=ptb) + "\n"


def write_drawing(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield trees drawn in characters, as wide as the terminal, each followed by an empty line."""
    width = shutil.get_terminal_size().columns
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield (penn_spelling(parse.tree) if ptb else parse.tree).draw(width=width) + "\n"


def write_json(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one object on one line; in a list, "nbest" contains all analyses."""
    best = sentence.parses[0]
    bounds = zip(best.tree.words, sentence.char_starts, sentence.char_ends, best.tree.tags, strict=True)
    content: dict[str, Any] = {
        "sent": number,
        "paragraph": sentence.paragraph,
        "start": sentence.start,
        "text": sentence.text,
        "tokens": [{"text": word, "start": start, "end": end, "tag": tag} for word, start, end, tag in bounds],
        **_analysis(best, ptb),
    }
    if is_list:
        content["temperature"] = sentence.temperature
        content["nbest"] = [_analysis(parse, ptb) for parse in sentence.parses]
    yield srsly.json_dumps(content)


def write_list(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield the line of an n-best list, as `rerank.list_files` reads it; words are raw."""
    return LIST_WRITERS["json"](_candidates(sentence), number)


def write_bllip(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield the lines of an n-best list in the format of BLLIP; words are in Penn spelling."""
    return LIST_WRITERS["bllip"](_candidates(sentence), number)


SENTENCE_WRITERS: dict[str, SentenceWriter] = {
    "pretty": write_pretty,
    "penn": write_penn,
    "json": write_json,
    "draw": write_drawing,
    "lists": write_list,
    "bllip": write_bllip,
}


def penn_spelling(tree: Tree) -> Tree:
    """Return the tree with its words in Penn Treebank spelling, for pictures; brackets escape raw words."""
    arrays = tree.root.arrays
    return Tree(TreeArrays.of(arrays.labels, arrays.sizes, raw_to_penn(tree.words, tree.tags)))


def _candidates(sentence: ParsedSentence) -> CandidateList:
    return CandidateList(tuple(sentence.parses), sentence.temperature or 1.0)


def _heading(number: int, rank: int, parse: Parse) -> str:
    return f"# sent {number} parse {rank} score {parse.score:.6g}"


def _analysis(parse: Parse, ptb: bool) -> dict[str, Any]:
    return {
        "tree": parse.tree.to_string(ptb=ptb),
        "spans": [{"label": label, "start": start, "end": end} for label, start, end in parse.tree.spans()],
        "score": parse.score,
        "source": parse.source,
    }
