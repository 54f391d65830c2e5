from itertools import combinations
from math import exp, fsum, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.parsing.combination import Combination, Opinion, agreeing
from spacy_incparse.parsing.nbest import best_spans, expected_f_values, max_expected_f, phrases_of
from spacy_incparse.parsing.parse import Constraint, Parse, flat_tree
from spacy_incparse.trees.tree import Tree
from tests.reference.bracket_chart import all_phrase_sets, crosses
from tests.strategies import deep_tree, normalised_trees

SPANS = st.tuples(st.integers(0, 6), st.integers(1, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))
GAINS = st.dictionaries(SPANS, st.integers(-3, 9).map(float), max_size=10)
WORDS = ("a", "b", "c", "d")
LOW = "(TOP (S (N a) (VP (V b) (NP (NP (N c)) (PP (P d))))))"
HIGH = "(TOP (S (NP (N a)) (VP (V b) (NP (N c)) (PP (P d)))))"
LEFT = "(TOP (S (VP (VP (N a) (V b)) (N c)) (P d)))"
ODD = "(TOP (FRAG (S (N a) (V b)) (N c)) (P d))"
DRAWN = st.lists(st.tuples(st.sampled_from((LOW, HIGH, LEFT, ODD)), st.integers(-20, 0)), min_size=1, max_size=4)


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


@settings(max_examples=100)
@given(st.lists(st.tuples(normalised_trees(max_words=4), st.floats(0.01, 1)), min_size=1, max_size=8))
def test_the_best_expected_f_of_any_list_as_the_slow_twin(trees):
    parses = [Parse(tree, log(probability), "beam") for tree, probability in trees]
    for temperature in (0.5, 1.0, 3.0):
        expected = slow_expected_f(parses, temperature)
        top = max(one.score for one in parses)
        weights = [exp((one.score - top) / temperature) for one in parses]
        assert expected_f_values([one.tree for one in parses], weights) == pytest.approx(expected)
        best = max_expected_f(parses, temperature)
        assert expected[[one is best for one in parses].index(True)] == pytest.approx(max(expected))


def test_ties_go_to_the_first():
    parses = [Parse(Tree.from_string(LOW), 0.0, "beam") for _ in range(2)]
    assert max_expected_f(parses, 1.0) is parses[0]


def opinion(pairs, weight=1.0, unmet=()):
    parses = [Parse(Tree.from_string(text), score / 10, "beam", tuple(unmet)) for text, score in pairs]
    return Opinion(parses, phrases_of(parses, 1.0), weight)


@settings(max_examples=200)
@given(GAINS)
def test_no_spans_have_a_higher_sum(gains):
    found = best_spans(gains)
    assert found == sorted(found, key=lambda span: (span[0], -span[1]))
    assert not any(crosses(("", *a), ("", *b)) for a, b in combinations(found, 2))
    sets = all_phrase_sets([("", *span) for span in gains if gains[span] > 0])
    best = max(fsum(gains[start, end] for _, start, end in chosen) for chosen in sets)
    assert fsum(gains[span] for span in found) == best


@settings(deadline=None, max_examples=60)
@given(st.lists(DRAWN, min_size=1, max_size=3), st.sampled_from((0.1, 0.35, 0.5, 0.8)))
def test_no_tree_of_the_phrases_has_a_higher_gain(drawn, threshold):
    """Neither do the members' own trees, which may have a phrase twice."""
    combination = Combination([opinion(pairs, weight=1 + k) for k, pairs in enumerate(drawn)], threshold)
    phrases = {phrase: p for phrase, p in combination.phrases.items() if phrase[0] != "TOP"}
    useful = [phrase for phrase in phrases if phrases[phrase] > threshold]
    best = max(fsum(phrases[phrase] - threshold for phrase in chosen) for chosen in all_phrase_sets(useful))
    parse = combination.best()
    assert parse.score == pytest.approx(best)
    assert combination.gain(parse.tree) == parse.score
    assert parse.tree.words == WORDS
    parses = combination.nbest()
    assert parses[0] == parse
    assert len({tuple(found.tree.spans()) for found in parses}) == len(parses)
    scores = [found.score for found in parses]
    assert scores[1:] == sorted(scores[1:], reverse=True)
    assert scores[0] >= max(scores) - 1e-9


def test_weights_count():
    high, low = opinion([(HIGH, 0)], weight=3.0), opinion([(LOW, 0)])
    assert Combination([high, low], 0.5).best().tree == Tree.from_string(HIGH)


def test_labels_over_the_same_words_are_ordered_as_in_the_trees():
    text = "(TOP (SBAR (S (VP (V a)))))"
    assert str(Combination([opinion([(text, 0)])], 0.4).best().tree) == text
    parse = Combination([opinion([("(TOP (S (V a)))", 0)]), opinion([("(TOP (VP (V a)))", 0)])], 0.4).best()
    assert str(parse.tree) == "(TOP (S (VP (V a))))"  # no tree has both: the alphabet decides


def test_a_required_span_is_there_even_if_no_label_is_likely():
    pairs = [
        ("(TOP (NP (N a) (N b)) (N c))", 0),
        ("(TOP (VP (N a) (N b)) (N c))", 0),
        ("(TOP (S (N a) (N b)) (N c))", 1),
    ]
    constraint = Constraint(0, 2)
    assert Combination([opinion(pairs)], 0.45).best().tree.spans() == [("TOP", 0, 3)]
    found = Combination([opinion(pairs)], 0.45, [constraint]).best()
    assert found.tree.spans() == [("TOP", 0, 3), ("S", 0, 2)]
    assert found.score < 0
    assert Combination([opinion(pairs)], 0.45, [Constraint(0, 3)]).best().tree.spans() == [("TOP", 0, 3)]


def test_opinions_that_can_be_combined():
    constraint, other = Constraint(0, 2), Constraint(1, 3)
    met, unmet, one = (opinion([(LOW, 0)], unmet=unmet) for unmet in ((), (constraint,), (constraint, other)))
    flat = Opinion([Parse(flat_tree(WORDS, "NVNP"), 0.0, "flat")], {("TOP", 0, 4): 1.0})
    assert agreeing([unmet, met, flat, met]) == [met, met]
    assert agreeing([one, unmet]) == [unmet]
    assert agreeing([flat, flat]) == [flat]
    assert Combination([flat], 0.45).nbest() == [flat.parses[0]]
    assert Combination([flat], 0.45).posterior(1.0) is None


def test_deep_trees():
    tree = deep_tree(1500)
    parse = Parse(tree, 0.0, "beam")
    found = Combination([Opinion([parse], dict.fromkeys(tree.spans(), 1.0))], 0.45).best()
    assert found.tree.spans() == tree.spans()
