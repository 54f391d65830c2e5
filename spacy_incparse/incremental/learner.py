"""The online learner of a parser: one gold tree at a time (Collins & Roark 2004, section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import srsly

from spacy_incparse.incremental.beam import Beam, Perceptron
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.grammar import Grammar, as_searched, encode_moves, reachable_tags, retag, root_symbol
from spacy_incparse.incremental.moves import Moves
from spacy_incparse.incremental.parser import PerceptronModel, PerceptronParser
from spacy_incparse.incremental.sentence import Sentence
from spacy_incparse.linear.weights import AveragedWeights, Weights, averaged_over
from spacy_incparse.linear.words import Clusters, Lexicon
from spacy_incparse.parsing.local_trees import local_trees_of
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import packed_states, read_states
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

TRAIN_OUTCOME_FILTER_MIN_COUNT = 30  # outcome_filter_min_count in training
PRIOR_STEPS = 200  # the weights of a trained parser count in the average for this many sentences
PUNCTUATION_SHARE = 0.9  # of a tag's words have no letter or digit: from this share on, it is a tag of punctuation


class GoldMoves(NamedTuple):
    """A training sentence with the moves of its gold tree; a leaf of -1 means a chain that the grammar lacks."""

    sentence: Sentence
    n_closings: list[int]
    leaves: list[int]


class WeightLearner:
    """One of the models that a learner trains: raw weights and their perceptron."""

    def __init__(self, model: PerceptronModel, moves: Moves, config: ParserConfig, weights: AveragedWeights):
        self.weights = weights
        scorer = model.scorer(moves, weights, config, training=True)
        beam = Beam(scorer, root_symbol(model.grammar), config.train_beam_size, config.train_gamma)
        self.perceptron = Perceptron(beam, weights, config.update, config.margin)

    def learn(self, example: GoldMoves) -> int:
        """Learn from a sentence and return the number of updates."""
        return int(self.perceptron.learn(*example)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return everything that learning changes."""
        return {"weights": self.weights.state_to_bytes()}

    def from_dict(self, state: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self.weights.load_state(state["weights"])


class ParserLearner:
    """A parser in training: raw weights that change with every sentence, and a parser with their average.

    If n_models is above 1, several weight tables are trained, and the parser has the mean of their averages. They
    should see the sentences in different orders.
    """

    def __init__(self, model: PerceptronModel, config: ParserConfig, start: Weights | None = None):
        """Create a learner; start: the weights of a trained parser to continue from."""
        self.config, self.n_models = config, config.n_models
        self._set_model(model)
        self.models: list[WeightLearner] = []
        for _ in range(config.n_models):
            weights = self._new_weights(start.n_columns if start else 1)
            if start is not None:
                weights.start_from(start, PRIOR_STEPS)
            self.models.append(WeightLearner(model, self._moves, config, weights))

    def _set_model(self, model: PerceptronModel) -> None:
        self.model = model
        # With all outcomes of its contexts, even the rare ones: the model has to learn against them.
        self._moves = model.moves(TRAIN_OUTCOME_FILTER_MIN_COUNT)
        self._decoding_moves = model.moves(*self.config.outcome_filter)
        self._parser: PerceptronParser | None = None

    def _new_weights(self, n_columns: int) -> AveragedWeights:
        return AveragedWeights(self.config.table_bits, max(self._moves.n_columns, n_columns), self.config.step_decay)

    def extend(self, trees: Sequence[Tree], tags: Sequence[Tags]) -> None:
        """Add more normalized trees to grammar and lexicon; encode sentences again after this."""
        old_model, taggings = self.model, _taggings(trees, tags, self.config)
        grammar = old_model.grammar.extended(taggings, local_trees_of(trees))
        seen = {grammar.labels.tag_ids[tag] for tree in taggings[0] for tag in tree.tags}
        new = seen.difference(old_model.grammar.labels.tag_ids.values())
        marks = [tag for tag in _punctuation(taggings[0], grammar) if tag in new]
        lexicon = old_model.lexicon.extended(tree.words for tree in trees)
        punctuation = (*old_model.punctuation, *marks)
        self._set_model(replace(old_model, grammar=grammar, lexicon=lexicon, punctuation=punctuation))
        for number, old in enumerate(self.models):
            weights = self._new_weights(old.weights.n_columns)
            weights.widen(old.weights)
            self.models[number] = WeightLearner(self.model, self._moves, self.config, weights)

    def update(self, words: Sequence[str], tags: Tags, tree: Tree) -> int:
        """Learn from one sentence and its normalized gold tree; return the number of updates, 0 if it was right."""
        example = self.encode(words, tags, tree)
        return sum(self.learn(example, number) for number in range(self.n_models))

    def learn(self, example: GoldMoves, number: int = 0) -> int:
        """Let the model with this number learn from an example of `encode`, and return the number of updates."""
        self._parser = None
        return self.models[number].learn(example)

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> GoldMoves:
        """Return a sentence and the moves of its gold tree as numbers; unknown tags count as the first one.

        If a word has several tags, the gold moves have the right one if it is among them, otherwise the first.
        """
        known = self.model.grammar.labels
        searched = as_searched(tree, reachable_tags(tree.tags, tags), known)
        n_closings, leaves = encode_moves(searched, known, self._moves.leaf_numbers)
        return GoldMoves(self.model.training_sentence(words, tags), n_closings, leaves)

    def parser(self) -> PerceptronParser:
        """Return a parser with the average of all weights so far; the same object until the next update."""
        if self._parser is None:
            weights = averaged_over([learning.weights for learning in self.models])
            self._parser = PerceptronParser(self.model.trained(), weights, self.config, self._decoding_moves)
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes: for each model the length of its state, then the state."""
        return packed_states(srsly.msgpack_dumps(learning.to_dict()) for learning in self.models)

    def state_from_bytes(self, data: bytes) -> None:
        """Restore the state of a learner of the same treebank and configuration. Raises ModelError for others."""
        readers = [lambda state, one=one: one.from_dict(srsly.msgpack_loads(state)) for one in self.models]
        read_states(data, readers, "another number of models")
        self._parser = None


def treebank_model(
    trees: Sequence[Tree],
    tags: Sequence[Tags],
    config: ParserConfig,
    heads: HeadRules,
    clusters: Clusters | None = None,
) -> PerceptronModel:
    """Read grammar and lexicon off normalized trees, under the tags that the parser will be trained with.

    These are `tags`, one row per tree, and with a gold_tag_interval also the trees' own tags.
    """
    taggings = _taggings(trees, tags, config)
    grammar = Grammar.from_trees(*taggings, local_trees=local_trees_of(trees))
    lexicon = Lexicon.from_sentences((tree.words for tree in trees), clusters=clusters)
    return PerceptronModel(grammar, lexicon, heads, _punctuation(taggings[0], grammar))


def _taggings(trees: Sequence[Tree], tags: Sequence[Tags], config: ParserConfig) -> list[list[Tree]]:
    """Return the transformed trees under each tagging that is used in training."""
    taggings = [[transform(retag(tree, reachable_tags(tree.tags, row))) for tree, row in zip(trees, tags, strict=True)]]
    if config.gold_tag_interval or config.is_hybrid:  # a generative model counts the trees' own
        taggings.append([transform(tree) for tree in trees])
    return taggings


def _punctuation(trees: Sequence[Tree], grammar: Grammar) -> tuple[int, ...]:
    """Return the ids of the tags of punctuation, found by their words."""
    n_words, n_marks = Counter[str](), Counter[str]()
    for tree in trees:
        for tag, word in zip(tree.tags, tree.words, strict=True):
            n_words[tag] += 1
            n_marks[tag] += not any(map(str.isalnum, word))
    return tuple(k for k, tag in enumerate(grammar.tags) if n_marks[tag] >= PUNCTUATION_SHARE * n_words[tag])
