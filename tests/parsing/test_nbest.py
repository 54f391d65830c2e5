import pickle
import warnings
from math import exp, isclose

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import (
    NBestSearch,
    Recombination,
    max_expected_f,
    phrase_probabilities,
    phrases_of,
    probabilities,
)
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.trees.tree import Tree
from tests.reference.engine import learner_of, teach
from tests.small_pipeline import pipeline

SCORES = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8).map(lambda scores: sorted(scores, reverse=True))


@pytest.fixture(scope="module")
def parser(sample_train):
    learner = learner_of(sample_train[:80], table_bits=16, beam_size=8, gamma=100.0)
    teach(learner, sample_train[:80], 2)
    return learner.parser()


def test_the_parsers_own_analysis_is_the_first(parser, sample_dev):
    analyser = NBestSearch(parser)
    n_more = 0
    for tree in sample_dev[:20]:
        parses = analyser.analyses(tree.words, tree.tags)
        assert parses[0] == parser.parse(tree.words, tree.tags)
        scores = [parse.score for parse in parses]
        assert scores == sorted(scores, reverse=True)
        assert len({parse.tree for parse in parses}) == len(parses) <= 100
        n_more += len(parses) > len(parser.nbest(tree.words, tree.tags, 100))
    assert n_more > 15  # the search is wider


@pytest.mark.parametrize("n", [2, 5, 20, None])
def test_searching_twice_at_once_finds_what_one_search_after_the_other_does(parser, n, sample_dev):
    for tree in sample_dev[:20]:
        # Some words have two tags, so that scores of one search cannot always be kept for the other.
        tags = [[(tag, 0), ("NN", 3)] if i % 3 == 0 and tag != "NN" else tag for i, tag in enumerate(tree.tags)]
        search = NBestSearch(parser)
        own = parser.parse(tree.words, tags)
        assert search.analyses(tree.words, tags, n=n) == search.beside(own, tree.words, tags, n=n)


def test_trees_of_a_list_that_are_written_late_are_as_any(parser, sample_dev):
    tree = sample_dev[0]
    best, *others = NBestSearch(parser).beside(parser.parse(tree.words, tree.tags), tree.words, tree.tags)
    assert best.tree != others[0].tree
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        others[1].tree.nothing  # noqa: B018
    for one in (best.tree, others[0].tree):
        plain = Tree(one.arrays)
        assert (one, plain, hash(one)) == (plain, one, hash(plain))
        assert pickle.loads(pickle.dumps(one)) == one
        assert one.root.label == "TOP"


def test_lists_with_better_trees_have_all_that_a_wide_search_finds(parser, sample_dev):
    n_better = 0
    for tree in sample_dev[:40]:
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


def test_a_tree_of_the_best_expected_f_is_the_first_and_more_probable_ones_stay(generative, sample_dev):
    parser = generative
    n_beaten = 0
    for tree in sample_dev[:20]:
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


@pytest.mark.parametrize("kind", ["perceptron", "generative"])
def test_a_list_has_as_many_trees_as_asked_for_and_begins_with_shorter_ones(kind, generative, sample_train, sample_dev):
    if kind == "perceptron":  # with a grammar that allows many trees, and the highest-scoring one first
        learner = learner_of(sample_train, table_bits=16, gamma=None, beam_size=400, outcome_filter_min_count=0)
        teach(learner, sample_train)
        parser = learner.parser()
    else:
        parser = generative
    search = NBestSearch(parser)
    lengths = []
    long = [tree for tree in sample_dev if len(tree.words) > 14][:2]
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


@pytest.fixture(scope="module")
def sentences(sample_dev):
    return [(tree.words, tree.tags) for tree in sample_dev[:20]]


def test_the_tree_of_the_best_expected_f(calibrated, sentences):
    choosing = calibrated.with_search(choose="expected_f", choose_from="search", choose_trees=20)
    assert (calibrated.answers_with_best, choosing.answers_with_best) == (True, False)
    n_different = 0
    for words, tags in sentences:
        found = choosing.parse(words, tags)
        assert found == max_expected_f(calibrated.nbest(words, tags, 20), 10_000.0)
        n_different += found.tree != calibrated.parse(words, tags).tree
        first, *others = NBestSearch(choosing).analyses(words, tags)
        assert first == found
        scores = [parse.score for parse in others]
        assert scores == sorted(scores, reverse=True)
    assert n_different


