"""The online learner of a parser: one gold tree at a time (Collins & Roark 2004, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import srsly

from spacy_incparse.features.templates import resolve
from spacy_incparse.grammar.chains import Grammar
from spacy_incparse.grammar.derivation import derivation
from spacy_incparse.learning.weights import AveragedWeights
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.search.beam import Beam
from spacy_incparse.search.config import ParserConfig
from spacy_incparse.search.parser import Model, Parser, root_symbol
from spacy_incparse.search.sentence import Sentence
from spacy_incparse.training.perceptron import Perceptron
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree, TreeArrays

PUNCTUATION_SHARE = 0.9  # of a tag's words without any letter or digit: from here on it is a tag of punctuation


class ParserLearner:
    """A parser in training: raw weights that change with every sentence, and a parser with their average."""

    def __init__(self, model: Model, config: ParserConfig):
        self.model, self.config = model, config
        moves = model.moves(config, config.train_seen_min_count)
        self.weights = AveragedWeights(config.table_bits, moves.n_columns)
        beam = Beam(
            moves, resolve(config.features), self.weights, root_symbol(model.grammar), config.train_beam_size,
            config.train_gamma,
        )  # fmt: skip
        self._moves = moves
        self._decoding_moves = model.moves(config, config.seen_min_count)
        self._perceptron = Perceptron(beam, self.weights, config.update)
        self._cache = CandidateCache(self._perceptron, config)
        self._parser: Parser | None = None

    @classmethod
    def from_treebank(
        cls, trees: Sequence[Tree], tags: Sequence[Sequence[str]], config: ParserConfig, heads: HeadRules
    ) -> ParserLearner:
        """Read grammar and lexicon off normalised trees, under the tags that the parser will be trained with."""
        transformed = [transform(retag(tree, given)) for tree, given in zip(trees, tags, strict=True)]
        grammar = Grammar.from_trees(
            transformed, chain_min_count=config.chain_min_count, triple_min_count=config.triple_min_count
        )
        lexicon = Lexicon.from_sentences(
            (tree.words for tree in trees),
            known_min_count=config.known_min_count,
            common_min_count=config.common_min_count,
        )
        return cls(Model(grammar, lexicon, heads, _punctuation(transformed, grammar)), config)

    def update(self, words: Sequence[str], tags: Sequence[str], tree: Tree) -> int:
        """Learn from one sentence and its normalised gold tree; give the number of updates, 0 where it was right."""
        sentence, moves = self._encode(words, tags, tree)
        n_candidates = self.config.cache_candidates
        updated, candidates = self._perceptron.learn(sentence, moves[0], moves[1], n_candidates)
        n_updates = int(updated)
        if n_candidates:
            n_updates += self._cache.add((tuple(words), tree), sentence, moves, candidates)
        self._parser = None
        return n_updates

    def parser(self) -> Parser:
        """Give a parser with the average of all weights so far; the same object until the next update."""
        if self._parser is None:
            self._parser = Parser(self.model, self.weights.averaged(), self.config, self._decoding_moves)
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Give all that training changes."""
        return srsly.msgpack_dumps({"weights": self.weights.state_to_bytes(), "cache": self._cache.to_list()})

    def state_from_bytes(self, data: bytes) -> None:
        """Take over the state of a learner of the same treebank and configuration. Raises ModelError for others."""
        state = srsly.msgpack_loads(data)
        self.weights.load_state(state["weights"])
        self._cache.from_list(state["cache"])
        self._parser = None

    def _encode(self, words: Sequence[str], tags: Sequence[str], tree: Tree) -> tuple[Sentence, Moves_]:
        known = self.model.grammar.labels
        tags = [tag if tag in known.tag_ids else known.tags[0] for tag in tags]
        n_closings, leaves = [], []
        for move, tag in zip(derivation(transform(retag(tree, tags))), tags, strict=True):
            chain = tuple(known.nonterminal_ids.get(label, -1) for label in move.chain)
            n_closings.append(move.n_closings)
            leaves.append(self._moves.leaf_numbers.get((known.tag_ids[tag], chain), -1))
        return self.model.sentence(words, tags), (n_closings, leaves)


Moves_ = tuple[list[int], list[int]]


class CandidateCache:
    """Repeated use of hypotheses (figure 4): candidates of past sentences, swept every so many sentences."""

    def __init__(self, perceptron: Perceptron, config: ParserConfig):
        self._perceptron, self._config = perceptron, config
        self._entries: dict = {}
        self._n_since_sweep = 0

    def add(self, key, sentence: Sentence, gold: Moves_, candidates: list[Moves_]) -> int:
        """Step 1's last line: keep a sentence's candidates in place of older ones; sweep where it is time."""
        self._entries.pop(key, None)
        if candidates:
            complete = len(candidates[0][0]) == len(sentence)
            self._entries[key] = [sentence, gold, candidates, complete, 0]
        self._n_since_sweep += 1
        if self._n_since_sweep < self._config.cache_interval:
            return 0
        self._n_since_sweep = 0
        return self._sweep()

    def _sweep(self) -> int:
        """Step 2: T1 rounds over the cache, each entry changing the weights at most T2 times."""
        n_updates = 0
        for _ in range(self._config.cache_t1):
            for entry in self._entries.values():
                sentence, gold, candidates, complete, n_used = entry
                if n_used < self._config.cache_t2 and self._perceptron.relearn(sentence, gold, candidates, complete):
                    entry[4] += 1
                    n_updates += 1
        return n_updates


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Give a whole tree with other tags, one a word."""
    arrays = tree.root.arrays
    given = iter(tags)
    labels = [next(given) if size == 1 else label for label, size in zip(arrays.labels, arrays.sizes, strict=True)]
    return Tree(TreeArrays.of(labels, arrays.sizes, arrays.words))


def _punctuation(trees: Sequence[Tree], grammar: Grammar) -> tuple[int, ...]:
    """Find the tags of punctuation by their words."""
    n_words = dict.fromkeys(grammar.tags, 0)
    n_marks = dict.fromkeys(grammar.tags, 0)
    for tree in trees:
        for tag, word in zip(tree.tags, tree.words, strict=True):
            n_words[tag] += 1
            n_marks[tag] += not any(character.isalnum() for character in word)
    shares = enumerate((n_marks[tag], n_words[tag]) for tag in grammar.tags)
    return tuple(k for k, (marks, words) in shares if marks >= PUNCTUATION_SHARE * words)
