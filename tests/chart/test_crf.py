import numpy as np
import pytest

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.crf import BracketLoss, CrfLearner, CrfSettings, LinearChartModel
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.errors import ModelError
from spacy_incparse.papers.finkel_2008.system import CrfObjective
from spacy_incparse.trees.heads import HeadRules

PLAIN = CrfSettings(step=0.1, damping=0, l2=0.3)


def bound(features, examples):
    return [(example, features.bind(example.sentence, example.forest)) for example in examples]


def loss_of(example):
    found = np.full(example.forest.n_edges, 0.7)
    found[example.gold] = 0
    return found


@pytest.mark.parametrize("loss", [None, loss_of], ids=["likelihood", "softmax-margin"])
def test_gradient_against_finite_differences(features, examples, loss):
    objective = CrfObjective(bound(features, examples), 0.1, loss)
    generator = np.random.default_rng(1)
    weights = generator.normal(size=features.n_weights)
    _, gradient = objective(weights)
    touched = np.flatnonzero(np.abs(gradient - 0.1 * weights) > 1e-6)
    assert len(touched) > 50
    for k in generator.choice(touched, 25, replace=False):
        step = np.zeros_like(weights)
        step[k] = 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-5)


def test_the_setting_softmax_margin_adds_the_loss_of_phrases(features, examples, sample_trees):
    config = ChartConfig(softmax_margin=2.0, table_bits=features.table_bits)
    tags = [tree.tags for tree in sample_trees]
    chosen = ChartLearner(sample_trees, tags, config, HeadRules.from_name("en"))._edges
    loss = BracketLoss.unbinarized(features.grammar)
    learner = CrfLearner(features, len(examples), loss=lambda example: 2 * loss(example))
    for example in examples:
        chosen.learn(example)
        learner.learn(example)
    assert chosen.model().to_bytes() == learner.model().to_bytes()
    plain = CrfLearner(features, len(examples))
    plain.learn(examples[0])
    assert plain.model().to_bytes() != learner.model().to_bytes()


@pytest.mark.parametrize("n", [1, 4])
def test_a_step_follows_the_gradients_of_a_batch_at_the_same_weights(features, examples, n):
    learner = CrfLearner(features, len(examples), CrfSettings(step=0.1, damping=0, batch_size=n))
    assert [learner.learn(example) for example in examples[:n]] == [0] * (n - 1) + [1]
    _, gradient = CrfObjective(bound(features, examples[:n]))(np.zeros(features.n_weights))
    np.testing.assert_allclose(learner.weights.values, -0.1 * gradient, atol=1e-6)


def test_the_gain_is_halved_after_some_passes(features, examples):
    learner = CrfLearner(features, len(examples), CrfSettings(step=0.1, damping=0, halved_after=2))
    for _ in range(2):
        for example in examples:
            learner.learn(example)
    assert learner.weights.step == pytest.approx(0.05)


def test_the_prior_is_made_up_for_later(features, examples):
    learner = CrfLearner(features, len(examples), PLAIN)
    for example in examples:
        learner.learn(example)
    before, settled = learner.weights.values, learner.weights.settled()
    assert (np.abs(settled) <= np.abs(before)).all()
    assert (np.abs(settled) < np.abs(before)).any()
    np.testing.assert_allclose(settled, before, rtol=0.1)


def test_training_finds_the_gold_trees_and_its_state_can_be_restored(features, examples):
    learner = CrfLearner(features, len(examples), CrfSettings(l2=0.01))
    for _ in range(10):
        for example in examples:
            learner.learn(example)
    again = CrfLearner(features, len(examples), CrfSettings(l2=0.01))
    again.state_from_bytes(learner.state_to_bytes())
    for one in (learner, again):
        one.learn(examples[0])
    assert learner.model().to_bytes() == again.model().to_bytes()
    model = LinearChartModel.from_bytes(learner.model().to_bytes(), features.grammar)
    for example in examples:
        found = learner.model().scores(example.sentence, example.forest)
        np.testing.assert_array_equal(found, model.scores(example.sentence, example.forest))
        assert viterbi(example.forest, found)[1].tolist() == example.gold.tolist()


def test_damaged_bytes_are_refused(features, sample_grammar):
    data = CrfLearner(features, 1).model().to_bytes()
    for broken in (b"", b"\x01", data[:-9], data.replace(b"word W[i] -> rule", b"word Q[i] -> rule")):
        with pytest.raises(ModelError):
            LinearChartModel.from_bytes(broken, sample_grammar)
    with pytest.raises(ModelError):
        CrfLearner(features, 1).state_from_bytes(b"12345678" * 3)
