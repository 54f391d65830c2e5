"""Building trees from left to right, from parts, or from the spans of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spacy_incparse.trees.arrays import ArraysBuilder, Phrase, arrays_of_phrases
from spacy_incparse.trees.tree import Tree


class TreeBuilder(ArraysBuilder):
    """Builds a tree from left to right in linear time: `open`, `leaf`, `close`, and `finish` at the end."""

    def finish(self) -> Tree:
        """Return the tree. Raises ValueError if it is empty or a phrase is still open."""
        return Tree(self.arrays())


def make_tree(label: str, children: Sequence[Tree] | str) -> Tree:
    """Return a tree with copies of the given children, or the POS node of a word if `children` is a string."""
    builder = TreeBuilder()
    if isinstance(children, str):
        builder.leaf(label, children)
        return builder.finish()
    builder.open(label)
    for child in children:
        builder.subtree(child)
    builder.close()
    return builder.finish()


def tree_of_phrases(phrases: Iterable[Phrase], words: Sequence[str], tags: Iterable[str]) -> Tree:
    """Return the tree that has these phrases, which are nested and in pre-order; the first is the root."""
    return Tree(arrays_of_phrases(phrases, words, tags))


@dataclass(frozen=True)
class Projection:
    """A tree on the new words, with the number of phrases that did not fit."""

    tree: Tree
    n_phrases: int  # in the old tree, the root not counted
    n_lost: int  # the phrases among them that begin or end inside a new word


def ink_ends(words: Sequence[str]) -> list[int]:
    """Return the end of each word, counted in non-whitespace characters from the first word on."""
    ends, end = [], 0
    for word in words:
        end += len("".join(word.split()))
        ends.append(end)
    return ends


def project(tree: Tree, words: Sequence[str]) -> Projection | None:
    """Project a whole tree onto other words of the same text; return None if the texts differ.

    Whitespace is ignored. A phrase is kept if it begins and ends at boundaries of new words; otherwise its children
    move to the phrase above. A new word gets the tag of the old word that covers most of it (the first of these), so
    all parts of a split word have its tag.
    """
    old = tree.arrays
    if old.words == tuple(words):
        return Projection(tree.root, len(old.sizes) - len(old.words) - 1, 0)
    if "".join("".join(old.words).split()) != "".join("".join(words).split()):
        return None
    old_ends, new_ends = ink_ends(old.words), ink_ends(words)
    if not new_ends or not all(before < end for before, end in zip([0, *new_ends], new_ends, strict=False)):
        return None
    tags, i = [], 0  # of the old word that covers most of a new one
    old_tags = tree.root.tags
    for start, end in zip([0, *new_ends], new_ends, strict=False):
        most, tag, position = 0, old_tags[i], start
        while position < end:
            shared = min(end, old_ends[i]) - position
            if shared > most:
                most, tag = shared, old_tags[i]
            position += shared
            i += old_ends[i] <= position
        tags.append(tag)
    bounds = {0: 0} | {end: i + 1 for i, end in enumerate(new_ends)}
    # Keep the phrases that fit, in pre-order; `old_bounds[i]` is where old word i begins.
    old_bounds = [0, *old_ends]
    phrases = []  # in new words
    n_phrases = 0
    for label, start, end in tree.root.spans():
        n_phrases += 1
        new_start, new_end = bounds.get(old_bounds[start]), bounds.get(old_bounds[end])
        if new_start is not None and new_end is not None:
            phrases.append((label, new_start, new_end))
    return Projection(tree_of_phrases(phrases, words, tags), n_phrases - 1, n_phrases - len(phrases))
