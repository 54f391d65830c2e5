import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import FEATURE_SETS, Learners
from tests.reference.perceptron import quantised
from tests.strategies import normalised_trees

TREEBANKS = st.lists(normalised_trees(max_words=6), min_size=1, max_size=3)


def table(learners):
    return [learners.weights[k] for k in range(len(learners.weights))]


@pytest.mark.parametrize("update", ["early", "max_violation", "full"])
@settings(max_examples=30)
@given(
    treebank=TREEBANKS,
    beam_size=st.integers(1, 5),
    gamma=st.one_of(st.none(), st.floats(0, 30)),
    chain_min_count=st.integers(1, 2),
    triple_min_count=st.integers(1, 2),
    features=st.sampled_from(list(FEATURE_SETS)),
    margin=st.sampled_from((0, 1, 3.5, 100)),
    step_decay=st.sampled_from((0, 0.1, 2.5)),
)
def test_learning_as_the_slow_twin(update, treebank, features, **search):
    learners = Learners(treebank, features=FEATURE_SETS[features], update=update, **search)
    for _ in range(3):
        for tree in treebank:
            assert learners.fast_learn(tree)[0] == learners.slow_learn(tree)
            assert table(learners) == learners.slow.weights
    averaged = learners.weights.averaged()
    expected, scale = quantised(learners.slow_perceptron.averages())
    assert averaged.scale == scale
    assert [averaged[k] for k in range(len(averaged))] == expected


TREES = list(
    parse_bracketed(
        """
(TOP (S (NP (NN Ann)) (VP (VBD saw) (NP (NN Bo)))))
(TOP (FRAG (X (NN Ann) (VBD saw) (NN Bo))))
"""
    )
)


def test_weights_stay_within_their_limit():
    """A weight that would get beyond the limit stays where it is, and its average with it."""
    learners = Learners(TREES, beam_size=1, update="full")
    n = len(learners.weights)
    state = (1).to_bytes(8, "little") + (32_000).to_bytes(2, "little") * n + bytes(8 * n)
    learners.weights.load_state(zlib.compress(state))
    assert learners.fast_learn(TREES[0])[0] or learners.fast_learn(TREES[1])[0]
    assert max(table(learners)) == 32_000 > min(table(learners))
    assert max(learners.weights.averaged()[k] for k in range(n)) == 32_000
