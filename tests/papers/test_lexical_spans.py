"""The features of Taskar et al. (2004), and the classifier that takes each span on its own."""

import numpy as np
import pytest

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.papers.taskar_2004.features import (
    ConstituentClassifier,
    LexicalSpans,
    phrase_spans,
    span_features,
    span_words,
)
from spacy_incparse.trees.tree import Tree

WORDS = "the screen was a sea of red".split()
TAGS = "DT NN VBD DT NN IN NN".split()


def test_words_of_a_short_and_of_a_long_span():
    assert list(span_words(WORDS, 2, 5)) == [
        ("first", "was", "3"),
        ("before", "screen", "3"),
        ("last", "sea", "3"),
        ("behind", "of", "3"),
        ("before+first", "screen", "was", "3"),
        ("last+behind", "sea", "of", "3"),
        ("second", "a", "3"),
    ]
    assert list(span_words(WORDS, 0, 7))[:4] == [
        ("first", "the", ""),
        ("before", "<s>", ""),
        ("last", "red", ""),
        ("behind", "</s>", ""),
    ]


def test_features_fire_where_a_phrase_is_made(sample_grammar):
    forest = ChartBuilder(sample_grammar).build(TAGS).forest
    reader = LexicalSpans(sample_grammar)
    features = reader.read(forest, WORDS, {"flat": {(3, 5)}})
    edges = forest.edge_array()
    phrases = [any(name != "TOP" for name in labels(sample_grammar, rule)) for rule in edges[:, 0].tolist()]
    assert (features.groups >= 0).tolist() == phrases
    is_lexical = (edges[:, 0] >= sample_grammar.first_lexical) & (edges[:, 0] < sample_grammar.first_root)
    assert (features.rules[is_lexical] == -1).all()
    (edge,) = [k for k, row in enumerate(edges.tolist()) if phrases[k] and row[1::2] == [3, 5]][:1]
    members = features.members[1][features.members[0] == features.groups[edge]]
    expected = [*span_words(WORDS, 3, 5), ("predicted", "flat", "True")]
    reader.numbers.is_open = False
    assert members.tolist() == reader.numbers.of(expected)
    assert len(members) == 7


def labels(grammar, rule):
    return [grammar.labels[label] for label in grammar.labels_made(rule)] if rule >= 0 else []


def test_basic_has_rules_alone(sample_grammar):
    forest = ChartBuilder(sample_grammar).build(TAGS).forest
    features = LexicalSpans(sample_grammar, with_words=False).read(forest, WORDS)
    assert features.members.shape == (2, 0)
    weights = np.ones(sample_grammar.n_rules)
    assert set(features.scores(weights)) == {0.0, 1.0}


def test_the_classifier_learns_its_spans():
    text = "(TOP (S (NP (DT the) (NN screen)) (VP (VBD was) (NP (NP (DT a) (NN sea)) (PP (IN of) (NP (NN red)))))))"
    sentences = [Tree.from_string(text)] * 5
    phrases = phrase_spans(sentences[0])
    assert phrases == {(0, 2), (0, 7), (2, 7), (3, 7), (3, 5), (5, 7), (6, 7)}
    model = ConstituentClassifier.train(sentences)
    assert model.phrases(WORDS, TAGS) == phrases
    assert ConstituentClassifier.train(sentences).weights.tolist() == model.weights.tolist()
    assert model.phrases(["unseen"], ["XX"]) <= {(0, 1)}


@pytest.mark.parametrize("span", [(0, 1), (2, 5), (0, 7)])
def test_the_classifier_has_the_features_of_lexical_and_those_of_tags(span):
    found = list(span_features(WORDS, TAGS, *span))
    assert set(span_words(WORDS, *span)) < set(found)
    assert ("all tags", *TAGS[slice(*span)]) in found
    assert len(found) == len(set(found))
