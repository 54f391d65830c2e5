import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder, ChartSentence
from spacy_incparse.chart.crf import EdgeFeatures
from spacy_incparse.chart.templates import (
    BORDERS,
    OUTCOMES,
    base_category,
    columns,
    resolve,
)
from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.transforms.binarize import Markovization
from tests.chart.grammars import ALL_SETS, MARKOVIZATIONS, TREEBANKS, grammar_of
from tests.reference.edge_features import EdgeReader, scores

FEW = settings(max_examples=30)
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
    with pytest.raises(ValueError, match="5 weights"):
        bound.scores(np.zeros(5))
    with pytest.raises(ValueError, match="3 values"):
        bound.feature_vector(np.zeros(3))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("sapn", "unknown feature set 'sapn'"),
        ({"spam": ["-> rule"]}, "unknown kind of template 'spam'"),
        ({"span": ["W[i]"]}, "has no outcomes"),
        ({"span": ["W[i] ->"]}, "has no outcomes"),
        ({"span": ["W[i] -> rules"]}, "unknown outcome 'rules'"),
        ({"span": ["W[i-4] -> rule"]}, "unknown field"),
        ({"span": ["W[k] -> rule"]}, "cannot be used"),
        ({"word": ["W[j] -> rule"]}, "cannot be used"),
        ({"span": ["RANK -> rule"]}, "cannot be used"),
    ],
)
def test_mistakes_are_named(features, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        resolve(features)


def test_outcomes_give_columns_to_the_rules_of_a_kind(sample_trees):
    grammar = grammar_of(sample_trees, Markovization(vertical=1))
    n_rules, n_states = grammar.n_rules, len(grammar.states)
    for kind in BORDERS:
        for outcome in OUTCOMES:
            found = columns(grammar, kind, outcome)
            assert found.shape == (n_rules + n_states,)
            assert set(found[found >= 0].tolist()) == set(range(found.max() + 1))
    assert (columns(grammar, "rule", "rule") == range(n_rules + n_states)).all()
    bases = columns(grammar, "span", "base")
    for one, rule in enumerate(grammar.rules[: grammar.first_lexical]):
        for other, rule2 in enumerate(grammar.rules[: grammar.first_lexical]):
            assert (bases[one] == bases[other]) == (base_category(rule.parent) == base_category(rule2.parent))
    assert (columns(grammar, "bare", "state")[:n_rules] == -1).all()
    states = ("NP^S|<DT>", "S+VP^TOP", "=NP+NN^S", "VP^S[VBZ]")
    assert [*map(base_category, states)] == ["NP", "S+VP", "=NP+NN", "VP"]
    verbs = columns(grammar, "span", "left_verb")
    meant = {str(rule) for rule, column in zip(grammar.rules, verbs, strict=False) if column >= 0}
    assert meant == {"VP^S -> =VBD NP^VP", "VP^S -> =VBD PP^VP"}
