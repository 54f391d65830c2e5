"""Split complex sentences into their clauses, each without the clauses inside it.

usage: python examples/split_clauses.py TEXT_FILE

Each sentence is followed by a line for each of its clauses, indented by depth: label and words, with "..." in place of
other clauses. Every word belongs to exactly one clause. An infinitive without a subject belongs to the clause around
it.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import spacy_incparse
from spacy_incparse import Tree, patterns

# A clause with its conjunction or relative pronoun, or one with a subject. A clause directly below an SBAR or SBARQ is
# part of it.
CLAUSE = patterns.compile("SBAR|SBARQ|SINV | SQ !> SBARQ | S < (NP|SBAR $.. VP) !> SBAR")


PUNCTUATION = {",", ".", ":", "''"}


class Clause(NamedTuple):
    """A clause: its node, the number of clauses around it, and the indices of its own words in the sentence."""

    node: Tree
    depth: int
    words: list[int]


def split(tree: Tree) -> list[Clause]:
    """Return the clauses of a sentence's tree in the order of their first words."""
    nodes = {tree.index: tree} | {match.node.index: match.node for match in CLAUSE.search(tree)}
    owner = [tree.index] * len(tree.words)  # the innermost clause of each word; outer clauses come first
    for index, node in nodes.items():
        owner[node.start : node.end] = [index] * len(node.words)
    verbal = {index for index, leaf in zip(owner, tree.pos_nodes(), strict=True) if is_verb(leaf)}
    # Words without a verb, such as the conjunction between two clauses, join the clause after them; punctuation joins
    # the one before.
    for i in reversed(range(len(owner) - 1)):
        owner[i] = owner[i] if owner[i] in verbal else owner[i + 1]
    for i in range(1, len(owner)):
        owner[i] = owner[i] if owner[i] in verbal and tree.tags[i] not in PUNCTUATION else owner[i - 1]
    found = [nodes[index] for index in dict.fromkeys(owner)]
    return [
        Clause(
            node,
            sum(covers(other, node) for other in found) - 1,
            [i for i, index in enumerate(owner) if index == node.index],
        )
        for node in found
    ]


def is_verb(leaf: Tree) -> bool:
    """Return whether a word is a verb, by its tag or its position."""
    return leaf.label[:1] == "V" or leaf.label == "MD" or (leaf.parent is not None and leaf.parent.category == "VP")


def covers(outer: Tree, inner: Tree) -> bool:
    """Return whether the outer node has all words of the inner one."""
    return outer.start <= inner.start and inner.end <= outer.end


def text(clause: Clause, words: tuple[str, ...]) -> str:
    """Return the words of a clause, with dots in place of other clauses."""
    parts = [words[clause.words[0]]]
    for before, i in pairwise(clause.words):
        parts += ["...", words[i]] if i > before + 1 else [words[i]]
    return " ".join(parts)


if __name__ == "__main__":
    doc = spacy_incparse.load("en")(Path(sys.argv[1]).read_text(encoding="utf8"))
    for tree in doc._.trees:
        print(tree.text.replace("\n", " "))
        for clause in split(tree):
            print(f"  {'  ' * clause.depth}{clause.node.label}: {text(clause, tree.words)}")
