import gc
import re
import weakref
from itertools import pairwise

import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

import spacy_incparse
from spacy_incparse.documents.doc_tree import DocTree, forget_confidences
from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS, untrained

TEXT = "The old owl saw the mice in the barn. She ate them with a spoon."


def held_out(nlp):
    examples = list(TreebankReader(ASSETS / "sample-dev.mrg", limit=40)(nlp))
    for example, doc in zip(examples, nlp.pipe([example.predicted for example in examples]), strict=True):
        example.predicted = doc
    return examples


@pytest.fixture(scope="module")
def nlp(trained):
    """A pipeline whose temperature was fitted."""
    nlp = untrained().from_bytes(trained.to_bytes())
    assert nlp.get_pipe("incparse").calibrate(held_out(nlp)) > 0
    return nlp


@pytest.fixture(scope="module")
def storing(nlp):
    return untrained(nbest=6).from_bytes(nlp.to_bytes())


@pytest.fixture
def alone(monkeypatch):
    """As in a process where no pipeline is loaded."""
    monkeypatch.setattr("spacy_incparse.documents.doc_tree.live_components", lambda: [])
    forget_confidences()


def test_the_component_that_made_a_tree_is_asked(monkeypatch):
    """Of two components that make the same tree, its id tells which one made it; the other need not parse."""
    nlp, other = (spacy_incparse.load("en") for _ in range(2))
    other.rename_pipe("incparse", "second")
    other.get_pipe("second").name = "second"
    doc = other("They watched the ship with binoculars.")
    assert doc._.trees == nlp(doc.text)._.trees
    asked = []
    for component in (nlp.get_pipe("incparse"), other.get_pipe("second")):
        monkeypatch.setattr(component, "input_of", lambda s, c=component, f=component.input_of: asked.append(c) or f(s))
    assert doc._.parses(2)[0][0].tree == doc._.trees[0]
    assert asked == [other.get_pipe("second")]
    (key,) = (key for key in doc.user_data if key[:2] == ("._.", "incparse"))
    doc.user_data[key] = "|".join(field for field in doc.user_data[key].split("|") if not field.startswith("m="))
    assert doc._.parses(2)[0][0].tree == doc._.trees[0]  # as stored by earlier versions


def test_the_first_is_the_tree_on_the_doc(nlp):
    doc = nlp(TEXT)
    sentences = doc._.parses(5)
    assert [parses[0].tree for parses in sentences] == list(doc._.trees)
    assert [parses[0].score for parses in sentences] == [pytest.approx(tree.score, rel=1e-5) for tree in doc._.trees]
    for parses in sentences:
        assert 1 < len(parses) <= 5
        assert len({parse.tree for parse in parses}) == len(parses)
        for better, worse in pairwise(parses):
            assert better.score >= worse.score
            assert better.probability >= worse.probability > 0
        assert sum(parse.probability for parse in parses) <= 1 + 1e-9
        for parse in parses:
            assert isinstance(parse.tree, DocTree)
            assert all(node.head in node.tokens for node in parse.tree.preorder())
            assert parse.tree.confidence == parse.probability


def test_fewer_are_the_first_of_more(nlp):
    doc = nlp(TEXT)
    few, many = doc._.parses(2), doc._.parses(20)
    assert [parses[:2] for parses in many] == list(few)
    assert sum(parse.probability for parse in doc._.parses(1000)[0]) == pytest.approx(1)
    with pytest.raises(ValueError, match="has to be 1 or more, not 0"):
        doc._.parses(0)


def test_confidence_is_the_share_of_the_analyses(nlp):
    doc = nlp(TEXT)
    for tree, parses in zip(doc._.trees, doc._.parses(100), strict=True):
        assert tree.confidence == pytest.approx(parses[0].probability)
        for node in tree.phrases()[1:]:
            phrase = (node.label, node.start, node.end)
            share = sum(parse.probability for parse in parses if phrase in parse.tree.spans())
            assert node.confidence == pytest.approx(share)
            assert node.confidence >= tree.confidence - 1e-9
        assert {leaf.confidence for leaf in tree.pos_nodes()} == {None}


