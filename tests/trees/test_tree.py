import copy
import pickle
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import make_tree, project
from spacy_incparse.trees.codec import decode, encode
from spacy_incparse.trees.heads import HeadRules, head_children, head_words
from spacy_incparse.trees.tree import ADVICE, Tree
from tests.strategies import deep_tree, normalised_trees, raw_trees

RAIN = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VP (VBZ stops) (ADVP (RB soon))) (. .)))")


def test_trees_are_immutable():
    for name in ("label", "start", "index", "children"):
        with pytest.raises(AttributeError):
            setattr(RAIN, name, 1)


def test_equality_is_structural_wherever_the_node_stands():
    copy = make_tree("NP", [make_tree("DT", "The"), make_tree("NN", "rain")])
    assert RAIN[0][0] == copy
    assert hash(RAIN[0][0]) == hash(copy)
    assert RAIN[0][0] != make_tree("NP", [make_tree("DT", "The"), make_tree("NN", "sun")])
    assert RAIN[0][0] != make_tree("NX", [make_tree("DT", "The"), make_tree("NN", "rain")])
    assert copy != "(NP (DT The) (NN rain))"
    assert Tree.from_string("(A (B (C x) (D y)))") != Tree.from_string("(A (B (C x)) (D y))")


@given(raw_trees())
def test_every_node_of_a_tree_agrees_with_its_children(tree):
    for node in tree.preorder():
        if not node.is_preterminal:
            assert (node.start, node.end) == (node[0].start, node[-1].end)
            assert node.words == tuple(word for child in node for word in child.words)
            assert node.tags == tuple(tag for child in node for tag in child.tags)
            assert all(child.parent == node and child.parent.index == node.index for child in node)


@given(normalised_trees())
def test_trees_and_their_nodes_survive_pickling(tree):
    node = tree[-1]
    restored = pickle.loads(pickle.dumps(node))
    assert restored == node
    assert restored.index == node.index
    assert restored.root == tree


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


def test_a_leaf_is_a_pos_node():
    leaf = VERB_PHRASE[0]
    assert leaf  # though it has no children
    assert (leaf.is_leaf, leaf.is_preterminal, leaf.tag, leaf.height) == (True, True, "VBD", 0)
    assert (VERB_PHRASE.is_leaf, VERB_PHRASE.tag, VERB_PHRASE.tokens) == (False, None, ("saw", "us"))
    assert [node.tag for node in SUBJECT.pos_nodes()] == ["DT", "NN", "IN", "DT", "NN"]


def test_siblings_are_the_other_children():
    assert [node.label for node in VERB_PHRASE.siblings] == ["NP-SBJ", "."]
    assert TREE.siblings == ()
    assert VERB_PHRASE[1][0].siblings == ()
    assert OWL[0].siblings == (OWL[1],)  # below the root


def test_phrases_by_label_nested_or_not():
    assert [node.text for node in TREE.phrases("NP")] == ["the owl on the roof", "the owl", "the roof", "us"]
    assert [node.label for node in TREE.phrases("NP-SBJ")] == ["NP-SBJ"]
    assert [node.label for node in TREE.phrases({"PP", "VP"})] == ["PP", "VP"]
    assert len(TREE.phrases()) == len(TREE.spans())
    with pytest.raises(IncparseError, match="'none': it must be one of all, outermost, innermost"):
        TREE.phrases("NP", nested="none")


def test_subtrees_by_label_and_condition():
    assert [node.text for node in TREE.subtrees(label="NN")] == ["owl", "roof"]
    two = TREE.subtrees("NP", where=lambda node: len(node) == 2)
    assert [node.text for node in two] == ["the owl on the roof", "the owl", "the roof"]
    assert list(TREE.subtrees()) == list(TREE.preorder())


@pytest.mark.parametrize("node", [-1, 8, make_tree("NN", "owl")])
def test_what_is_not_in_the_tree_has_no_path(node):
    with pytest.raises(IncparseError, match=r"does not exist|a node of another tree"):
        TREE.lca(0, node)


def slow_template(node, depth):
    return f"({node.label}{''.join(f' {slow_template(child, depth - 1)}' for child in node if depth)})"


