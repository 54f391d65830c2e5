"""The choice of a sentence's tree: by score, by expected F, or recombined from phrases."""

import warnings
from pathlib import Path

import pytest
import spacy

from spacy_incparse.errors import ConfigError
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.parsing.nbest import NBestSearch, Recombination, max_expected_f, phrases_of
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.treebanks.reader import read_treebank
from tests.reference.engine import learner_of

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture(scope="module")
def parser():
    trees = read_treebank(ASSETS / "sample-train.mrg")[:80]
    learner = learner_of(trees, table_bits=16)
    for tree in trees:
        learner.update(tree.words, tree.tags, tree)
    parser = learner.parser()
    parser.temperature = 10_000.0
    return parser


@pytest.fixture(scope="module")
def sentences(held_out):
    return [(tree.words, tree.tags) for tree in held_out[:20]]


def test_the_tree_of_the_best_expected_f(parser, sentences):
    choosing = parser.with_search(choose="expected_f", choose_from="search", choose_trees=20)
    assert (parser.answers_with_best, choosing.answers_with_best) == (True, False)
    n_different = 0
    for words, tags in sentences:
        found = choosing.parse(words, tags)
        assert found == max_expected_f(parser.nbest(words, tags, 20), 10_000.0)
        n_different += found.tree != parser.parse(words, tags).tree
        first, *others = NBestSearch(choosing).analyses(words, tags)
        assert first == found
        scores = [parse.score for parse in others]
        assert scores == sorted(scores, reverse=True)
    assert n_different


@pytest.mark.parametrize("choose", ["expected_f", "recombined"])
def test_the_trees_to_choose_from_are_those_of_the_lists(parser, sentences, choose):
    narrow = parser.with_search(beam_size=2)
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
            expected = Recombination([parse.tree for parse in listed], phrases, 0.45).best_tree()
        assert choosing.parse(words, tags).tree == expected
    assert n_better


def test_where_the_trees_to_choose_from_are_from_by_default():
    assert ParserConfig(choose="expected_f").chooses_from_lists
    assert not ParserConfig(choose="recombined").chooses_from_lists
    assert not ParserConfig(choose="expected_f", choose_from="search").chooses_from_lists
    assert ParserConfig(choose="recombined", choose_from="lists").chooses_from_lists
    assert not GenerativeConfig().chooses_from_lists
    with pytest.raises(ConfigError, match="choose_from is 'beam': choose one of search, lists, or None"):
        ParserConfig(choose_from="beam")


def test_the_tree_recombined_from_the_phrases_of_the_best(parser, sentences):
    choosing = parser.with_search(choose="recombined", choose_trees=20)
    assert not choosing.answers_with_best
    n_new = 0
    for words, tags in sentences:
        found = choosing.parse(words, tags)
        listed = parser.nbest(words, tags, 20)
        trees = [parse.tree for parse in listed]
        phrases = phrases_of(listed, 10_000.0)
        wanted = Recombination(trees, phrases, 0.45)
        assert found.tree == wanted.best_tree()
        assert wanted.gain(found.tree) >= max(map(wanted.gain, trees))
        scored = parser.score(words, tags, found.tree).score
        assert found.score == (pytest.approx(scored) if scored is not None else listed[-1].score)
        n_new += found.tree not in trees
        assert NBestSearch(choosing).analyses(words, tags)[0] == found
    assert n_new
    cautious = parser.with_search(choose="recombined", choose_trees=20, choose_threshold=0.9)
    assert all(n_phrases(cautious, *sentence) <= n_phrases(choosing, *sentence) for sentence in sentences)


def n_phrases(parser, words, tags):
    return len(parser.parse(words, tags).tree.spans())


def test_temperature_and_number_of_trees_are_settings(parser, sentences):
    cold = parser.with_search(choose="expected_f", choose_temperature=0.01)
    one = parser.with_search(choose="expected_f", choose_trees=1)
    assert one.answers_with_best
    for words, tags in sentences:
        assert cold.parse(words, tags) == one.parse(words, tags) == parser.parse(words, tags)


def test_a_model_without_temperature_warns_and_returns_the_best_score(parser, sentences):
    choosing = parser.with_search(choose="expected_f")
    choosing.temperature = None
    assert choosing.answers_with_best
    with pytest.warns(UserWarning, match="the model has no temperature.*calibrate.*choose_temperature"):
        assert choosing.parse(*sentences[0]) == parser.parse(*sentences[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choosing.with_search(choose_temperature=5000.0).parse(*sentences[0])


@pytest.mark.parametrize("choose", ["expected_f", "recombined"])
def test_all_trees_to_choose_from_meet_the_constraints(parser, sentences, choose):
    choosing = parser.with_search(choose=choose)
    for words, tags in sentences[:10]:
        wanted = [Constraint(0, 2, None, True)]
        parse = choosing.parse(words, tags, wanted)
        assert parse.unmet or any(span[1:] == (0, 2) for span in parse.tree.spans())
        assert parse.unmet == parser.parse(words, tags, wanted).unmet


def test_a_generative_parser_chooses_among_its_own_trees(generative, held_out):
    parser = generative
    for tree in held_out[:10]:
        listed = parser.nbest(tree.words, tree.tags, 50)
        assert parser.parse(tree.words, tree.tags) == max_expected_f(listed, 3.0)
        by_lists = parser.with_search(choose_from="lists").parse(tree.words, tree.tags)
        assert by_lists in NBestSearch(parser.with_search(choose="score")).analyses(tree.words, tree.tags)
        assert parser.with_search(choose="score").parse(tree.words, tree.tags) == listed[0]
        recombined = parser.with_search(choose="recombined").parse(tree.words, tree.tags)
        assert recombined.tree in [one.tree for one in listed] or recombined.score <= listed[0].score
        assert parser.with_search(choose_trees=1).parse(tree.words, tree.tags) == listed[0]


def test_the_component_chooses_and_is_saved(tmp_path):
    text = "The old man saw the boy with the dog in the park. It rained."
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component = nlp.add_pipe("incparse", config={"model": "en", "search": {"choose": "recombined", "choose_trees": 30}})
    doc = nlp(text)
    lists = [component.nbest_parses(sentence, 30) for sentence in component.sentences_of(doc)]
    assert [parses[0].tree for parses in lists] == list(doc._.trees)
    assert not component.decoder.parser.answers_with_best
    nlp.to_disk(tmp_path)
    assert list(spacy.load(tmp_path)(text)._.trees) == list(doc._.trees)
    assert 0 < doc._.trees[0].confidence <= 1
