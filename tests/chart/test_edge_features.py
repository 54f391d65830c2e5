"""Features of edges are what the definition says, units or not; and gradients are derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.crf import EdgeFeatures
from spacy_incparse.chart.sentence import ChartSentence
from spacy_incparse.chart.templates import resolve
from spacy_incparse.linear.words import Lexicon
from tests.chart.grammars import ALL_SETS, MARKOVIZATIONS, TREEBANKS, grammar_of
from tests.reference.edge_features import EdgeReader, scores

FEW = settings(max_examples=30, deadline=None)
WORDS = ("The", "owl", "saw", "2", "mice", ".", "McNeil", "USA")
BITS = 10


@st.composite
def bound_forests(draw):
    """Features, a sentence with some words under several tags, and its forest."""
    trees = draw(TREEBANKS)
    grammar = grammar_of(trees, draw(MARKOVIZATIONS))
    tags = [
        draw(st.sampled_from([tag, tag, [(tag, 0.0), ("DT", 3.5)], [("NN", 0.0), (tag, 40.0)]]))
        for tag in draw(st.sampled_from([tree.tags for tree in trees]))
    ]
    words = [draw(st.sampled_from(WORDS)) for _ in tags]
    features = EdgeFeatures(
        grammar,
        resolve(draw(st.sampled_from(sorted(ALL_SETS))), clusters=draw(st.booleans()), named=ALL_SETS),
        Lexicon.from_sentences([words, ["owl", "owl"]]),
        table_bits=BITS,
    )
    return features, ChartSentence(words, tags), ChartBuilder(grammar).build(tags).forest


@FEW
@given(bound_forests(), st.integers(0, 99))
def test_scores_are_sums_over_each_edges_features(case, seed):
    features, sentence, forest = case
    weights = np.random.default_rng(seed).normal(size=features.n_weights)
    expected = scores(features, sentence, forest, weights)
    np.testing.assert_allclose(features.bind(sentence, forest).scores(weights), expected, atol=1e-9)
    whole = np.rint(weights * 100).astype(np.int16)
    again = features.bind(sentence, forest).scores(whole, 0.01)
    np.testing.assert_allclose(again, scores(features, sentence, forest, whole / 100), atol=1e-9)


@FEW
@given(bound_forests(), st.integers(0, 99))
def test_gradients_are_sums_over_edges_of_value_times_features(case, seed):
    features, sentence, forest = case
    values = np.random.default_rng(seed).normal(size=forest.n_edges)
    expected = np.zeros(features.n_weights)
    for (numbers, _), value in zip(EdgeReader(features, sentence, forest).features_of_edges(), values, strict=True):
        np.add.at(expected, numbers, value)
    bound = features.bind(sentence, forest)
    numbers, sums = bound.feature_vector(values)
    assert (np.diff(numbers) > 0).all()
    found = np.zeros(features.n_weights)
    found[numbers] = sums
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_glue_has_a_constant_score(sample_grammar):
    features = EdgeFeatures(sample_grammar, resolve("span"), Lexicon.from_sentences([]), table_bits=BITS)
    sentence = ChartSentence(["a", "b"], ["DT", "DT"])
    chart = ChartBuilder(sample_grammar).build(sentence.tags)
    assert chart.source == "relaxed"
    weights = np.random.default_rng(0).normal(size=features.n_weights)
    found = features.bind(sentence, chart.forest).scores(weights)
    np.testing.assert_allclose(found, scores(features, sentence, chart.forest, weights))
    assert found.min() < -15


def test_sizes_are_checked(sample_grammar, sample_forest):
    features = EdgeFeatures(sample_grammar, resolve("span"), Lexicon.from_sentences([]), table_bits=BITS)
    sentence = ChartSentence(["a"] * 8, ["NN", "VBD", "NN", "IN", "NN", "IN", "DT", "NN"])
    bound = features.bind(sentence, sample_forest)
    assert bound.n_units > 0
    with pytest.raises(ValueError, match="5 weights"):
        bound.scores(np.zeros(5))
    with pytest.raises(ValueError, match="3 values"):
        bound.feature_vector(np.zeros(3))
