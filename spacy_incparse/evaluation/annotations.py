"""Scores of function tags (Blaheta & Charniak 2000) and of empty categories (Johnson 2002)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from spacy_incparse.trees.arrays import TreeArrays, children
from spacy_incparse.trees.empties import fragment_arrays
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

GROUPS = {
    "grammatical": ("DTV", "LGS", "PRD", "PUT", "SBJ", "VOC"),
    "semantic": ("ADV", "BNF", "DIR", "EXT", "LOC", "MNR", "NOM", "PRP", "TMP"),
    "topic": ("TPC",),
    "miscellaneous": ("CLF", "HLN", "TTL"),
    "CLR": ("CLR",),
}
"""Blaheta and Charniak's groups of function tags; all others are in none."""
SAME_TYPES = {"*PRO*": "*", "*0*": "0"}
"""Names of CRAFT for types of empty categories, and those of the Penn Treebank."""


@dataclass
class Counts:
    """How many there are in gold trees and in others, and how many of these are right."""

    n_gold: int = 0
    n_found: int = 0
    n_right: int = 0

    @property
    def precision(self) -> float:
        """Share of what was found that is right, from 0 to 1; 1 if nothing was."""
        return self.n_right / self.n_found if self.n_found else 1.0

    @property
    def recall(self) -> float:
        """Share of gold that was found, from 0 to 1; 1 if there is none."""
        return self.n_right / self.n_gold if self.n_gold else 1.0

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.n_gold + self.n_found
        return 2 * self.n_right / both if both else 1.0

    def __iadd__(self, other: Counts) -> Counts:
        self.n_gold += other.n_gold
        self.n_found += other.n_found
        self.n_right += other.n_right
        return self


Item = TypeVar("Item", bound=Hashable)


class Tally(dict[str, Counts]):
    """Counts by name."""

    def add(self, both: Iterable[Iterable[Item]], name: Callable[[Item], str]) -> None:
        """Count the gold items of a sentence and those found; equal ones count as often as they occur."""
        gold, found = map(Counter[Item], both)
        for items, what in ((gold, "n_gold"), (found, "n_found"), (gold & found, "n_right")):
            for item, n in items.items():
                counts = self.setdefault(name(item), Counts())
                setattr(counts, what, getattr(counts, what) + n)

    def total(self, names: Iterable[str] | None = None) -> Counts:
        """Return the sum over names, or over all."""
        counts = Counts()
        for one in self if names is None else names:
            counts += self.get(one, Counts())
        return counts


@dataclass
class AnnotationScores:
    """Scores of annotated trees against gold ones on the same words.

    matched: tags of the phrases that both trees have, the same label over the same words (Blaheta and Charniak's
    measure). whole: tags of all phrases; label, words and tag must be right. empties: empty categories by type; label,
    type and place between words must be right. linked: the same, and the label and words of the antecedent, which may
    be another empty category (Johnson's two measures).
    """

    matched: Tally = field(default_factory=Tally)
    whole: Tally = field(default_factory=Tally)
    empties: Tally = field(default_factory=Tally)
    linked: Tally = field(default_factory=Tally)

    def add(self, gold: Tree, found: Tree) -> None:
        """Count what two trees on the same words have."""
        tags = dict(_phrases(gold.own_arrays)), dict(_phrases(found.own_arrays))
        whole = [[(*phrase, tag) for phrase, some in one.items() for tag in some] for one in tags]
        self.whole.add(whole, lambda item: str(item[-1]))
        matched = [[item for item in one if item[:-1] in tags[0] and item[:-1] in tags[1]] for one in whole]
        self.matched.add(matched, lambda item: str(item[-1]))
        both = [list(_empties(tree.own_arrays)) for tree in (gold, found)]
        self.empties.add(([item[:2] for item in items] for items in both), lambda item: str(item[0]))
        self.linked.add(both, lambda item: str(item[0]))


def _phrases(arrays: TreeArrays) -> Iterator[tuple[tuple[str, int, int, int], tuple[str, ...]]]:
    """Yield the label, the words and the functions of phrases, with a number for those with the same words."""
    seen: Counter[tuple[str, int, int]] = Counter()
    for node, size in enumerate(arrays.sizes):
        if size > 1:
            phrase = bare_label(arrays.labels[node]), arrays.starts[node], arrays.ends[node]
            seen[phrase] += 1
            yield (*phrase, seen[phrase]), arrays.functions_of(node)


def empty_place(arrays: TreeArrays, parent: int, position: int) -> int:
    """Return the number of words before the child of a node with this number, or behind the last child."""
    nodes = list(children(arrays, parent))
    return arrays.starts[nodes[position]] if position < len(nodes) else arrays.ends[parent]


def _empties(arrays: TreeArrays) -> Iterator[tuple[str, int, tuple[str, int, int] | None]]:
    """Yield name, place and antecedent of the empty categories."""
    found = []
    for one in arrays.annotation.empties if arrays.annotation else ():
        place = empty_place(arrays, one.parent, one.position)
        fragment = fragment_arrays(one.fragment)
        parts = [bare_label(label) for label, size in zip(fragment.labels, fragment.sizes, strict=True) if size > 1]
        types = [SAME_TYPES.get(word, word) for word in fragment.words]
        found.append((one, " ".join([*parts, *types]), place))
    for one, name, place in found:
        if one.chain is not None:
            _, label, start = found[one.chain]
            yield name, place, (label, start, start)
        elif one.antecedent is not None:
            node = one.antecedent
            yield name, place, (bare_label(arrays.labels[node]), arrays.starts[node], arrays.ends[node])
        else:
            yield name, place, None
