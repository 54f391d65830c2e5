import pytest
from hypothesis import given

from spacy_incparse.errors import ConfigError
from spacy_incparse.treebanks.reader import (
    STANDARD,
    drop_empties,
    merge_doubled,
    normalize,
    one_top,
    strip_functions,
    with_separators,
)
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees, raw_trees


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        (drop_empties, "(S (NP (-NONE- *)) (VP (VB Go)))", "(S (VP (VB Go)))"),
        (drop_empties, "(S (SBAR (-NONE- 0) (S (-NONE- *T*-1))) (NN a) (NP (NN b)))", "(S (NN a) (NP (NN b)))"),
        (strip_functions, "(S-TPC-1 (NP-SBJ=2 (-LRB- -LRB-)))", "(S (NP (-LRB- -LRB-)))"),
        (merge_doubled, "(S (S (S (NP (NN a)))))", "(S (NP (NN a)))"),
        (merge_doubled, "(NP (NP (NN a)) (NP (NP (NN b))))", "(NP (NP (NN a)) (NP (NN b)))"),
        (merge_doubled, "(NP (NX (NP (NN a))))", "(NP (NX (NP (NN a))))"),
        (one_top, "((S (NN a)))", "(TOP (S (NN a)))"),
        (one_top, "(ROOT (S (NN a)))", "(TOP (S (NN a)))"),
        (one_top, "(VROOT (S (NN a)) (. .))", "(TOP (S (NN a)) (. .))"),
        (one_top, "((TOP (S1 (S (NN a)))))", "(TOP (S (NN a)))"),
        (one_top, "((UH Oh))", "(TOP (UH Oh))"),
        (one_top, "((NP (NN a)) (TOP (VP (VB b))))", "(TOP (NP (NN a)) (VP (VB b)))"),
        (one_top, "(S (ROOT (NN a)) (NN b))", "(TOP (S (ROOT (NN a)) (NN b)))"),
    ],
)  # fmt: skip
def test_each_step_alone(step, before, after):
    assert str(step(Tree.from_string(before))) == after


def test_other_separators_of_functions():
    published = Tree.from_string("(S (NP_SB (PRP She)) (ADJP*OC-1 (JJ_X red) ($*LRB* -LRB-)) (NP-SBJ (_ _)))")
    step = with_separators("_*")
    assert str(step(published)) == "(S (NP-SB (PRP She)) (ADJP-OC-1 (JJ-X red) ($*LRB* -LRB-)) (NP-SBJ (_ _)))"
    assert str(normalize(published, (step, *STANDARD))[0]) == (
        "(S (NP (PRP She)) (ADJP (JJ red) ($*LRB* -LRB-)) (NP (_ _)))"
    )
    for wrong in ("", "_a", "(", None):
        with pytest.raises(ConfigError, match=r"separators is .*: name the characters"):
            with_separators(wrong)


def test_the_standard_steps_together():
    subject = "(NP-SBJ-2 (NP (NP (NN Rain))) (-NONE- *T*-1))"  # without the trace it is a chain
    published = f"( (S-1 {subject} (VP=3 (VBZ falls) (S (NP-SBJ (-NONE- *-2)))) (. .)) )"
    assert str(normalize(Tree.from_string(published))) == "(TOP (S (NP (NN Rain)) (VP (VBZ falls)) (. .)))"


def test_nothing_is_left_of_traces_alone():
    assert normalize(Tree.from_string("((S (NP (-NONE- *))))")) is None


def test_a_node_within_a_tree_can_be_normalised():
    whole = Tree.from_string("(S (NP-SBJ (NN a) (-NONE- *)) (VP (VB b)))")
    assert str(normalize(whole[0])) == "(TOP (NP (NN a)))"
    assert str(normalize(whole[1])) == "(TOP (VP (VB b)))"


@given(raw_trees())
def test_normal_form(raw):
    result = normalize(raw)
    kept = [node for node in raw.preterminals() if node.label != "-NONE-"]
    if result is None:
        assert not kept
        return
    assert result.words == tuple(node.words[0] for node in kept)
    assert [node.label for node in result.preorder()].count("TOP") == 1
    assert result.label == "TOP"
    for node in result.preorder():
        assert node.label == bare_label(node.label)
        if len(node) == 1 and not node[0].is_preterminal:
            assert node.label != node[0].label
    assert normalize(result) == result


@given(normalised_trees())
def test_normal_trees_stay_as_they_are(normal):
    assert normalize(normal) == normal


def test_deep_trees_need_no_recursion():
    assert normalize(deep_tree(5_000)) == deep_tree(5_000)
    chain = Tree.from_string("(S " * 5_000 + "(NN a)" + ")" * 5_000)
    assert normalize(chain) == make_tree("TOP", [make_tree("S", [make_tree("NN", "a")])])
