"""`complexity`: measures of syntactic complexity of Docs, sentences, trees and treebanks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span

from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.measuring.complexity import measures, sentence_sums
from spacy_incparse.treebanks.reader import read_parses
from spacy_incparse.trees.tree import Tree

Measurable = Doc | Span | Tree | str | Path


def complexity(texts: Measurable | Iterable[Measurable | None], *, fragments: bool = True) -> dict[str, float | None]:
    """Return measures of syntactic complexity by name; docs/complexity.md defines them. None: there is no such value.

    texts: a parsed Doc, whole sentences of it (a Span), a tree, the path of a bracket file or a folder with such files;
        or several of them, which are measured as one text. None is a sentence without a tree.
    fragments: whether sentences without a T-unit, such as headings and items of lists, count.

    Raises IncparseError for anything else, and for a Span without a whole sentence; TreebankError for a malformed tree.
    """
    given: Any = texts if isinstance(texts, Iterable) and not isinstance(texts, Measurable) else [texts]
    return measures(sentence_sums(chain.from_iterable(map(_trees, given))), fragments=fragments)


def _trees(given: Measurable | None) -> Iterable[Tree | None]:
    if given is None or isinstance(given, Tree):
        return [given]
    if isinstance(given, str | Path):
        return read_parses(given, 0).values()
    if isinstance(given, Doc | Span):
        return sentence_trees(given)
    raise IncparseError(f"{given!r:.60} cannot be measured: pass a parsed Doc, a sentence, trees, or bracket files")


def sentence_trees(doclike: Doc | Span) -> list[Tree | None]:
    """Return the trees of a Doc or Span in text order; None for a sentence without one, or that could not be parsed.

    Raises IncparseError if a Span has no whole sentence in it.
    """
    doc, trees = doclike.doc, anchored_trees(doclike.doc)
    found = {(one.start_char, one.end_char): None if one.source == "flat" else one.tree for one in trees}
    ends = [one.end_char for one in trees]
    for sentence in split_sentences(doc):  # their boundaries may have changed since parsing
        i = bisect_left(ends, sentence.start_char + 1)
        if i == len(trees) or trees[i].start_char >= sentence.end_char:
            found[sentence.start_char, sentence.end_char] = None
    if isinstance(doclike, Span):
        found = {k: tree for k, tree in found.items() if doclike.start_char <= k[0] and k[1] <= doclike.end_char}
        if not found:
            raise IncparseError(f"{doclike.text!r:.60} is no whole sentence: pass one of doc.sents, or the Doc")
    return [found[key] for key in sorted(found)]
