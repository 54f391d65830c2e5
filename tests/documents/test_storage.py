import gc
import json
import pickle
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

import spacy_incparse
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import mirror_trees, user_data, write_tree
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree
from tests.fakes import fake_model, fake_pipeline
from tests.strategies import normalised_trees

TEXT = "The owl slept. Old mice ran! Who called?"


@pytest.fixture(scope="module")
def nlp():
    return fake_pipeline(spans_key="phrases")


@pytest.fixture
def doc(nlp):
    return nlp(TEXT)


def through_docbin(doc, **options):
    bin_ = DocBin(docs=[doc], **options)
    return next(DocBin(**options).from_bytes(bin_.to_bytes()).get_docs(doc.vocab))


@pytest.fixture(scope="module")
def plain():
    return fake_pipeline()


@pytest.fixture
def bare(plain):
    """A Doc without a mirror of its trees."""
    return plain(TEXT)


def json_with_trees(doc):
    data = json.loads(json.dumps(doc.to_json(underscore=["incparse"])))
    return Doc(doc.vocab).from_json(data)


def through_json(doc):
    return Doc(doc.vocab).from_json(doc.to_json())


def through_bytes(doc):
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def pickle_twice(doc):
    return pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(doc))))


def without_user_data(doc):
    doc = doc.copy()
    doc.user_data = {}
    return doc


# What is left of trees. "all": also without a mirror; "mirror": with one; "spans": with one, but for their tags if the
# Doc has none; "none": nothing.
WAYS = {
    "copy": ("all", lambda doc: doc.copy()),
    "to_bytes": ("all", through_bytes),
    "pickle": ("all", pickle_twice),
    "DocBin with user data": ("all", lambda doc: through_docbin(doc, store_user_data=True)),
    "JSON with the attribute": ("all", json_with_trees),
    "as_doc with user data": ("all", lambda doc: doc[:].as_doc(copy_user_data=True)),
    "DocBin": ("mirror", through_docbin),
    "DocBin twice": ("mirror", lambda doc: through_docbin(through_docbin(doc))),
    "pickle of a DocBin's Doc": ("mirror", lambda doc: pickle.loads(pickle.dumps(through_docbin(doc)))),
    "user data thrown away": ("mirror", without_user_data),
    "bytes without user data": ("mirror", lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes(exclude=["user_data"]))),
    "JSON": ("spans", through_json),
    "JSON of a DocBin's Doc": ("spans", lambda doc: through_json(through_docbin(doc))),
    "from_docs without user data": ("spans", lambda doc: Doc.from_docs([doc], exclude=["user_data"])),
    "from_docs of a DocBin's Doc": ("spans", lambda doc: Doc.from_docs([through_docbin(doc)])),
    "as_doc": ("none", lambda doc: doc[:].as_doc()),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_left_of_trees(doc, bare, way):
    left, through = WAYS[way]
    assert through(bare)._.trees == (bare._.trees if left == "all" else ())
    other = through(doc)
    if left == "none":
        assert other._.trees == ()
        return
    assert [tree.spans() for tree in other._.trees] == [tree.spans() for tree in doc._.trees]
    assert other[4:8]._.tree.spans() == doc._.trees[1].spans()
    if left == "spans":
        assert [tree.tags for tree in other._.trees] == [("X",) * len(tree.words) for tree in doc._.trees]
        tagged = fake_pipeline(spans_key="phrases", set_tags=True)(TEXT)
        assert through(tagged)._.trees == tagged._.trees
    else:
        assert other._.trees == doc._.trees
        assert [tree.score for tree in other._.trees] == [-1.5, -1.5, -1.5]
        assert other[5]._.tree_path[-1].label == "LOW"
    if way != "as_doc with user data":  # where spaCy drops groups
        nodes = [node for tree in doc._.trees for node in tree.phrases()[1:]]
        assert phrases(other) == [(node.label, node.span.start, node.span.end, node.text) for node in nodes]


def phrases(doc):
    return [(span.label_, span.start, span.end, span.text) for span in doc.spans["phrases"]]


def test_a_cut_doc_has_the_trees_of_its_whole_sentences(bare):
    cut = bare[4:10].as_doc(copy_user_data=True)  # "Old mice ran ! Who called"
    assert cut._.trees == bare._.trees[1:2]
    assert cut[0:4]._.tree == bare._.trees[1]
    assert cut[4:6]._.tree is None
    assert not bare[:].as_doc(copy_user_data=True).spans


def test_a_cut_doc_has_the_phrase_that_it_is():
    tree = Tree.from_string("(TOP (S (NP (DT an) (NN owl)) (VP (VBD saw) (NP (CD two) (NNS mice)))))")
    (doc,) = trees_to_docs([tree, tree], Vocab(), n_sents=2)
    for start, end, cut in (
        (0, 5, tree),
        (2, 5, tree[0][1]),
        (3, 5, tree[0][1][1]),
        (6, 7, tree[0][0][1]),
        (5, 10, tree),
    ):
        other = doc[start:end].as_doc(copy_user_data=True)
        (found,) = other._.trees
        assert found == other[:]._.tree == (cut if cut == tree else make_tree("TOP", [cut]))
        assert (found.text, found[0].tokens) == (other.text.strip(), tuple(other))
        assert other[:].as_doc(copy_user_data=True)._.trees == (found,)
    for start, end in ((1, 5), (0, 3), (1, 8)):  # no phrases
        assert doc[start:end].as_doc(copy_user_data=True)._.trees == ()
    assert len(doc[3:10].as_doc(copy_user_data=True)._.trees) == 2
    begin, other = (doc[part].as_doc(copy_user_data=True) for part in (slice(2), slice(2, 5)))
    assert Doc.from_docs([begin, doc])._.trees == doc._.trees  # and none over words of both
    assert Doc.from_docs([other, doc])._.trees == (*other._.trees, *doc._.trees)
    other._.trees = ["(S (VP (VBD saw) (CD two) (NNS mice)))"]
    assert [len(found.phrases()) for found in other._.trees] == [3]


