"""What the systems of Taskar et al. see: probabilities of rules and words, words of spans, and a flat classifier."""

from collections import Counter
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_incparse.chart.charts import ChartBuilder, derived_tree
from spacy_incparse.chart.forest import rule_scores
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.papers.taskar_2004.features import (
    ConstituentClassifier,
    LexicalSpans,
    Pcfg,
    phrase_spans,
    span_words,
)
from spacy_incparse.transforms.binarize import Markovization, markovize
from spacy_incparse.trees.tree import Tree
from tests.chart.grammars import MARKOVIZATIONS, TREEBANKS, grammar_of


@settings(max_examples=30)
@given(TREEBANKS, MARKOVIZATIONS)
def test_probabilities_sum_to_one(trees, options):
    grammar = grammar_of(trees, options)
    model = Pcfg.estimate([], grammar)
    probabilities = np.exp(model.rules)
    levels, bases, roots = Counter(), Counter(), 0.0
    for rule, probability in zip(grammar.rules, probabilities, strict=True):
        if not rule.parent:
            roots += probability
        elif len(rule.right) == 1:
            levels[rule.parent] += probability
        else:
            bases[rule.parent] += probability
    assert roots == pytest.approx(1)
    assert all(total == pytest.approx(1) for total in bases.values())
    tops = {name for rule in grammar.rules if len(rule.right) != 1 or not rule.parent for name in rule.right}
    for name in tops:
        assert levels[name] + exp(model.bare[grammar.states.index(name)]) == pytest.approx(1, abs=1e-6)


def test_relative_frequencies(sample_grammar):
    model = Pcfg.estimate([], sample_grammar)
    probabilities = {str(rule): exp(score) for rule, score in zip(sample_grammar.rules, model.rules, strict=True)}
    assert probabilities["NP -> =DT =NN"] == pytest.approx(3 / 4)  # of those with a binary rule
    assert probabilities["NP -> =NN"] == pytest.approx(3 / 7)  # of all
    assert probabilities["TOP -> NP"] == pytest.approx(1 / 4)


def test_words_choose_tags(sample_trees, sample_grammar):
    trees = [markovize(tree.arrays, Markovization()) for tree in sample_trees]
    lexicon = Lexicon.from_sentences([tree.words for tree in sample_trees], known_min_count=1, common_min_count=1)
    model = Pcfg.estimate(trees, sample_grammar, lexicon)
    words = ["a", "hill", "saw", "the", "owl"]
    tags = [None] * len(words)
    forest = ChartBuilder(sample_grammar).build(tags).forest
    _, edges = viterbi(forest, model.scores(forest, words))
    found = derived_tree(forest, edges, sample_grammar, words, tags)
    assert str(found) == "(TOP (S (NP (DT a) (NN hill)) (VP (VBD saw) (NP (DT the) (NN owl)))))"
    assert model.scores(forest, ["never", *words[1:]]).shape == (forest.n_edges,)


def test_lexical_scores_are_added(sample_grammar):
    forest = ChartBuilder(sample_grammar).build(["NN", "VBD", "NN"]).forest
    n_lexical = len(sample_grammar.lexical)
    lexical = np.arange(3 * n_lexical, dtype=float).reshape(3, n_lexical)
    rules, bare = np.full(sample_grammar.n_rules, log(0.5)), np.zeros(len(sample_grammar.states))
    scores = rule_scores(forest, rules, bare, sample_grammar.first_lexical, lexical)
    for (rule, start, _, _), score in zip(forest.edge_array().tolist(), scores, strict=True):
        if rule >= 0:
            place = rule - sample_grammar.first_lexical
            added = lexical[start, place] if 0 <= place < n_lexical else 0
            assert score == pytest.approx(log(0.5) + added)


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


def test_the_classifier_learns_its_spans():
    text = "(TOP (S (NP (DT the) (NN screen)) (VP (VBD was) (NP (NP (DT a) (NN sea)) (PP (IN of) (NP (NN red)))))))"
    sentences = [Tree.from_string(text)] * 5
    phrases = phrase_spans(sentences[0])
    assert phrases == {(0, 2), (0, 7), (2, 7), (3, 7), (3, 5), (5, 7), (6, 7)}
    model = ConstituentClassifier.train(sentences)
    assert model.phrases(WORDS, TAGS) == phrases
    assert ConstituentClassifier.train(sentences).weights.tolist() == model.weights.tolist()
    assert model.phrases(["unseen"], ["XX"]) <= {(0, 1)}
