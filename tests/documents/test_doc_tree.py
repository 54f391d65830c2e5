import json
import pickle

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

import spacy_incparse
from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.rows import trees_to_json
from spacy_incparse.documents.storage import write_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees

VOCAB = spacy.blank("en").vocab
BRACKETS = (
    "(TOP (S (NP (NP (DT The) (JJ old) (NN boat)) (PP (IN of) (NP (NNP Ada)))) (VP (VBD sank) (ADVP (RB fast))) (. .)))"
)


def doc_of(*brackets, **options):
    trees = [Tree.from_string(text) for text in brackets]
    return next(trees_to_docs(trees, VOCAB, n_sents=len(trees), natural_spacing=True, **options))


def labels(nodes):
    return [node.label for node in nodes]


@pytest.fixture
def doc():
    return doc_of("(TOP (INTJ (UH Well)) (. !))", BRACKETS)


def test_a_node_knows_its_span(doc):
    tree = doc._.trees[1]
    assert isinstance(tree, DocTree)
    assert doc.text == "Well! The old boat of Ada sank fast."
    subject = tree[0][0]
    assert (subject.label, subject.start, subject.end) == ("NP", 0, 5)
    assert (subject.start_char, subject.end_char, subject.text) == (6, 25, "The old boat of Ada")
    assert subject.span.text == subject.text
    assert (subject.span.start, subject.span.end, subject.span.label_) == (2, 7, "NP")
    assert subject.doc is doc


def test_heads(doc):
    tree = doc._.trees[1]
    assert tree.head == doc[7]  # sank
    assert tree[0][0].head == doc[4]  # boat
    assert tree[0][0][1].head == doc[5]  # of
    assert [leaf.head for leaf in tree.pos_nodes()] == list(doc[2:])


@pytest.mark.parametrize(
    ("field", "head"), [("", "red"), ("h=en", "wine"), ("h=any", "red"), ("h=0", "red"), ("h=1", "wine")]
)
def test_stored_heads_win_over_those_of_the_language(field, head):
    tree = Tree.from_string("(TOP (NP (NN red) (NN wine)))")
    doc = Doc(spacy.blank("fi").vocab, words=["red", "wine"])
    write_tree(doc, 0, 8, encode(tree, [0, 4], [3, 8], more=[field] if field else []))
    assert doc._.trees[0].head.text == head


@pytest.mark.parametrize("field", ["h=2", "h=", "h=x"])
def test_damaged_heads_are_told(field):
    tree = Tree.from_string("(TOP (NP (NN red) (NN wine)))")
    doc = Doc(VOCAB, words=["red", "wine"])
    write_tree(doc, 0, 8, encode(tree, [0, 4], [3, 8], more=[field]))
    with pytest.raises(ValueError, match="the stored heads are damaged"):
        doc._.trees[0].head  # noqa: B018


def test_span_tree(doc):
    tree = doc._.trees[1]
    assert doc[2:7]._.tree == tree[0][0]
    assert doc[2:7]._.tree.parent.label == "S"
    assert doc[2:10]._.tree.label == "TOP"  # the outermost of the chain TOP, S
    assert doc[6:7]._.tree.label == "NP"  # over NNP
    assert doc[4:5]._.tree.label == "NN"  # nothing but a POS node
    assert doc[4:6]._.tree is None
    assert isinstance(doc[2:7]._.tree, DocTree)


def test_the_smallest_phrase_over_a_span(doc):
    tree = doc._.trees[1]
    found = doc[5:7]._.phrase
    assert (found, found.span.text, found.parent.label) == (tree[0][0][1], "of Ada", "NP")
    assert doc[4:6]._.phrase == doc[3:7]._.phrase == tree[0][0]
    assert doc[2:9]._.phrase.label == doc[2:10]._.phrase.label == "S"  # the innermost of TOP and S
    assert doc[6:7]._.phrase == tree[0][0][1][1]
    assert doc[4:5]._.phrase == tree[0][0][0]  # a POS node is no phrase
    assert doc[1:3]._.phrase is None
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:6])
    assert doc[3:4]._.phrase == tree[0][0]


