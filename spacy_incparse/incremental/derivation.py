"""A transformed tree as one move per word, and back (Collins & Roark 2004, section 3.1 and figure 2).

The parser has a stack of open constituents, at first only the root. To absorb a word, it closes some of them, which
makes the next one the attachment site. It then puts a chain of left children on the site, down to the word's tag. All
constituents that are open after the last word are closed, so that needs no move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.tree import Tree


class Move(NamedTuple):
    """How one word is absorbed: `n_closings` open constituents are closed, then `chain` is put on the lowest open one.

    `chain` holds the nonterminals below the attachment site, from the highest to the one above the word's tag. It is
    ``()`` if the tag itself attaches.
    """

    n_closings: int
    chain: tuple[str, ...]


def derivation(tree: Tree) -> list[Move]:
    """Return the moves that build a tree, one per word; the root is the frame that the parser starts with."""
    if tree.is_preterminal:
        raise ValueError(f"a derivation starts from a phrase, not from the word {tree.words[0]!r} alone")
    moves: list[Move] = []
    open_ends: list[int] = [tree.end]
    chain: list[str] = []
    n_closings = 0
    arrays = tree.arrays
    for node in range(tree.index + 1, tree.index + arrays.sizes[tree.index]):
        while open_ends[-1] <= arrays.starts[node]:
            open_ends.pop()
            n_closings += 1
        if arrays.sizes[node] > 1:
            chain.append(arrays.labels[node])
            open_ends.append(arrays.ends[node])
        else:
            moves.append(Move(n_closings, tuple(chain)))
            chain, n_closings = [], 0
    return moves


def build_tree(moves: Sequence[Move], words: Sequence[str], tags: Sequence[str], root_label: str = "TOP") -> Tree:
    """Return the tree that moves build: the inverse of `derivation`. There is one move, word and tag per word.

    Raises ValueError if a move closes more constituents than are open below the root.
    """
    builder = TreeBuilder()
    builder.open(root_label)
    n_open = 0
    for (n_closings, chain), word, tag in zip(moves, words, tags, strict=True):
        if not 0 <= n_closings <= n_open:
            raise ValueError(f"the move at the word {word!r} closes {n_closings} constituents, {n_open} are open")
        for _ in range(n_closings):
            builder.close()
        for label in chain:
            builder.open(label)
        builder.leaf(tag, word)
        n_open += len(chain) - n_closings
    for _ in range(n_open + 1):
        builder.close()
    return builder.finish()
