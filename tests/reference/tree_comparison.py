"""Slow comparison of trees, by definition: all ways to match two forests, and all pairs of nodes."""

from functools import cache


def slow_distance(one, other):
    """The edit distance by its recursion on the last trees of two forests."""

    def nested(tree):
        return tree.label, tuple(map(nested, tree))

    @cache
    def size(forest):
        return sum(1 + size(below) for _, below in forest)

    @cache
    def distance(first, second):
        if not first or not second:
            return size(first or second)
        (*rest, (label, below)), (*others, (name, inside)) = first, second
        return min(
            distance((*rest, *below), second) + 1,
            distance(first, (*others, *inside)) + 1,
            distance(tuple(rest), tuple(others)) + distance(below, inside) + (label != name),
        )

    return distance((nested(one),), (nested(other),))


def slow_kernel(one, other, decay):
    """The kernel of Collins & Duffy (2002), without words."""

    def common(a, b):
        if a.label != b.label or [child.label for child in a] != [child.label for child in b]:
            return 0
        found = decay
        for below in zip(a, b, strict=True):
            found *= 1 + common(*below)
        return found

    return sum(common(a, b) for a in one.preorder() for b in other.preorder())