def test_a_phrase_in_a_doc_of_its_own_keeps_its_functions():
    gold = "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go)))))))"
    doc = Doc(Vocab(), words=["She", "wants", "to", "go"])
    tree = Tree.from_string(gold).remove_empties()
    bounds = [token.idx for token in doc], [token.idx + len(token) for token in doc]
    write_tree(doc, 0, 16, encode(tree, *bounds))
    (found,) = doc[1:4].as_doc(copy_user_data=True)._.trees
    assert str(found) == "(TOP (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))))"
    assert str(found.with_empties()[0][1]) == "(S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB go))))"
    (found,) = doc[0:1].as_doc(copy_user_data=True)._.trees
    assert (found[0].label, found[0].function) == ("NP", "SBJ")


def test_other_sentence_bounds_leave_the_trees_as_they_were(bare):
    before = bare._.trees
    bare[4].is_sent_start = False
    assert bare._.trees == before
    assert bare[4:8]._.tree == before[1]
    assert bare[0:8]._.tree is None


def test_a_changed_value_is_read_anew(plain, bare):
    first = bare._.trees
    key = ("._.", "incparse", 0, 14)
    bare.user_data[key] = bare.user_data[key].replace("(S", "(NP")
    assert bare._.trees[0] != first[0]
    assert bare._.trees[0][0].label == "NP"


def test_no_doc_leaks(plain):
    docs = [plain(TEXT) for _ in range(100)]
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


def test_nodes_keep_their_doc(plain):
    node = plain(TEXT)._.trees[1][0][1]
    gc.collect()
    assert node.span.text == node.text == "mice ran!"
    assert node.doc.text == TEXT


def test_the_stored_value_is_one_short_string_a_sentence(bare):
    values = {key: value for key, value in bare.user_data.items() if key[1] == "incparse"}
    assert list(values) == [("._.", "incparse", 0, 14), ("._.", "incparse", 15, 28), ("._.", "incparse", 29, 40)]
    assert values["._.", "incparse", 0, 14] == "1|b|-1.5|(TOP (S CAP (VP LOW (VP LOW (VP PUNCT)))))|.3,3,5.1|h=en"


def test_docs_stay_small(plain):
    doc = plain(" ".join([TEXT] * 50))
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


def test_the_groups_of_joined_docs_are_shifted(doc):
    joined = Doc.from_docs([doc, doc])
    shift = len(doc)
    again = [(label, start + shift, end + shift, text) for label, start, end, text in phrases(doc)]
    assert phrases(joined) == phrases(doc) + again
    assert len(joined._.trees) == 6


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


def test_parsing_again_removes_the_old_mirror(nlp, doc):
    again = fake_pipeline()
    doc[4].is_sent_start = False
    doc = again.get_pipe("incparse")(doc)
    assert "phrases" not in doc.spans
    assert len(doc._.trees) == 2
    assert through_docbin(doc)._.trees == ()
    joined = Doc.from_docs([nlp(TEXT)])  # a mirror without attrs
    assert "phrases" in joined.spans
    assert "phrases" not in again.get_pipe("incparse")(joined).spans


def test_two_mirrors():
    nlp = fake_pipeline(spans_key="first")
    nlp.add_pipe("incparse", name="second", config={"spans_key": "second"}).model = fake_model()
    doc = nlp(TEXT)
    assert list(doc.spans) == ["second"]
    assert through_docbin(doc)._.trees == doc._.trees


def test_what_was_picked_from_a_mirror_is_none(doc):
    doc.spans["phrases"] = [span for span in doc.spans["phrases"] if span.label_ == "VP"]
    assert through_docbin(doc)._.trees == ()
    assert Doc.from_docs([doc], exclude=["user_data"])._.trees == ()
    assert doc._.trees
    assert list(fake_pipeline().get_pipe("incparse")(doc).spans) == ["phrases"]  # it is somebody's own


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
        doc = fake_pipeline(spans_key="phrases")("They crash here.")
    assert [(span.label_, span.text) for span in doc.spans["phrases"]] == [("TOP", "They crash here.")]
    for way in (through_docbin, through_json, lambda doc: Doc.from_docs([doc], exclude=["user_data"])):
        assert [str(tree) for tree in way(doc)._.trees] == ["(TOP (X They) (X crash) (X here) (X .))"]


def test_reading_writes_nothing(doc):
    other = through_docbin(doc)
    before = dict(other.user_data), {name: group.to_bytes() for name, group in other.spans.items()}
    assert other._.trees == doc._.trees
    assert other[0:2]._.tree == doc[0:2]._.tree
    assert (dict(other.user_data), {name: group.to_bytes() for name, group in other.spans.items()}) == before
    assert doc._.trees[0].arrays is doc._.trees[0].arrays is doc[0:4]._.tree.arrays


@settings(max_examples=100, deadline=None)
@given(trees=st.lists(normalised_trees(), min_size=1, max_size=3))
def test_any_trees_come_back(nlp, trees):
    doc = next(trees_to_docs(trees, nlp.vocab, n_sents=len(trees)))
    stored = [(s, user_data(doc)["._.", "incparse", s.start_char, s.end_char]) for s in split_sentences(doc)]
    mirror_trees(doc, "phrases", stored)
    assert list(through_docbin(doc)._.trees) == trees
    assert list(Doc.from_docs([doc], exclude=["user_data"])._.trees) == trees
    assert list(through_json(doc)._.trees) == trees
