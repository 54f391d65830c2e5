"""The matches of several patterns in a tree, as the rules of a matcher define them."""

from __future__ import annotations

from collections.abc import Iterable

from spacy_incparse.patterns import Match, Pattern
from spacy_incparse.trees.tree import Tree
from spacy_incparse.trees.walks import without_nested


def find(tree: Tree, patterns: Iterable[Pattern], *, nested: str = "all", every: bool = False) -> list[Match]:
    """Return the matches of the patterns in pre-order; a node that several patterns match belongs to the first.

    With `every`, return a node once for each way to assign names to nodes.
    """
    found: dict[tuple[int, bool], list[Match]] = {}
    for pattern in patterns:
        by_node: dict[tuple[int, bool], list[Match]] = {}
        for match in pattern.search(tree, every=every):
            by_node.setdefault((match.node.index, match.is_word), []).append(match)
        for node, matches in by_node.items():
            if every:
                found.setdefault(node, []).extend(matches)
            else:
                found.setdefault(node, matches)
    indices = sorted({index for index, _ in found})
    kept = set(without_nested(tree.arrays, indices, nested))
    return [match for node in sorted(found) if node[0] in kept for match in found[node]]
