from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.incremental.learner import GoldMoves
from spacy_incparse.incremental.sentence import Sentence
from spacy_incparse.papers.collins_roark_2004.candidate_cache import CandidateCache, RepeatedUseConfig
from tests.reference.engine import Learners
from tests.strategies import normalised_trees


class FakePerceptron:
    """Notes what it should learn from again, and says that the weights changed as long as `n_updates` last."""

    def __init__(self, n_updates=10**6):
        self.n_updates = n_updates
        self.calls = []

    def relearn(self, sentence, gold, candidates, complete):
        self.calls.append((len(sentence), gold, candidates, complete))
        self.n_updates -= 1
        return self.n_updates >= 0


def gold_of(n_words):
    return GoldMoves(Sentence([9] * n_words, [0] * n_words, [0] * n_words, 1, False), [0] * n_words, [1] * n_words)


def candidates_of(n_words):
    return [([0] * n_words, [2] * n_words)]


def cache_of(perceptron, **settings):
    plain = SimpleNamespace(perceptron=perceptron, weights=Mock(state_to_bytes=bytes))
    return CandidateCache(plain, RepeatedUseConfig(**{"cache_size": 10} | settings))


def add(cache, n_words, *, complete=False):
    """Add a sentence, known by its length, with candidates; a negative length is a sentence that was right."""
    return cache.add(gold_of(abs(n_words)), candidates_of(n_words) if n_words > 0 else [], complete)


@pytest.mark.parametrize(
    ("settings", "n_updates", "added", "expected", "again"),
    [
        # A sweep comes every so many sentences; those that were right count, too, and leave the cache.
        ({"cache_interval": 3, "cache_t1": 1}, 99, [1, 2, 3, 4, 5, 6, 7], [0, 0, 3, 0, 0, 6, 0], "123123456"),
        ({"cache_interval": 2, "cache_t1": 1}, 99, [1, -2], [0, 1], "1"),
        ({"cache_interval": 1, "cache_t1": 1}, 99, [1, -1], [1, 0], "1"),
        # T2 bounds the updates of an entry, no matter how often there was none; new candidates count anew.
        ({"cache_interval": 1, "cache_t1": 3, "cache_t2": 4}, 99, [1, -9, -9], [3, 1, 0], "1111"),
        ({"cache_interval": 1, "cache_t1": 5, "cache_t2": 2}, 1, [1], [1], "11111"),
        ({"cache_interval": 1, "cache_t1": 2, "cache_t2": 2}, 99, [1, -9, 1], [2, 0, 2], "1111"),
        # The oldest sentence makes room.
        ({"cache_interval": 5, "cache_t1": 1, "cache_size": 2}, 99, [1, 2, 1, 3, 4], [0, 0, 0, 0, 2], "34"),
    ],
)
def test_what_is_learned_again_and_when(settings, n_updates, added, expected, again):
    perceptron = FakePerceptron(n_updates)
    cache = cache_of(perceptron, **settings)
    assert [add(cache, n_words) for n_words in added] == expected
    assert "".join(str(length) for length, *_ in perceptron.calls) == again


def test_what_is_learnt_from_again():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=2, cache_t1=1)
    add(cache, 2, complete=True)
    add(cache, 1)
    assert perceptron.calls == [(2, ([0, 0], [1, 1]), candidates_of(2), True), (1, ([0], [1]), candidates_of(1), False)]


@pytest.mark.parametrize("n_before", [1, 2, 3, 4])
def test_a_stored_cache_goes_on_as_if_nothing_had_been(n_before):
    settings = {"cache_interval": 2, "cache_t1": 2, "cache_t2": 3, "cache_size": 3}
    one, other = FakePerceptron(n_updates=7), FakePerceptron(n_updates=7)
    straight, first = cache_of(one, **settings), cache_of(other, **settings)
    for n_words in range(1, n_before + 1):
        assert add(straight, n_words) == add(first, n_words)
    second = cache_of(other, **settings)
    second.from_dict(first.to_dict())
    for n_words in (1, 5, 2, 6, 7):
        assert add(straight, n_words) == add(second, n_words)
    assert one.calls == other.calls
    assert straight.to_dict() == second.to_dict()


@pytest.mark.parametrize("update", ["early", "full"])
@settings(max_examples=25)
@given(treebank=st.lists(normalised_trees(max_words=5), min_size=2, max_size=3), n_candidates=st.integers(1, 4))
def test_learning_again_as_the_slow_twin(update, treebank, n_candidates):
    """Figure 4, step 2, with the candidates that real searches left."""
    learners = Learners(treebank, features="paper", update=update, beam_size=3)
    for tree in treebank * 2:
        updated, candidates, complete = learners.fast_learn(tree, n_candidates)
        assert learners.slow_learn(tree) == updated == bool(candidates)
        assert len(candidates) <= n_candidates
        for _ in range(3 * bool(candidates)):
            sentence = learners.model.sentence(tree.words, tree.tags)
            gold = learners.gold(tree)
            found = learners.perceptron.relearn(sentence, learners.leaves(tree.tags, gold), candidates, complete)
            moves = [
                [(n, learners.chain(leaf)) for n, leaf in zip(closings, leaves, strict=True)]
                for closings, leaves in candidates
            ]
            slow_sentence = learners.slow.sentence(tree.words, tree.tags)
            assert learners.slow_perceptron.relearn(slow_sentence, gold, moves, complete) == found
            assert [learners.weights[k] for k in range(len(learners.weights))] == learners.slow.weights
