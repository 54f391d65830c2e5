"""Chart parsers in pipelines: trained, saved, loaded, copied to other processes, and asked for other analyses."""

import json
import pickle

import pytest
import spacy
from spacy.tokens import Doc

from spacy_incparse.chart.parser import MAX_WORDS
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS, train

SETTINGS = {"kind": "chart", "n_folds": 2, "tagger": {"n_epochs": 3}, "table_bits": 16}
TEXT = "The old owl saw the mice in the barn. She ate them with a spoon."


def untrained(training=None, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse", config={"training": SETTINGS | (training or {}), **config})
    return nlp


def trained_with(**config):
    nlp = untrained(**config)
    train(nlp, 1, limit=120)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return trained_with()


def trees_of(docs):
    return [str(tree) for doc in docs for tree in doc._.trees]


def test_it_parses(nlp):
    doc = nlp(TEXT)
    assert [found.source for found in anchored_trees(doc)] == ["chart", "chart"]
    assert [tree.source for tree in doc._.trees] == ["chart", "chart"]
    assert doc._.trees[0].words[:3] == ("The", "old", "owl")
    assert all(tree.score <= 0 for tree in doc._.trees)
    assert "NP" in nlp.get_pipe("incparse").labels


def test_it_survives_everything_that_is_done_to_pipelines(nlp, tmp_path):
    expected = trees_of([nlp(TEXT)])
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), untrained().from_bytes(nlp.to_bytes()), pickle.loads(pickle.dumps(nlp))):
        assert trees_of([other(TEXT)]) == expected
    assert trees_of(nlp.pipe([TEXT] * 3, n_process=2)) == 3 * expected


def test_the_same_seed_gives_the_same_model(nlp):
    assert trained_with().get_pipe("incparse").model.to_bytes() == nlp.get_pipe("incparse").model.to_bytes()


def test_analyses_and_exact_confidences(nlp):
    doc = nlp(TEXT)
    for tree, parses in zip(doc._.trees, doc._.parses(1000), strict=True):
        assert parses[0].tree == tree
        assert sum(parse.probability for parse in parses) <= 1 + 1e-9
        assert tree.confidence == parses[0].probability
        for node in tree.phrases()[1:]:
            share = sum(
                parse.probability for parse in parses if (node.label, node.start, node.end) in parse.tree.spans()
            )
            assert share - 1e-9 <= node.confidence <= 1
            assert node.confidence >= tree.confidence - 1e-9


def test_confidences_of_sentences_in_pieces_are_unknown(nlp):
    doc = nlp("the old owl saw the mice " * 84)
    (tree,) = doc._.trees
    assert len(tree.words) == 504 > MAX_WORDS
    assert {node.confidence for node in tree.phrases()} == {None}
    assert [[parse.probability for parse in parses] for parses in doc._.parses(3)] == [[None]]


def test_long_sentences_have_one_chart(nlp):
    doc = nlp("the old owl saw the mice in the barn and " * 20)
    (tree,) = doc._.trees
    assert len(tree.words) == 200
    assert all(0 < node.confidence <= 1 for node in tree.phrases())
    (parses,) = doc._.parses(3)
    assert len({parse.tree for parse in parses}) == 3
    assert nlp.get_pipe("incparse").score(doc, parses[0].tree).score == pytest.approx(parses[0].score, rel=1e-4)


def test_calibration(nlp):
    other = untrained().from_bytes(nlp.to_bytes())
    examples = list(TreebankReader(ASSETS / "sample-dev.mrg", limit=30)(other))
    temperature = other.get_pipe("incparse").calibrate(examples)
    assert temperature > 0
    again = untrained().from_bytes(other.to_bytes())
    assert again.get_pipe("incparse").model.temperature == temperature


def test_stored_analyses(nlp):
    storing = untrained(nbest=5).from_bytes(nlp.to_bytes())
    doc = Doc(storing.vocab).from_bytes(storing(TEXT).to_bytes())
    assert [len(parses) for parses in doc._.parses(10)] == [5, 5]


def test_search_settings(nlp):
    other = untrained(search={"decoding": "viterbi"}).from_bytes(nlp.to_bytes())
    component = other.get_pipe("incparse")
    assert component.decoder.parser.answers_with_best
    component.search = {"threshold": 0.9, "pruning": "loose"}
    few = len(other(TEXT)._.trees[0].spans())
    component.search = {"threshold": 0.05}
    assert few < len(other(TEXT)._.trees[0].spans())


def test_required_phrases(nlp):
    other = untrained(required_key="wanted").from_bytes(nlp.to_bytes())
    doc = other.make_doc(TEXT)
    doc.spans["wanted"] = [doc[3:6]]
    assert (3, 6) in {phrase[1:] for phrase in other(doc)._.trees[0].spans()}


def test_forbidden_phrases(nlp):
    phrase = next(phrase for phrase in nlp(TEXT)._.trees[0].spans() if 1 < phrase[2] - phrase[1] < 5)
    other = untrained(forbidden_key="unwanted").from_bytes(nlp.to_bytes())
    doc = other.make_doc(TEXT)
    doc.spans["unwanted"] = [doc[phrase[1] : phrase[2]]]
    assert phrase[1:] not in {found[1:] for found in other(doc)._.trees[0].spans()}


def test_scores_of_given_trees(nlp):
    component = nlp.get_pipe("incparse")
    doc = nlp(TEXT)
    scored = component.score(doc, doc._.trees[0])
    assert scored.score == pytest.approx(doc._.trees[0].score, rel=1e-4)
    assert scored.rules[0].rule.startswith("TOP -> ")
    assert scored.moves == ()


def test_what_it_cannot_do_is_told(nlp):
    with pytest.raises(IncparseError, match="a chart parser only parses whole sentences, not word by word"):
        nlp.get_pipe("incparse").start()
    with pytest.raises(IncparseError, match="a chart parser cannot be fine-tuned"):
        untrained().from_bytes(nlp.to_bytes()).get_pipe("incparse").update([])


def test_odd_sentences(nlp):
    odd = ["", "?", "word " * 500 + ".", "\u200b", "( ) ( ) )", "\ud800 x".encode("utf8", "replace").decode("utf8")]
    for doc in nlp.pipe(odd):
        for tree in doc._.trees:
            assert tree.source in ("chart", "relaxed", "flat")


def test_label_data(nlp):
    assert json.dumps(nlp.get_pipe("incparse").label_data)
