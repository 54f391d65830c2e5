"""A compiled engine and its slow twin over the same small treebank and the same weights."""

from contextlib import ExitStack, contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np

from spacy_incparse.generative import hybrid
from spacy_incparse.generative.kind import PERCEPTRON
from spacy_incparse.generative.model import Vocabulary
from spacy_incparse.incremental.beam import Beam, Perceptron
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.grammar import Grammar, derivation, root_symbol
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.incremental.sentence import Sentence
from spacy_incparse.integer_arrays import pack
from spacy_incparse.linear.templates import CLUSTERS, FIELDS, NAMED_SETS, combine
from spacy_incparse.linear.weights import AveragedWeights, Weights
from spacy_incparse.linear.words import Clusters, Lexicon
from spacy_incparse.papers.collins_roark_2004.candidate_cache import RepeatedUseConfig, reuse_hypotheses
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.heads import HeadRules
from tests.reference.perceptron import SlowPerceptron
from tests.reference.search import SlowBeam

BITS = 12  # rows of the tables in tests: few, so that features share weights and ties and collisions happen

# Every field alone, so that a wrong value cannot hide, and some pairs.
EVERY_FIELD = {
    "node": [*(name for name, field in FIELDS.items() if not field.needs_span), "L10 LKP", "N T-1"],
    "word": [*(name for name, field in FIELDS.items() if not field.needs_span), "LK L10"],
    "chain": [f"{name} LKP" for name, field in FIELDS.items() if not field.needs_span and name != "LKP"],
    "close": [*FIELDS, "LEN LKP"],
}
FEATURE_SETS = {
    "paper": "paper",
    "paper+punct": "paper+punct",
    "rich": "rich",
    "accurate": "accurate",
    "clusters": combine(NAMED_SETS["accurate"], CLUSTERS),
    "every field": EVERY_FIELD,
}


@contextmanager
def min_counts(**counts):
    """Grammars, lexicons and vocabularies with other cut-offs, such as chain_min_count."""
    readers = (Grammar, "from_trees"), (Lexicon, "from_sentences"), (Vocabulary, "from_sentences")
    with ExitStack() as stack:
        for owner, name in readers:
            read = getattr(owner, name)
            own = {key: count for key, count in counts.items() if key in COUNTS[owner]}
            stack.enter_context(patch.object(owner, name, partial(read, **own)))
        yield


COUNTS = {
    Grammar: ("chain_min_count", "triple_min_count"),
    Lexicon: ("known_min_count",),
    Vocabulary: ("known_min_count", "class_min_count"),
}


def learner_of(trees, *, generative_folds=hybrid.N_FOLDS, **settings):
    heads = HeadRules.from_name("en")
    counts = {name: settings.pop(name) for name in {*sum(COUNTS.values(), ())} & {*settings}}
    make = RepeatedUseConfig if "cache_size" in settings else ParserConfig
    config = make(**({"table_bits": BITS} | settings))
    with min_counts(**counts), patch.object(hybrid, "N_FOLDS", generative_folds):
        learner = PERCEPTRON.learner(trees, [tree.tags for tree in trees], config, heads, clusters_of(trees))
    return reuse_hypotheses(learner, config) if "cache_size" in settings else learner


def teach(learner, trees, n_passes=1, tags=None):
    """Let each model of a learner learn from trees, sentence by sentence; return the numbers of updates by pass."""
    rows = tags or [tree.tags for tree in trees]
    examples = [learner.encode(tree.words, row, tree) for tree, row in zip(trees, rows, strict=True)]
    return [sum(learner.learn(one, k) for one in examples for k in range(learner.n_models)) for _ in range(n_passes)]


def clusters_of(trees):
    """Two words of three in some cluster, whose paths may have the first bits in common."""
    words = sorted({word for tree in trees for word in tree.words})
    return Clusters.from_paths([(word, f"{k % 5:03b}{k % 7:05b}") for k, word in enumerate(words) if k % 3])


def random_weights(n_columns, seed, largest, bits=BITS):
    """Compiled weights of random small integers, most of them 0, and the same ones as a list."""
    generator = np.random.default_rng(seed)
    n = (1 << bits) + n_columns
    drawn = generator.integers(-largest, largest + 1, n) * (generator.random(n) < 0.7)
    values = drawn.tolist()
    weights = Weights(bits, n_columns).load_bytes(pack(drawn.astype(np.int16)))
    assert weights[0] == values[0]
    return weights, values


def random_parser(trees, seed, largest=20, **settings):
    """A parser with random weights."""
    learner = learner_of(trees, **settings)
    moves = learner.model.moves(learner.config.outcome_filter_min_count)
    weights, _ = random_weights(moves.n_columns, seed, largest)
    return PerceptronParser(learner.model.trained(), weights, learner.config)