def test_without_the_pipeline_it_says_what_to_do(nlp, alone):
    doc = nlp(TEXT)
    with pytest.raises(IncparseError, match=r"no pipeline in this process produces the tree of 'The old owl .*nbest"):
        doc._.parses(3)
    with pytest.raises(IncparseError, match="no pipeline in this process"):
        doc._.trees[0].confidence  # noqa: B018
    assert len(doc._.parses(3, nlp=nlp)[0]) == 3


def test_a_pipeline_that_gives_other_trees_is_not_asked(nlp, monkeypatch):
    doc = Doc(Vocab()).from_bytes(nlp(TEXT).to_bytes())  # another vocab is no obstacle
    stranger = untrained(search={"beam_size": 1, "gamma": None}).from_bytes(nlp.to_bytes())
    components = [stranger.get_pipe("incparse"), nlp.get_pipe("incparse")]
    monkeypatch.setattr("spacy_incparse.documents.doc_tree.live_components", lambda: components)
    assert [parses[0].tree for parses in doc._.parses(3)] == list(doc._.trees)


def test_another_pipeline_by_name(nlp):
    narrow = untrained(search={"beam_size": 1, "gamma": None}).from_bytes(nlp.to_bytes())
    doc = nlp(TEXT)
    assert [parses[0].tree for parses in doc._.parses(3, nlp=narrow)] == list(narrow(TEXT)._.trees)
    with pytest.raises(IncparseError, match="no component 'incparse'"):
        doc._.parses(3, nlp=spacy.blank("en"))


def test_tags_that_were_given(nlp):
    giving = untrained(tags="doc").from_bytes(nlp.to_bytes())
    words = ["She", "ate", "the", "mice", "."]
    for tags in (["PRP", "VBD", "DT", "JJ", "."], ["PRP", "", "", "JJ", ""]):
        doc = giving.get_pipe("incparse")(Doc(giving.vocab, words=words, tags=tags, sent_starts=[True, *[False] * 4]))
        assert doc._.trees[0].tags[3] == "JJ"
        assert [parses[0].tree for parses in doc._.parses(3)] == list(doc._.trees)
        doc[3].tag_ = "NN"
        if all(tags):  # the tree knows them
            assert [parses[0].tree for parses in doc._.parses(3)] == list(doc._.trees)


def test_stored_analyses_are_those_of_the_pipeline_and_need_none(nlp, storing, alone):
    doc, asked = storing(TEXT), nlp(TEXT)._.parses(6, nlp=nlp)
    sentences = doc._.parses(100)
    assert [len(parses) for parses in sentences] == [6, 6]
    assert [[parse.tree for parse in parses] for parses in sentences] == [[p.tree for p in parses] for parses in asked]
    for tree, parses, same in zip(doc._.trees, sentences, asked, strict=True):
        assert [parse.score for parse in parses] == [pytest.approx(parse.score, rel=1e-5) for parse in same]
        assert sum(parse.probability for parse in parses) == pytest.approx(1)
        assert tree.confidence == parses[0].probability
        assert all(node.head in node.tokens for parse in parses for node in parse.tree.preorder())
    assert len(doc._.parses(2)[0]) == 2


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda value: value + "|n=1.5 (TOP NN", "a stored analysis is damaged"),
        (lambda value: re.sub(r"t=[^|]*", "t=abc", value), "the stored temperature is damaged: it is 'abc'"),
        (lambda value: re.sub(r"t=[^|]*", "t=0", value), "the stored temperature is damaged: it is '0'"),
        (lambda value: re.sub(r"t=[^|]*", "t=nan", value), "the stored temperature is damaged: it is 'nan'"),
    ],
)
def test_damaged_analyses_are_told(storing, damage, message):
    doc = storing(TEXT)
    doc.user_data = {key: damage(value) for key, value in doc.user_data.items()}
    assert len(doc._.trees) == 2
    with pytest.raises(IncparseError, match=message):
        doc._.parses(2)