@pytest.mark.parametrize("choose", ["expected_f", "recombined"])
def test_the_trees_to_choose_from_are_those_of_the_lists(calibrated, sentences, choose):
    narrow = calibrated.with_search(beam_size=2)
    choosing = narrow.with_search(choose=choose, choose_from="lists", choose_trees=20)
    search, n_better = NBestSearch(narrow, with_better=True), 0
    for words, tags in sentences:
        listed = search.analyses(words, tags, n=20)
        n_better += listed[0].score < max(parse.score for parse in listed)
        listed.sort(key=lambda parse: -parse.score)
        if choose == "expected_f":
            expected = max_expected_f(listed, 10_000.0).tree
        else:
            phrases = phrases_of(listed, 10_000.0)
            trees, seen = [parse.tree for parse in listed], choosing.local_trees
            expected = Recombination(trees, phrases, 0.45, (), seen).best_tree()
        assert choosing.parse(words, tags).tree == expected
    assert n_better


def test_the_tree_recombined_from_the_phrases_of_the_best(calibrated, sentences):
    choosing = calibrated.with_search(choose="recombined", choose_trees=20)
    assert not choosing.answers_with_best
    n_new = 0
    for words, tags in sentences:
        found = choosing.parse(words, tags)
        listed = calibrated.nbest(words, tags, 20)
        trees = [parse.tree for parse in listed]
        phrases = phrases_of(listed, 10_000.0)
        wanted = Recombination(trees, phrases, 0.45, (), choosing.local_trees)
        assert found.tree == wanted.best_tree()
        assert wanted.gain(found.tree) >= max(map(wanted.gain, trees))
        score = calibrated.score(words, tags, found.tree).score
        assert found.score == (pytest.approx(score) if score is not None else listed[-1].score)
        n_new += found.tree not in trees
        assert NBestSearch(choosing).analyses(words, tags)[0] == found
    assert n_new
    cautious = calibrated.with_search(choose="recombined", choose_trees=20, choose_threshold=0.9)
    assert all(n_phrases(cautious, *sentence) <= n_phrases(choosing, *sentence) for sentence in sentences)


def n_phrases(parser, words, tags):
    return len(parser.parse(words, tags).tree.spans())


def test_temperature_and_number_of_trees_are_settings(calibrated, sentences):
    cold = calibrated.with_search(choose="expected_f", choose_temperature=0.01)
    one = calibrated.with_search(choose="expected_f", choose_trees=1)
    assert one.answers_with_best
    for words, tags in sentences:
        assert cold.parse(words, tags) == one.parse(words, tags) == calibrated.parse(words, tags)


def test_a_model_without_temperature_warns_and_returns_the_best_score(calibrated, sentences):
    choosing = calibrated.with_search(choose="expected_f")
    choosing.temperature = None
    assert choosing.answers_with_best
    with pytest.warns(UserWarning, match="the model has no temperature.*calibrate.*choose_temperature"):
        assert choosing.parse(*sentences[0]) == calibrated.parse(*sentences[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choosing.with_search(choose_temperature=5000.0).parse(*sentences[0])


@pytest.mark.parametrize("choose", ["expected_f", "recombined"])
def test_all_trees_to_choose_from_meet_the_constraints(calibrated, sentences, choose):
    choosing = calibrated.with_search(choose=choose)
    for words, tags in sentences[:10]:
        wanted = [Constraint(0, 2, None, True)]
        parse = choosing.parse(words, tags, wanted)
        assert parse.unmet or any(span[1:] == (0, 2) for span in parse.tree.spans())
        assert parse.unmet == calibrated.parse(words, tags, wanted).unmet


def test_a_generative_parser_chooses_among_its_own_trees(generative, sample_dev):
    for tree in sample_dev[:10]:
        listed = generative.nbest(tree.words, tree.tags, 50)
        assert generative.parse(tree.words, tree.tags) == max_expected_f(listed, 3.0)
        by_lists = generative.with_search(choose_from="lists").parse(tree.words, tree.tags)
        assert by_lists in NBestSearch(generative.with_search(choose="score")).analyses(tree.words, tree.tags)
        plain = generative.with_search(choose="score")
        assert plain.answers_with_best
        assert plain.parse(tree.words, tree.tags) == listed[0]
        recombined = generative.with_search(choose="recombined").parse(tree.words, tree.tags)
        assert recombined.tree in [one.tree for one in listed] or recombined.score <= listed[0].score
        assert generative.with_search(choose_trees=1).parse(tree.words, tree.tags) == listed[0]


def test_the_component_chooses_and_is_saved(tmp_path):
    text = "The old man saw the boy with the dog in the park. It rained."
    nlp = pipeline(model="en", search={"choose": "recombined", "choose_trees": 30})
    component = nlp.get_pipe("incparse")
    doc = nlp(text)
    lists = [component.nbest_parses(sentence, 30) for sentence in component.sentences_of(doc)]
    assert [parses[0].tree for parses in lists] == list(doc._.trees)
    assert not component.decoder.parser.answers_with_best
    nlp.to_disk(tmp_path)
    assert list(spacy.load(tmp_path)(text)._.trees) == list(doc._.trees)
    assert 0 < doc._.trees[0].confidence <= 1
