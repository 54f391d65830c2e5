"""N-best analyses and their probabilities."""

import pickle
from math import exp, isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import NBestSearch, phrase_probabilities, probabilities
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree
from tests.reference.engine import learner_of

ASSETS = Path(__file__).parents[2] / "assets"
SCORES = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8).map(lambda scores: sorted(scores, reverse=True))


@pytest.fixture(scope="module")
def parser():
    trees = read_treebank(ASSETS / "sample-train.mrg")[:80]
    learner = learner_of(trees, table_bits=16, beam_size=8, gamma=100.0)
    for _ in range(2):
        for tree in trees:
            learner.update(tree.words, tree.tags, tree)
    return learner.parser()


def test_the_parsers_own_analysis_is_the_first(parser, held_out):
    analyser = NBestSearch(parser)
    n_more = 0
    for tree in held_out[:20]:
        parses = analyser.analyses(tree.words, tree.tags)
        assert parses[0] == parser.parse(tree.words, tree.tags)
        scores = [parse.score for parse in parses]
        assert scores == sorted(scores, reverse=True)
        assert len({parse.tree for parse in parses}) == len(parses) <= 100
        n_more += len(parses) > len(parser.nbest(tree.words, tree.tags, 100))
    assert n_more > 15  # the search is wider


@pytest.mark.parametrize("n", [2, 5, 20, None])
def test_searching_twice_at_once_finds_what_one_search_after_the_other_does(parser, n, held_out):
    for tree in held_out[:20]:
        # Some words have two tags, so that scores of one search cannot always be kept for the other.
        tags = [[(tag, 0), ("NN", 3)] if i % 3 == 0 and tag != "NN" else tag for i, tag in enumerate(tree.tags)]
        search = NBestSearch(parser)
        own = parser.parse(tree.words, tags)
        assert search.analyses(tree.words, tags, n=n) == search.beside(own, tree.words, tags, n=n)


def test_trees_of_a_list_are_written_when_somebody_looks_at_them(parser, monkeypatch, held_out):
    tree = held_out[0]
    written = []

    class Writer:
        """The parser's, which notes what it writes."""

        def restored(self, *moves, writer=parser._writer):
            return writer.restored(*moves)

        def write(self, *parts, writer=parser._writer):
            written.append(parts)
            return writer.write(*parts)

    monkeypatch.setattr(parser, "_writer", Writer())
    best, *others = NBestSearch(parser).beside(parser.parse(tree.words, tree.tags), tree.words, tree.tags)
    assert not written
    assert best.tree != others[0].tree
    assert not written
    for one in (best.tree, others[0].tree):
        plain = Tree(one.arrays)
        assert (one, plain, hash(one)) == (plain, one, hash(plain))
        assert pickle.loads(pickle.dumps(one)) == one
        assert one.root.label == "TOP"
    assert len(written) == 2
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        best.tree.nothing  # noqa: B018


def test_lists_with_better_trees_have_all_that_a_wide_search_finds(parser, held_out):
    n_better = 0
    for tree in held_out[:40]:
        own, *others = NBestSearch(parser, with_better=True).analyses(tree.words, tree.tags)
        assert own == parser.parse(tree.words, tree.tags)
        found = parser.with_wide_search(100).nbest(tree.words, tree.tags, 100)
        assert others == [parse for parse in found if parse.tree != own.tree][: len(others)]
        assert len(others) >= len(found) - 1
        assert NBestSearch(parser, with_better=True).beside(own, tree.words, tree.tags) == [own, *others]
        better = [parse for parse in others if parse.score > own.score]
        kept = [parse for parse in others if parse not in better]
        assert [own, *kept] == NBestSearch(parser).analyses(tree.words, tree.tags)[: 1 + len(kept)]
        for n in (2, 5):
            assert NBestSearch(parser, with_better=True).analyses(tree.words, tree.tags, n=n) == [own, *others][:n]
        n_better += bool(better)
    assert n_better


