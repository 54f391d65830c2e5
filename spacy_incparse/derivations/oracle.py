"""A given tree as the moves of a search, under the tags that the search uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spacy_incparse.derivations.derivation import derivation
from spacy_incparse.derivations.grammar_labels import UNKNOWN, Labels
from spacy_incparse.parsers.parse import Tags, best_tag
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.tree import Tree, TreeArrays


def encode_moves(
    tree: Tree, labels: Labels, leaf_numbers: Mapping[tuple[int, tuple[int, ...]], int]
) -> tuple[list[int], list[int]]:
    """Return the derivation of a transformed tree with known tags: each word's closings and the number of its chain.

    leaf_numbers: by tag and chain, see `Moves`; -1 is used for a missing chain.
    """
    n_closings, leaves = [], []
    for move, tag in zip(derivation(tree), tree.tags, strict=True):
        chain = tuple(labels.nonterminal_ids.get(label, UNKNOWN) for label in move.chain)
        n_closings.append(move.n_closings)
        leaves.append(leaf_numbers.get((labels.tag_ids[tag], chain), -1))
    return n_closings, leaves


def check_words(words: Sequence[str], tree: Tree) -> None:
    """Raise ValueError if the tree has other words."""
    if tuple(words) != tree.words:
        raise ValueError(f"the tree has other words than the sentence: {' '.join(tree.words[:8])!r}")


def as_searched(tree: Tree, tags: Sequence[str], labels: Labels) -> Tree:
    """Return the left-corner form of a tree under these tags; unknown tags are replaced by the most frequent one."""
    return transform(retag(tree, [tag if tag in labels.tag_ids else labels.tags[0] for tag in tags]))


def reachable_tags(tree: Tree, tags: Tags) -> list[str]:
    """Return for each word the tree's tag if it is among the given tags, otherwise the first of these."""
    return [
        given if isinstance(given, str) else next((tag for tag, _ in given or () if tag == own), best_tag(given))
        for own, given in zip(tree.tags, tags, strict=True)
    ]


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Return a whole tree with other tags, one per word."""
    arrays = tree.root.arrays
    given = iter(tags)
    labels = [next(given) if size == 1 else label for label, size in zip(arrays.labels, arrays.sizes, strict=True)]
    return Tree(TreeArrays.of(labels, arrays.sizes, arrays.words))
