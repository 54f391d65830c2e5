"""Scores of grammatical relations and of dependencies, and gold dependencies from CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.evaluation.annotations import Tally
from spacy_incparse.functions.dependencies import Dependency, dependencies
from spacy_incparse.functions.relations import MODIFIER, Relation, read_relations
from spacy_incparse.functions.rules import with_rules
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.tokens import raw_word
from spacy_incparse.treebanks.formats import conllu_words, table_blocks
from spacy_incparse.treebanks.graphs import BadError
from spacy_incparse.treebanks.reader import read_text
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree

PUNCTUATION = "punct"  # the label of words that do not count
LOCAL, NONLOCAL = "local", "nonlocal"

Key = tuple[int, str, int]  # verb, relation, head


@dataclass
class RelationScores:
    """Scores of what the trees of sentences say, by rules where they have no functions or no empty categories.

    relations: by name, without modifiers; verb, name and head must be right. places: the same, as "nonlocal" if it is
    understood in the gold tree, or in the other one where the gold tree has none, and else as "local". attached: words
    with the right head as "UAS", with the right head and label as "LAS", without punctuation.
    """

    table: LanguageTable
    relations: Tally = field(default_factory=Tally)
    places: Tally = field(default_factory=Tally)
    attached: Tally = field(default_factory=Tally)

    def add(self, gold: TreeArrays, found: TreeArrays | None) -> None:
        """Count the relations of a gold tree with functions and empty categories, and of another tree if there is one.

        The gold tree counts as it is.
        """
        right = _keyed(read_relations(gold, self.table))
        own = {} if found is None else _keyed(read_relations(with_rules(found, self.table), self.table))
        both, are_understood = (list(right), list(own)), own | right
        self.relations.add(both, lambda key: key[1])
        self.places.add(both, lambda key: NONLOCAL if are_understood[key] else LOCAL)

    def add_dependencies(self, gold: Sequence[Dependency], found: TreeArrays | None) -> None:
        """Count the dependencies of a sentence, and those of a tree on the same words if there is one."""
        own = [] if found is None else dependencies(found, self.table)
        both = [[(i, *one) for i, one in enumerate(some) if gold[i].label != PUNCTUATION] for some in (gold, own)]
        self.attached.add(([item[:2] for item in items] for items in both), lambda _: "UAS")
        self.attached.add(both, lambda _: "LAS")


def _keyed(relations: Iterable[Relation]) -> dict[Key, bool]:
    """Return verb, name and head of relations, each with whether it is understood."""
    return {(one.verb, one.relation, one.head): one.understood for one in relations if one.relation != MODIFIER}


class Sentence(NamedTuple):
    """A sentence of CoNLL-U."""

    words: tuple[str, ...]
    dependencies: list[Dependency]


def read_conllu(path: Path) -> list[Sentence]:
    """Return the sentences of a file, plain or gzipped, without multiword tokens and empty nodes.

    Raises IncparseError with file, line and value for a line that is no word of CoNLL-U, and for a head that is none.
    """
    sentences = []
    try:
        for block in table_blocks(read_text(path).split("\n")):
            rows = list(conllu_words(block))
            for columns, number in rows:
                if not (columns[6].isdecimal() and int(columns[6]) <= len(rows)):
                    what = f"expected the number of one of {len(rows)} words, or 0, for the head of {columns[1]!r}"
                    raise BadError(number, f"{what}, not {columns[6]!r:.60}")
            gold = [Dependency(int(columns[6]) - 1, columns[7]) for columns, _ in rows]
            sentences.append(Sentence(tuple(columns[1] for columns, _ in rows), gold))
    except BadError as bad:
        raise TreebankError(path, bad.place, 1, bad.what) from None
    return sentences


def aligned(sentences: Iterable[Sentence], trees: Iterable[Tree], path: Path) -> list[list[Dependency]]:
    """Return the dependencies of the sentences of trees. Raises IncparseError at the first one with other words."""
    found, following = list[list[Dependency]](), iter(sentences)
    for number, tree in enumerate(trees, start=1):
        one = next(following, None)
        if one is None or list(map(raw_word, one.words)) != list(map(raw_word, tree.words)):
            words = "no more sentences" if one is None else repr(" ".join(one.words)[:60])
            raise IncparseError(
                f"{path}: sentence {number} of the treebank is {' '.join(tree.words)!r:.60}, but {words} follows here: "
                f"both files must have the same sentences"
            )
        found.append(one.dependencies)
    return found
