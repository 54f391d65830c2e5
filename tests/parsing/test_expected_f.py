"""The tree with the best expected F."""

from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.parsing.nbest import expected_f_values, max_expected_f
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.strategies import normalised_trees


def slow_expected_f(parses, temperature):
    """The slow twin: the expected F of each tree, pair by pair."""
    top = max(parse.score for parse in parses)
    weights = [exp((parse.score - top) / temperature) for parse in parses]
    spans = [set(parse.tree.spans()) for parse in parses]
    n_expected = sum(w * len(s) for w, s in zip(weights, spans, strict=True)) / sum(weights)
    return [
        2
        * sum(w * len(mine & s) for w, s in zip(weights, spans, strict=True))
        / sum(weights)
        / (len(mine) + n_expected)
        for mine in spans
    ]


def parse(text, probability):
    return Parse(next(parse_bracketed(text)), log(probability), "beam")


LOW = "(TOP (S (NP (N a)) (VP (V b) (NP (NP (N c)) (PP (P d))))))"
HIGH = "(TOP (S (NP (N a)) (VP (V b) (NP (N c)) (PP (P d)))))"
FLAT = "(TOP (FRAG (N a) (V b) (N c) (P d)))"


def test_trees_that_agree_outvote_the_most_probable():
    parses = [parse(FLAT, 0.4), parse(LOW, 0.3), parse(HIGH, 0.3)]
    assert max_expected_f(parses, 1.0).tree in (parses[1].tree, parses[2].tree)


def test_a_sure_tree_is_the_answer():
    parses = [parse(FLAT, 0.98), parse(LOW, 0.01), parse(HIGH, 0.01)]
    assert max_expected_f(parses, 1.0) is parses[0]


@settings(max_examples=30)
@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.sampled_from((0.5, 1.0, 3.0)))
def test_it_has_the_best_expected_f(probabilities, temperature):
    parses = [parse(text, p) for text, p in zip((FLAT, LOW, HIGH), probabilities, strict=True)]
    check(parses, temperature)


@settings(max_examples=100)
@given(st.lists(st.tuples(normalised_trees(max_words=4), st.floats(0.01, 1)), min_size=1, max_size=8))
def test_any_list_as_the_slow_twin(trees):
    check([Parse(tree, log(probability), "beam") for tree, probability in trees], 1.0)


def check(parses, temperature):
    expected = slow_expected_f(parses, temperature)
    top = max(one.score for one in parses)
    weights = [exp((one.score - top) / temperature) for one in parses]
    assert expected_f_values([one.tree for one in parses], weights) == pytest.approx(expected)
    best = max_expected_f(parses, temperature)
    assert expected[[one is best for one in parses].index(True)] == pytest.approx(max(expected))


def test_ties_go_to_the_first():
    parses = [parse(LOW, 0.5), parse(LOW, 0.5)]
    assert max_expected_f(parses, 1.0) is parses[0]
    assert max_expected_f(parses[::-1], 1.0) is parses[1]
