"""What a constraint says of a whole tree."""


def satisfies(spans, constraint):
    """Whether a tree with these phrases, see `Tree.spans`, satisfies a constraint; the root comes first."""
    root, *below = spans
    label = constraint.label
    among = [root, *below] if constraint.is_required or label is not None else below
    found = any((start, end) == constraint[:2] and (label is None or label == own) for own, start, end in among)
    return found == constraint.is_required
