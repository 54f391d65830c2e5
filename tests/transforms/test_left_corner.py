import pytest
from hypothesis import given

from spacy_incparse.errors import IncparseError
from spacy_incparse.transforms.left_corner import restore, slash_base, transform
from spacy_incparse.treebanks.reader import normalize
from spacy_incparse.trees.builder import TreeBuilder, make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees

# Few labels make long left-recursive runs likely.
LABELS = ("NP", "VP")
SLASHED = ("NP", "VP", "NP/NP", "VP/VP", "S/S")


def left_branching(depth):
    builder = TreeBuilder()
    for label in ("TOP", *["NP"] * depth):
        builder.open(label)
    builder.leaf("NN", "moss")
    for _ in range(depth):
        builder.leaf("NN", "garden")
        builder.close()
    builder.close()
    return builder.finish()


@pytest.mark.parametrize(
    ("plain", "transformed"),
    [
        (  # the tree of figure 3
            "(TOP (NP (NP (NP (DT the) (NN bridge)) (PP (IN over) (NN water))) (SBAR (WDT that) (VBD fell))))",
            "(TOP (NP (DT the) (NN bridge) (NP/NP (PP (IN over) (NN water))) (NP/NP (SBAR (WDT that) (VBD fell)))))",
        ),
        (  # only the first child repeats: the second is left alone
            "(TOP (NP (NP (NN tea)) (CC and) (NP (NN bread))))",
            "(TOP (NP (NN tea) (NP/NP (CC and) (NP (NN bread)))))",
        ),
        (  # the steps of a run may hold runs of their own
            "(TOP (S (S (VB go)) (S (S (VB stay)) (RB here))))",
            "(TOP (S (VB go) (S/S (S (VB stay) (S/S (RB here))))))",
        ),
        (  # no left recursion over another label in between
            "(TOP (NP (QP (NP (CD six)) (RB about)) (NNS boats)))",
            "(TOP (NP (QP (NP (CD six)) (RB about)) (NNS boats)))",
        ),
        ("(TOP (NP (NP mine) (NN boat)))", "(TOP (NP (NP mine) (NN boat)))"),  # a tag is no phrase
    ],
)
def test_transform_and_back(plain, transformed):
    assert str(transform(Tree.from_string(plain))) == transformed
    assert str(restore(Tree.from_string(transformed))) == plain


@given(normalised_trees(max_words=16, phrases=LABELS))
def test_round_trip(plain):
    transformed = transform(plain)
    assert restore(transformed) == plain
    assert (transformed.words, transformed.tags) == (plain.words, plain.tags)


@given(normalised_trees(max_words=16, phrases=LABELS))
def test_no_left_recursion_is_left(plain):
    for node in transform(plain).preorder():
        first = next(iter(node), node)
        assert first.is_preterminal or first.label != node.label


@given(normalised_trees(max_words=16, phrases=SLASHED))
def test_restore_makes_any_slash_tree_normalised(slashed):
    restored = restore(slashed)
    assert (restored.words, restored.tags) == (slashed.words, slashed.tags)
    assert not any(slash_base(node.label) for node in restored.preorder())
    assert normalize(restored) == restored
    assert restore(transform(restored)) == restored


@pytest.mark.parametrize(
    ("built", "restored"),
    [
        ("(TOP (VP (VB eat) (NP/NP (NN fish))))", "(TOP (VP (VB eat) (NN fish)))"),  # not its parent's step
        ("(TOP (NP (NP/NP (DT a) (NN hat))))", "(TOP (NP (DT a) (NN hat)))"),  # nothing before it
        (  # a step below a step belongs to no phrase
            "(TOP (NP (NN ink) (NP/NP (CC or) (NP/NP (NN lead)))))",
            "(TOP (NP (NP (NN ink)) (CC or) (NN lead)))",
        ),
        (  # an ordinary child after a step joins the step
            "(TOP (NP (NN ink) (NP/NP (CC or)) (NN lead)))",
            "(TOP (NP (NP (NN ink)) (CC or) (NN lead)))",
        ),
        ("(TOP (NP (NP (NP (NN ink)))))", "(TOP (NP (NN ink)))"),  # X over nothing but X
    ],
)
def test_restore_mends_what_no_transform_gives(built, restored):
    assert str(restore(Tree.from_string(built))) == restored


def test_slash_labels_in_the_source_and_as_a_root_are_refused():
    with pytest.raises(ValueError, match="slash node 'NP/NP'"):
        restore(make_tree("NP/NP", [make_tree("NN", "ink")]))
    with pytest.raises(IncparseError, match=r"phrase label 'NP/NP' has the form A/A.*'red ink'"):
        transform(Tree.from_string("(TOP (NP/NP (JJ red) (NN ink)))"))
    with pytest.raises(IncparseError, match=r"'NP/NP'.*'ink'"):
        transform(Tree.from_string("(TOP (NP/NP (NN ink)))"))


def test_other_labels_with_a_slash_are_no_slash_labels():
    for label in ("/", "//", "NP/VP", "NP/", "/NP", "NP//NP", "NPNP", "NP"):
        assert slash_base(label) is None, label
    plain = Tree.from_string("(TOP (A/B (A/B (X/X red)) (NN ink)))")
    assert restore(transform(plain)) == plain


@pytest.mark.parametrize("plain", [deep_tree(5000), left_branching(5000)], ids=["right", "left"])
def test_depth_5000(plain):
    assert restore(transform(plain)) == plain
