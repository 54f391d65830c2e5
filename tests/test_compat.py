"""benepar's attribute names; a slow twin finds the expected answers on trees whose unary chains are collapsed."""

import subprocess
import sys

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Span, Token

from spacy_incparse.compat import NonConstituentException, install_benepar_names
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.storage import write_tree
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees

NAMES = {"labels", "parse_string", "constituents", "parent", "children"}
JOINT = "::"
VOCAB = spacy.blank("en").vocab


@pytest.fixture(scope="module", autouse=True)
def _installed():
    """The names are gone again afterwards."""
    install_benepar_names()
    yield
    for owner in (Span, Token):
        for name in NAMES:
            if owner.has_extension(name):
                owner.remove_extension(name)


def doc_of(*brackets):
    trees = [Tree.from_string(text) for text in brackets]
    return next(trees_to_docs(trees, VOCAB, n_sents=len(trees)))


@pytest.fixture
def doc():
    return doc_of(
        "(TOP (S (NP (PRP She)) (VP (VBD left) (PP (IN at) (NP (CD ten)))) (. .)))",
        "(TOP (S (VP (VB Run))))",
        "(TOP (INTJ (UH Oh)) (NP (NN rain)) (. !))",
    )


def texts(spans):
    return [span.text for span in spans]


def test_parse_string(doc):
    assert doc[0:5]._.parse_string == "(S (NP (PRP She)) (VP (VBD left) (PP (IN at) (NP (CD ten)))) (. .))"
    assert doc[2:4]._.parse_string == "(PP (IN at) (NP (CD ten)))"
    assert doc[5:6]._.parse_string == "(S (VP (VB Run)))"
    assert doc[6:9]._.parse_string == "(INTJ (UH Oh)) (NP (NN rain)) (. !)"
    assert doc[1]._.parse_string == "(VBD left)"
    assert doc[0]._.parse_string == "(NP (PRP She))"


def test_brackets_in_words_and_tags_are_escaped():
    doc = doc_of("(TOP (NP (-LRB- -LRB-) (NN a{b}) (-RRB- -RRB-)))")
    assert [token.text for token in doc] == ["(", "a{b}", ")"]
    assert doc[0:3]._.parse_string == "(NP (-LRB- -LRB-) (NN a-LCB-b-RCB-) (-RRB- -RRB-))"


def test_the_tag_is_the_tokens_own_where_it_has_one(doc):
    doc[1].tag_ = "VBN"
    assert doc[1]._.parse_string == "(VBN left)"
    doc[1].tag_ = ""
    assert doc[1]._.parse_string == "(VBD left)"


def test_what_is_no_constituent(doc):
    for name in ("labels", "parse_string", "parent"):
        with pytest.raises(NonConstituentException, match="'left at'"):
            getattr(doc[1:3]._, name)
    for name in ("constituents", "children"):
        found = getattr(doc[1:3]._, name)  # complains when the first is asked for
        with pytest.raises(NonConstituentException):
            next(found)
    for span in (doc[0:0], doc[4:6], doc[:]):
        with pytest.raises(NonConstituentException):
            span._.labels  # noqa: B018
    with pytest.raises(IndexError):
        doc[len(doc) :]._.labels  # noqa: B018


def test_a_doc_without_trees():
    doc = spacy.blank("en").make_doc("Not parsed")
    for name in ("labels", "parse_string", "parent"):
        with pytest.raises(Exception, match="add the component 'incparse'") as caught:
            getattr(doc[0:1]._, name)
        assert caught.type is Exception
    assert caught.type is not NonConstituentException


def test_whitespace():
    doc = spacy.blank("en").make_doc("Owls \n sleep \n")
    tree = Tree.from_string("(TOP (S (NP (NNS Owls)) (VP (VBP sleep))))")
    write_tree(doc, 0, len(doc.text), encode(tree, [0, 7], [4, 12]))
    assert [token.is_space for token in doc] == [False, True, False, True]
    assert doc[:]._.labels == ("S",)
    assert texts(doc[:]._.constituents) == ["Owls \n sleep", "Owls", "sleep"]
    assert [token._.labels for token in doc] == [("NP",), (), ("VP",), ()]
    assert [token._.parent for token in doc] == [doc[0:3], doc[0:3], doc[0:3], None]
    assert doc[1]._.parse_string == "( \n )"


def slow_answers(doc, trees):
    """(start, end) of each constituent in pre-order -> labels, constituents, children, parent."""
    answers, first = {}, 0
    for tree in trees:
        collapsed = tree.collapse_unaries(JOINT, root=True, tags=True)
        for node in collapsed.preorder():
            labels = node.label.split(JOINT)
            labels = labels[node.index == 0 :]  # TOP
            labels = labels[:-1] if node.is_leaf else labels
            place = (first + node.start, first + node.end)
            below = [(first + other.start, first + other.end) for other in node.preorder()]
            children = [(first + child.start, first + child.end) for child in node]
            parent = None if node.parent is None else (first + node.parent.start, first + node.parent.end)
            answers[place] = tuple(labels), below, children, parent
        first += len(tree.words)
    return answers


@settings(max_examples=60)
@given(trees=st.lists(normalised_trees(6), min_size=1, max_size=2))
def test_as_the_slow_twin(trees):
    doc = next(trees_to_docs(trees, VOCAB, n_sents=len(trees)))
    expected = slow_answers(doc, trees)
    for start in range(len(doc)):
        for end in range(start + 1, len(doc) + 1):
            span = doc[start:end]
            if (start, end) not in expected:
                with pytest.raises(NonConstituentException):
                    span._.labels  # noqa: B018
                continue
            labels, below, children, parent = expected[start, end]
            assert span._.labels == labels
            assert [(s.start, s.end) for s in span._.constituents] == below
            assert [(s.start, s.end) for s in span._.children] == children
            assert span._.parent == (None if parent is None else doc[parent[0] : parent[1]])
            again = Tree.from_string(f"(TOP {span._.parse_string})")
            assert again.words == tuple(token.text for token in span)


def test_deep_trees():
    doc = next(trees_to_docs([deep_tree(5000)], VOCAB))
    assert doc[:]._.parse_string.startswith("(S (NN dog) (VP (NN dog)")
    assert len(list(doc[:]._.constituents)) == 10_001


FAKE_BENEPAR = """
import sys, warnings
from spacy.tokens import Doc, Span, Token

def register():  # as benepar does: without force
    for name in ("labels", "parse_string", "constituents", "parent", "children"):
        Span.set_extension(name, getter=lambda span: "benepar's")
    for name in ("labels", "parse_string", "parent"):
        Token.set_extension(name, getter=lambda token: "benepar's")

warnings.simplefilter("error", UserWarning)
"""


def test_the_names_may_be_benepars_until_they_are_asked_for():
    code = """
import spacy, spacy_incparse
from spacy_incparse.compat import install_benepar_names
from spacy_incparse.documents.storage import write_tree
nlp = spacy.blank("en")
nlp.add_pipe("incparse")
print([name for name in ("labels", "parent", "children") for kind in (Span, Token) if kind.has_extension(name)])
register()
doc = nlp.make_doc("Owls sleep")
print(doc[0:1]._.labels)
install_benepar_names()
install_benepar_names()
write_tree(doc, 0, 10, "1|||(TOP (S (NP NNS) (VP VBP)))|.4,5")
print(doc[0:2]._.parse_string, doc[0]._.labels)
"""
    done = subprocess.run([sys.executable, "-c", FAKE_BENEPAR + code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[]", "benepar's", "(S (NP (NNS Owls)) (VP (VBP sleep))) ('NP',)"]
