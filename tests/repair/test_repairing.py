import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse import Tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.repair import (
    EditError,
    excise,
    find_rules,
    insert,
    make_rules,
    raise_node,
    relabel,
    repair_tree,
    repair_trees,
)
from spacy_incparse.trees.arrays import TreeArrays
from tests.strategies import raw_trees

SLEPT = Tree.from_string(
    "( (NP (NP-TTL (NN cat)) (SBAR (NP-SBJ-1 (WP who)) (S (NP (-NONE- *T*-1)) (VP (VBD slept))))))"
)
OTHER = Tree.from_string("(TOP (NP (NN rain)))")


def rules(*pairs):
    entries = [
        {"name": f"rule {number}", "reason": "a test", "pattern": pattern, "action": action}
        for number, (pattern, action) in enumerate(pairs, start=1)
    ]
    return make_rules(entries)


ALL_RULES = [*find_rules("craft"), *find_rules("english"), *rules(("VP=x", "relabel x S"), ("S=x <: S", "excise x"))]


def replayed(tree, changes):
    """Return the tree after the changes, made from their record alone."""
    for change in changes:
        arrays, after = tree.own_arrays, Tree.from_string(change.after).arrays
        assert str(tree._at(tree.index + change.node)) == change.before
        behind = change.node + arrays.sizes[change.node]
        sizes = list(arrays.sizes)
        node = arrays.parents[change.node]
        while node >= 0:
            sizes[node] += after.sizes[0] - arrays.sizes[change.node]
            node = arrays.parents[node]
        labels = (*arrays.labels[: change.node], *after.labels, *arrays.labels[behind:])
        tree = Tree(TreeArrays.of(labels, (*sizes[: change.node], *after.sizes, *sizes[behind:]), arrays.words))
    return tree


def test_changes_are_recorded():
    trees, changes = repair_trees([OTHER, SLEPT], find_rules("english"))
    assert trees[0] is OTHER
    assert "(SBAR (WHNP-SBJ-1 (WP who)) (S" in str(trees[1])
    (change,) = changes
    assert (change.tree, change.rule, change.start, change.end) == (1, "wh-noun-phrase", 1, 2)
    assert (change.before, change.after) == ("(NP-SBJ-1 (WP who))", "(WHNP-SBJ-1 (WP who))")


def test_a_later_rule_may_enable_an_earlier_one():
    tree, changes = repair_tree(OTHER, rules(("QP=x", "relabel x ADJP"), ("NP=x", "relabel x QP")))
    assert [change.rule for change in changes] == ["rule 2", "rule 1"]
    assert str(tree) == "(TOP (ADJP (NN rain)))"


def test_an_action_that_changes_nothing_is_no_change():
    assert repair_tree(OTHER, rules(("NP=x", "relabel x NP"))) == (OTHER, [])
    assert repair_tree(OTHER, rules(("NP ?< VP=x", "excise x"))) == (OTHER, [])


def test_all_ways_to_match_are_tried():
    """The first one would change nothing."""
    tree, changes = repair_tree(
        Tree.from_string("(TOP (S (NP (NN a)) (QP (CD b))))"), rules(("S < __=x", "relabel x NP"))
    )
    assert (str(tree), len(changes)) == ("(TOP (S (NP (NN a)) (NP (CD b))))", 1)


def test_rules_without_end_and_impossible_actions_are_errors():
    with pytest.raises(IncparseError, match=r"my\.mrg: tree 2: rules undo each other.*: rule 1, rule 2|rule 2, rule 1"):
        repair_trees([SLEPT, OTHER], rules(("NP=x <: NN=y > TOP", "relabel x QP"), ("QP=x", "relabel x NP")), "my.mrg")

    with pytest.raises(IncparseError, match="tree 1: rules undo each other or themselves without end: rule 1"):
        repair_trees([OTHER], rules(("NN=x", "insert NP x")))
    with pytest.raises(IncparseError, match=r"tree 1: the rule 'rule 1' .* \(NN rain\)"):
        repair_trees([OTHER], rules(("NN=x", "excise x")))


@settings(max_examples=40)
@given(raw_trees())
def test_a_second_run_changes_nothing(tree):
    tree = tree.map_labels({"PP": "NML", "FRAG": "CIT", "ADJP": "TITLE", "DT": "WDT", "JJ": "WRB"})
    repaired, changes = repair_tree(tree, ALL_RULES)
    assert replayed(tree, changes) == repaired
    assert repaired.words == tree.words
    assert repair_tree(repaired, ALL_RULES) == (repaired, [])


TREE = Tree.from_string("(TOP (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept) (ADVP (RB well)) (. .))))")
S, NP, DT, NN, VP, ADVP, RB, MARK = 1, 2, 3, 4, 5, 7, 8, 9


@pytest.mark.parametrize(
    ("edit", "after", "node"),
    [
        (relabel(TREE.arrays, NP, "WHNP"), "(WHNP-SBJ-1 (DT the) (NN cat))", NP),
        (relabel(TREE.arrays, NN, "NNP"), "(NNP cat)", NN),
        (insert(TREE.arrays, NN, NN, "NX"), "(NP-SBJ-1 (DT the) (NX (NN cat)))", NP),
        (insert(TREE.arrays, DT, NN, "NX"), "(NP-SBJ-1 (NX (DT the) (NN cat)))", NP),
        (excise(TREE.arrays, NP), "(S (DT the) (NN cat) (VP (VBD slept) (ADVP (RB well)) (. .)))", S),
        (
            raise_node(TREE.arrays, MARK),
            "(S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept) (ADVP (RB well))) (. .))",
            S,
        ),
        (raise_node(TREE.arrays, DT), "(S (DT the) (NP-SBJ-1 (NN cat)) (VP (VBD slept) (ADVP (RB well)) (. .)))", S),
    ],
)
def test_edits(edit, after, node):
    assert edit.node == node
    changed = Tree(edit.arrays)
    assert str(changed._at(node)) == after
    assert Tree.from_string(str(changed)) == changed


@pytest.mark.parametrize(
    ("edit", "arguments"),
    [
        (insert, (0, 0, "X")), (insert, (DT, VP, "X")), (insert, (NN, DT, "X")),
        (excise, (0,)), (excise, (NN,)),
        (raise_node, (0,)), (raise_node, (S,)), (raise_node, (RB,)), (raise_node, (ADVP,)),
    ],
)  # fmt: skip
def test_impossible_edits(edit, arguments):
    with pytest.raises(EditError):
        edit(TREE.arrays, *arguments)


@settings(max_examples=40)
@given(raw_trees(), st.data())
def test_any_edit_gives_a_tree_with_the_same_words(tree, data):
    arrays = tree.own_arrays
    node = data.draw(st.integers(0, len(arrays.sizes) - 1))
    for edit in (
        lambda: insert(arrays, node, node, "X"),
        lambda: excise(arrays, node),
        lambda: raise_node(arrays, node),
    ):
        try:
            changed = Tree(edit().arrays)
        except EditError:
            continue
        assert changed.words == tree.words
        assert Tree.from_string(str(changed)) == changed
    if node > 0:
        assert excise(insert(arrays, node, node, "X").arrays, node).arrays == arrays
