"""What becomes of trees where spaCy copies, joins, cuts, retokenizes and stores Docs."""

import gc
import json
import pickle
import weakref

import pytest
import spacy
from spacy.tokens import Doc, DocBin

import spacy_incparse
from tests.fakes import fake_model

TEXT = "The owl slept. Old mice ran! Who called?"


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse").model = fake_model()
    return nlp


@pytest.fixture
def doc(nlp):
    return nlp(TEXT)


def through_docbin(doc, **options):
    bin_ = DocBin(docs=[doc], **options)
    return next(DocBin(**options).from_bytes(bin_.to_bytes()).get_docs(doc.vocab))


def through_json(doc):
    data = json.loads(json.dumps(doc.to_json(underscore=["incparse"])))
    return Doc(doc.vocab).from_json(data)


KEEPING = {
    "copy": lambda doc: doc.copy(),
    "to_bytes": lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "DocBin with user data": lambda doc: through_docbin(doc, store_user_data=True),
    "JSON": through_json,
    "as_doc of all": lambda doc: doc[:].as_doc(copy_user_data=True),
}


@pytest.mark.parametrize("way", KEEPING)
def test_trees_are_kept(doc, way):
    other = KEEPING[way](doc)
    assert other._.trees == doc._.trees
    assert other[4:8]._.tree == doc._.trees[1]


LOSING = {
    "DocBin without user data": through_docbin,
    "as_doc": lambda doc: doc[:].as_doc(),
    "JSON without the attribute": lambda doc: Doc(doc.vocab).from_json(doc.to_json()),
}


@pytest.mark.parametrize("way", LOSING)
def test_where_spacy_drops_user_data_there_are_no_trees(doc, way):
    assert LOSING[way](doc)._.trees == ()


def test_a_cut_doc_has_the_trees_of_its_whole_sentences(doc):
    cut = doc[2:8].as_doc(copy_user_data=True)  # "slept . Old mice ran !"
    assert cut._.trees == doc._.trees[1:2]
    assert cut[2:6]._.tree == doc._.trees[1]
    assert cut[0:2]._.tree is None


def test_other_sentence_bounds_leave_the_trees_as_they_were(doc):
    before = doc._.trees
    doc[4].is_sent_start = False
    assert doc._.trees == before
    assert doc[4:8]._.tree == before[1]
    assert doc[0:8]._.tree is None


def test_a_changed_value_is_read_anew(nlp, doc):
    first = doc._.trees
    key = ("._.", "incparse", 0, 14)
    doc.user_data[key] = doc.user_data[key].replace("(S", "(NP")
    assert doc._.trees[0] != first[0]
    assert doc._.trees[0][0].label == "NP"


def test_reading_twice_gives_the_same_objects(doc):
    assert doc._.trees[0].arrays is doc._.trees[0].arrays
    assert doc[0:4]._.tree.arrays is doc._.trees[0].arrays


def test_no_doc_leaks(nlp):
    docs = [nlp(TEXT) for _ in range(100)]
    for doc in docs:
        use(doc)
    alive = [weakref.ref(doc) for doc in docs]
    del docs, doc
    gc.collect()
    assert [doc for doc in alive if doc() is not None] == []


def use(doc):
    """Look at all that a Doc has of trees, and keep nothing."""
    for tree in doc._.trees:
        for node in tree.preorder():
            assert node.span._.is_constituent
            assert node.head in node.tokens
            assert node.span._.tree.children is not None
    for token in doc:
        assert token._.tree_path[-1].is_leaf


def test_nodes_keep_their_doc(nlp):
    node = nlp(TEXT)._.trees[1][0][1]
    gc.collect()
    assert node.span.text == node.text == "mice ran!"
    assert node.doc.text == TEXT


def test_the_stored_value_is_one_short_string_a_sentence(doc):
    values = {key: value for key, value in doc.user_data.items() if key[1] == "incparse"}
    assert list(values) == [("._.", "incparse", 0, 14), ("._.", "incparse", 15, 28), ("._.", "incparse", 29, 40)]
    assert values["._.", "incparse", 0, 14] == "1|b|-1.5|(TOP (S CAP (VP LOW (VP LOW (VP PUNCT)))))|.3,3,5.1|h=en"


def test_docs_stay_small(nlp):
    doc = nlp(" ".join([TEXT] * 50))
    bare = doc.copy()
    bare.user_data = {}
    assert len(doc.to_bytes()) < 1.35 * len(bare.to_bytes())


def test_trees_of_sentences_outside_a_span_never_reach_other_docs():
    """`Span.as_doc` keeps them all, and `Doc.from_docs` moves them over the text of its neighbours."""
    nlp = spacy_incparse.load("en")
    doc, other = nlp("They watched the ship with binoculars. It was late."), nlp("The weather is nice and sunny today.")
    first, second = (sentence.as_doc(copy_user_data=True) for sentence in doc.sents)
    whole = [str(tree) for tree in (*doc._.trees, *other._.trees)]
    assert [str(tree) for tree in Doc.from_docs([other, second])._.trees] == [whole[2], whole[1]]
    assert [str(tree) for tree in Doc.from_docs([first, other])._.trees] == [whole[0], whole[2]]