class Engines:
    """Search with random weights, once compiled and once slow."""

    def __init__(
        self, trees, *, beam_size=4, gamma=None, window=None, outcome_filter_min_count=0, seed=0, largest=3, **settings
    ):
        self.learner = learner_of(trees, **settings)
        self.model, self.config = self.learner.model, self.learner.config
        self.moves = self.model.moves(outcome_filter_min_count, self.config.outcome_filter_min_share)
        weights, values = random_weights(self.moves.n_columns, seed, largest)
        scorer = self.model.scorer(self.moves, weights, self.config)
        self.beam = Beam(scorer, root_symbol(self.model.grammar), beam_size, gamma, window)
        self.slow = self._slow(values, beam_size, gamma, outcome_filter_min_count, window)

    def _slow(self, values, beam_size, gamma, outcome_filter_min_count, window=None):
        search = {"beam_size": beam_size, "gamma": gamma, "outcome_filter_min_count": outcome_filter_min_count}
        return SlowBeam(self.model, self.config, values, bits=BITS, window=window, **search)

    def chain(self, leaf):
        return self.moves.leaves[leaf][1]

    def fast_parse(self, words, tags, k):
        """Analyses as (score, moves) and the number of relaxed words."""
        found, n_relaxed = self._fast(self.model.sentence(words, tags), k)
        return [(score, moves) for score, moves, _ in found], n_relaxed

    def fast_lattice_parse(self, words, tags, k):
        """The same for words that may have several tags, given as lists of (tag id, rank): (score, moves, tags)."""
        slow, n_tags = self.slow.sentence(words, tags), len(self.model.grammar.tags)
        numbers = slow.words, slow.classes, slow.tags
        return self._fast(Sentence(*numbers, n_tags, slow.is_question, slow.alternatives, slow.clusters), k)

    def _fast(self, sentence, k):
        results, n_relaxed = self.beam.parse(sentence, k)
        return [
            (
                score,
                tuple((n, self.chain(leaf)) for n, leaf in zip(closings, leaves, strict=True)),
                tuple(self.moves.leaves[leaf][0] for leaf in leaves),
            )
            for score, closings, leaves in results
        ], n_relaxed

    def slow_lattice_parse(self, words, tags, k):
        return self.slow.parse(self.slow.sentence(words, tags), k, with_tags=True)

    def slow_parse(self, words, tags, k):
        return self.slow.parse(self.slow.sentence(words, tags), k)

    def gold(self, tree):
        """The moves of a tree with chains as nonterminal ids; None for a chain that the grammar lacks."""
        labels = self.model.grammar.labels
        moves = []
        for (n_closings, chain), tag in zip(derivation(transform(tree)), tree.tags, strict=True):
            ids = tuple(labels.nonterminal_ids.get(label, -1) for label in chain)
            known = (labels.tag_ids.get(tag, 0), ids) in self.moves.leaf_numbers
            moves.append((n_closings, ids if known else None))
        return moves

    def leaves(self, tags, moves):
        """Moves as the compiled perceptron takes them: closings and leaves, -1 for an unknown chain."""
        tag_ids = self.model.grammar.labels.tag_ids
        numbers = self.moves.leaf_numbers
        leaves = [numbers.get((tag_ids.get(tag, 0), chain), -1) for tag, (_, chain) in zip(tags, moves, strict=True)]
        return [n_closings for n_closings, _ in moves], leaves


class Learners(Engines):
    """Two perceptrons that start from 0 and see the same sentences."""

    def __init__(self, trees, *, update="early", margin=0, step_decay=0, **settings):
        search = {"beam_size": 4, "gamma": None, "outcome_filter_min_count": 0}
        search = {name: settings.pop(name, value) for name, value in search.items()}
        super().__init__(trees, **search, **settings)
        beam_size, gamma, outcome_filter_min_count = search.values()
        self.weights = AveragedWeights(BITS, self.moves.n_columns, step_decay)
        scorer = self.model.scorer(self.moves, self.weights, self.config)
        beam = Beam(scorer, root_symbol(self.model.grammar), beam_size, gamma)
        self.perceptron = Perceptron(beam, self.weights, update, margin)
        units = None if gamma is None else gamma * self.weights.scale
        self.slow = self._slow([0] * len(self.weights), beam_size, units, outcome_filter_min_count)
        self.slow_perceptron = SlowPerceptron(self.slow, update, margin, step_decay)

    def fast_learn(self, tree, n_candidates=0):
        closings, leaves = self.leaves(tree.tags, self.gold(tree))
        return self.perceptron.learn(self.model.sentence(tree.words, tree.tags), closings, leaves, n_candidates)

    def slow_learn(self, tree):
        return self.slow_perceptron.learn(self.slow.sentence(tree.words, tree.tags), self.gold(tree))
