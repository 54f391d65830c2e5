"""Edits that return a new tree, as arrays: other labels, fewer nodes, unary chains collapsed and expanded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, compress

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import TreeArrays

JOINT = "+"  # between the labels of a unary chain that has become one node


def map_labels(
    arrays: TreeArrays, change: Callable[[str], str] | Mapping[str, str], *, tags: bool = True
) -> TreeArrays:
    """Return the tree with its labels mapped by a function or a table; labels that are not in the table stay.

    With `tags=False` POS nodes keep their labels.
    """
    labels, sizes = arrays.labels, arrays.sizes
    new = (lambda label: change.get(label, label)) if isinstance(change, Mapping) else change
    changed = [new(label) if tags or size > 1 else label for label, size in zip(labels, sizes, strict=True)]
    return TreeArrays.of(changed, sizes, arrays.words)


def collapse_unaries(arrays: TreeArrays, joint: str = JOINT, *, root: bool = False, tags: bool = False) -> TreeArrays:
    """Return the tree with each unary chain of phrases collapsed into one node, whose label joins theirs.

    A chain ends above its POS node, or with `tags` includes it. The top node stays as it is unless `root` is set.
    Raises IncparseError if a label contains `joint`, since `expand_unaries` would split it.
    """
    labels, sizes = arrays.labels, arrays.sizes
    _check_joint(labels, joint)
    joined: list[list[str]] = []  # kept node -> its label and those of the chain below it
    kept: list[bool] = []
    for i, (label, size) in enumerate(zip(labels, sizes, strict=True)):
        is_joined = i > (not root) and sizes[i - 1] == size + 1 and (size > 1 or tags)
        kept.append(not is_joined)
        if is_joined:
            joined[-1].append(label)
        else:
            joined.append([label])
    _, new_sizes = compress_nodes(labels, sizes, kept)
    return TreeArrays.of([joint.join(parts) for parts in joined], new_sizes, arrays.words)


def expand_unaries(arrays: TreeArrays, joint: str = JOINT) -> TreeArrays:
    """Return the tree with a chain of nodes for each label that contains `joint`: the inverse of `collapse_unaries`."""
    labels, sizes = arrays.labels, arrays.sizes
    parts = [label.split(joint) for label in labels]
    nodes_before = list(accumulate(map(len, parts), initial=0))
    new_labels, new_sizes = [], []
    for i, chain in enumerate(parts):
        behind = nodes_before[i + sizes[i]]
        new_labels += chain
        new_sizes += [behind - nodes_before[i] - k for k in range(len(chain))]
    return TreeArrays.of(new_labels, new_sizes, arrays.words)


def without_tag(arrays: TreeArrays, tag: str) -> TreeArrays | None:
    """Return the tree without the words with a given tag and the phrases this empties; None if nothing is left."""
    if tag not in arrays.labels:
        return arrays
    labels, sizes = arrays.labels, arrays.sizes
    is_word = [size == 1 and label != tag for label, size in zip(labels, sizes, strict=True)]
    n_words = list(accumulate(is_word, initial=0))
    kept = [n_words[i + size] > n_words[i] for i, size in enumerate(sizes)]
    words = list(compress(arrays.words, (keep for keep, size in zip(kept, sizes, strict=True) if size == 1)))
    return TreeArrays.of(*compress_nodes(labels, sizes, kept), words) if words else None


def compress_nodes(labels: Sequence[str], sizes: Sequence[int], kept: Sequence[bool]) -> tuple[list[str], list[int]]:
    """Return labels and sizes of the kept nodes; the sizes count kept nodes only."""
    n_kept = list(accumulate(kept, initial=0))
    new_sizes = [n_kept[i + size] - n_kept[i] for i, size in enumerate(sizes)]
    return list(compress(labels, kept)), list(compress(new_sizes, kept))


def _check_joint(labels: Sequence[str], joint: str) -> None:
    if not joint:
        raise IncparseError("the joint between labels is empty")
    for label in labels:
        if joint in label:
            raise IncparseError(f"the label {label!r} has {joint!r} in it: choose another joint")
