import warnings

import pytest

from spacy_incparse.trees import labels as label_warnings
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.labels import bare_label, function_tags
from spacy_incparse.trees.tree import Tree


@pytest.mark.parametrize(
    ("label", "category", "function"),
    [
        ("NP", "NP", ""),
        ("NP-SBJ", "NP", "SBJ"),
        ("NP-SBJ-12", "NP", "SBJ"),
        ("PP-LOC-PRD-3", "PP", "LOC-PRD"),
        ("NP=2", "NP", ""),
        ("NP-TMP=3", "NP", "TMP"),
        ("ADVP|PRT-CLR", "ADVP|PRT", "CLR"),
        ("-NONE-", "-NONE-", ""),
        ("-LRB-", "-LRB-", ""),
        ("", "", ""),
        ("=", "=", ""),
    ],
)
def test_a_label_has_a_category_and_functions(label, category, function):
    node = make_tree(label, "word")
    assert bare_label(label) == node.category == category
    assert function_tags(label) == node.function == function


TREE = Tree.from_string("(TOP (S (NP-SBJ (DT the) (NN owl)) (VP (VBD slept))))")


@pytest.fixture(autouse=True)
def _nothing_was_warned_of(monkeypatch):
    monkeypatch.setattr(label_warnings, "_warned", set())


@pytest.mark.parametrize(
    ("label", "advice"),
    [
        ("np", "the label 'np': did you mean 'NP'?"),
        ("sbar", "the label 'sbar': did you mean 'SBAR'?"),
        ("NPP", "did you mean .*'NP'"),
        ("WHPN", "did you mean 'WHPP' or 'WHNP'"),
        ("clause", "the label 'clause': docs/labels.md lists the labels"),
        ("NN", r"'NN' is a part of speech, and POS nodes are not phrases; subtrees\('NN'\) finds them"),
        ("NP-SUBJ", "did you mean .*'NP'"),
    ],
)
def test_an_unknown_label_is_warned_of_once_with_near_ones(label, advice):
    with pytest.warns(UserWarning, match=advice) as caught:
        assert TREE.phrases(label) == ()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TREE.phrases(label) == ()


@pytest.mark.parametrize(
    "label",
    ["SBARQ", "X", "PP", "NP-TMP", "NP-SBJ-1", "NP=2", "ADVP|PRT", "S+VP", "NP/NP", "PP-LOC-PRD"],
)
def test_labels_that_are_only_absent_are_not_warned_of(label):
    german = Tree.from_string("(S (NP (ART die) (NN Eule)) (CVP (VVFIN schlief)))")
    assert TREE.phrases(label) == german.phrases("CNP") == ()  # warnings are errors
    assert [list(TREE.subtrees(one)) for one in (label, "JJ", "-LRB-", "$", "VBG-HLN")] == [[]] * 5
    assert list(german.subtrees("ADJA")) == []


@pytest.mark.parametrize("label", ["ROOT", "TOP", "S1", "VROOT", "_ROOT_", ""])
@pytest.mark.parametrize("brackets", ["(TOP (S (NN rain)))", "(S1 (S (NN rain)))", "( (S (NN rain)))", "(S (NN rain))"])
def test_each_name_of_the_root_finds_it_whatever_its_label(brackets, label):
    tree = Tree.from_string(brackets)
    assert tree.phrases(label) == tuple(tree.subtrees(label)) == (tree,)
    assert tree[0].phrases(label) == ()
    assert tree.phrases([label, "NP"]) == (tree,)


def test_functions_are_missing_where_no_label_has_any():
    parsed = TREE.strip_functions()
    with pytest.warns(UserWarning, match="these trees have no function tags.*: look for 'NP'"):
        assert parsed.phrases("NP-SBJ") == ()
    with pytest.warns(UserWarning, match="label 'vbd'"):
        assert list(parsed.subtrees("vbd")) == []
    with pytest.warns(UserWarning, match="did you mean") as caught:  # found or not: each label is looked at
        assert parsed.phrases(["NP", "vp", "pp"]) == (parsed[0][0],)
    assert len(caught) == 2
