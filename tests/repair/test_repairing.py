from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse import Tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.repair import (
    EditError,
    FileChanges,
    delete,
    excise,
    find_rules,
    insert,
    make_rules,
    move,
    prune,
    raise_node,
    relabel,
    repair_tree,
    repair_trees,
    summary_lines,
)
from spacy_incparse.trees.arrays import TreeArrays
from tests.strategies import normalised_trees, raw_trees

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
S, NP, DT, NN, VP, VBD, ADVP, RB, MARK = range(1, 10)


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
        (prune(TREE.arrays, RB), "(VP (VBD slept) (. .))", VP),
        (move(TREE.arrays, RB, ">2", VP), "(VP (VBD slept) (RB well) (. .))", VP),
        (
            move(TREE.arrays, MARK, ">-1", ADVP),
            "(VP (VBD slept) (ADVP (RB well) (. .)))",
            VP,
        ),
        (
            move(TREE.arrays, MARK, "$-", VP),
            "(S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept) (ADVP (RB well))) (. .))",
            S,
        ),
        (
            move(TREE.arrays, NP, "$+", VBD),
            "(S (VP (NP-SBJ-1 (DT the) (NN cat)) (VBD slept) (ADVP (RB well)) (. .)))",
            S,
        ),
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
        (delete, (DT,)), (delete, (ADVP,)), (prune, (0,)), (prune, (S,)),
        (move, (NP, ">-1", VP)), (move, (VP, "$+", NP)), (move, (VP, ">1", VP)), (move, (VP, ">1", ADVP)),
        (move, (NP, ">1", VBD)), (move, (DT, ">9", VP)), (move, (NP, "$+", 0)), (move, (RB, "$+", ADVP)),
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


def moved_by_hand(tree, node, relation, other):
    """The move, made in nested lists, whatever comes of the order of words; None if it is impossible."""
    lists, parents = [], []
    for one in tree.preorder():
        lists.append([one.label, *one.words] if one.is_leaf else [one.label])
        parents.append(tree.arrays.parents[one.index])
        if one.index:
            lists[parents[-1]].append(lists[-1])
    parent, place = parents[other] if relation[0] == "$" else other, node
    if parent < 0 or tree.arrays.sizes[parent] == 1 or place == 0:
        return None
    while len(lists[parents[place]]) == 2 and parents[place] not in (0, parent):
        place = parents[place]
    above = lists[parents[place]]
    del above[next(k for k, child in enumerate(above) if child is lists[place])]
    if relation[0] == "$":
        found = [k for k, child in enumerate(lists[parent]) if child is lists[other]]
        at = found[0] + (relation == "$-") if found else 0
    else:
        number = int(relation[1:])
        at = number if number > 0 else len(lists[parent]) + number + 1
    if not 1 <= at <= len(lists[parent]):
        return None
    lists[parent].insert(at, lists[node])
    return str(lists[0]).translate(str.maketrans("[]", "()", "',")) if len(above) > 1 else None


@settings(max_examples=100)
@given(normalised_trees(6), st.data())
def test_a_move_changes_the_place_of_a_node_and_no_order_of_words(tree, data):
    arrays, nodes = tree.arrays, st.integers(0, tree.size - 1)
    node, other = data.draw(nodes), data.draw(nodes)
    relation = data.draw(st.sampled_from(("$+", "$-", ">1", ">2", ">-1", ">-2")))
    numbered = Tree(
        TreeArrays.of([f"L{k}" for k in range(tree.size)], arrays.sizes, [f"w{k}" for k in range(len(arrays.words))])
    )
    expected = None if node <= other < node + arrays.sizes[node] else moved_by_hand(numbered, node, relation, other)
    try:
        edit = move(numbered.arrays, node, relation, other)
    except EditError:
        assert expected is None or Tree.from_string(expected).words != numbered.words
    else:
        assert str(Tree(edit.arrays)) == expected
        before, after = numbered._at(edit.node), Tree(edit.arrays)._at(edit.node)
        assert str(numbered).replace(str(before), str(after)) == expected


def test_words_are_lost_only_by_a_rule_that_prunes():
    tree = Tree.from_string("(TOP (S (NP (-NONE- *)) (VP (VB Go) (NP (META [) (META noise) (META ])))))")
    deleted, changes = repair_tree(tree, rules(("/^-NONE-$/=x", "delete x")))
    assert (str(deleted[0]), changes[0].n_lost) == ("(S (VP (VB Go) (NP (META [) (META noise) (META ]))))", 0)
    pruned, changes = repair_tree(tree, rules(("META=x", "prune x")))
    assert (str(pruned), len(changes), sum(change.n_lost for change in changes)) == (
        "(TOP (S (NP (-NONE- *)) (VP (VB Go))))", 3, 3
    )  # fmt: skip
    with pytest.raises(IncparseError, match=r"'rule 1' cannot .* would lose 'noise'.* prune"):
        repair_tree(tree, rules(("META=x < noise", "delete x")))
    *_, last = summary_lines([FileChanges(Path("x"), 1, 1, changes)], {"rule 1": ""})
    assert last == "words that the trees lost: 3"
