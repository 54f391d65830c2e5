from math import isqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import MAX_WORDS, span_bounds, span_number
from spacy_incparse.chart.pruner_scorer import PrunerLearner
from tests.reference import spans as reference

FEW = settings(max_examples=30)
N_LABELS, N_STATES = 5, 7
HIGHEST, LOWEST = [0, 1, 2, 3, 4, -1, 2], [0, 1, 2, 3, 1, -1, -1]
BITS = 6, 7, 5
SENTENCES = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=6)
NONE = np.zeros((0, 2), np.int32)


def spans_of(n_words, least=1):
    return [(i, j) for j in range(1, n_words + 1) for i in range(j) if j - i >= least]


def learner(seed, **settings):
    found = PrunerLearner(N_LABELS, HIGHEST, LOWEST, *BITS, **{"tree_step": 0.1, "label_step": 0.1, **settings})
    random = np.random.default_rng(seed)
    found.load_weights(*(random.normal(0, 0.3, len(table)).astype(np.float32) for table in found.weights()))
    return found


def codes_of(sentence):
    return np.array(sentence, np.uint32).reshape(-1, 2)


def test_posteriors_of_long_sentences_are_finite():
    n_words, scorer = 200, learner(0)
    gate, tree, labels = scorer.weights()
    scorer.load_weights(gate, np.full_like(tree, 1), labels)  # each span has a score of 30 or more
    scorer.states_left(np.ones((n_words, 2), np.uint32), -np.inf, 0.5, NONE)
    multiple = [span_number(*span) for span in spans_of(n_words, 2)]
    assert scorer.posteriors()[multiple].sum() == pytest.approx(n_words - 1, rel=1e-3)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="do not fit tables"):
        learner(0).load_weights(*[np.zeros(3, np.float32)] * 3)


@FEW
@given(SENTENCES, st.integers(0, 1000), st.floats(-2, 1))
def test_scores(sentence, seed, least):
    scorer, codes = learner(seed), codes_of(sentence)
    model = reference.SpanModel(scorer.weights(), N_LABELS, codes)
    spans = spans_of(len(sentence), 2)
    gates = {span: model.gate_score(*span) for span in spans}
    if any(abs(score - least) < 1e-4 for score in gates.values()):
        return
    scorer.states_left(codes, least, 0.01, NONE)
    found, scores = scorer.posteriors(), {span: model.tree_score(*span) for span in spans}
    is_open = {span: gates[span] >= least or span == (0, len(sentence)) for span in spans}
    everything = dict.fromkeys(spans, True)
    expected = reference.posteriors(len(sentence), scores, is_open) or reference.posteriors(
        len(sentence), scores, everything
    )
    for span, posterior in expected.items():
        assert found[span_number(*span)] == pytest.approx(posterior, abs=1e-4)


@FEW
@given(SENTENCES, st.integers(0, 1000), st.sampled_from([0.0, 0.02, 0.3]), st.data())
def test_the_states_that_are_left(sentence, seed, least, data):
    scorer, n_words = learner(seed), len(sentence)
    kept = sorted(data.draw(st.sets(st.tuples(st.sampled_from(spans_of(n_words)), st.integers(0, N_STATES - 1)))))
    rows = np.array(sorted((span_number(*span), state) for span, state in kept), np.int32).reshape(-1, 2)
    found, posteriors = scorer.states_left(codes_of(sentence), -np.inf, least, rows), scorer.posteriors()
    model = reference.SpanModel(scorer.weights(), N_LABELS, codes_of(sentence))
    expected = np.zeros((span_number(0, n_words + 1), N_STATES), np.uint8)
    for i, j in spans_of(n_words):
        cell, is_word = span_number(i, j), j == i + 1
        posterior = 1 if is_word else posteriors[cell]
        probabilities = posterior / (1 + np.exp(-model.label_scores(i, j)))
        assume(np.abs(probabilities / least - 1).min() > 1e-4 if least else True)
        if posterior >= least:
            has_label = [*(probabilities >= least), is_word]  # -1 is the last one
            expected[cell] = [has_label[top] and has_label[bottom] for top, bottom in zip(HIGHEST, LOWEST, strict=True)]
    expected[rows[:, 0], rows[:, 1]] = 1
    np.testing.assert_array_equal(found.to_mask(), expected)


@FEW
@given(SENTENCES, st.integers(0, 1000), st.data())
def test_steps_follow_the_gradient(sentence, seed, data):
    n_words, codes = len(sentence), codes_of(sentence)
    tree = data.draw(st.sampled_from(reference.bracketings(0, n_words)))
    gold = {
        span: set(data.draw(st.lists(st.integers(0, N_LABELS - 1), min_size=1, max_size=2))) for span in sorted(tree)
    }
    rows = sorted((span_number(*span), label) for span, labels in gold.items() for label in labels)
    scorer = learner(seed, start_squares=1e8, tree_step=1e4, label_step=1e4)  # steps as long as the gradient
    before = scorer.weights()
    loss = scorer.learn(codes, np.array(rows, np.int32).reshape(-1, 2), -np.inf)
    assert loss == pytest.approx(reference.SpanModel(before, N_LABELS, codes).loss(gold, n_words), rel=1e-3)
    random = np.random.default_rng(seed)
    for number, (table, after) in enumerate(zip(before, scorer.weights(), strict=True)):
        for place in random.permutation(np.flatnonzero(after != table))[:4]:
            losses = []
            for change in (1e-2, -1e-2):
                tables = [old.copy() for old in before]
                tables[number][place] += np.float32(change)
                losses.append(reference.SpanModel(tables, N_LABELS, codes).loss(gold, n_words))
            gradient = (losses[0] - losses[1]) / 2e-2
            assert table[place] - after[place] == pytest.approx(gradient, rel=0.02, abs=0.02)


def test_spans_are_numbered_by_their_ends_then_by_their_starts():
    starts, ends = np.array(spans_of(9)).T
    assert [span_number(start, end) for start, end in spans_of(9)] == list(range(len(starts)))
    assert span_number(starts, ends).tolist() == list(range(len(starts)))
    last = MAX_WORDS * (MAX_WORDS + 1) // 2
    for numbers in (range(0), range(4), range(10**6 - 2000, 10**6), range(last - 1, last)):
        ends = [(1 + isqrt(8 * number + 1)) // 2 for number in numbers]
        starts = [number - end * (end - 1) // 2 for number, end in zip(numbers, ends, strict=True)]
        for integer in (np.int32, np.int64):
            assert [found.tolist() for found in span_bounds(np.array(numbers, integer))] == [starts, ends]
