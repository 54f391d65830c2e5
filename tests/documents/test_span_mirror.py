"""Phrases in doc.spans, and the trees that are rebuilt from them where spaCy has dropped the stored ones."""

import pickle

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span

from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import mirror_trees, user_data
from tests.fakes import fake_model
from tests.strategies import normalised_trees

TEXT = "The owl slept. Old mice ran! Who called?"


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse", config=config).model = fake_model()
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return pipeline(spans_key="phrases")


@pytest.fixture
def doc(nlp):
    return nlp(TEXT)


def through_docbin(doc, **options):
    bin_ = DocBin(docs=[doc], **options)
    return next(DocBin(**options).from_bytes(bin_.to_bytes()).get_docs(doc.vocab))


def through_bytes(doc):
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def through_json(doc):
    return Doc(doc.vocab).from_json(doc.to_json())


def pickle_twice(doc):
    return pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(doc))))


def without_user_data(doc):
    doc = doc.copy()
    doc.user_data = {}
    return doc


EXACT = {
    "DocBin": through_docbin,
    "DocBin twice": lambda doc: through_docbin(through_docbin(doc)),
    "pickle of a DocBin's Doc": lambda doc: pickle.loads(pickle.dumps(through_docbin(doc))),
    "user data thrown away": without_user_data,
    "bytes without user data": lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes(exclude=["user_data"])),
}


@pytest.mark.parametrize("way", EXACT)
def test_lost_trees_are_rebuilt(doc, way):
    other = EXACT[way](doc)
    assert other._.trees == doc._.trees
    assert [tree.score for tree in other._.trees] == [-1.5, -1.5, -1.5]
    assert other[4:8]._.tree == doc._.trees[1]
    assert other[5]._.tree_path[-1].label == "LOW"


def phrases(doc):
    return [(span.label_, span.start, span.end, span.text) for span in doc.spans["phrases"]]


GROUP_KEPT = {
    "copy": lambda doc: doc.copy(),
    "to_bytes": through_bytes,
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "DocBin": through_docbin,
    "JSON": through_json,
}


@pytest.mark.parametrize("way", GROUP_KEPT)
def test_the_group_is_kept_in_order(doc, way):
    doc = GROUP_KEPT[way](doc)
    nodes = [node for tree in doc._.trees for node in tree.phrases()[1:]]
    assert phrases(doc) == [(node.label, node.span.start, node.span.end, node.text) for node in nodes]


def test_the_groups_of_joined_docs_are_shifted(doc):
    joined = Doc.from_docs([doc, doc])
    shift = len(doc)
    again = [(label, start + shift, end + shift, text) for label, start, end, text in phrases(doc)]
    assert phrases(joined) == phrases(doc) + again
    assert len(joined._.trees) == 6


STRUCTURE_ONLY = {
    "JSON": through_json,
    "JSON of a DocBin's Doc": lambda doc: through_json(through_docbin(doc)),
    "from_docs without user data": lambda doc: Doc.from_docs([doc], exclude=["user_data"]),
    "from_docs of a DocBin's Doc": lambda doc: Doc.from_docs([through_docbin(doc)]),
}


@pytest.mark.parametrize("way", STRUCTURE_ONLY)
def test_without_attrs_the_spans_tell(doc, way):
    other = STRUCTURE_ONLY[way](doc)
    assert [tree.spans() for tree in other._.trees] == [tree.spans() for tree in doc._.trees]
    assert other._.trees[0].tags == ("X",) * 4  # the Doc has no tags
    assert other._.trees[0].words == doc._.trees[0].words


@pytest.mark.parametrize("way", STRUCTURE_ONLY)
def test_with_tags_on_the_doc_they_are_the_same_trees(way):
    doc = pipeline(spans_key="phrases", set_tags=True)(TEXT)
    assert STRUCTURE_ONLY[way](doc)._.trees == doc._.trees


def test_without_a_mirror_they_stay_lost():
    doc = pipeline()(TEXT)
    for way in EXACT | STRUCTURE_ONLY:
        if "looked" not in way:
            assert (EXACT | STRUCTURE_ONLY)[way](doc)._.trees == ()


def test_as_doc_loses_the_mirror_as_well(doc):
    assert doc[:].as_doc()._.trees == ()
    assert not doc[:].as_doc(copy_user_data=True).spans
    assert doc[4:8].as_doc(copy_user_data=True)._.trees == doc._.trees[1:2]


def test_joined_docs_of_which_some_have_lost_their_trees(nlp, doc):
    other = nlp("Two cats. One dog.")
    joined = Doc.from_docs([through_docbin(doc), other, nlp.make_doc("Not parsed"), doc])
    assert [tree.words for tree in joined._.trees] == [
        tree.words for tree in (*doc._.trees, *other._.trees, *doc._.trees)
    ]
    assert [tree.score for tree in joined._.trees] == [None] * 3 + [-1.5] * 5
    assert joined[17:19]._.tree is None  # "Not parsed"


def merge(doc, *spans):
    with doc.retokenize() as retokenizer:
        for start, end in spans:
            retokenizer.merge(doc[start:end])


def shown(doc):
    return [(span.label_, span.text) for span in doc.spans["phrases"]]


def test_merged_tokens_leave_trees_and_mirror(doc):
    before, phrases = doc._.trees, shown(doc)
    merge(doc, (4, 6), (8, 11))
    assert doc._.trees == before
    assert doc[4:7]._.tree == before[1]
    assert doc[7:8]._.tree == before[2]
    kept = [phrase for phrase in phrases if phrase[1] not in ("mice ran!", "called?", "?")]
    assert shown(doc) == kept  # without those that begin inside of a token
    assert len(doc.spans["phrases"]) == len(kept)
    assert doc.spans["phrases"][-1].text == kept[-1][1]