def test_tree_path(doc):
    assert labels(doc[6]._.tree_path) == ["TOP", "S", "NP", "PP", "NP", "NNP"]
    assert labels(doc[9]._.tree_path) == ["TOP", "S", "."]
    assert doc[6]._.tree_path[-1].tokens == (doc[6],)


def test_no_span_raises_anything():
    nlp = spacy.blank("en")
    for doc in (nlp.make_doc("No tree here"), nlp.make_doc(""), nlp.make_doc(" \n ")):
        for start in range(len(doc) + 1):
            for end in range(start, len(doc) + 1):
                assert doc[start:end]._.tree is doc[start:end]._.phrase is None
                assert doc[start:end]._.is_constituent is False
        assert [token._.tree_path for token in doc] == [()] * len(doc)
        assert doc._.trees == ()


def test_a_tree_of_another_version_is_told():
    doc = spacy.blank("en").make_doc("Owls sleep")
    write_tree(doc, 0, 10, "9|b|1|(TOP NN VB)|.4,5")
    with pytest.raises(ValueError, match="format '9'"):
        doc._.trees  # noqa: B018
    with pytest.warns(UserWarning, match="no tree for 'Owls': the stored tree has format '9'"):
        assert doc[0:1]._.tree is None
    with pytest.warns(UserWarning, match="no tree for 'Owls'"):
        assert doc[0]._.tree_path == ()


def test_a_pickled_node_leaves_its_doc_behind(doc):
    node = doc._.trees[1][0][0]
    other = pickle.loads(pickle.dumps(node))
    assert type(other) is Tree
    assert (other, other.index, other.root) == (node, node.index, node.root)


def test_merged_tokens(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])  # "boat of", no constituent
        retokenizer.merge(doc[7:9])  # "sank fast", the VP
    tree = doc._.trees[1]
    subject, verb = tree[0][0], tree[0][1]
    assert subject.span.text == "The old boat of Ada"
    assert subject[1].span is None  # begins inside of a token
    assert (subject[1].text, subject[1].words) == ("of Ada", ("of", "Ada"))
    assert subject[1].tokens == (doc[4], doc[5])
    assert subject.head == doc[4]
    assert (verb.span.text, verb.tokens) == ("sank fast", (doc[6],))
    assert labels(doc[6]._.tree_path) == ["TOP", "S", "VP"]
    assert labels(doc[4]._.tree_path) == ["TOP", "S", "NP"]
    assert doc[6:7]._.tree == verb
    assert doc[4:5]._.tree is None


def test_split_tokens(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[4], ["bo", "at"], heads=[(doc[4], 1), doc[3]])
    tree = doc._.trees[1]
    leaf = tree[0][0][0][2]
    assert (leaf.words, leaf.span.text, leaf.tokens) == (("boat",), "boat", (doc[4], doc[5]))
    assert tree[0][0].head == doc[4]
    assert doc[4:6]._.tree == leaf
    assert doc[4:5]._.tree is None
    assert labels(doc[5]._.tree_path) == ["TOP", "S", "NP", "NP", "NN"]


def test_whitespace_is_in_no_tree():
    nlp = spacy.blank("en")
    doc = nlp("  Owls  sleep .\n")
    words = [token for token in doc if not token.is_space]
    tree = Tree.from_string("(TOP (S (NP (NNS Owls)) (VP (VB sleep)) (. .)))")
    value = encode(tree, [t.idx for t in words], [t.idx + len(t) for t in words])
    write_tree(doc, 0, len(doc.text), value)
    tree = doc._.trees[0]
    assert [node.text for node in tree.phrases()] == ["Owls  sleep .", "Owls  sleep .", "Owls", "sleep"]
    assert list(tree.tokens) == words
    assert [bool(token._.tree_path) for token in doc] == [not token.is_space for token in doc]
    assert doc[:]._.tree == tree
    assert doc[0:2]._.tree.label == "NP"


