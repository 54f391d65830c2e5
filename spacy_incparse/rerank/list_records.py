"""N-best lists as they stand in a file, and the candidate lists made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from spacy_incparse.errors import TreebankError
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.forest_normalizing import normalized as normalized_forest
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.trees.bracket_parser import parse_one
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.labels import TRACE_TAG
from spacy_incparse.trees.tree import Tree

FOUND_BY_SEARCH = "beam"  # the source of a tree of which the file says nothing


class Brackets(NamedTuple):
    """A tree in brackets, with the line and column where it begins; column 0: it is a part of a JSON object."""

    line: int
    text: str
    column: int = 1


@dataclass
class ListRecord:
    """An n-best list whose trees are still brackets; `line` is where it begins.

    words: those that the trees must have, if the file says so. others: scores by other models.
    """

    line: int
    trees: list[Brackets] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    temperature: float = 1.0
    gold: Brackets | None = None
    words: Sequence[str] | None = None
    others: dict[str, list[float]] = field(default_factory=dict)

    def add(self, tree: Brackets, score: float, source: str = FOUND_BY_SEARCH) -> None:
        """Add a tree at the end of the list."""
        self.trees.append(tree)
        self.scores.append(score)
        self.sources.append(source)


class ListBuilder:
    """Turns the records of a file into candidate lists.

    normalized: whether trees are normalized as those of treebanks are (treebanks/normalize.py).
    """

    def __init__(self, path: Path, *, normalized: bool = True):
        self._path, self._normalized = path, normalized
        self._symbols = Symbols()
        self._reader = BracketReader(self._symbols)

    def build(self, record: ListRecord) -> CandidateList:
        """Return the list. Raises TreebankError if it is empty, or a tree is malformed or over other words."""
        if not record.trees:
            raise TreebankError(self._path, record.line, 1, "the list has no trees; expected at least one")
        trees = self._trees(record.trees)
        words = trees[0].words if record.words is None else tuple(record.words)
        for number, (tree, brackets) in enumerate(zip(trees, record.trees, strict=True), start=1):
            if tree.words != words:
                source = "the first tree" if record.words is None else 'the list\'s "words"'
                raise self._error(brackets, f"tree {number} has {_difference(tree.words, words)} {source}; {_ADVICE}")
        parses = tuple(map(Parse, trees, record.scores, record.sources))
        gold = None if record.gold is None else self._trees([record.gold])[0]
        built = CandidateList(parses, record.temperature, gold, record.others)
        return built if gold is None else with_gold(built, gold, self._path, record.line)

    def _trees(self, texts: Sequence[Brackets]) -> list[Tree]:
        """Return the trees; what the fast scanner does not expect is read again for a message about the mistake."""
        forest = Forest(symbols=self._symbols)
        for number, brackets in enumerate(texts, start=1):
            if self._reader.read(brackets.text.encode(), forest) < 0 or len(forest) != number:
                return [self._read_slowly(brackets) for brackets in texts]
        found = list(normalized_forest(forest) if self._normalized else forest)
        return found if len(found) == len(texts) else [self._read_slowly(brackets) for brackets in texts]

    def _read_slowly(self, brackets: Brackets) -> Tree:
        try:
            tree = Tree(parse_one(brackets.text))
        except TreebankError as error:
            if brackets.column == 0:
                what = f"{error.what}; in column {error.column} of the tree {brackets.text!r:.60}"
                raise self._error(brackets, what) from None
            column = error.column + (brackets.column - 1 if error.line == 1 else 0)
            raise TreebankError(self._path, brackets.line + error.line - 1, column, error.what) from None
        kept = normalize(tree) if self._normalized else tree
        if kept is None:
            raise self._error(brackets, "the tree has no words besides traces; expected a tree over a sentence")
        return kept

    def _error(self, brackets: Brackets, what: str) -> TreebankError:
        return TreebankError(self._path, brackets.line, max(brackets.column, 1), what)


def with_gold(found: CandidateList, gold: Tree, path: Path, line: int) -> CandidateList:
    """Return a list with its gold tree. Raises TreebankError if the gold tree has other words; traces may differ."""
    words, gold_words = (_words(tree) for tree in (found.parses[0].tree, gold))
    if words != gold_words:
        what = f"the gold tree has {_difference(gold_words, words)} the trees of the list"
        raise TreebankError(path, line, 1, f"{what}; expected gold trees of the same sentences in the same order")
    return replace(found, gold=gold)


_ADVICE = "all trees of a list are over the same words"


def _words(tree: Tree) -> tuple[str, ...]:
    if TRACE_TAG not in tree.tags:
        return tree.words
    return tuple(word for word, tag in zip(tree.words, tree.tags, strict=True) if tag != TRACE_TAG)


def _difference(words: Sequence[str], expected: Sequence[str]) -> str:
    """Describe how words differ from those that were expected, up to the name of where the latter are."""
    if len(words) != len(expected):
        return f"{len(words)} words, against {len(expected)} of"
    i = next(i for i, (word, other) in enumerate(zip(words, expected, strict=True)) if word != other)
    return f"the word {words[i]!r} in place {i + 1}, against {expected[i]!r} of"