@pytest.mark.parametrize("way", [Doc.copy, through_bytes, through_docbin, through_json, pickle_twice])
def test_a_merged_doc_can_be_saved(doc, way):
    merge(doc, (4, 6), (8, 11))
    other = way(doc)
    assert shown(other) == shown(doc)
    assert [token.text for token in other] == [token.text for token in doc]


def test_as_many_tokens_as_before_may_be_others(doc):
    phrases = shown(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[9], ["call", "ed"], heads=[(doc[9], 1), doc[8]])
    assert len(doc) == 11
    assert shown(doc) == [phrase for phrase in phrases if phrase[1] != "owl slept."]
    doc.spans["phrases"].append(doc[0:1])
    doc.spans["phrases"][0] = doc[1:3]
    assert [doc.spans["phrases"][i].text for i in (0, -1)] == ["slept.", "The owl"]


def test_reading_the_trees_of_a_loaded_doc_changes_nothing(doc):
    other = through_bytes(doc)
    group = other.spans["phrases"]
    other.user_data.clear()
    merge(other, (4, 6))
    assert other._.trees == doc._.trees
    assert other.spans["phrases"] is group
    assert not other.user_data


def test_a_split_doc_that_loses_its_trees(doc):
    before = doc._.trees
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["sle", "pt"], heads=[(doc[2], 1), doc[1]])
    other = through_docbin(doc)
    assert other._.trees == before
    assert other[2:5]._.tree.words == ("slept", ".")
    joined = Doc.from_docs([doc.copy(), doc.copy()], exclude=["user_data"])  # no strings: the tokens of now are words
    assert joined._.trees[3].words == ("The", "owl", "sle", "pt", ".")
    texts = [node.text for tree in before for node in tree.phrases()]
    assert [node.text for tree in joined._.trees for node in tree.phrases()] == texts * 2


def test_parsing_again_removes_the_old_mirror(nlp, doc):
    again = pipeline()
    doc[4].is_sent_start = False
    doc = again.get_pipe("incparse")(doc)
    assert "phrases" not in doc.spans
    assert len(doc._.trees) == 2
    assert through_docbin(doc)._.trees == ()
    joined = Doc.from_docs([nlp(TEXT)])  # a mirror without attrs
    assert "phrases" in joined.spans
    assert "phrases" not in again.get_pipe("incparse")(joined).spans


def test_two_mirrors():
    nlp = pipeline(spans_key="first")
    nlp.add_pipe("incparse", name="second", config={"spans_key": "second"}).model = fake_model()
    doc = nlp(TEXT)
    assert list(doc.spans) == ["second"]
    assert through_docbin(doc)._.trees == doc._.trees


def test_what_was_picked_from_a_mirror_is_none(doc):
    doc.spans["phrases"] = [span for span in doc.spans["phrases"] if span.label_ == "VP"]
    assert through_docbin(doc)._.trees == ()
    assert Doc.from_docs([doc], exclude=["user_data"])._.trees == ()
    assert doc._.trees
    assert list(pipeline().get_pipe("incparse")(doc).spans) == ["phrases"]  # it is somebody's own


def test_groups_of_others_are_no_mirrors(nlp):
    doc = nlp.make_doc(TEXT)
    for i in (4, 8):
        doc[i].is_sent_start = True
    doc.spans["phrases"] = [Span(doc, 0, 4, "S"), Span(doc, 2, 3, "NP")]
    assert doc._.trees == ()  # says nothing about two of the sentences
    doc.spans["other"] = [Span(doc, 0, 4, "S"), Span(doc, 4, 8, "S"), Span(doc, 8, 11, "S")]
    assert doc._.trees == ()
    doc.spans["phrases"] = [Span(doc, 0, 3, "S"), Span(doc, 2, 4, "S"), Span(doc, 4, 8, "S"), Span(doc, 8, 11, "S")]
    assert doc._.trees == ()  # they cross


def test_a_tree_without_phrases_is_there_with_its_root(nlp):
    with pytest.warns(UserWarning, match="got a flat tree"):
        doc = pipeline(spans_key="phrases")("They crash here.")
    assert [(span.label_, span.text) for span in doc.spans["phrases"]] == [("TOP", "They crash here.")]
    for way in (through_docbin, through_json, lambda doc: Doc.from_docs([doc], exclude=["user_data"])):
        assert [str(tree) for tree in way(doc)._.trees] == ["(TOP (X They) (X crash) (X here) (X .))"]


def test_reading_writes_nothing(doc):
    other = through_docbin(doc)
    before = dict(other.user_data), {name: group.to_bytes() for name, group in other.spans.items()}
    assert other._.trees == doc._.trees
    assert other[0:2]._.tree == doc[0:2]._.tree
    assert (dict(other.user_data), {name: group.to_bytes() for name, group in other.spans.items()}) == before


@settings(max_examples=100, deadline=None)
@given(trees=st.lists(normalised_trees(), min_size=1, max_size=3))
def test_any_trees_come_back(nlp, trees):
    doc = next(trees_to_docs(trees, nlp.vocab, n_sents=len(trees)))
    stored = [(s, user_data(doc)["._.", "incparse", s.start_char, s.end_char]) for s in split_sentences(doc)]
    mirror_trees(doc, "phrases", stored)
    assert list(through_docbin(doc)._.trees) == trees
    assert list(Doc.from_docs([doc], exclude=["user_data"])._.trees) == trees
    assert list(through_json(doc)._.trees) == trees
