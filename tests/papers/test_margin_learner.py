"""Updates of MIRA against the definition: all trees listed, all features of all edges one by one."""

import numpy as np
import pytest

from spacy_incparse.chart.crf import SCALE, BracketLoss, EdgeFeatures
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.chart.templates import resolve
from spacy_incparse.errors import ModelError
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.papers.taskar_2004.dual import MarginLearner
from tests.reference.chart import forest_derivations
from tests.reference.edge_features import EdgeReader

BITS = 12


class SlowMira:
    """MIRA by the definition, with averages over all weights so far."""

    def __init__(self, features, c):
        self.features, self.c = features, c
        self.weights = np.zeros(features.n_weights)
        self.all_weights = []

    def learn(self, example):
        rows = EdgeReader(self.features, example.sentence, example.forest).features_of_edges()
        losses, constant = BracketLoss.unbinarized(self.features.grammar).of_edges(example.forest, example.gold)

        def vector(edges):
            return np.bincount([k for edge in edges for k in rows[edge][0]], minlength=len(self.weights))

        gold = vector(example.gold)
        found = []
        for edges in forest_derivations(example.forest):
            change = gold - vector(edges)
            found.append((constant + losses[list(edges)].sum() - change @ self.weights, change))
        violation, change = max(found, key=lambda pair: pair[0])
        if violation > 0 and change.any():
            self.weights = self.weights + min(self.c, violation / (change @ change)) * change
        self.all_weights.append(self.weights)


@pytest.mark.parametrize("c", [0.001, 10.0])
def test_updates_and_averages(features, examples, c):
    learner, slow = MarginLearner(features, c=c, scale=20.0), SlowMira(features, c)
    for example in examples:
        learner.learn(example)
        slow.learn(example)
        np.testing.assert_allclose(learner.weights, slow.weights, atol=1e-6)
    averages = np.mean(slow.all_weights, axis=0)
    np.testing.assert_allclose(learner.model().weights, averages * 20 * SCALE, atol=0.51)


def test_training_ends_with_margins_and_its_state_can_be_restored(features, examples):
    learner, again = (MarginLearner(features, c=10.0) for _ in range(2))
    n_updates = [sum(learner.learn(example) for example in examples) for _ in range(100)]
    assert sum(n_updates[-10:]) < sum(n_updates[:10])
    again.state_from_bytes(learner.state_to_bytes())
    assert again.n_seen == learner.n_seen
    for one in (learner, again):
        one.learn(examples[0])
    assert learner.model().to_bytes() == again.model().to_bytes()
    for example in examples:
        scores = learner.model().scores(example.sentence, example.forest)
        assert viterbi(example.forest, scores)[1].tolist() == example.gold.tolist()


def test_a_state_of_other_features_is_refused(features, sample_trees, sample_grammar):
    lexicon = Lexicon.from_sentences([tree.words for tree in sample_trees])
    other = EdgeFeatures(sample_grammar, resolve("span"), lexicon, table_bits=BITS - 1)
    for state in (MarginLearner(other).state_to_bytes(), b"\0" * 20):
        with pytest.raises(ModelError):
            MarginLearner(features).state_from_bytes(state)
