import warnings

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.list_folders import ListOrigin, TrainingLists, origin_path, sentence_key, training_lists
from spacy_incparse.rerank.lists import CandidateList, write_lists
from spacy_incparse.trees.tree import Tree

TREE = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBD rained))))")
OTHER = Tree.from_string("(TOP (NP (PRP It) (VBD rained)))")
LISTS = [CandidateList((Parse(TREE, 2.0, "beam"), Parse(OTHER, 1.5, "beam")), 3.0, TREE)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "lists.jsonl"
    write_lists(path, LISTS)
    return path


def test_lists_of_a_parser_that_has_not_seen_the_trees(path):
    ListOrigin("parser", frozenset({sentence_key(["It", "snowed"])})).write(path)
    lists = TrainingLists(path)
    assert list(lists) == list(lists) == LISTS
    assert list(training_lists(path.parent)) == LISTS
    assert training_lists(LISTS) == training_lists(iter(LISTS)) == LISTS


def test_lists_of_a_parser_that_has_seen_them_are_refused(path):
    ListOrigin("parser", frozenset({sentence_key(TREE.words)})).write(path)
    with pytest.raises(IncparseError, match=r"lists.jsonl: list 1 \('It rained'\) is of a parser that was trained on"):
        list(TrainingLists(path))


def test_lists_of_unknown_origin_warn(path):
    with pytest.warns(UserWarning, match=r"no lists.jsonl.origin.json says what the parser of these lists"):
        assert list(TrainingLists(path)) == LISTS


def test_lists_without_gold_trees_are_refused(path):
    write_lists(path, [CandidateList(LISTS[0].parses)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(IncparseError, match=r"lists.jsonl: list 1 \('It rained'\) has no gold tree to learn from"):
            list(TrainingLists(path))


def test_there_must_be_lists(tmp_path):
    with pytest.raises(IncparseError, match="the folder has no files with lists"):
        TrainingLists(tmp_path)
    with pytest.raises(IncparseError, match="there is no such file or folder with lists"):
        TrainingLists(tmp_path / "missing.jsonl")


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format": "other"}'])
def test_a_damaged_origin_is_named(path, content):
    origin_path(path).write_text(content, encoding="utf8")
    with pytest.raises(IncparseError, match=r"lists.jsonl.origin.json cannot be read .*: make the lists again"):
        list(TrainingLists(path))