@settings(max_examples=60, deadline=None)
@given(trees=st.lists(normalised_trees(), min_size=1, max_size=3))
def test_spans_lead_back_to_nodes(trees):
    doc = next(trees_to_docs(trees, VOCAB, n_sents=len(trees)))
    assert list(doc._.trees) == trees
    for tree, plain in zip(doc._.trees, trees, strict=True):
        for node, other in zip(tree.preorder(), plain.preorder(), strict=True):
            assert node == other
            assert [token.text for token in node.tokens] == list(node.words)
            assert isinstance(node.span, Span)
            assert (node.span.text, node.span.start_char, node.span.end_char) == (
                node.text, node.start_char, node.end_char,
            )  # fmt: skip
            found = node.span._.tree
            assert (found.start, found.end) == (node.start, node.end)
            assert found.index <= node.index
            assert node.head in node.tokens
            assert all(node in token._.tree_path for token in node.tokens)


def test_deep_trees():
    doc = next(trees_to_docs([deep_tree(5000)], VOCAB))
    tree = doc._.trees[0]
    assert len(doc[5000]._.tree_path) == 5002
    assert tree.head.text
    assert doc[4999:5001]._.tree.span.text == "dog run"


def test_a_tree_as_json(doc):
    found, more = spacy_incparse.trees_to_json(doc)
    assert json.loads(json.dumps([found, more])) == [found, more]
    nodes = [more["tree"]]
    for node in nodes:
        nodes += node["children"]
    expected = [(node.label, node.start_char, node.end_char) for node in doc._.trees[1].preorder()]
    assert sorted((node["label"], node["start"], node["end"]) for node in nodes) == sorted(expected)
    assert (found["text"], found["start"], found["end"], found["score"], found["source"]) == ("Well!", 0, 5, None, "")
    word = {"label": "UH", "start": 0, "end": 4, "children": [], "text": "Well"}
    mark = {"label": ".", "start": 4, "end": 5, "children": [], "text": "!"}
    phrase = {"label": "INTJ", "start": 0, "end": 4, "children": [word]}
    assert found["tree"] == {"label": "TOP", "start": 0, "end": 5, "children": [phrase, mark]}
    assert spacy_incparse.trees_to_json(spacy.blank("en")("No trees.")) == []
    with pytest.raises(IncparseError, match="is no Doc: pass one"):
        trees_to_json("It rained.")


def test_words_may_be_tokens_and_spans_of_the_doc():
    words = ["Rain", "fell", ".", "The", "\n", "owl", "saw", "a", "mouse"]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[1, 0, 0, 1, 0, 0, 0, 0, 0])
    doc._.trees = [
        "(S (NP (NN Rain)) (VP (VBD fell)) (. .))",
        "(S (NP (DT The) (NN owl)) (VP (VBD saw) (NP (DT a) (NN mouse))))",
    ]
    first, tree = doc._.trees
    assert tree.lca(doc[6], doc[8]) == tree.lca(2, 4) == tree[0][1]
    assert tree.lca(doc[3:6], doc[5]) == tree.lca(doc[3:6], 0) == tree[0][0]
    assert tree.lca(doc[4:6], doc[4:6]).label == "NN"  # white space at the edges does not count
    assert [node.label for node in tree[0][0].path(doc[5:6], doc[7:9])] == ["NN", "NP", "S", "VP", "NP"]
    for wrong, part in [
        (doc[0], r"'Rain' \(characters 0 to 4\) is not in 'The"),
        (doc[1:5], "is not in"),
        (doc[4], "is not in"),
        (Doc(doc.vocab, words=words)[3], "'The'"),
        (5, "0 to 4 of its sentence"),
        (-1, "word -1"),
        (1.5, "1.5 is neither"),
        ("The", "'The' is neither"),
        (first, "another tree"),
    ]:
        with pytest.raises(IncparseError, match=part):
            tree.lca(wrong, 0)
    with pytest.raises(IncparseError, match="neither a node"):
        Tree.from_string(str(tree)).lca(doc[3], doc[5])
