"""The result of parsing a sentence: a tree, its score, and the way it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

Tag = str | Sequence[tuple[str, float]] | None
"""A word's tag; or several tags, best first, each with its distance from the best; or None if no tag is given."""

Tags = Sequence[Tag]
"""One entry per word."""


@dataclass(frozen=True)
class Parse:
    """A tree over all words of a sentence.

    score: on the parser's own scale; higher is better. source: "beam", or "chart" for a chart parser's; "relaxed" if
    the search was repeated for some word without the grammar's triples, or a chart's phrases stand side by side under
    the root; "flat" if the search found nothing and all words are attached to the root.
    unmet: the constraints that were dropped because no tree satisfies them.
    """

    tree: Tree
    score: float
    source: str
    unmet: tuple[Constraint, ...] = ()


def flat_tree(words: Sequence[str], tags: Tags) -> Tree:
    """Return a tree in which all words are attached to the root."""
    builder = TreeBuilder()
    builder.open(ROOT)
    for word, tag in zip(words, tags, strict=True):
        builder.leaf(best_tag(tag), word)
    builder.close()
    return builder.finish()


def best_tag(tag: Tag) -> str:
    """Return the only tag of a word, or the best of several."""
    if not tag:
        return UNKNOWN_TAG
    return tag if isinstance(tag, str) else tag[0][0]


def check_sentence(words: Sequence[str], tags: Tags | None) -> None:
    """Raise ValueError if a sentence has no words, or not one tag per word."""
    if not words or (tags is not None and len(words) != len(tags)):
        n_tags = 0 if tags is None else len(tags)
        raise ValueError(f"a sentence needs words and one tag per word, not {len(words)} words and {n_tags} tags")
