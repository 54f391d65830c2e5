import json

import pytest
from hypothesis import given

from spacy_incparse.cli.parse import ParsedSentence, json_line
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.treebanks.reader import read_trees
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

TREE = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBZ rains))))")


def test_a_tree_is_described_by_tokens_and_spans():
    assert TREE.to_dict() == {
        "text": "It rains",
        "tokens": [
            {"text": "It", "start": 0, "end": 2, "tag": "PRP"},
            {"text": "rains", "start": 3, "end": 8, "tag": "VBZ"},
        ],
        "spans": [
            {"label": "TOP", "start": 0, "end": 2},
            {"label": "S", "start": 0, "end": 2},
            {"label": "NP", "start": 0, "end": 1},
            {"label": "VP", "start": 1, "end": 2},
        ],
    }


def test_offsets_of_a_node_count_from_its_own_beginning():
    verb_phrase = TREE[0][1].to_dict()
    assert verb_phrase["tokens"] == [{"text": "rains", "start": 0, "end": 5, "tag": "VBZ"}]
    assert verb_phrase["spans"] == [{"label": "VP", "start": 0, "end": 1}]


@given(raw_trees())
def test_every_node_comes_back(tree):
    for node in tree.preorder():
        data = json.loads(json.dumps(node.to_dict()))
        assert Tree.from_dict(data) == node
        for token in data["tokens"]:
            assert data["text"][token["start"] : token["end"]] == token["text"]


def test_what_the_parse_command_prints_is_read():
    sentence = ParsedSentence(1, 0, "It  rains", [0, 4], [2, 9], [Parse(TREE, 1.5, "beam")])
    printed = json_line(1, sentence, True, True)
    assert Tree.from_dict(json.loads(printed)) == TREE


def test_deep_trees_need_no_recursion():
    tree = deep_tree(5_000)
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


def spans(*triples):
    return [{"label": label, "start": start, "end": end} for label, start, end in triples]


TOKENS = [{"text": "It", "tag": "PRP"}, {"text": "rains", "tag": "VBZ"}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "needs a list 'tokens'"),
        ({"spans": []}, "needs a list 'tokens'"),
        ({"tokens": TOKENS, "spans": "S"}, "needs a list 'spans'"),
        ({"tokens": [TOKENS[0], {"text": "rains"}], "spans": []}, r"tokens\[1\] needs 'tag', which is a str"),
        ({"tokens": TOKENS, "spans": [{"label": "S", "start": 0, "end": True}]}, r"spans\[0\] needs 'end'.* a int"),
        ({"tokens": TOKENS, "spans": [None]}, r"spans\[0\] needs 'label'"),
        ({"tokens": [], "spans": []}, "at least one token"),
        ({"tokens": TOKENS, "spans": []}, "expected one that covers all 2 tokens"),
        (
            {"tokens": TOKENS, "spans": spans(("S", 0, 1))},
            r"spans\[0\] \(S 0-1\) is the first; expected one that covers",
        ),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 1, 3))}, r"spans\[1\] .* is not within the 2 tokens"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 1, 1))}, "is not within"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("VP", 1, 2), ("NP", 0, 1))}, "expected pre-order"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 0, 1), ("X", 0, 2))}, "crosses the end of NP 0-1"),
    ],
)
def test_what_is_no_tree_is_refused_by_its_entry(data, message):
    with pytest.raises(IncparseError, match=message):
        Tree.from_dict(data)


@pytest.mark.treebanks
@pytest.mark.parametrize("bank", ["wsj", "gum", "craft"])
def test_real_trees_come_back(treebanks, bank):
    """As published: with functions, indices and traces."""
    for number, tree in enumerate(read_trees(treebanks / bank / "dev.mrg")):
        if number % 10 == 0:
            assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
            assert Tree.from_string(str(tree)) == Tree.from_string(tree.pretty()) == tree
            assert Tree.from_string(tree.to_string(ptb=True)) == tree
            assert tree.collapse_unaries(tags=True).expand_unaries() == tree
