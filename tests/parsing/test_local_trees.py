from dataclasses import replace

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.generative.kind import PERCEPTRON
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.parsing.combination import CombinerSearch, ComponentCombination
from spacy_incparse.parsing.local_trees import MOST_EDITS, local_trees, local_trees_of
from spacy_incparse.parsing.nbest import Recombination, phrase_probabilities, phrases_of
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees

SEEN = "(TOP (NP (NP (JJ a) (NN b)) (PP (IN c) (NP (NN d)))))"
WORDS, LABELS, TAGS = 4, ("S", "NP", "VP"), ("N", "V")
SHORT = 3  # labels of a local tree of two children


def trees_of(*texts):
    return [Tree.from_string(text) for text in texts]


def recombined(texts, shares, seen, required=()):
    trees = trees_of(*texts)
    return str(Recombination(trees, phrase_probabilities(trees, shares), 0.45, required, seen).best_tree())


@given(normalised_trees())
def test_local_trees_are_productions_without_words(tree):
    expected = [(one.left, *one.right) for one in tree.productions() if not one.is_lexical]
    assert local_trees(tree.spans(), tree.tags) == expected
    assert local_trees_of([tree]) == {one for one in expected if len(one) <= SHORT}


def test_an_unseen_local_tree_is_avoided_where_that_costs_less():
    seen = local_trees_of(trees_of("(TOP (NP (JJ a)) (ADJP (JJ b)))", "(TOP (NP (JJ a)))", SEEN))
    alone = "(TOP (NP (JJ a)))", "(TOP (ADJP (JJ a)))", "(TOP (NP (ADJP (JJ a))))"
    odd = "(TOP (NP (ADJP (JJ a))))"
    assert recombined(alone, (0.3, 0.3, 0.4), ()) == odd
    assert recombined(alone, (0.3, 0.3, 0.4), seen) == alone[0]  # a phrase less
    assert recombined(alone, (0.02, 0.02, 0.96), seen) == odd  # both phrases are too probable
    labels = "(TOP (X (JJ a)))", "(TOP (NP (JJ a)))"
    assert recombined(labels, (0.6, 0.4), seen) == labels[1]  # another label
    below = "(TOP (NP (NP (JJ a) (NN b)) (PP (IN c) (NN d))))", SEEN
    assert recombined(below, (0.6, 0.4), seen) == SEEN  # a phrase that was not quite probable enough


@st.composite
def recombinations(draw):
    drawn = draw(st.lists(normalised_trees(WORDS, LABELS, TAGS), min_size=1, max_size=6))
    first = drawn[0]
    trees = [tree for tree in drawn if len(tree.words) == len(first.words)]
    trees = [Tree.from_string(str(first)), *(_with_tags(tree, first) for tree in trees[1:])]
    shares = [draw(st.integers(1, 5)) for _ in trees]
    phrases = phrase_probabilities(trees, [share / sum(shares) for share in shares])
    known = sorted({one for tree in trees for one in local_trees(tree.spans(), tree.tags)})
    seen = draw(st.sets(st.sampled_from(known), min_size=1))
    common = sorted(set.intersection(*({(start, end) for _, start, end in tree.spans()} for tree in trees)))
    required = draw(st.lists(st.sampled_from(common), max_size=1))
    return Recombination(trees, phrases, draw(st.sampled_from((0.2, 0.45, 0.7))), required, seen)


def _with_tags(tree, other):
    return tree_of_phrases(tree.spans(), other.words, other.tags)


def n_unseen(recombination, tree):
    local = [one for one in local_trees(tree.spans(), tree.tags) if len(one) <= SHORT]
    return sum(one not in recombination.seen for one in local)


@settings(max_examples=150, deadline=None)
@given(recombinations())
def test_mended_trees_are_never_worse(recombination):
    plain = replace(recombination, seen=())
    made, tree = plain.best_tree(), recombination.best_tree()
    for one in (tree, made):
        price = recombination.threshold * n_unseen(recombination, one)
        assert recombination.gain(one) == pytest.approx(plain.gain(one) - price)
    assert recombination.gain(tree) >= max(map(recombination.gain, (made, *recombination.trees))) - 1e-9
    assert n_unseen(recombination, tree) <= n_unseen(recombination, made)
    if not n_unseen(recombination, made):
        assert tree == made
    assert {(start, end) for _, start, end in tree.spans()}.issuperset(recombination.required)


def without_local_trees(parser):
    model = replace(parser.model, grammar=replace(parser.model.grammar, local_trees=frozenset()))
    return PerceptronParser(model, parser.weights, parser.config, temperature=parser.temperature)


def test_parsers_know_the_local_trees_of_their_training(calibrated, generative, sample_train):
    assert calibrated.local_trees == local_trees_of(sample_train[:80])
    assert generative.local_trees == local_trees_of(sample_train)
    for one in (calibrated, generative):
        assert type(one).from_bytes(one.to_bytes()).local_trees == one.local_trees
    content = srsly.msgpack_loads(calibrated.to_bytes())
    del content["model"]["grammar"]["local_trees"]  # as in files of models that were trained before
    old = PerceptronParser.from_bytes(srsly.msgpack_dumps(content))
    assert old.local_trees == frozenset()
    members = ComponentCombination([old, calibrated], {"a": 1.0, "b": 1.0}, CombinerSearch())
    assert members.local_trees == calibrated.local_trees


def test_deep_trees_whose_local_trees_are_all_unseen():
    tree = deep_tree(600)
    found = Recombination([tree], dict.fromkeys(tree.spans(), 0.8), 0.45, (), {("X", "X")}).best_tree()
    assert len(tree.spans()) - 2 * MOST_EDITS < len(found.spans()) < len(tree.spans())


def test_fine_tuning_adds_local_trees_to_those_that_are_known(calibrated, sample_train):
    more = sample_train[80:120]
    for one, expected in (
        (calibrated, calibrated.local_trees | local_trees_of(more)),
        (without_local_trees(calibrated), frozenset()),
    ):
        tuner = PERCEPTRON.fine_tuner(one)
        tuner.extend(more, [tree.tags for tree in more])
        assert tuner.parser().local_trees == expected


def test_recombined_trees_have_fewer_unseen_local_trees(calibrated, sample_dev):
    settings = {"choose": "recombined", "choose_trees": 20, "choose_threshold": 0.3}
    new, old = calibrated.with_search(**settings), without_local_trees(calibrated).with_search(**settings)
    n_before = n_after = 0
    for tree in sample_dev:
        listed = calibrated.nbest(tree.words, tree.tags, 20)
        judge = Recombination(
            [one.tree for one in listed], phrases_of(listed, 10_000.0), 0.3, (), calibrated.local_trees
        )
        before, after = old.parse(tree.words, tree.tags).tree, new.parse(tree.words, tree.tags).tree
        assert after == (judge.best_tree() if len(listed) > 1 else before)
        n_before += n_unseen(judge, before)
        n_after += n_unseen(judge, after)
    assert n_after < n_before
