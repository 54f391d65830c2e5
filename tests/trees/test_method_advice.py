"""What people write who come from nltk or stanza is answered with what to write here."""

import copy
import pickle

import pytest

from spacy_incparse.trees.tree import ADVICE, Tree

TREE = Tree.from_string("(S (NP (DT the) (NN owl)) (VP (VBD slept)))")


def test_leaves_still_are_pos_nodes_but_say_so():
    with pytest.warns(DeprecationWarning, match=r"not its words.*Use tree\.words.*tree\.pos_nodes\(\)") as caught:
        leaves = TREE.leaves()
    assert leaves == TREE.pos_nodes() == tuple(TREE.preterminals())
    assert [node.tag for node in leaves] == ["DT", "NN", "VBD"]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["pos", "set_label", "leaf_labels", "chomsky_normal_form", "pretty_print"])
def test_methods_from_elsewhere_are_named_with_their_like(name):
    with pytest.raises(AttributeError, match=f"'Tree' object has no attribute '{name}': use ") as refused:
        getattr(TREE, name)()
    assert ADVICE[name] in str(refused.value)


def test_no_advice_is_about_what_trees_have():
    assert not [name for name in ADVICE if hasattr(Tree, name)]


def test_what_the_advice_names_is_there():
    assert next(zip(TREE.words, TREE.tags, strict=True)) == ("the", "DT")
    for text in ADVICE.values():
        if text.startswith("tree."):
            name = text.removeprefix("tree.").partition("(")[0].partition(",")[0].partition("[")[0]
            assert hasattr(TREE, name), text


def test_other_attributes_are_just_missing():
    with pytest.raises(AttributeError, match=r"'Tree' object has no attribute 'colour'$"):
        TREE.colour  # noqa: B018
    assert not hasattr(TREE, "__array__")
    assert copy.deepcopy(TREE) == pickle.loads(pickle.dumps(TREE)) == TREE


def test_a_property_that_fails_keeps_its_own_error():
    class Broken(Tree):
        @property
        def head(self):
            raise AttributeError("no rules")

    with pytest.raises(AttributeError, match=r"^no rules$"):
        Broken(TREE.arrays).head  # noqa: B018


def test_a_pos_node_has_no_children():
    with pytest.raises(IndexError, match=r"\(DT the\) is a POS node, which has no children: its word is tree\.text"):
        TREE[0][0][0]
    with pytest.raises(IndexError, match="S has 2 children, and no child 2"):
        TREE[2]
    assert (len(TREE[0][0]), TREE[-1].label, TREE[:1]) == (0, "VP", (TREE[0],))


def test_positions_of_nltk_are_refused():
    with pytest.raises(TypeError, match=r"for nltk's tree\[0, 1\] write tree\[0\]\[1\]"):
        TREE[0, 1]
    with pytest.raises(TypeError):
        TREE["NP"]
