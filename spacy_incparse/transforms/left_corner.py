"""Flattened selective left-corner transform and its inverse (Collins & Roark 2004, section 3.1 and figure 3)."""

from __future__ import annotations

from functools import cache

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import children
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.tree import Tree, TreeArrays


def transform(tree: Tree) -> Tree:
    """Return the flattened selective left-corner form of a normalized tree, in time linear in its nodes.

    Raises IncparseError if a phrase label of the source already has the form ``A/A``.

    Only left-recursive productions ``A -> A gamma`` are transformed. A run of them becomes one flat node: first the
    children of the innermost ``A``, then, from the inside out, a slash node ``A/A`` per step with the siblings that
    followed the recursive child::

        (NP (NP (NP DT NN) PP) SBAR)   <->   (NP DT NN (NP/NP PP) (NP/NP SBAR))

    Thus no chain of left children repeats a label directly, and a phrase that turns out to be longer can be extended
    later, as a left-to-right parser requires.
    """
    what = slash_problem(tree)
    if what is not None:
        raise IncparseError(f"{what} (sentence: {' '.join(tree.words[:8])!r})")
    return _rebuild(tree, _transformed)


def restore(tree: Tree) -> Tree:
    """Undo `transform`: ``restore(transform(tree)) == tree`` for every normalized tree; time is linear in its nodes.

    Any other tree with slash nodes, such as a parser may build, also becomes a normalized tree. A slash node that is
    not a step of its parent (its label does not match the parent, or it is the first child) is replaced by its
    children; ordinary children that follow a step join that step; a unary X over X becomes one X.
    """
    if slash_base(tree.label) is not None:
        raise ValueError(f"the root of a transformed tree cannot be the slash node {tree.label!r}")
    restored = _rebuild(tree, _restored)
    is_doubled = any(_is_doubled(restored.arrays, node) for node in range(len(restored.arrays.labels)))
    return _rebuild(restored, _merged) if is_doubled else restored


def slash_label(label: str) -> str:
    """Return the label of the nodes that extend `label`: ``NP/NP`` for ``NP``."""
    return f"{label}/{label}"


@cache
def slash_base(label: str) -> str | None:
    """Return the label that a slash label extends (``NP`` for ``NP/NP``), or None for any other label."""
    base, slash, extended = label[: len(label) // 2], label[len(label) // 2 :][:1], label[len(label) // 2 + 1 :]
    return base if base and slash == "/" and base == extended else None


def slash_problem(tree: Tree) -> str | None:
    """Return why a tree cannot be transformed (a phrase label has the form ``A/A``), or None if it can."""
    for label, size in zip(tree.arrays.labels, tree.arrays.sizes, strict=True):
        if size > 1 and slash_base(label) is not None:
            return (
                f"the phrase label {label!r} has the form A/A, which the left-corner transform reserves: "
                f"rename it in the treebank"
            )
    return None


# A step of `_rebuild`: the index of a node to write, the label of a phrase to open, or None to close one.
_Piece = int | str | None


def _rebuild(tree: Tree, rewrite) -> Tree:
    """Rebuild a tree without recursion, replacing each phrase by the pieces that `rewrite(arrays, node)` returns."""
    arrays, builder = tree.arrays, TreeBuilder()
    labels, starts, sizes, words = arrays.labels, arrays.starts, arrays.sizes, arrays.words
    pending: list[_Piece] = [tree.index]
    while pending:
        piece = pending.pop()
        if piece is None:
            builder.close()
        elif isinstance(piece, str):
            builder.open(piece)
        elif sizes[piece] == 1:
            builder.leaf(labels[piece], words[starts[piece]])
        else:
            pending.extend(reversed(rewrite(arrays, piece)))
    return builder.finish()


def _transformed(arrays: TreeArrays, node: int) -> list[_Piece]:
    """Return the phrase, the children of its innermost repetition, then the steps from the inside out (figure 3 c)."""
    label, steps = arrays.labels[node], []
    while _repeats(arrays, node) and arrays.sizes[node + 1] + 1 < arrays.sizes[node]:
        steps.append([*children(arrays, node)][1:])
        node += 1
    pieces: list[_Piece] = [label, *children(arrays, node)]
    for step in reversed(steps):
        pieces += [slash_label(label), *step, None]
    return [*pieces, None]


def _repeats(arrays: TreeArrays, node: int) -> bool:
    """Return whether the first child of a phrase is a phrase with the same label."""
    return arrays.labels[node + 1] == arrays.labels[node] and arrays.sizes[node + 1] > 1


def _restored(arrays: TreeArrays, node: int) -> list[_Piece]:
    """Fold the steps of a phrase from the left: each step puts everything before it into a phrase of the same label."""
    label = arrays.labels[node]
    if slash_base(label) is not None:
        return list(children(arrays, node))
    step_label, pieces, n_steps = slash_label(label), list[_Piece](), 0
    for k, child in enumerate(children(arrays, node)):
        if k and arrays.labels[child] == step_label and arrays.sizes[child] > 1:
            pieces += [None, *children(arrays, child)]
            n_steps += 1
        else:
            pieces.append(child)
    return [*[label] * (1 + n_steps), *pieces, None]


def _is_doubled(arrays: TreeArrays, node: int) -> bool:
    return arrays.sizes[node] > 2 and _repeats(arrays, node) and arrays.sizes[node + 1] + 1 == arrays.sizes[node]


def _merged(arrays: TreeArrays, node: int) -> list[_Piece]:
    """Merge each unary X over X into one X; these occur only in trees that `transform` did not build."""
    while _is_doubled(arrays, node):
        node += 1
    return [arrays.labels[node], *children(arrays, node), None]
