from itertools import combinations

import pytest

from spacy_incparse import Tree, tree_distance, tree_similarity
from spacy_incparse.errors import ConfigError, IncparseError
from tests.reference.tree_comparison import slow_distance, slow_kernel

A = Tree.from_string("(S (NP (PRP I)) (VP (VBD saw) (NP (NN rain))))")
B = Tree.from_string("(S (NP (PRP She)) (VP (VBD saw) (NP (DT the) (NN rain)) (PP (IN in) (NP (NNP May)))))")


def test_distance_counts_nodes():
    assert tree_distance(A, A) == 0
    assert tree_distance(A, B) == 5  # DT, PP, IN, NP, NNP
    assert tree_distance(A, A.map_labels({"NP": "X"})) == 2
    assert tree_distance(B.children[1], A.children[1]) == 5


def test_distances_are_those_of_the_slow_twin(sample_train):
    for one, other in combinations([tree for tree in sample_train if tree.size < 20][:8], 2):
        assert tree_distance(one, other) == tree_distance(other, one) == slow_distance(one, other)


def test_similarity_is_the_normalized_kernel(sample_train):
    assert tree_similarity(A, A) == pytest.approx(1)
    assert tree_similarity(A, Tree.from_string("(X (Y y))")) == 0
    for one, other in combinations(sample_train[:8], 2):
        wanted = slow_kernel(one, other, 0.4) / (slow_kernel(one, one, 0.4) * slow_kernel(other, other, 0.4)) ** 0.5
        assert tree_similarity(one, other) == pytest.approx(wanted)


def test_groups_are_compared_by_the_mean_over_their_pairs(sample_train):
    groups = sample_train[:4], sample_train[4:9]

    def mean(some, others):
        return sum(tree_similarity(one, other, decay=1) for one in some for other in others) / len(some) / len(others)

    wanted = mean(*groups) / (mean(groups[0], groups[0]) * mean(groups[1], groups[1])) ** 0.5
    assert tree_similarity(*groups, decay=1) == pytest.approx(wanted)
    flat = Tree.from_string("(X" + " (Y y)" * 3000 + ")")  # whose kernel is larger than any float
    assert tree_similarity(flat, [flat, flat]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("error", "given"), [(IncparseError, (A, 5)), (IncparseError, (A, [])), (IncparseError, ("(S x)", A))]
)
def test_wrong_arguments_are_refused(error, given):
    with pytest.raises(error, match="tree"):
        tree_similarity(*given)
    with pytest.raises(ConfigError, match="decay"):
        tree_similarity(A, B, decay=0)
