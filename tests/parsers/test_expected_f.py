"""The tree with the best expected F."""

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.treebanks.penn_reader import parse_bracketed


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
    weights = [p ** (1 / temperature) for p in probabilities]
    spans = [set(p.tree.spans()) for p in parses]
    n_expected = sum(w * len(s) for w, s in zip(weights, spans, strict=True)) / sum(weights)

    def expected_f(mine):
        common = sum(w * len(mine & s) for w, s in zip(weights, spans, strict=True)) / sum(weights)
        return 2 * common / (len(mine) + n_expected)

    best = max_expected_f(parses, temperature)
    assert expected_f(set(best.tree.spans())) == pytest.approx(max(map(expected_f, spans)))
