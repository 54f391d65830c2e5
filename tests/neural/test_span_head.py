"""The layer that scores spans: against its definition, and its gradients against finite differences."""

import numpy as np
import pytest
from thinc.api import Model

from spacy_incparse.neural.span_scorer import SpanScores, WordVectors, set_outputs, span_head

WIDTH, HIDDEN, N_LABELS, N_TAGS = 5, 6, 3, 4
LENGTHS = [3, 1, 4]


@pytest.fixture
def head() -> Model:
    found = span_head(HIDDEN)
    set_outputs(found, N_LABELS, N_TAGS)
    found.initialize(X=words())
    generator = np.random.default_rng(1)
    for node in found.walk():
        for name in node.param_names:
            if node.has_param(name):
                shape = node.get_param(name).shape
                node.set_param(name, generator.normal(size=shape).astype("float32"))
    return found


def words(seed=0) -> WordVectors:
    vectors = np.random.default_rng(seed).normal(size=(sum(LENGTHS), WIDTH)).astype("float32")
    return WordVectors(vectors, LENGTHS)


def by_definition(head: Model, given: WordVectors) -> np.ndarray:
    """The scores of all spans, one after the other."""
    project, labels = head.get_ref("project"), head.get_ref("labels")
    found, first = [], 0
    for length in given.lengths:
        y = given.vectors[first : first + length]
        z = y @ project.get_param("W").T + project.get_param("b")
        boundary = head.get_param("boundary")
        before = [boundary[0], *z[:, :HIDDEN]]
        after = [*z[:, HIDDEN:], boundary[1]]
        for j in range(1, length + 1):
            for i in range(j):
                difference = (before[j] + after[j]) - (before[i] + after[i])
                normal = (difference - difference.mean()) / np.sqrt(difference.var() + 1e-5)
                hidden = np.maximum(normal * head.get_param("gain") + head.get_param("bias"), 0)
                found.append(labels.get_param("W") @ hidden + labels.get_param("b"))
        first += length
    return np.array(found)


def test_scores_are_those_of_the_definition(head):
    scores = head.predict(words())
    assert scores.labels == pytest.approx(by_definition(head, words()), abs=1e-4)
    assert scores.tags.shape == (sum(LENGTHS), N_TAGS)


def test_no_sentence_is_no_problem(head):
    scores, backprop = head.begin_update(WordVectors(np.zeros((0, WIDTH), "float32"), []))
    assert scores.labels.shape == (0, N_LABELS)
    assert backprop(scores).vectors.shape == (0, WIDTH)


def weights_and_gradients(head):
    for node in head.walk():
        for name in node.param_names:
            if node.has_param(name):
                yield f"{node.name}.{name}", node.get_param(name), node.get_grad(name)


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_gradients_are_finite_differences(head, share):
    """The loss is a weighted sum of all scores; with a small share, most spans have no gradient."""
    generator, given = np.random.default_rng(2), words()
    scores, backprop = head.begin_update(given)
    of_labels = generator.normal(size=scores.labels.shape).astype("float32")
    of_labels *= generator.random(len(of_labels))[:, None] < share
    of_tags = generator.normal(size=scores.tags.shape).astype("float32")

    def loss():
        now = head.predict(given)
        return float((now.labels * of_labels).sum(dtype="f8") + (now.tags * of_tags).sum(dtype="f8"))

    of_vectors = backprop(SpanScores(of_labels, of_tags, LENGTHS)).vectors
    for name, values, gradient in [*weights_and_gradients(head), ("vectors", given.vectors, of_vectors)]:
        flat, expected = values.reshape(-1), gradient.reshape(-1)
        for place in generator.choice(flat.size, min(flat.size, 6), replace=False):
            before, step = float(flat[place]), 2e-3
            flat[place] = before + step
            above = loss()
            flat[place] = before - step
            slope = (above - loss()) / (2 * step)
            flat[place] = before
            assert slope == pytest.approx(float(expected[place]), rel=0.05, abs=0.02), name
