"""The trained generative model: grammar, vocabulary, counts and interpolation weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.generative.counts import N_FOLDS, NestedCounts, count, estimate_weights
from spacy_incparse.generative.generative_scorer import ContextTable, Probabilities
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.generative.walk import EventLog, Lattice
from spacy_incparse.incremental.grammar import FIRST_SYMBOL, Grammar, check_ids, derivation, root_symbol
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.linear.templates import STRUCTURE_FIELDS
from spacy_incparse.parsing.parse import Tag, Tags
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

# What decides a node's label (or the end of its parent), and the word under a tag, as nested sets of fields (those of
# linear/templates.py): each adds one field to the set before, as far as training has seen the context. NODE starts with
# L10, the parent, and WORD with the tag itself, which is not listed. It is Table 2 of Collins & Roark (2004) without LK
# and LKP: F0, F2-F9 for nodes; F0, F11-F15 for words. There the levels of a word's sets count from the word, so its
# L20, L11 and L30 are L10, L01 and L20 here. Nothing may be about the word that is generated next: a look-ahead that is
# generated afterwards would be paid for twice (label bias). Fields that depend on where constituents begin, or are not
# in the search's merge key (CONJ, AFTERP, FIRST, N, S1, S1P), cannot be used either.
NODE = ("L10", "L01", "L02", "L03", "L20", "L11", "L30", "L21", "CL")
WORD = ("L10", "L01", "L20", "CCP", "CC")
_PLACES = {field.name: number for number, field in enumerate(STRUCTURE_FIELDS)}
FIELDS = [_PLACES[name] for name in NODE], [_PLACES[name] for name in WORD]  # places in the extraction's array


@dataclass(frozen=True)
class GenerativeModel:
    """Everything that is learned from a treebank; the weights are by bucket (see counts.py)."""

    grammar: Grammar
    heads: HeadRules
    vocabulary: Vocabulary
    nodes: NestedCounts
    node_weights: np.ndarray
    words: NestedCounts
    word_weights: np.ndarray

    @classmethod
    def train(
        cls, trees: Sequence[Tree], config: GenerativeConfig, heads: HeadRules, grammar: Grammar | None = None
    ) -> GenerativeModel:
        """Count the decisions of normalized trees in one pass, and estimate the weights.

        grammar: replaces the grammar of the trees; it must have all their labels.
        """
        transformed = [transform(tree) for tree in trees]
        grammar = grammar or Grammar.from_trees(transformed)
        tag_ids = grammar.labels.tag_ids
        vocabulary = Vocabulary.from_sentences([(tree.words, [tag_ids[tag] for tag in tree.tags]) for tree in trees])
        log = EventLog(Moves(grammar, heads, (), 0, 0.0), root_symbol(grammar), *FIELDS)
        sizes = [log.add(*encode(tree, grammar, vocabulary)) for tree in transformed]
        n_nodes, n_words = np.diff(np.array([(0, 0), *sizes]), axis=0).T
        tenths = np.arange(len(trees)) * N_FOLDS // len(trees)
        node_rows = np.frombuffer(log.node_bytes(), np.int32).reshape(-1, len(NODE) + 1)
        word_rows = np.frombuffer(log.word_bytes(), np.int32).reshape(-1, len(WORD) + 2)
        nodes, node_paths = count(node_rows)
        words, word_paths = count(word_rows)
        bases = class_bases(words, vocabulary, len(grammar.tags))
        node_base = 1 / (len(grammar.nonterminals) - 1 + len(grammar.tags) + node_rows[:, 0] % 2)
        word_base = bases[class_rows(vocabulary)[word_rows[:, -1]], word_rows[:, 0]]
        least = config.context_min_count
        return cls(
            grammar,
            heads,
            vocabulary,
            nodes.without_rare(least),
            estimate_weights(node_rows, node_paths, np.repeat(tenths, n_nodes), node_base, least),
            words.without_rare(least),
            estimate_weights(word_rows, word_paths, np.repeat(tenths, n_words), word_base, least),
        )

    def compile(self) -> tuple[Moves, Probabilities]:
        """Compile the grammar and the tables for the search."""
        moves = Moves(self.grammar, self.heads, (), 0, 0.0)
        probabilities = Probabilities(
            moves,
            root_symbol(self.grammar),
            ContextTable(*self.nodes.table_arguments(self.node_weights)),
            ContextTable(*self.words.table_arguments(self.word_weights)),
            *FIELDS,
            class_rows(self.vocabulary).tolist(),
            class_bases(self.words, self.vocabulary, len(self.grammar.tags)).tobytes(),
        )
        return moves, probabilities

    def nodes_of(self, words: Sequence[str], tags: Tags | None) -> list[tuple[int, tuple[int, ...]]]:
        """Return each word's number and the ids of the tags that it may have.

        tags: one entry per word: its tag, several tags (each with a gap, which does not matter here), or None for all
        tags that the word may have. A given tag that training has not seen counts as the most frequent one.
        """
        numbers = self.vocabulary.encode(words)
        given = [None] * len(words) if tags is None else tags
        return [(number, self.choices(number, tag)) for number, tag in zip(numbers, given, strict=True)]

    def choices(self, number: int, tag: Tag) -> tuple[int, ...]:
        """Return the ids of the tags that a word may have, given its number and its entry in `tags`."""
        if not tag:
            return self.vocabulary.tags[number]
        tag_ids = self.grammar.labels.tag_ids
        if isinstance(tag, str):
            return (tag_ids.get(tag, 0),)
        return tuple(dict.fromkeys(tag_ids[name] for name, _ in tag if name in tag_ids)) or (0,)

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack; its grammar without contexts, which the search ignores."""
        return {
            "grammar": replace(self.grammar, contexts={}).to_dict(),
            "heads": self.heads.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "nodes": self.nodes.to_dict(),
            "node_weights": self.node_weights.tolist(),
            "words": self.words.to_dict(),
            "word_weights": self.word_weights.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GenerativeModel:
        """Undo `to_dict`. Raises ModelError for counts that do not match and for ids without a label."""
        grammar, vocabulary = Grammar.from_dict(data["grammar"]), Vocabulary.from_dict(data["vocabulary"])
        nodes, words = NestedCounts.from_dict(data["nodes"]), NestedCounts.from_dict(data["words"])
        extremes = nodes.outcomes.min(initial=0), nodes.outcomes.max(initial=0)
        check_ids(extremes, 0, FIRST_SYMBOL + len(grammar.nonterminals) + len(grammar.tags))
        check_ids({tag for tags in vocabulary.tags for tag in tags}, 0, len(grammar.tags))
        if len(vocabulary.tags) != vocabulary.n_events + 1:
            raise ModelError("the model is damaged: its words and their tags do not match")
        weights = np.array(data["node_weights"], float), np.array(data["word_weights"], float)
        if not all(((one >= 0) & (one <= 1)).all() for one in weights):
            raise ModelError("the model is damaged: its weights are no probabilities")
        return cls(grammar, HeadRules.from_dict(data["heads"]), vocabulary, nodes, weights[0], words, weights[1])


def encode(
    tree: Tree, grammar: Grammar, vocabulary: Vocabulary, *, only_known: bool = False
) -> tuple[Lattice, list[int], list[list[int]]]:
    """Return a transformed tree as an `EventLog` adds it: words with one tag each, closings, chains of symbols.

    only_known: the words before the first whose chain has a label that the grammar lacks.
    """
    labels, lattice, moves = grammar.labels, Lattice(), derivation(tree)
    if only_known:
        known = labels.nonterminal_ids.keys()
        moves = moves[: next((k for k, move in enumerate(moves) if not known >= set(move.chain)), len(moves))]
    for number, tag, _ in zip(vocabulary.encode(tree.words), tree.tags, moves, strict=False):
        lattice.push(number, (labels.tag_ids[tag],))
    chains = [[FIRST_SYMBOL + labels.nonterminal_ids[label] for label in move.chain] for move in moves]
    return lattice, [move.n_closings for move in moves], chains


def class_rows(vocabulary: Vocabulary) -> np.ndarray:
    """Return, by number of a word or class, the row of its class in `class_bases`."""
    first = len(vocabulary.words) + 1
    rows = [vocabulary.class_number(word, False) - first for word in vocabulary.words]
    return np.array([0, *rows, *range(len(vocabulary.classes))], np.int32)


def class_bases(words: NestedCounts, vocabulary: Vocabulary, n_tags: int) -> np.ndarray:
    """Return P(word | tag) before anything is counted, by class and tag: P(class | tag) over the class's members.

    The members are the known words that look like the class, and one place for all unknown words. P(class |
    tag) comes from the words that count for classes, with one count of P(class) added.
    """
    n_words, n_classes = len(vocabulary.words), len(vocabulary.classes)
    counts = np.zeros((n_classes, n_tags))
    n_contexts = words.level_sizes[0]
    tags = np.repeat(words.values[:n_contexts], words.n_outcomes[:n_contexts])
    outcomes, here = words.outcomes[: len(tags)], words.counts[: len(tags)]
    of_class = outcomes > n_words
    np.add.at(counts, (outcomes[of_class] - n_words - 1, tags[of_class]), here[of_class])
    shares = (counts.sum(axis=1) + 1) / (counts.sum() + n_classes)
    members = 1 + np.bincount(class_rows(vocabulary)[1 : n_words + 1], minlength=n_classes)
    return (counts + shares[:, None]) / (counts.sum(axis=0) + 1) / members[:, None]
