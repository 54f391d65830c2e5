import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees, raw_trees

TREE = Tree.from_string(
    "(TOP (S (NP-SBJ (NP (DT the) (NN owl)) (PP (IN on) (NP (DT the) (NN roof)))) (VP (VBD saw) (NP (PRP us))) (. .)))"
)
SUBJECT, VERB_PHRASE = TREE[0][0], TREE[0][1]


def ways(node):
    """Return the nodes from one up to the root, by following `parent`."""
    nodes = [node]
    while nodes[-1].parent is not None:
        nodes.append(nodes[-1].parent)
    return nodes


def test_a_node_has_text_and_characters():
    assert SUBJECT.text == "the owl on the roof"
    assert (VERB_PHRASE.start_char, VERB_PHRASE.end_char, VERB_PHRASE.text) == (20, 26, "saw us")
    assert TREE.text[VERB_PHRASE.start_char : VERB_PHRASE.end_char] == "saw us"
    assert VERB_PHRASE.tokens == ("saw", "us")


def test_a_leaf_is_a_pos_node():
    leaf = VERB_PHRASE[0]
    assert (leaf.is_leaf, leaf.is_preterminal, leaf.tag, leaf.height) == (True, True, "VBD", 0)
    assert (VERB_PHRASE.is_leaf, VERB_PHRASE.tag) == (False, None)
    assert [node.tag for node in SUBJECT.pos_nodes()] == ["DT", "NN", "IN", "DT", "NN"]


def test_siblings_are_the_other_children():
    assert [node.label for node in VERB_PHRASE.siblings] == ["NP-SBJ", "."]
    assert TREE.siblings == ()
    assert VERB_PHRASE[1][0].siblings == ()


def test_phrases_by_label_nested_or_not():
    assert [node.text for node in TREE.phrases("NP")] == ["the owl on the roof", "the owl", "the roof", "us"]
    assert [node.text for node in TREE.phrases("NP", nested="outermost")] == ["the owl on the roof", "us"]
    assert [node.text for node in TREE.phrases("NP", nested="innermost")] == ["the owl", "the roof", "us"]
    assert [node.label for node in TREE.phrases("NP-SBJ")] == ["NP-SBJ"]
    assert [node.label for node in TREE.phrases({"PP", "VP"})] == ["PP", "VP"]
    assert len(TREE.phrases()) == len(TREE.spans())
    assert TREE.phrases("SBARQ") == ()
    with pytest.raises(IncparseError, match="'none'; expected one of all, outermost, innermost"):
        TREE.phrases("NP", nested="none")


def test_subtrees_by_label_and_condition():
    assert [node.text for node in TREE.subtrees(label="NN")] == ["owl", "roof"]
    assert [node.text for node in TREE.subtrees("NP", where=lambda node: len(node) == 2)] == [
        "the owl on the roof",
        "the owl",
        "the roof",
    ]
    assert list(TREE.subtrees()) == list(TREE.preorder())


def test_the_lowest_common_node_and_the_path():
    assert TREE.lca(0, 4) == SUBJECT
    assert TREE.lca(1, 1).tag == "NN"
    assert TREE.lca(SUBJECT, SUBJECT[1]) == SUBJECT
    assert [node.label for node in TREE.path(1, 5)] == ["NN", "NP", "NP-SBJ", "S", "VP", "VBD"]
    assert [node.label for node in TREE.path(TREE, 6)] == ["TOP", "S", "VP", "NP", "PRP"]
    assert TREE.path(TREE, TREE) == (TREE,)


@pytest.mark.parametrize("node", [-1, 8, make_tree("NN", "owl")])
def test_what_is_not_in_the_tree_has_no_path(node):
    with pytest.raises(IncparseError, match=r"does not exist|a node of another tree"):
        TREE.lca(0, node)


