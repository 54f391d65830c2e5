from math import log

import numpy as np
import pytest

from spacy_incparse.parsing.nbest import max_expected_f
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.data import (
    RerankerWeights,
    best_candidates,
    candidate_values,
    choose,
    corpus_f,
    expected_f,
    is_best,
    list_probabilities,
    phrase_overlaps,
    sentence_f,
)
from spacy_incparse.trees.tree import Tree
from tests.reference.rerank_learners import SlowLists, probabilities
from tests.rerank.random_lists import random_data

TREES = [
    Tree.from_string(text)
    for text in (
        "(TOP (FRAG (N a) (V b) (N c) (P d)))",
        "(TOP (S (NP (N a)) (VP (V b) (NP (NP (N c)) (PP (P d))))))",
        "(TOP (S (NP (N a)) (VP (V b) (NP (N c)) (PP (P d)))))",
    )
]


@pytest.mark.parametrize("seed", range(5))
def test_best_candidates_are_those_of_the_definition(seed):
    data = random_data(seed)
    slow = SlowLists(data)
    assert best_candidates(data).tolist() == [
        int(start) + slow.best(candidates) for start, candidates in zip(data.list_starts[:-1], slow.lists, strict=True)
    ]
    assert sentence_f(data) == pytest.approx([c.f for candidates in slow.lists for c in candidates])
    assert is_best(data).tolist() == [c.f == max(d.f for d in cs) for cs in slow.lists for c in cs]


def test_values_and_probabilities_are_those_of_the_definition():
    data, rng = random_data(3, n_scores=2), np.random.default_rng(0)
    weights = RerankerWeights(rng.normal(size=2), rng.normal(size=data.n_features))
    found = candidate_values(data, weights)
    slow = [[c.value(weights.scores, weights.features) for c in candidates] for candidates in SlowLists(data).lists]
    assert found == pytest.approx([value for values in slow for value in values])
    expected = [p for values in slow for p in probabilities(values)]
    assert list_probabilities(found, data.list_starts) == pytest.approx(expected)


def test_the_highest_value_is_chosen_and_the_first_of_several():
    data = random_data(1)
    values = np.zeros(data.n_candidates)
    assert choose(data, values).tolist() == data.list_starts[:-1].tolist()
    last = data.list_starts[1:] - 1
    values[last] = 1
    assert choose(data, values).tolist() == last.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_expected_f_chooses_as_the_parsers_do(seed):
    scores = np.random.default_rng(seed).normal(size=3)
    parses = [Parse(tree, float(score), "beam") for tree, score in zip(TREES, scores, strict=True)]
    for temperature in (0.5, 2.0):
        p = list_probabilities(scores / temperature, np.array([0, 3]))
        found = int(np.argmax(expected_f(phrase_overlaps(TREES), p)))
        assert parses[found] is max_expected_f(parses, temperature)


def test_expected_f_from_its_definition():
    p = np.exp([log(0.5), log(0.3), log(0.2)])
    overlaps = phrase_overlaps(TREES)
    assert overlaps.tolist() == [[2, 1, 1], [1, 7, 6], [1, 6, 6]]
    n_expected = 0.5 * 2 + 0.3 * 7 + 0.2 * 6
    shared = [0.5 * 2 + 0.5, 0.5 + 0.3 * 7 + 0.2 * 6, 0.5 + 0.3 * 6 + 0.2 * 6]
    expected = [2 * both / (size + n_expected) for both, size in zip(shared, (2, 7, 6), strict=True)]
    assert expected_f(overlaps, p) == pytest.approx(expected)


def test_a_large_scale_chooses_by_value():
    data = random_data(2)
    values = data.scores[:, 0]
    assert (choose(data, values, "expected_f", 1e5) == choose(data, values)).all()


def test_corpus_f():
    data = random_data(4)
    chosen = data.list_starts[:-1]
    matched, both = data.n_matched[chosen].sum(), data.n_gold.sum() + data.n_phrases[chosen].sum()
    assert corpus_f(data, chosen) == 2 * matched / both