@pytest.mark.parametrize(("k", "message"), [(1.5, "a whole number, not 1.5"), ("3", "not '3'"), (None, "not None")])
def test_a_wrong_number_of_analyses_is_told(nlp, k, message):
    with pytest.raises(IncparseError, match=message):
        nlp(TEXT)._.parses(k)
    with pytest.raises(IncparseError, match="nlp is 5: it must be a pipeline"):
        nlp(TEXT)._.parses(2, nlp=5)


def test_without_a_temperature_there_are_no_probabilities(trained, monkeypatch):
    doc = trained(TEXT)
    parses = doc._.parses(3, nlp=trained)[0]
    assert [parse.probability for parse in parses] == [None] * 3
    assert parses[0].score > parses[1].score
    monkeypatch.setattr("spacy_incparse.documents.doc_tree.live_components", lambda: [trained.get_pipe("incparse")])
    with pytest.raises(IncparseError, match=r"no temperature .* fit one with the component's calibrate\(\)"):
        doc._.trees[0].confidence  # noqa: B018


def test_flat_trees_have_no_confidence(nlp, monkeypatch):
    other = untrained().from_bytes(nlp.to_bytes())
    monkeypatch.setattr(
        type(other.get_pipe("incparse").decoder.parser), "nbest", lambda *args: (_ for _ in ()).throw(RuntimeError())
    )
    with pytest.warns(UserWarning, match="got a flat tree"):
        doc = other(TEXT)
    assert [tree.confidence for tree in doc._.trees] == [None, None]
    assert [[parse.tree for parse in parses] for parses in doc._.parses(3)] == [[tree] for tree in doc._.trees]


def test_no_doc_leaks(nlp, storing):
    docs = [pipe(TEXT) for pipe in (nlp, storing) for _ in range(10)]
    for doc in docs:
        assert doc._.trees[0].confidence
        assert doc._.parses(3)
    alive = [weakref.ref(doc) for doc in docs]
    del docs, doc
    gc.collect()
    assert [doc for doc in alive if doc() is not None] == []


@pytest.fixture(scope="module")
def english():
    return spacy_incparse.load("en")


def test_a_tree_on_a_doc_scores_what_it_scored(english):
    doc = english("It rained. They watched the ship with binoculars.")
    component = english.get_pipe("incparse")
    for parses in doc._.parses(5):
        for parse in parses:
            scored = component.score(doc, parse.tree)
            assert scored.score == pytest.approx(parse.score, rel=1e-5)  # that of a Doc is stored to six figures
            assert scored.is_derived
            assert component.score(doc, str(parse.tree)) == component.score_tree(doc, parse.tree) == scored


def test_a_tree_of_the_doc_is_scored_in_its_own_sentence(english):
    component = english.get_pipe("incparse")
    words, tags = ["They", "can", "fish", "."], [["PRP", "MD", "VB", "."], ["PRP", "VBP", "NN", "."]]
    doc = Doc(english.vocab, words=2 * words, tags=tags[0] + tags[1], sent_starts=2 * [True, False, False, False])
    component.tags = "doc"
    try:
        component(doc)
        for tree, row in zip(doc._.trees, tags, strict=True):
            scored = component.score(doc, tree)
            assert list(scored.tree.tags) == row
            assert scored.score == pytest.approx(tree.score, rel=1e-5)
        assert list(component.score(doc, str(doc._.trees[1])).tree.tags) == tags[0]  # brackets: the first sentence
    finally:
        component.tags = "own"


def test_a_tree_of_other_words_is_refused(english):
    doc = english("It rained.")
    component = english.get_pipe("incparse")
    with pytest.raises(IncparseError, match="no sentence of the Doc has the words of the tree: 'It snowed'"):
        component.score(doc, "(TOP (S (NP (PRP It)) (VP (VBD snowed))))")
    with pytest.raises(IncparseError, match="no sentence of the Doc"):
        component.score(doc, doc._.trees[0][0][0])
    with pytest.raises(IncparseError, match="takes a Tree or its brackets as a string, not None"):
        component.score(doc)
    for wrong, kind in ((next(doc.sents), "Span"), (doc.text, "str"), (None, "NoneType")):
        with pytest.raises(IncparseError, match=f"takes a Doc and a tree of one of its sentences, not a {kind}"):
            component.score(wrong, doc._.trees[0])