def test_a_tree_of_the_best_expected_f_is_the_first_and_more_probable_ones_stay(generative, held_out):
    parser = generative
    n_beaten = 0
    for tree in held_out[:20]:
        own = parser.parse(tree.words, tree.tags)
        first, *others = NBestSearch(parser).analyses(tree.words, tree.tags)
        assert first == own
        scores = [parse.score for parse in others]
        assert scores == sorted(scores, reverse=True)
        most_probable = parser.nbest(tree.words, tree.tags, 1)[0]
        assert most_probable.tree in [first.tree, *(parse.tree for parse in others)]
        shares = probabilities([first.score, *scores], 1.0)
        assert isclose(sum(shares), 1)
        assert shares.index(max(shares)) == (0 if first.tree == most_probable.tree else 1)
        n_beaten += first.tree != most_probable.tree
    assert n_beaten
    plain = NBestSearch(parser.with_search(choose="score"))
    assert plain.parser.answers_with_best
    for tree in held_out[:5]:
        scores = [parse.score for parse in plain.analyses(tree.words, tree.tags)]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("kind", ["perceptron", "generative"])
def test_a_list_has_as_many_trees_as_asked_for_and_begins_with_shorter_ones(kind, generative, held_out):
    trees = read_treebank(ASSETS / "sample-train.mrg")
    if kind == "perceptron":  # with a grammar that allows many trees, and the highest-scoring one first
        learner = learner_of(trees, table_bits=16, gamma=None, beam_size=400, outcome_filter_min_count=0)
        for tree in trees:
            learner.update(tree.words, tree.tags, tree)
        parser = learner.parser()
    else:
        parser = generative
    search = NBestSearch(parser)
    lengths = []
    long = [tree for tree in held_out if len(tree.words) > 14][:4]
    for tree in long:
        tags = tree.tags if kind == "perceptron" else [None] * len(tree.words)
        most = search.analyses(tree.words, tags, n=250)
        assert len({parse.tree for parse in most}) == len(most)
        lengths.append(len(most))
        scores = [parse.score for parse in most[1:]]
        assert scores == sorted(scores, reverse=True)
        of_one_search = search.analyses(tree.words, tags)
        for n in (1, 2, 50, 120):
            found = search.analyses(tree.words, tags, n=n)
            assert len(found) == min(n, len(most))
            # A generative parser's searches find so few trees that those of wider ones come between.
            known = of_one_search if kind == "generative" else most
            assert (
                found[: len(known)] == known[:n]
                if len(known) >= min(n, len(most))
                else found[1].score >= known[1].score
            )
            assert [parse.score for parse in found[1:]] == sorted((parse.score for parse in found[1:]), reverse=True)
    assert min(lengths) == 250 if kind == "generative" else max(lengths) > 120  # more than one search finds
    with pytest.raises(IncparseError, match="the number of analyses has to be 1 or more, not 0"):
        search.analyses(long[0].words, long[0].tags, n=0)


def test_a_short_sentence_has_all_its_trees(parser):
    words, tags = ["Owls", "sleep"], ["NNS", "VBP"]
    everything = {parse.tree for parse in parser.with_search(gamma=None, beam_size=5000).nbest(words, tags, 5000)}
    found = NBestSearch(parser).analyses(words, tags, n=1000)
    limit = found[0].score
    assert {parse.tree for parse in found} <= everything
    assert len(found) <= 1000
    assert all(parse.score <= limit for parse in found)


def test_a_flat_tree_stands_alone(parser):
    best = parser.parse(["Owls", "sleep"], ["NNS", "VBP"])
    flat = type(best)(best.tree, 0.0, "flat")
    assert NBestSearch(parser).beside(flat, ["Owls", "sleep"], ["NNS", "VBP"]) == [flat]


@given(SCORES, st.floats(0.01, 1e5))
def test_probabilities(scores, temperature):
    assert probabilities(scores[::-1], temperature) == pytest.approx(probabilities(scores, temperature)[::-1])
    shares = probabilities(scores, temperature)
    assert isclose(sum(shares), 1)
    assert shares == sorted(shares, reverse=True)
    for score, share in zip(scores, shares, strict=True):
        assert isclose(share, shares[0] * exp((score - scores[0]) / temperature), rel_tol=1e-9)


def test_phrases_share_the_probability_of_their_trees():
    trees = [
        Tree.from_string("(TOP (S (NP (NN a)) (VP (VB b))))"),
        Tree.from_string("(TOP (NP (NN a) (NN b)))"),
        Tree.from_string("(TOP (S (NP (NP (NN a))) (VP (VB b))))"),
    ]
    assert phrase_probabilities(trees, [0.5, 0.25, 0.25]) == {
        ("TOP", 0, 2): 1.0,
        ("S", 0, 2): 0.75,
        ("NP", 0, 1): 0.75,  # once a tree, also where it stands twice in a chain
        ("VP", 1, 2): 0.75,
        ("NP", 0, 2): 0.25,
    }
