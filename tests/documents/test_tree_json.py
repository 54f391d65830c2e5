"""Trees as plain JSON."""

import json

import pytest
import spacy

import spacy_incparse
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.rows import trees_to_json
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree

BRACKETS = ("(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept)) (. .)))", "(TOP (S (VP (VB Run)) (. !)))")


@pytest.fixture
def doc():
    trees = [Tree.from_string(text) for text in BRACKETS]
    return next(trees_to_docs(trees, spacy.blank("en").vocab, natural_spacing=True, n_sents=2))


def test_sentences_and_nodes(doc):
    first, second = spacy_incparse.trees_to_json(doc)
    assert (first["text"], first["start"], first["end"]) == ("The owl slept.", 0, 14)
    assert (second["text"], second["start"], second["end"]) == ("Run!", 15, 19)
    assert (first["score"], first["source"]) == (None, "")
    (clause,) = second["tree"]["children"]
    assert clause == {
        "label": "S",
        "start": 15,
        "end": 19,
        "children": [
            {
                "label": "VP",
                "start": 15,
                "end": 18,
                "children": [{"label": "VB", "start": 15, "end": 18, "children": [], "text": "Run"}],
            },
            {"label": ".", "start": 18, "end": 19, "children": [], "text": "!"},
        ],
    }


def test_all_nodes_are_there(doc):
    for sentence, tree in zip(spacy_incparse.trees_to_json(doc), doc._.trees, strict=True):
        waiting, found = [sentence["tree"]], []
        while waiting:
            node = waiting.pop()
            found.append((node["label"], node["start"], node["end"]))
            waiting += reversed(node["children"])
        assert found == [(node.label, node.start_char, node.end_char) for node in tree.preorder()]


def test_it_is_plain_json():
    doc = spacy_incparse.load("en")("The owl slept. It was late.")
    found = spacy_incparse.trees_to_json(doc)
    assert json.loads(json.dumps(found)) == found
    assert [sentence["score"] for sentence in found] == [tree.score for tree in doc._.trees]
    assert found[0]["source"] == "beam"
    assert spacy_incparse.trees_to_json(spacy.blank("en")("No trees.")) == []


@pytest.mark.parametrize("given", ["It rained.", None])
def test_of_anything_but_a_doc(given):
    with pytest.raises(IncparseError, match="is no Doc: pass one"):
        trees_to_json(given)