def test_productions():
    assert [str(rule) for rule in VERB_PHRASE.productions()] == [
        "VP -> VBD NP",
        "VBD -> 'saw'",
        "NP -> PRP",
        "PRP -> 'us'",
    ]
    assert VERB_PHRASE.productions()[0] == ("VP", ("VBD", "NP"), False)


@given(raw_trees())
def test_derived_attributes_agree_with_a_walk(tree):
    for node in tree.preorder():
        above = ways(node)
        assert node.depth == len(above) - 1
        assert node.root.index == above[-1].index
        assert node.height == (1 + max(child.height for child in node) if len(node) else 0)
        assert tree.text[node.start_char : node.end_char] == node.text == " ".join(node.words)
        assert [leaf.words[0] for leaf in node.pos_nodes()] == list(node.words)
        assert node.parent is None or node in node.parent.children
        assert len(node) == len(node.children)


@given(raw_trees())
def test_postorder_is_children_first(tree):
    nodes = list(tree.postorder())
    seen = set()
    for node in nodes:
        assert all(child.index in seen for child in node)
        seen.add(node.index)
    assert sorted(seen) == list(range(tree.size))
    # left to right: read backwards and mirrored it is a pre-order
    assert [node.index for node in nodes if node.is_leaf] == [leaf.index for leaf in tree.pos_nodes()]


@given(raw_trees(), st.data())
def test_lca_and_path_agree_with_a_walk(tree, data):
    nodes = list(tree.preorder())
    a, b = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from(nodes))
    above_a, above_b = [node.index for node in ways(a)], [node.index for node in ways(b)]
    common = max(set(above_a) & set(above_b))
    assert tree.lca(a, b).index == common
    expected = above_a[: above_a.index(common) + 1] + above_b[: above_b.index(common)][::-1]
    assert [node.index for node in tree.path(a, b)] == expected


@pytest.mark.filterwarnings("ignore:phrases:UserWarning")
@given(raw_trees(), st.sampled_from([None, "NP", "S", ("NP", "VP"), "NN"]))
def test_nested_phrases_agree_with_a_walk(tree, label):
    found = tree.phrases(label)
    indices = {node.index for node in found}
    assert [node.index for node in found] == [node.index for node in tree.subtrees(label) if not node.is_leaf]
    outermost = [node for node in found if not indices & {above.index for above in ways(node)[1:]}]
    innermost = [node for node in found if not indices & {below.index for below in list(node.preorder())[1:]}]
    assert list(tree.phrases(label, nested="outermost")) == outermost
    assert list(tree.phrases(label, nested="innermost")) == innermost


@given(normalised_trees())
def test_walks_from_a_node_stay_below_it(tree):
    node = tree[-1]
    assert {below.index for below in node.postorder()} == {below.index for below in node.preorder()}
    assert all(below.start >= node.start for below in node.phrases())
    assert len(node.productions()) == node.size


def test_a_subclass_stays_what_it_is():
    class Marked(Tree):
        __slots__ = ()

        def _at(self, index):
            return Marked(self.arrays, index)

    tree = Marked(TREE.arrays)
    nodes = [
        *tree.preorder(), *tree.postorder(), *tree, *tree[0], tree[0].parent, *tree[0][0].siblings, tree[0].root,
        *tree.pos_nodes(), *tree.preterminals(), *tree.subtrees("NP"), *tree.phrases(), tree.lca(0, 3),
        *tree.path(0, 3),
    ]  # fmt: skip
    assert {type(node) for node in nodes} == {Marked}
    assert tree == TREE
    assert hash(tree) == hash(TREE)


def test_deep_trees_are_walked_without_recursion():
    tree = deep_tree(5_000)
    lowest = tree.pos_nodes()[-1]
    assert (tree.height, lowest.depth) == (5_001, 5_001)
    assert len(list(tree.postorder())) == tree.size
    assert len(tree.path(0, lowest)) == 5_002
    assert len(tree.phrases("VP", nested="outermost")) == len(tree.phrases("VP", nested="innermost")) == 1
    assert len(tree.productions()) == tree.size
