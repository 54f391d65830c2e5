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
    return cache.add(gold_of(n_words), candidates_of(n_words), complete)


def test_a_sweep_comes_every_so_many_sentences():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=3, cache_t1=1)
    n_updates = [add(cache, n_words) for n_words in range(1, 8)]
    assert n_updates == [0, 0, 3, 0, 0, 6, 0]
    assert [length for length, *_ in perceptron.calls] == [1, 2, 3, 1, 2, 3, 4, 5, 6]


def test_sentences_that_were_right_count_for_the_interval():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=2, cache_t1=1)
    assert add(cache, 1) == 0
    assert cache.add(gold_of(2), [], False) == 1
    assert [length for length, *_ in perceptron.calls] == [1]


def test_t2_bounds_the_updates_of_an_entry():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=1, cache_t1=3, cache_t2=4)
    assert add(cache, 1) == 3
    assert cache.add(gold_of(9), [], False) == 1  # the fourth time, then never again
    assert cache.add(gold_of(9), [], False) == 0


def test_only_updates_count_for_t2():
    perceptron = FakePerceptron(n_updates=1)
    cache = cache_of(perceptron, cache_interval=1, cache_t1=5, cache_t2=2)
    assert add(cache, 1) == 1
    assert len(perceptron.calls) == 5


def test_new_candidates_start_their_counter_anew():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=1, cache_t1=2, cache_t2=2)
    assert add(cache, 1) == 2
    assert cache.add(gold_of(9), [], False) == 0
    assert add(cache, 1) == 2


def test_a_sentence_that_is_right_now_leaves_the_cache():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_interval=1, cache_t1=1)
    add(cache, 1)
    assert cache.add(gold_of(1), [], False) == 0


def test_the_oldest_sentence_makes_room():
    perceptron = FakePerceptron()
    cache = cache_of(perceptron, cache_size=2, cache_interval=5, cache_t1=1)
    for n_words in (1, 2, 1, 3):
        add(cache, n_words)
    assert add(cache, 4) == 2
    assert [length for length, *_ in perceptron.calls] == [3, 4]


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
@settings(max_examples=25, deadline=None)
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
