"""The trained generative model: grammar, vocabulary, counts and interpolation weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.generative.config import GenerativeConfig
from spacy_incparse.generative.context_counts import ContextTable
from spacy_incparse.generative.estimation import (
    N_FOLDS,
    NestedCounts,
    count,
    estimate_weights,
    to_table_arguments,
)
from spacy_incparse.generative.events import EventLog
from spacy_incparse.generative.generative_scorer import Probabilities
from spacy_incparse.generative.lattice import Lattice
from spacy_incparse.generative.templates import field_numbers, nested_sets
from spacy_incparse.generative.vocabulary import Vocabulary
from spacy_incparse.incremental.derivation import Move, derivation
from spacy_incparse.incremental.grammar import Grammar, check_ids
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.incremental.treebank_parser import FIRST_SYMBOL, root_symbol
from spacy_incparse.parsing.parse import Tag, Tags
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class GenerativeModel:
    """Everything that is learned from a treebank; the weights are by bucket (see estimation.py)."""

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
        grammar = grammar or Grammar.from_trees(
            transformed, chain_min_count=config.chain_min_count, triple_min_count=config.triple_min_count
        )
        tag_ids = grammar.labels.tag_ids
        vocabulary = Vocabulary.from_sentences(
            [(tree.words, [tag_ids[tag] for tag in tree.tags]) for tree in trees],
            known_min_count=config.known_min_count,
            class_min_count=config.class_min_count,
        )
        log = event_log(grammar, heads, config)
        sizes = [log.add(*encode(tree, grammar, vocabulary)) for tree in transformed]
        n_nodes, n_words = np.diff(np.array([(0, 0), *sizes]), axis=0).T
        tenths = np.arange(len(trees)) * N_FOLDS // len(trees)
        node_rows, word_rows = log_arrays(log, config)
        nodes, node_paths = count(node_rows)
        words, word_paths = count(word_rows)
        bases = class_bases(words, vocabulary, len(grammar.tags))
        rows = class_rows(vocabulary)
        node_base = 1 / (len(grammar.nonterminals) - 1 + len(grammar.tags) + node_rows[:, 0] % 2)
        word_base = bases[rows[word_rows[:, -1]], word_rows[:, 0]]
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

    def moves(self, config: GenerativeConfig) -> Moves:
        """Compile the grammar for the search."""
        return Moves(self.grammar, self.heads, (), frozenset(config.conjunctions), 0, 0.0)

    def probabilities(self, moves: Moves, config: GenerativeConfig) -> Probabilities:
        """Compile the tables."""
        sets = nested_sets(config.sets)
        return Probabilities(
            moves,
            root_symbol(self.grammar),
            ContextTable(*to_table_arguments(self.nodes, self.node_weights)),
            ContextTable(*to_table_arguments(self.words, self.word_weights)),
            field_numbers(sets.node),
            field_numbers(sets.word),
            class_rows(self.vocabulary).tolist(),
            class_bases(self.words, self.vocabulary, len(self.grammar.tags)).tobytes(),
        )

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


def event_log(grammar: Grammar, heads: HeadRules, config: GenerativeConfig) -> EventLog:
    """Return an empty log of the decisions in the sets of a configuration."""
    sets = nested_sets(config.sets)
    moves = Moves(grammar, heads, (), frozenset(config.conjunctions), 0, 0.0)
    return EventLog(moves, root_symbol(grammar), field_numbers(sets.node), field_numbers(sets.word))


def log_arrays(log: EventLog, config: GenerativeConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a log as arrays."""
    sets = nested_sets(config.sets)
    return (
        np.frombuffer(log.node_bytes(), np.int32).reshape(-1, len(sets.node) + 1),
        np.frombuffer(log.word_bytes(), np.int32).reshape(-1, len(sets.word) + 2),
    )


def encode_known(tree: Tree, grammar: Grammar, vocabulary: Vocabulary) -> tuple[Lattice, list[int], list[list[int]]]:
    """Return what `encode` returns, for the words before the first whose chain has a label that the grammar lacks."""
    known = grammar.labels.nonterminal_ids
    moves = derivation(tree)
    n_known = next((k for k, move in enumerate(moves) if not known.keys() >= set(move.chain)), len(moves))
    return _encode(moves[:n_known], tree, grammar, vocabulary)


def encode(tree: Tree, grammar: Grammar, vocabulary: Vocabulary) -> tuple[Lattice, list[int], list[list[int]]]:
    """Return a transformed tree as an `EventLog` adds it: words with one tag each, closings, chains of symbols."""
    return _encode(derivation(tree), tree, grammar, vocabulary)


def _encode(
    moves: Sequence[Move], tree: Tree, grammar: Grammar, vocabulary: Vocabulary
) -> tuple[Lattice, list[int], list[list[int]]]:
    labels = grammar.labels
    lattice = Lattice()
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
