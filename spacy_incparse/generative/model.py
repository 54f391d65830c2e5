"""The trained generative model: grammar, vocabulary, counts and interpolation weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError, check_texts
from spacy_incparse.generative.counts import N_FOLDS, NestedCounts, count, estimate_weights
from spacy_incparse.generative.generative_scorer import ContextTable, Probabilities
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.spelling import Spelling
from spacy_incparse.generative.walk import EventLog, Lattice
from spacy_incparse.incremental.grammar import FIRST_SYMBOL, Grammar, check_ids, derivation, root_symbol
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.linear.templates import STRUCTURE_FIELDS
from spacy_incparse.parsing.local_trees import local_trees_of
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

MAX_SUFFIX = 4  # letters
RARE, LIKELY = 20, 0.01  # a word seen this rarely may have any tag with this share among the words that look like it
CACHE_SIZE = 200_000  # words remembered with their class
Tagged = tuple[Sequence[str], Sequence[int]]  # a sentence's words, and the ids of their tags


class Vocabulary:
    """The words that the model generates: known words, and classes of all others, numbered from 1. 0 means no word.

    Words seen once in training are unknown: the classes are estimated from them. A class is a shape and an ending, made
    more general until it has been seen often enough; every string has one. The probability of an unknown word in a tree
    is therefore that of any unknown word of its class; `Spelling` divides it among them.

    tags: by number, the ids of the possible tags, most frequent first: those that it was seen with, and for a rare word
    also those of the words that look like it. rare: unknown words that training has seen.
    """

    def __init__(
        self, words: Sequence[str], classes: Sequence[str], tags: Sequence[Sequence[int]] = (), rare: Sequence[str] = ()
    ):
        self.words, self.classes, self.rare = tuple(words), tuple(classes), tuple(rare)
        self.tags = tuple(tuple(row) for row in tags)
        self.n_events = len(self.words) + len(self.classes)
        self.word_numbers = {word: number for number, word in enumerate(self.words, 1)}
        self.class_numbers = {name: number for number, name in enumerate(self.classes, len(self.words) + 1)}
        self._class_of: dict[tuple[str, bool], int] = {}

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Tagged], *, known_min_count: int = 2, class_min_count: int = 20
    ) -> Vocabulary:
        """Read words and tag ids; words seen less than `known_min_count` times count only for their classes."""
        sentences = list(sentences)
        counts = Counter(word for words, _ in sentences for word in words)
        known = sorted(word for word, count in counts.items() if count >= known_min_count)
        vocabulary = cls(known, [""])
        fitting: Counter[str] = Counter()
        for word, is_first, _ in _occurrences(sentences):
            if not vocabulary.is_known(vocabulary.number(word, is_first)):
                fitting.update(_class_names(vocabulary.shape_of(word, is_first), word))
        kept = {name for name, count in fitting.items() if count >= class_min_count}
        vocabulary = cls(known, sorted(kept | {""}), rare=sorted(counts.keys() - known))
        vocabulary.tags = vocabulary._possible_tags(sentences)
        return vocabulary

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of a sentence's words; each depends only on the words up to it.

        A first word that is only known in lower case has the number of that form.
        """
        firsts = n_first(words)
        return [self.number(word, k < firsts) for k, word in enumerate(words)]

    def is_known(self, number: int) -> bool:
        """Return whether a number is that of a word, not of a class."""
        return number <= len(self.words)

    def number(self, word: str, is_first: bool) -> int:
        """Return the number of a word, which may have a capital only because it is a first one."""
        found = self.word_numbers.get(word)
        if found is None and is_first:
            found = self.word_numbers.get(word.lower())
        return self.class_number(word, is_first) if found is None else found

    def class_number(self, word: str, is_first: bool) -> int:
        """Return the number of the class that the word would have if it were unknown."""
        key = word, is_first
        found = self._class_of.get(key)
        if found is None:
            if len(self._class_of) >= CACHE_SIZE:
                self._class_of.clear()
            found = self._class_of[key] = self.class_of(self.shape_of(word, is_first), word)
        return found

    def class_of(self, shape: str, word: str) -> int:
        """Return the number of the most specific class of a shape and a word's ending."""
        return next(self._fitting_classes(shape, word))

    def class_name(self, number: int) -> str:
        """Return the name of a class: its shape, and the ending after a blank."""
        return self.classes[number - len(self.words) - 1]

    def shape_of(self, word: str, is_first: bool) -> str:
        """Return a word's capitals, digits and hyphens.

        X, Xx, xX or x; 9; -; then ^ for a first word with capitals, and ~ for one that is known in lower case.
        """
        letters = [character for character in word if character.isalpha()]
        capitals = sum(character.isupper() for character in letters)
        shape = "x" if letters else ""
        if capitals:
            shape = "X" if capitals == len(letters) else "Xx" if word[0].isupper() else "xX"
        shape += "9" * any(character.isdigit() for character in word) + "-" * ("-" in word)
        return (shape or "?") + "^" * (is_first and capitals > 0) + "~" * (word.lower() in self.word_numbers)

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary in a form suitable for msgpack."""
        texts = {"words": list(self.words), "classes": list(self.classes), "rare": list(self.rare)}
        return {**texts, "tags": [list(row) for row in self.tags]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Vocabulary:
        """Undo `to_dict`. Raises ModelError if a word is not a string."""
        texts = {name: data.get(name, []) for name in ("words", "classes", "rare")}  # older models have no `rare`
        for name, values in texts.items():
            check_texts(values, name)
        return cls(**texts, tags=data["tags"])

    def _fitting_classes(self, shape: str, word: str) -> Iterator[int]:
        """Yield the numbers of all classes that a shape and a word's ending fit, the most specific one first."""
        return (self.class_numbers[name] for name in _class_names(shape, word) if name in self.class_numbers)

    def _possible_tags(self, sentences: Sequence[Tagged]) -> tuple[tuple[int, ...], ...]:
        """Return the tags of each number; a class has those of all words that might have counted for it."""
        counts: list[Counter[int]] = [Counter() for _ in range(self.n_events + 1)]
        for word, is_first, tag in _occurrences(sentences):
            number = self.number(word, is_first)
            shape = self.shape_of(word, is_first)
            for one in [number] if self.is_known(number) else self._fitting_classes(shape, word):
                counts[one][tag] += 1
        counts[0].update(tag for _, tags in sentences for tag in tags)
        counts = [row or counts[0] for row in counts]  # a treebank may have no rare words
        found = []
        for number, row in enumerate(counts):
            tags = set(row)
            if 1 <= number <= len(self.words) and row.total() <= RARE:  # also those of the words that look like it
                alike = counts[self.class_number(self.words[number - 1], False)]
                least = LIKELY * alike.total()
                tags.update(tag for tag, count in alike.items() if count >= least)
            found.append(tuple(sorted(tags, key=lambda tag: (-row[tag], tag))))
        return tuple(found)


