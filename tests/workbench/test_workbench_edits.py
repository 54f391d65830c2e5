import os
import random

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.edits import edited, forced, learned, words_and_tags
from tests.workbench.random_actions import letters, opened, random_action, seen

N_SEQUENCES = int(os.environ.get("INCPARSE_ACTION_SEQUENCES", "300"))
TREE = Tree.from_string("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")
# 0 TOP 1 S 2 NP 3 DT 4 NN 5 VP 6 VBD 7 PP 8 IN 9 NP 10 DT 11 NN 12 .


def after(tree, do, **action):
    return str(edited(tree, {"do": do, **action}))


@pytest.mark.parametrize("kind", ["brackets", "text"])
def test_random_actions_keep_words_and_replay_to_the_same(tmp_path, kind):
    n_done = 0
    for seed in range(N_SEQUENCES // 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        chance = random.Random(seed)
        bench = opened(folder, kind)
        before = [letters(bench, i) for i in range(len(bench.source))]
        for _ in range(chance.randrange(1, 30)):
            i = chance.randrange(len(before))
            old = seen(bench)
            try:
                bench.act(i, bench.version(i), random_action(chance, bench, i))
                n_done += 1
            except IncparseError:
                assert seen(bench) == old  # what is refused changes nothing
                continue
            tree = bench.tree(i)
            assert letters(bench, i) == before[i]
            assert Tree.from_string(str(tree)) == tree
            assert all(node.is_leaf or len(node) for node in tree.preorder())
        last = seen(bench)
        bench.journal.close()
        again = opened(folder, kind)
        assert seen(again) == last
        again.save()
        again.journal.close()
        once_more = opened(folder, kind)  # the file has the changes by now
        assert seen(once_more) == last
        once_more.journal.close()
    assert n_done > N_SEQUENCES


@pytest.mark.parametrize("kind", ["brackets", "text"])
def test_everything_can_be_undone_and_done_again(tmp_path, kind):
    chance, bench = random.Random(1), opened(tmp_path, kind)
    trees = [bench.tree(1)]
    while len(trees) < 50:
        action = random_action(chance, bench, 1)
        if action["do"] in ("undo", "redo"):
            continue
        try:
            bench.act(1, bench.version(1), action)
            trees.append(bench.tree(1))
        except IncparseError:
            continue
    for tree in reversed(trees[:-1]):
        bench.act(1, bench.version(1), {"do": "undo"})
        assert bench.tree(1) == tree
    with pytest.raises(IncparseError, match="nothing to undo"):
        bench.act(1, bench.version(1), {"do": "undo"})
    for tree in trees[1:]:
        bench.act(1, bench.version(1), {"do": "redo"})
        assert bench.tree(1) == tree
    bench.journal.close()


def test_what_a_person_has_confirmed_never_changes(tmp_path):
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        chance, bench = random.Random(seed), opened(folder, "text")
        for _ in range(20):
            old = bench.snapshot(0)
            action = random_action(chance, bench, 0)
            if action["do"] in ("undo", "redo", "split", "join", "choose", "dissolve", "move"):
                continue
            try:
                bench.act(0, bench.version(0), action)
            except IncparseError:
                continue
            new = bench.snapshot(0)
            phrases = {phrase for _, phrase in numbered_phrases(bench.tree(0))}
            assert set(new.required) <= phrases
            assert {one for one in old.required if action["do"] in ("wrap", "confirm")} <= phrases
            assert not {one for one in new.forbidden if one[0]} & phrases
            tags = words_and_tags(bench.tree(0))[1]
            assert all(tags[k] == tag for k, tag in new.tags.items())
        bench.journal.close()


def test_edits():
    assert after(TREE, "relabel", node=2, label="NP-SBJ").startswith("(TOP (S (NP-SBJ (DT The)")
    assert after(TREE, "relabel", node=4, label="NNP").startswith("(TOP (S (NP (DT The) (NNP cat))")
    assert "(PP (X (IN on) (NP (DT the) (NN mat))))" in after(TREE, "wrap", first=8, last=11, label="X")
    forced_over = after(TREE, "wrap", first=4, last=8, label="X", force=True)
    assert forced_over == "(TOP (S (DT The) (X (NN cat) (VBD sat) (IN on)) (NP (DT the) (NN mat)) (. .)))"
    assert "(VP (VBD sat) (IN on) (NP" in after(TREE, "dissolve", node=7)
    high = "(VP (VBD sat)) (PP (IN on) (NP (DT the) (NN mat))) (. .)"
    assert high in after(TREE, "move", node=7, to=1)
    assert "(NP (DT The)) (NN cat) (VP" in after(TREE, "move", node=4, to=1)
    assert "(NN c) (NN at)" in after(TREE, "split", node=4, at=1)
    assert "(NP (DT Thecat)) (VP" in after(TREE, "join", node=3)
    assert "(NN catsat)) (VP (PP" in after(TREE, "join", node=4)
    traced = edited(TREE, {"do": "trace", "node": 5, "at": 2, "label": "NP", "type": "*T*"})
    assert "(VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat))) (NP (-NONE- *T*)))" in str(traced)
    linked = edited(traced, {"do": "coindex", "node": 13, "to": 2})
    assert "(NP-1 (DT The)" in str(linked)
    assert "(-NONE- *T*-1)" in str(linked)
    assert "(-NONE- *T*)" in after(linked, "coindex", node=13, to=None)
    assert after(traced, "delete", node=12) == str(TREE)


def test_a_move_leaves_no_phrase_alone_in_one_of_its_label():
    tree = Tree.from_string("(TOP (VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N hats))))))")
    assert after(tree, "move", node=6, to=1) == "(TOP (VP (V saw) (NP (N men)) (PP (P with) (NP (N hats)))))"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ({"do": "move", "node": 3, "to": 7}, "order"),
        ({"do": "move", "node": 5, "to": 9}, "into itself"),
        ({"do": "move", "node": 6, "to": 5}, "already"),
        ({"do": "wrap", "first": 4, "last": 6, "label": "X"}, "'The cat'"),
        ({"do": "wrap", "first": 6, "last": 8, "label": "X"}, "'on the mat'"),
        ({"do": "dissolve", "node": 0}, "root"),
        ({"do": "dissolve", "node": 3}, "word"),
        ({"do": "relabel", "node": 3, "label": "-NONE-"}, "-NONE-"),
        ({"do": "wrap", "first": 3, "last": 4, "label": "-NONE-"}, "-NONE-"),
        ({"do": "relabel", "node": 3, "label": "a b"}, "'a b'"),
        ({"do": "relabel", "node": 0, "label": "S"}, "root"),
        ({"do": "relabel", "node": 99, "label": "S"}, "0 to 12"),
        ({"do": "split", "node": 4, "at": 3}, "3 characters"),
        ({"do": "join", "node": 12}, "follows"),
        ({"do": "delete", "node": 2}, "The cat"),
        ({"do": "coindex", "node": 3, "to": 5}, "no trace"),
        ({"do": "relabel", "node": 2, "label": "NP"}, "nothing"),
        ({"do": "fly"}, "fly"),
        ({}, "do"),
    ],
)
def test_impossible_edits_say_why(action, why):
    with pytest.raises(IncparseError, match=why):
        edited(TREE, action)


def test_a_change_says_what_is_right_and_what_is_wrong():
    moved = edited(TREE, {"do": "move", "node": 7, "to": 1})
    assert learned(TREE, moved, [("PP", 3, 6), ("VP", 2, 6)], []) == ([("PP", 3, 6), ("VP", 2, 3)], [(None, 2, 6)])
    back = edited(moved, {"do": "move", "node": 7, "to": 5})
    assert learned(moved, back, [("VP", 2, 3)], [(None, 2, 6)])[0] == [("VP", 2, 6)]
    assert (None, 2, 6) not in learned(moved, back, [("VP", 2, 3)], [(None, 2, 6)])[1]


def test_a_parsers_tree_gets_what_it_lacks():
    wanted = forced(TREE, [("X", 1, 4), ("NP", 0, 1)], [(None, 4, 6)], {0: "D"})
    assert str(wanted) == "(TOP (S (NP (D The)) (X (NN cat) (VBD sat) (IN on)) (DT the) (NN mat) (. .)))"
