"""The online learner of a parser: one gold tree at a time (Collins & Roark 2004, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.features.templates import resolve
from spacy_incparse.grammar.chains import Grammar
from spacy_incparse.grammar.derivation import derivation
from spacy_incparse.learning.weights import AveragedWeights
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.search.beam import Beam
from spacy_incparse.search.config import ParserConfig
from spacy_incparse.search.parser import Model, Parser, root_symbol
from spacy_incparse.training.cache import CandidateCache, GoldMoves
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
        self.weights = AveragedWeights(config.table_bits, moves.n_columns, config.step_decay)
        beam = Beam(
            moves, resolve(config.features), self.weights, root_symbol(model.grammar), config.train_beam_size,
            config.train_gamma,
        )  # fmt: skip
        self._moves = moves
        self._decoding_moves = model.moves(config, config.seen_min_count)
        self._perceptron = Perceptron(beam, self.weights, config.update, config.margin)
        self._cache = CandidateCache(self._perceptron, config)
        self._parser: Parser | None = None

    @classmethod
    def from_treebank(
        cls, trees: Sequence[Tree], tags: Sequence[Sequence[str]], config: ParserConfig, heads: HeadRules
    ) -> ParserLearner:
        """Read grammar and lexicon off normalised trees, under the tags that the parser will be trained with.

        These are `tags`, one row a tree, and with a gold_tag_interval also the trees' own.
        """
        taggings = [[transform(retag(tree, row)) for tree, row in zip(trees, tags, strict=True)]]
        if config.gold_tag_interval:
            taggings.append([transform(tree) for tree in trees])
        grammar = Grammar.from_taggings(
            taggings, chain_min_count=config.chain_min_count, triple_min_count=config.triple_min_count
        )
        lexicon = Lexicon.from_sentences(
            (tree.words for tree in trees),
            known_min_count=config.known_min_count,
            common_min_count=config.common_min_count,
        )
        return cls(Model(grammar, lexicon, heads, _punctuation(taggings[0], grammar)), config)

    def update(self, words: Sequence[str], tags: Sequence[str], tree: Tree) -> int:
        """Learn from one sentence and its normalised gold tree; give the number of updates, 0 where it was right."""
        return self.learn(self.encode(words, tags, tree))

    def learn(self, example: GoldMoves) -> int:
        """Learn from what `encode` gave, which is faster where a sentence comes again; give the number of updates."""
        self._parser = None
        if not self._cache.size:
            return int(self._perceptron.learn(example.sentence, example.n_closings, example.leaves)[0])
        updated, candidates, complete = self._perceptron.learn(
            example.sentence, example.n_closings, example.leaves, self.config.cache_candidates
        )
        return int(updated) + self._cache.add(example, candidates, complete)

    def encode(self, words: Sequence[str], tags: Sequence[str], tree: Tree) -> GoldMoves:
        """Give a sentence and the moves of its gold tree as numbers; tags that are not known count as the first."""
        known = self.model.grammar.labels
        tags = [tag if tag in known.tag_ids else known.tags[0] for tag in tags]
        n_closings, leaves = [], []
        for move, tag in zip(derivation(transform(retag(tree, tags))), tags, strict=True):
            chain = tuple(known.nonterminal_ids.get(label, -1) for label in move.chain)
            n_closings.append(move.n_closings)
            leaves.append(self._moves.leaf_numbers.get((known.tag_ids[tag], chain), -1))
        return GoldMoves(self.model.sentence(words, tags), n_closings, leaves)

    def parser(self) -> Parser:
        """Give a parser with the average of all weights so far; the same object until the next update."""
        if self._parser is None:
            self._parser = Parser(self.model, self.weights.averaged(), self.config, self._decoding_moves)
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Give all that training changes."""
        return srsly.msgpack_dumps({"weights": self.weights.state_to_bytes(), "cache": self._cache.to_dict()})

    def state_from_bytes(self, data: bytes) -> None:
        """Take over the state of a learner of the same treebank and configuration. Raises ModelError for others."""
        try:
            state = srsly.msgpack_loads(data)
            self.weights.load_state(state["weights"])
            self._cache.from_dict(state["cache"])
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"the training state is damaged: {error!r}") from error
        self._parser = None


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
