"""What a constraint says of a whole tree, and so of a search."""

import pytest


def satisfies(spans, constraint):
    """Whether a tree with these phrases, see `Tree.spans`, satisfies a constraint; the root comes first."""
    root, *below = spans
    label = constraint.label
    among = [root, *below] if constraint.is_required or label is not None else below
    found = any((start, end) == constraint[:2] and (label is None or label == own) for own, start, end in among)
    return found == constraint.is_required


def check_constrained(parser, words, tags, everything, wanted, **tolerance):
    """Whether a search that drops nothing finds just those of all analyses that satisfy constraints, and names others.

    everything: what it finds without them.
    """
    expected = [parse for parse in everything if all(satisfies(parse.tree.spans(), one) for one in wanted)]
    found = parser.nbest(words, tags, 10**6, wanted)
    if expected:
        scores = {parse.tree: parse.score for parse in expected}
        assert {parse.tree: parse.score for parse in found} == pytest.approx(scores, **tolerance)
        assert not any(parse.unmet for parse in found)
    for parse in found:
        met = [constraint for constraint in dict.fromkeys(wanted) if constraint not in parse.unmet]
        assert all(satisfies(parse.tree.spans(), constraint) for constraint in met)
