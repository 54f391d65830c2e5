"""Relabelling by a parser: the phrases of a tree keep their places, and get other labels where the parser is sure."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import NamedTuple, cast

from spacy_incparse.parsing.parse import Constraint, Posterior
from spacy_incparse.repair.repair import Change, Rule, is_repaired, recorded, relabel
from spacy_incparse.treebanks.reader import normalize
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.labels import ROOT, WRAPPERS, bare_label
from spacy_incparse.trees.tree import Tree

PARSER = "parser"
"""What the report names in place of a rule."""

Span = tuple[int, int]
Sentence = tuple[Tree, Sequence[Constraint]]  # the words and tags of a normalized tree, and what is required

Analyse = Callable[[Sequence[Sentence]], Iterator[Posterior | None]]
"""Yields the probabilities of each sentence's phrases; None if no tree meets all constraints, or none was found."""


@dataclass(frozen=True)
class Relabeller:
    """A parser that relabels phrases.

    labels: those that it knows; all others stay. pairs: the changes that it may make, as (old label, new label); None:
    all. sure: a label is only changed if the probability of the new one is at least this, and those of all others over
    the same words sum to no more than the rest. At least 0.5. The same probability without the requirements must be at
    least `likely`.

    The parser reads the words and tags of a tree, and each phrase of the tree is required, whatever its label. Among
    the trees that have all of them, the probability of a label over some words is exact (`Posterior`). If no tree of
    the parser's own would have the phrase, this says little: so it must be likely without the requirements, too.
    """

    analyse: Analyse
    labels: frozenset[str]
    pairs: frozenset[tuple[str, str]] | None = None
    sure: float = 0.95
    likely: float = 0.5


class Relabelled(NamedTuple):
    """Trees after all changes, the changes, and the number of trees that the parser could not analyse."""

    trees: list[Tree]
    changes: list[Change]
    n_left: int


class _Proposal(NamedTuple):
    node: int
    span: Span
    label: str
    probability: float


def relabel_trees(trees: Sequence[Tree], relabeller: Relabeller, rules: Sequence[Rule] = ()) -> Relabelled:
    """Return trees that were repaired by rules with the labels that a parser is sure of.

    Only phrases that are alone over their words are relabelled, because the labels of a unary chain depend on one
    another. The rules have the last word: a change after which one of them would apply is not made. So a second run,
    with the same rules and parser, changes nothing.
    """
    relabelled, changes = list(trees), list[Change]()
    proposals, n_left = _all_proposals(trees, relabeller)
    for number, found in proposals.items():
        relabelled[number], made = _relabel(trees[number], found, rules, number)
        changes += made
    return Relabelled(relabelled, changes, n_left)


def _all_proposals(trees: Sequence[Tree], relabeller: Relabeller) -> tuple[dict[int, list[_Proposal]], int]:
    """Return the changes of each tree that the parser is sure of, and how many trees it could not analyse."""
    places = {number: spans for number, tree in enumerate(trees) if (spans := phrases_by_span(tree))}
    # A tree with phrases over words has words, so that normalizing leaves something of it.
    sentences = {
        number: (cast("Tree", normalize(trees[number])), list(starmap(Constraint, places[number]))) for number in places
    }
    found, n_left = dict[int, list[_Proposal]](), 0
    for number, posterior in zip(places, relabeller.analyse(list(sentences.values())), strict=True):
        n_left += posterior is None
        if posterior and (proposals := _proposals(trees[number], places[number], posterior, relabeller)):
            found[number] = proposals
    free = relabeller.analyse([(sentences[number][0], ()) for number in found])
    for (number, proposals), posterior in zip(list(found.items()), free, strict=True):
        phrases = posterior.phrases if posterior else {}
        found[number] = [one for one in proposals if phrases.get((one.label, *one.span), 0.0) >= relabeller.likely]
    return found, n_left


def numbered_phrases(tree: Tree) -> list[tuple[int, Phrase]]:
    """Return the phrases below the root, or with one that is no wrapper, by node: categories, and words but traces."""
    arrays = tree.own_arrays
    places, found = [bisect_left(arrays.overt, word) for word in range(len(arrays.words) + 1)], []
    for node in range(int(arrays.labels[0] in WRAPPERS), len(arrays.sizes)):
        start, end = places[arrays.starts[node]], places[arrays.ends[node]]
        if arrays.sizes[node] > 1 and start < end:
            found.append((node, (bare_label(arrays.labels[node]), start, end)))
    return found


def phrases_by_span(tree: Tree) -> dict[Span, list[int]]:
    """Return the indices of the phrases over each span of words, the highest first; without traces and wrappers."""
    found: dict[Span, list[int]] = defaultdict(list)
    for node, (label, start, end) in numbered_phrases(tree):
        if label not in WRAPPERS:
            found[start, end].append(node)
    return dict(found)


def _proposals(
    tree: Tree, places: dict[Span, list[int]], posterior: Posterior, relabeller: Relabeller
) -> list[_Proposal]:
    by_span: dict[Span, dict[str, float]] = defaultdict(dict)
    for (label, start, end), probability in posterior.phrases.items():
        if label != ROOT:
            by_span[start, end][label] = probability
    found = []
    for span, (node, *others) in places.items():
        old, labels = bare_label(tree.own_arrays.labels[node]), by_span[span]
        if others or not labels:
            continue
        new = min(labels, key=lambda name: (-labels[name], name))
        rest = sum(labels.values()) - labels[new]
        is_sure = labels[new] >= relabeller.sure and rest <= 1 - relabeller.sure
        may_change = old in relabeller.labels and (relabeller.pairs is None or (old, new) in relabeller.pairs)
        if is_sure and old != new and may_change:
            found.append(_Proposal(node, span, new, labels[new]))
    return found


def _relabel(
    tree: Tree, proposals: Sequence[_Proposal], rules: Sequence[Rule], number: int
) -> tuple[Tree, list[Change]]:
    """Make the changes that leave nothing to do for the rules: one may only be possible after another."""
    changes: list[Change] = []
    waiting, is_changed = list(proposals), True
    while is_changed:
        is_changed = False
        for proposal in list(waiting):
            edit = relabel(tree.own_arrays, proposal.node, proposal.label)
            changed = Tree(edit.arrays)
            if is_repaired(changed, rules):
                changes.append(recorded(tree, changed, edit, PARSER, number, proposal.probability))
                waiting.remove(proposal)
                tree, is_changed = changed, True
    return tree, changes
