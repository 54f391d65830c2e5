"""The output formats of `parse`; docs/output.md describes them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import srsly

from spacy_incparse.tokens import raw_to_penn
from spacy_incparse.trees.tree import Tree, TreeArrays

if TYPE_CHECKING:
    from spacy_incparse.cli.parsing import ParsedSentence
    from spacy_incparse.search.parser import Parse

# Number of the sentence (from 1), the sentence, whether it heads a list of analyses, Penn spelling -> pieces of output
Writer = Callable[[int, "ParsedSentence", bool, bool], Iterator[str]]


def write_penn(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one tree a line; in a list each behind a line that says which it is, a comment in bracket files."""
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield _brackets(parse.tree, ptb, str)


def write_pretty(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield indented trees as wide as the terminal, an empty line behind each."""
    width = shutil.get_terminal_size().columns
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield _brackets(parse.tree, ptb, lambda tree: tree.pretty(width)) + "\n"


def write_json(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one object on one line; in a list the analyses behind the best one are under "nbest" with it."""
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
        content["nbest"] = [_analysis(parse, ptb) for parse in sentence.parses]
    yield srsly.json_dumps(content)


WRITERS: dict[str, Writer] = {"pretty": write_pretty, "penn": write_penn, "json": write_json}


def _heading(number: int, rank: int, parse: Parse) -> str:
    return f"# sent {number} parse {rank} score {parse.score:.6g}"


def _analysis(parse: Parse, ptb: bool) -> dict[str, Any]:
    return {
        "tree": _brackets(parse.tree, ptb, str),
        "spans": [{"label": label, "start": start, "end": end} for label, start, end in parse.tree.spans()],
        "score": parse.score,
        "source": parse.source,
    }


def _brackets(tree: Tree, ptb: bool, draw: Callable[[Tree], str]) -> str:
    return _in_penn_spelling(tree, draw) if ptb else draw(tree)


def _in_penn_spelling(tree: Tree, draw: Callable[[Tree], str]) -> str:
    """Draw the tree with Penn words, which would be escaped once more if they stood in it: numbers stand for them."""
    words: Sequence[str] = raw_to_penn(tree.words, tree.tags)
    numbers = [str(i).zfill(len(word)) for i, word in enumerate(words)]
    arrays = tree.root.arrays
    drawn = draw(Tree(TreeArrays.of(arrays.labels, arrays.sizes, numbers)))
    return re.sub(r" (\d+)\)", lambda match: f" {words[int(match[1])]})", drawn)
