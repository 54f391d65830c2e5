import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.engine import FEATURE_SETS, Learners
from tests.reference.perceptron import quantised
from tests.strategies import normalised_trees

TREEBANKS = st.lists(normalised_trees(max_words=6), min_size=1, max_size=3)


def table(learners):
    return [learners.weights[k] for k in range(len(learners.weights))]


@pytest.mark.parametrize("features", FEATURE_SETS)
@settings(max_examples=25, deadline=None)
@given(treebank=TREEBANKS)
def test_features_of_a_derivation(features, treebank):
    learners = Learners(treebank, features=FEATURE_SETS[features])
    for tree in treebank:
        gold = learners.gold(tree)
        fast = learners.perceptron.features_of(
            learners.model.sentence(tree.words, tree.tags), *learners.leaves(tree.tags, gold)
        )
        slow = learners.slow.features(learners.slow.sentence(tree.words, tree.tags), gold, True)
        assert sorted(fast) == sorted(slow)


@pytest.mark.parametrize("update", ["early", "max_violation", "full"])
@settings(max_examples=40, deadline=None)
@given(
    treebank=TREEBANKS,
    beam_size=st.integers(1, 5),
    gamma=st.one_of(st.none(), st.floats(0, 30)),
    chain_min_count=st.integers(1, 2),
    triple_min_count=st.integers(1, 2),
    features=st.sampled_from(("paper", "paper+punct", "rich")),
)
def test_learning_as_the_slow_twin(update, treebank, features, **search):
    learners = Learners(treebank, features=features, update=update, **search)
    for _ in range(3):
        for tree in treebank:
            assert learners.fast_learn(tree)[0] == learners.slow_learn(tree)
            assert table(learners) == learners.slow.weights
    averaged = learners.weights.averaged()
    expected, scale = quantised(learners.slow_perceptron.averages())
    assert averaged.scale == scale
    assert [averaged[k] for k in range(len(averaged))] == expected
