from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.trees.arrays import children_by_size
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.viz.sketch import lay_out, sketch, wrap
from tests.strategies import normalised_trees, raw_trees


def check_shape(nodes):
    """The sizes are those of a tree: children fill their parents."""
    sizes = [node.size for node in nodes]
    assert sizes[0] == len(nodes)
    for i, size in enumerate(sizes):
        assert 1 + sum(sizes[child] for child in children_by_size(sizes, i)) == size


@given(raw_trees(), st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_left_is_a_tree_with_all_words(tree, data):
    folded = data.draw(st.sets(st.sampled_from([node.index for node in tree.preorder()])))
    node = tree if not tree.children else data.draw(st.sampled_from([tree, *tree.children]))
    nodes = sketch(node, folded)
    check_shape(nodes)
    leaves = [leaf for leaf in nodes if leaf.size == 1]
    n_words = sum(node.arrays.ends[leaf.index] - node.arrays.starts[leaf.index] for leaf in leaves)
    assert n_words == len(node.words)


@given(raw_trees(), st.data(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_nothing_overlaps_and_parents_stand_over_their_children(tree, data, gap):
    sizes = tree.arrays.sizes
    widths = data.draw(st.lists(st.integers(1, 12), min_size=len(sizes), max_size=len(sizes)))
    layout = lay_out(sizes, widths, gap)
    boxes: dict[int, list[tuple[int, int]]] = {}
    for i, size in enumerate(sizes):
        start = layout.centres[i] - widths[i] // 2
        assert start >= 0
        assert start + widths[i] <= layout.width
        boxes.setdefault(layout.depths[i], []).append((start, start + widths[i]))
        for child in children_by_size(sizes, i):
            assert (layout.parents[child], layout.depths[child]) == (i, layout.depths[i] + 1)
        # A node and its descendants do not overlap with their neighbors, on every level.
        below = range(i, i + size)
        columns = [(layout.centres[k] - widths[k] // 2, layout.centres[k] - widths[k] // 2 + widths[k]) for k in below]
        beside = [k for k in range(i + size, len(sizes)) if layout.depths[k] >= layout.depths[i]]
        rightmost = max(end for _, end in columns)
        assert all(layout.centres[k] - widths[k] // 2 >= rightmost + gap for k in beside if layout.parents[k] >= 0)
    for level in boxes.values():
        assert all(a[1] + gap <= b[0] for a, b in pairwise(level))


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


@given(normalised_trees(max_words=30), st.integers(10, 80))
@settings(max_examples=80, deadline=None)
def test_every_node_is_in_one_part_and_parts_are_about_as_wide_as_allowed(tree, limit):
    parts = parts_of(tree, limit)
    check_parts(tree, parts)
    for part in parts:
        layout = lay_out([node.size for node in part], [width(node) for node in part], GAP)
        # References are at most 22 wide, and the sign that a flat phrase goes on is added after a full line.
        assert limit < 40 or layout.width <= limit + 24


def test_a_flat_phrase_goes_on_in_other_parts():
    tree = make_tree("S", [make_tree("NN", f"word{i}") for i in range(50)])
    parts = parts_of(tree, 60)
    check_parts(tree, parts)
    assert len(parts) > 5
    assert [part[0].label for part in parts] == ["S"] * len(parts)
    assert [part[-1].label for part in parts[:-1]] == ["…"] * (len(parts) - 1)
    assert [node.part for part in parts_of(tree, 1_000) for node in part] == [0] * 51  # it fits
