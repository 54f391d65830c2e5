"""What a gold tree says of its own nodes, or of those of a parse of its sentence: what is learnt from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

from spacy_incparse.evaluation.annotations import SAME_TYPES, empty_place
from spacy_incparse.trees.arrays import TreeArrays, children
from spacy_incparse.trees.empties import Empty
from spacy_incparse.trees.heads import HeadRules, head_children, head_words

NOT_LEARNT = frozenset({"*ICH*", "*RNR*", "*PPA*", "*?*", "*NOT*"})  # too rare or too hard; *NOT* is gapping
LOST = -(1 << 30)  # an antecedent that the parse does not have


class Element(NamedTuple):
    """An empty category of a place.

    text: its fragment, with a `^` for each layer. antecedent: a node, or -2 - k for the k-th element of the tree, or -1
    for none, or LOST: the engine's numbers.
    """

    text: str
    antecedent: int


@dataclass
class Gold:
    """A tree to learn from. Which empty categories `unknown` nodes have is not learnt."""

    arrays: TreeArrays
    functions: Sequence[str | None]  # of each node, joined by "-"; None: not known
    slots: dict[tuple[int, int], list[Element]]  # by node and place between its children, in order
    unknown: set[int] = field(default_factory=set)


def read_gold(arrays: TreeArrays) -> Gold:
    """Return what an annotated tree says of itself."""
    functions = ["-".join(sorted(arrays.functions_of(node))) for node in range(len(arrays.sizes))]
    given = arrays.annotation.empties if arrays.annotation else ()
    kept = [number for number, one in enumerate(given) if SAME_TYPES.get(one.type, one.type) not in NOT_LEARNT]
    new = {number: i for i, number in enumerate(kept)}
    slots = defaultdict(list)
    for number in kept:
        one = given[number]
        antecedent = -1 if one.antecedent is None else one.antecedent
        if one.chain is not None:
            antecedent = -2 - new[one.chain] if one.chain in new else LOST
        slots[one.parent, one.position].append(Element(_text(one), antecedent))
    return Gold(arrays, functions, slots)


def _text(one: Empty) -> str:
    text = one.fragment
    for name, other in SAME_TYPES.items():
        text = text.replace(f" {name})", f" {other})")
    return "^" * one.layer + text


def on_parse(gold: Gold, parse: TreeArrays, heads: HeadRules) -> Gold:
    """Return what a gold tree says of a parse of its sentence.

    Its phrases have the functions of those with the same label and words, or else with the same label and head; others
    have unknown ones.
    """
    to_gold = _matches(gold.arrays, parse, heads)
    to_parse = {mine: node for node, mine in to_gold.items()}
    functions = [gold.functions[to_gold[node]] if node in to_gold else None for node in range(len(parse.sizes))]
    found = Gold(parse, functions, {}, set(_phrases(parse)).difference(to_gold))
    placed: list[tuple[tuple[int, int], int, Element]] = []
    number = 0
    for (parent, position), elements in gold.slots.items():
        node = to_parse.get(parent)
        if node is not None:
            word = empty_place(gold.arrays, parent, position)
            bounds = [*(parse.starts[child] for child in children(parse, node)), parse.ends[node]]
            if word in bounds:
                slot = node, bounds.index(word)
                placed += [(slot, number + k, element) for k, element in enumerate(elements)]
            else:
                found.unknown.add(node)
        number += len(elements)
    placed.sort(key=lambda one: one[:2])
    new = {old: i for i, (_, old, _) in enumerate(placed)}
    for slot, _, (text, antecedent) in placed:
        if antecedent >= 0:
            antecedent = to_parse.get(antecedent, LOST)
        elif LOST < antecedent < -1:
            antecedent = -2 - new[-2 - antecedent] if -2 - antecedent in new else LOST
        found.slots.setdefault(slot, []).append(Element(text, antecedent))
    return found


def _matches(mine: TreeArrays, theirs: TreeArrays, heads: HeadRules) -> dict[int, int]:
    """Return the phrases of the second tree that the first one has, too, each with that one."""
    found: dict[int, int] = {}
    both = mine, theirs
    spans = [list(zip(one.labels, one.starts, one.ends, strict=True)) for one in both]
    lexical = [list(zip(one.labels, head_words(one, head_children(one, heads)), strict=True)) for one in both]
    for keys in (spans, lexical):
        left: dict[tuple[object, ...], list[int]] = {}
        taken = set(found.values())
        for node in _phrases(mine):
            if node not in taken:
                left.setdefault(keys[0][node], []).append(node)
        for node in _phrases(theirs):
            if node not in found and left.get(keys[1][node]):
                found[node] = left[keys[1][node]].pop(0)
    return found


def _phrases(arrays: TreeArrays) -> Sequence[int]:
    return list(compress(range(len(arrays.sizes)), (size > 1 for size in arrays.sizes)))
