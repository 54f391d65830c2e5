from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.viz.sketch import child_indices, lay_out
from tests.strategies import deep_tree, raw_trees


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
        for child in child_indices(sizes, i):
            assert (layout.parents[child], layout.depths[child]) == (i, layout.depths[i] + 1)
        # A node and its descendants do not overlap with their neighbors, on every level.
        below = range(i, i + size)
        columns = [(layout.centres[k] - widths[k] // 2, layout.centres[k] - widths[k] // 2 + widths[k]) for k in below]
        beside = [k for k in range(i + size, len(sizes)) if layout.depths[k] >= layout.depths[i]]
        rightmost = max(end for _, end in columns)
        assert all(layout.centres[k] - widths[k] // 2 >= rightmost + gap for k in beside if layout.parents[k] >= 0)
    for level in boxes.values():
        assert all(a[1] + gap <= b[0] for a, b in pairwise(level))


def test_a_parent_is_in_the_middle():
    layout = lay_out([3, 1, 1], [2, 4, 4], 2)
    assert layout.width == 10
    assert layout.centres == [5, 2, 8]


def test_deep_trees():
    sizes = deep_tree(5_000).arrays.sizes
    assert lay_out(sizes, [3] * len(sizes), 1).width == 4 * 5_001 - 1