def _class_names(shape: str, word: str) -> Iterator[str]:
    """Yield classes from the most specific to "", which contains all words; endings have up to `MAX_SUFFIX` letters."""
    if word[-1:].isalpha():
        for length in range(min(MAX_SUFFIX, len(word)), 0, -1):
            yield f"{shape} {word[-length:].lower()}"
    yield shape
    yield ""


def n_first(words: Sequence[str]) -> int:
    """Count the words up to the first one with a letter or digit: they may have capitals only for their position."""
    has_text = (k for k, word in enumerate(words, 1) if any(character.isalnum() for character in word))
    return next(has_text, len(words))


def _occurrences(sentences: Iterable[Tagged]) -> Iterator[tuple[str, bool, int]]:
    """Yield the words of sentences, whether each may have a capital only for its position, and its tag."""
    for words, tags in sentences:
        firsts = n_first(words)
        yield from ((word, k < firsts, tag) for k, (word, tag) in enumerate(zip(words, tags, strict=True)))


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
        grammar = grammar or Grammar.from_trees(transformed, local_trees=local_trees_of(trees))
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

    def spelling(self, counts: Mapping[str, int]) -> Spelling:
        """Return the shares that unknown words have of their class, with counts of words beside those of training."""
        n_words, n_contexts = len(self.vocabulary.words), self.words.level_sizes[0]
        n_cells = self.words.n_outcomes[:n_contexts].sum()
        totals = np.bincount(self.words.outcomes[:n_cells], self.words.counts[:n_cells], self.vocabulary.n_events + 1)
        rare = Counter(self.vocabulary.rare)
        return Spelling(self.vocabulary, rare + Counter(counts), totals[1 : n_words + 1].astype(int).tolist())

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
