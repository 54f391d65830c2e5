"""What parsers of all kinds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from spacy_incparse.derivations.chains import Grammar
from spacy_incparse.derivations.constrained_search import ConstrainedSearch, Constraint, Constraints
from spacy_incparse.derivations.moves import Moves
from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

ROOT_LABEL = "TOP"
FIRST_SYMBOL = 2  # of the nonterminals, in the search (derivations/state.pxd)


@dataclass(frozen=True)
class Parse:
    """A tree over all words of a sentence, its score in averaged weights, and where it came from.

    source: "beam"; "relaxed" where some word was done again without the grammar's triples; "flat" where the search gave
    nothing, and all words hang from the root. unmet: constraints that were left out, since no tree could meet them.
    """

    tree: Tree
    score: float
    source: str
    unmet: tuple[Constraint, ...] = ()


class TreebankModel(Protocol):
    """What all models have from their treebank."""

    @property
    def grammar(self) -> Grammar:
        """Chains, triples and labels."""

    @property
    def heads(self) -> HeadRules:
        """The head rules."""


class TrainedParser(ABC):
    """A parser with a model and the moves of its grammar; how it searches is its subclass's."""

    model: TreebankModel
    _moves: Moves

    @abstractmethod
    def parse(self, words: Sequence[str], tags: Any, constraints: Constraints = ()) -> Parse:
        """Parse one sentence."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Give the whole parser."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> TrainedParser:
        """Undo `to_bytes`. Raises ModelError for anything else."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, the most frequent first."""
        return self.model.grammar.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted(label for label in self.model.grammar.nonterminals if slash_base(label) is None))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""
        return self.model.heads

    def parse_batch(self, sentences: Iterable[tuple]) -> list[Parse]:
        """Parse sentences, each given by its words and tags, and constraints if there are any."""
        return [self.parse(*sentence) for sentence in sentences]

    @cached_property
    def _constrained(self) -> ConstrainedSearch:
        return ConstrainedSearch(self._moves, phrase_symbols(self.model.grammar), ROOT_LABEL)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def check_sentence(words: Sequence[str], tags: Sequence[Any] | None) -> None:
    """Raise ValueError for a sentence without words, or with more or fewer tags."""
    if not words or (tags is not None and len(words) != len(tags)):
        n_tags = 0 if tags is None else len(tags)
        raise ValueError(f"a sentence needs words and as many tags, not {len(words)} words and {n_tags} tags")


def root_symbol(grammar: Grammar) -> int:
    """Give the search's symbol of the root label."""
    return FIRST_SYMBOL + grammar.labels.nonterminal_ids[ROOT_LABEL]


def phrase_symbols(grammar: Grammar) -> dict[str, int]:
    """Give the search's symbols of the labels that a phrase below the root may have."""
    labels = grammar.labels.nonterminal_ids
    return {label: FIRST_SYMBOL + k for label, k in labels.items() if label != ROOT_LABEL and slash_base(label) is None}


def flat_tree(words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Hang all words from the root."""
    builder = TreeBuilder()
    builder.open(ROOT_LABEL)
    for word, tag in zip(words, tags, strict=True):
        builder.leaf(tag, word)
    builder.close()
    return builder.finish()
