from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.trees.builder import make_tree
from spacy_incparse.viz.sketch import lay_out, sketch, wrap
from tests.strategies import deep_tree, normalised_trees
from tests.viz.test_sketch import check_shape

GAP = 2


def width(node):
    return max(len(node.label) + 2 * (node.part != 0), *map(len, node.lines), 0)


def parts_of(tree, limit):
    return wrap(sketch(tree), tree, width, GAP, limit)


def check_parts(tree, parts):
    """All nodes are drawn once; a phrase that is drawn apart has one reference, with the number of its part."""
    drawn = sorted(node.index for part in parts for node in part if not node.part)
    heads = [part[0] for part in parts[1:]]
    references = [node for part in parts for node in part[1:] if node.part]
    assert [head.part for head in heads] == list(range(1, len(parts)))
    assert sorted(node.part for node in references) == [head.part for head in heads]
    by_part = {node.part: node for node in references}
    assert all(by_part[head.part].index == head.index for head in heads)
    first = {head.index for head in heads if by_part[head.part].label != "…"}
    assert drawn == sorted({node.index for node in tree.preorder()} - first)
    for part in parts:
        check_shape(part)


@given(normalised_trees(max_words=30), st.integers(10, 60))
@settings(max_examples=80, deadline=None)
def test_every_node_is_in_one_part(tree, limit):
    parts = parts_of(tree, limit)
    check_parts(tree, parts)


@given(normalised_trees(max_words=30), st.integers(40, 80))
@settings(max_examples=60, deadline=None)
def test_parts_are_about_as_wide_as_allowed(tree, limit):
    for part in parts_of(tree, limit):
        layout = lay_out([node.size for node in part], [width(node) for node in part], GAP)
        # References are at most 22 wide, and the sign that a flat phrase goes on is added after a full line.
        assert layout.width <= limit + 24


def test_a_tree_that_fits_is_one_part():
    tree = make_tree("S", [make_tree("NN", "cat"), make_tree("VB", "sleeps")])
    (part,) = parts_of(tree, 100)
    assert [node.part for node in part] == [0, 0, 0]


def test_a_flat_phrase_goes_on_in_other_parts():
    tree = make_tree("S", [make_tree("NN", f"word{i}") for i in range(50)])
    parts = parts_of(tree, 60)
    check_parts(tree, parts)
    assert len(parts) > 5
    assert [part[0].label for part in parts] == ["S"] * len(parts)
    assert [part[-1].label for part in parts[:-1]] == ["…"] * (len(parts) - 1)


def test_deep_and_long_trees():
    deep = deep_tree(5_000)
    check_parts(deep, parts_of(deep, 200))
    flat = make_tree("S", [make_tree("NN", "word") for _ in range(5_000)])
    check_parts(flat, parts_of(flat, 200))