@given(normalised_trees(), st.integers(0, 4))
def test_a_template_is_the_tree_above_a_depth(tree, depth):
    for node in tree.preorder():
        assert node.template(depth) == slow_template(node, depth)


@pytest.mark.parametrize("depth", [-1, 1.0, None])
def test_a_template_has_a_number_of_levels(depth):
    assert RAIN[0].template(2) == "(S (NP (DT) (NN)) (VP (VBZ) (ADVP)) (.))"
    with pytest.raises(IncparseError, match="depth is"):
        RAIN.template(depth)


def test_productions():
    assert [*map(str, VERB_PHRASE.productions())] == ["VP -> VBD NP", "VBD -> 'saw'", "NP -> PRP", "PRP -> 'us'"]
    assert VERB_PHRASE.productions()[0] == ("VP", ("VBD", "NP"), False)


@given(raw_trees())
def test_derived_attributes_agree_with_a_walk(tree):
    behind = [node.index + node.size for node in tree.preorder()]
    assert [node.index for node in tree.postorder()] == sorted(range(tree.size), key=lambda i: (behind[i], -i))
    for node in tree.preorder():
        above = ways(node)
        assert node.depth == len(above) - 1
        assert node.root.index == above[-1].index
        assert node.height == (1 + max(child.height for child in node) if len(node) else 0)
        assert tree.text[node.start_char : node.end_char] == node.text == " ".join(node.words)
        assert [leaf.words[0] for leaf in node.pos_nodes()] == list(node.words)
        assert node.parent is None or node in node.parent.children
        assert len(node) == len(node.children)


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


RAW = Tree.from_string("(S (NP-SBJ-1 (NNP Ada)) (VP (VBD slept) (S (NP-SBJ (-NONE- *-1)))))")
CHAIN = Tree.from_string("(TOP (S (VP (VB Go) (ADVP (RB home)))))")


def test_functions_and_empty_elements_go():
    assert str(RAW.strip_functions()) == "(S (NP (NNP Ada)) (VP (VBD slept) (S (NP (-NONE- *-1)))))"
    assert str(RAW.remove_empties()) == "(S (NP (NNP Ada)) (VP (VBD slept)))"
    assert RAW[1][1].remove_empties() is None


def test_labels_are_mapped_by_a_table_or_a_function():
    assert str(RAW[0].map_labels({"NP-SBJ-1": "Subject", "NNP": "Name"})) == "(Subject (Name Ada))"
    assert str(CHAIN.map_labels(str.lower, tags=False)) == "(top (s (vp (VB Go) (advp (RB home)))))"


def test_unary_chains_become_one_node():
    assert str(CHAIN.collapse_unaries()) == "(TOP (S+VP (VB Go) (ADVP (RB home))))"
    collapsed = CHAIN.collapse_unaries("_", root=True, tags=True)
    assert str(collapsed) == "(TOP_S_VP (VB Go) (ADVP_RB home))"
    assert collapsed.expand_unaries("_") == CHAIN
    with pytest.raises(IncparseError, match="'A\\+B' has '\\+' in it: choose another joint"):
        make_tree("S", [make_tree("A+B", "x")]).collapse_unaries()
    with pytest.raises(IncparseError, match="empty"):
        CHAIN.collapse_unaries("")


@given(raw_trees(), st.booleans(), st.booleans())
def test_expanding_undoes_collapsing(tree, root, tags):
    collapsed = tree.collapse_unaries(root=root, tags=tags)
    assert collapsed.expand_unaries() == tree
    chains = [node for node in list(collapsed.preorder())[not root :] if len(node) == 1 and (tags or len(node[0]))]
    assert not chains


@given(raw_trees())
def test_edits_of_a_node_are_those_of_a_tree_of_its_own(tree):
    node = tree[-1]
    alone = Tree.from_string(str(node)) if node.is_leaf else make_tree(node.label, node.children)
    assert node.strip_functions() == alone.strip_functions()
    assert node.remove_empties() == alone.remove_empties()
    assert node.collapse_unaries() == alone.collapse_unaries()
    assert node.map_labels(str.lower) == alone.map_labels(str.lower)
    assert node.binarize() == alone.binarize()
    assert node.strip_functions().index == 0


