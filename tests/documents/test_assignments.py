"""Trees that are assigned to a Doc and its sentences, and attributes that cannot be assigned."""

import pytest
import spacy
from spacy.tokens import Doc

import spacy_incparse.pipeline.parser  # noqa: F401  registers the attributes
from spacy_incparse.documents.storage import keys
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree

OWL = "(S (NP-SBJ (DT The) (NN owl)) (VP (VBD slept)))"
RAIN = "(S (NP (PRP It)) (VP (VBD rained) (-LRB- -LRB-)))"
TREES = ["(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept))))", "(TOP (S (NP (PRP It)) (VP (VBD rained) (-LRB- -LRB-))))"]


class OfStanza:
    def __str__(self):
        return RAIN


@pytest.fixture
def doc():
    words = ["The", "owl", "slept", "\n", "It", "rained", "("]
    spaces, starts = [True, True, False, False, True, True, False], [1, 0, 0, 0, 1, 0, 0]
    return Doc(spacy.blank("en").vocab, words=words, spaces=spaces, sent_starts=starts)


@pytest.mark.parametrize("second", [RAIN, Tree.from_string(RAIN), Tree.from_string(f"(X {RAIN})")[0], OfStanza()])
def test_given_trees_are_normalized_and_stored(doc, second):
    doc._.trees = [OWL, second]
    assert list(map(str, doc._.trees)) == TREES
    assert [(tree.score, tree.source, tree.span.text) for tree in doc._.trees] == [
        (None, "", "The owl slept"),
        (None, "", "It rained ("),
    ]
    assert Doc(doc.vocab).from_bytes(doc.to_bytes())._.trees == doc._.trees
    assert Doc(doc.vocab).from_json(doc.to_json(underscore=["incparse"]))._.trees == doc._.trees
    first, last = doc.sents
    first._.tree = None
    assert [str(tree) for tree in doc._.trees] == TREES[1:]
    first._.tree, last._.tree = OWL, doc._.trees[0]
    assert [str(tree) for tree in doc._.trees] == TREES
    doc[4].is_sent_start = False  # the tree of the new sentence takes the place of both
    doc[:]._.tree = "(X (X (X The) (X owl) (X slept)) (X (X It) (X rained) (X -LRB-)))"
    assert [len(tree.words) for tree in doc._.trees] == [6]
    doc._.trees = []
    assert doc._.trees == ()
    assert keys(doc) == []


@pytest.mark.parametrize(
    ("assign", "message"),
    [
        (lambda doc: setattr(doc._, "trees", [OWL]), r"^1 trees .* 2 sentences"),
        (lambda doc: setattr(doc._, "trees", 3), r"^1 trees .* 2 sentences"),
        (
            lambda doc: setattr(doc._, "trees", [None, OWL]),
            r"word 1 of the tree is 'The', .* sentence 'It'.*'It rained",
        ),
        (lambda doc: setattr(doc._, "trees", [OWL, TREES[0][5:-1]]), "word 1 of"),
        (lambda doc: setattr(doc._, "trees", [None, "(S (X It))"]), "word 2 of the tree is None, .* 'rained'"),
        (lambda doc: setattr(doc[:4]._, "tree", f"(A {OWL} (. !))"), "word 4 of the tree is '!', .* sentence None"),
        (lambda doc: setattr(doc[:2]._, "tree", "(NP (DT The) (NN owl))"), "'The owl' is no sentence"),
        (lambda doc: setattr(doc[:4]._, "tree", "(S (-NONE- *))"), "no words except traces"),
        (lambda doc: setattr(doc[:4]._, "tree", "rain"), "expected '\\('"),
    ],
)
def test_a_tree_that_does_not_fit_changes_nothing(doc, assign, message):
    doc._.trees = [OWL, RAIN]
    with pytest.raises(IncparseError, match=message):
        assign(doc)
    assert list(map(str, doc._.trees)) == TREES


def test_a_tree_may_be_assigned_where_the_phrases_are_in_a_group(doc):
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse", config={"model": "en", "spans_key": "phrases"})
    doc = nlp(doc)
    other = Doc(nlp.vocab).from_bytes(doc.to_bytes(exclude=["user_data"]))  # the group has the trees
    other[4:]._.tree = RAIN
    assert [str(tree) for tree in other._.trees] == [str(doc._.trees[0]), TREES[1]]
    assert "phrases" not in other.spans


@pytest.mark.parametrize(
    ("owner", "name", "advice"),
    [
        ("doc", "parses", r"doc\._\.parses\(k\)"),
        ("span", "incparse", r"doc\._\.trees"),
        ("span", "incparse_measures", r"doc\._\.trees"),
        ("span", "is_constituent", r"doc\._\.trees"),
        ("token", "tree_path", r"doc\._\.trees"),
        ("token", "incparse", "measures = true"),
    ],
)
def test_all_other_attributes_say_what_to_do(doc, owner, name, advice):
    doc._.trees = [OWL, RAIN]
    data = doc.user_data.copy()
    with pytest.raises(AttributeError, match=advice):
        setattr({"doc": doc, "span": doc[:4], "token": doc[0]}[owner]._, name, doc._.trees[0])
    assert doc.user_data == data