OWL = Tree.from_string("(S (NP (DT the) (NN owl)) (VP (VBD slept)))")


def test_leaves_still_are_pos_nodes_but_say_so():
    with pytest.warns(DeprecationWarning, match=r"not its words.*Use tree\.words.*tree\.pos_nodes\(\)") as caught:
        leaves = OWL.leaves()
    assert leaves == OWL.pos_nodes() == tuple(OWL.preterminals())
    assert [node.tag for node in leaves] == ["DT", "NN", "VBD"]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("name", "advice"), ADVICE.items())
def test_methods_from_elsewhere_are_named_with_their_like(name, advice):
    assert not hasattr(Tree, name)
    with pytest.raises(AttributeError, match=f"'Tree' object has no attribute '{name}': use {re.escape(advice)}$"):
        getattr(OWL, name)()
    for like in re.findall(r"^tree\.(\w+)", advice):
        assert hasattr(OWL, like)


def test_other_attributes_are_just_missing():
    with pytest.raises(AttributeError, match=r"'Tree' object has no attribute 'colour'$"):
        OWL.colour  # noqa: B018
    assert not hasattr(OWL, "__array__")
    assert copy.deepcopy(OWL) == pickle.loads(pickle.dumps(OWL)) == OWL


def test_a_property_that_fails_keeps_its_own_error():
    class Broken(Tree):
        @property
        def head(self):
            raise AttributeError("no rules")

    with pytest.raises(AttributeError, match=r"^no rules$"):
        Broken(OWL.arrays).head  # noqa: B018


def test_children_that_are_not_there():
    with pytest.raises(IndexError, match=r"\(DT the\) is a POS node, which has no children: its word is tree\.text"):
        OWL[0][0][0]
    with pytest.raises(IndexError, match="S has 2 children, and no child 2"):
        OWL[2]
    with pytest.raises(TypeError, match=r"for nltk's tree\[0, 1\] write tree\[0\]\[1\]"):
        OWL[0, 1]
    with pytest.raises(TypeError):
        OWL["NP"]
    assert (len(OWL[0][0]), OWL[-1].label, OWL[:1]) == (0, "VP", (OWL[0],))


BOLD = Tree.from_string("(S (NP (DT the) (NN owl)) (VP (VBD saw) (NP (NN <b>&amp;</b>))))")


def test_a_tree_is_a_picture_in_a_notebook():
    for markup in (BOLD.to_svg(), BOLD._repr_svg_(), BOLD._repr_html_()):
        root = ElementTree.fromstring(markup)
        texts = {text.strip() for element in root.iter() for text in (element.text or "", element.tail or "")}
        assert {"the", "owl", "saw", "<b>&amp;</b>"} <= texts
    assert BOLD.to_svg().startswith("<svg")
    assert BOLD.draw(ascii=True).isascii()
    assert not BOLD.draw().isascii()


def test_deep_trees_need_no_recursion():
    tree = deep_tree(5_000)
    lowest = tree.pos_nodes()[-1]
    assert (tree.height, lowest.depth, len(tree.path(0, lowest))) == (5_001, 5_001, 5_002)
    assert len(list(tree.postorder())) == len(tree.productions()) == tree.size
    assert len(tree.phrases("VP", nested="outermost")) == len(tree.phrases("VP", nested="innermost")) == 1
    assert hash(tree) == hash(pickle.loads(pickle.dumps(tree)))
    assert tree.collapse_unaries().expand_unaries() == tree.map_labels({}) == tree
    ends = range(1, len(tree.words) + 1)
    copies = [
        Tree.from_string(str(tree)), Tree.from_dict(tree.to_dict()),
        decode(encode(tree, range(len(tree.words)), ends)).tree("".join(word[0] for word in tree.words)),
    ]  # fmt: skip
    assert copies[:2] == [tree] * 2
    assert copies[2].spans() == tree.spans()
    assert tree.to_latex().count("[") == tree.to_latex().count("]") == tree.size + len(tree.words)
    assert project(tree, [part for word in tree.words for part in (word[:1], word[1:])]).n_lost == 0
    assert len(head_words(tree.arrays, head_children(tree.arrays, HeadRules.from_name("en")))) == tree.size
