"""Local trees, that is a phrase's label with the labels of its children, and trees of phrases mended to have seen ones.

A tree that is made of the phrases of several trees may have local trees that no treebank has, such as an NP whose only
child is an ADJP. Those with few children are told by what training has seen; of longer ones, many are new in any text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spacy_incparse.errors import ModelError, check_texts
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

LocalTree = tuple[str, ...]
"""The label of a phrase, then those of its children: labels of phrases, or tags of words."""
MOST_CHILDREN = 2
MOST_EDITS = 20  # of a tree, for linear time; if it needs more, its labels or tags are not those of the training
AT_ONCE = 3  # local trees that an edit changes, at most: of a phrase left out, of its parent, of a new phrase's parent


def local_trees(phrases: Sequence[Phrase], tags: Sequence[str]) -> list[LocalTree]:
    """Return the local tree of each phrase; phrases are nested and in pre-order, and the first covers all words."""
    found: list[list[str]] = [[label] for label, _, _ in phrases]
    path: list[int] = []  # the open phrases
    following = 0
    for word, tag in enumerate(tags):
        while path and phrases[path[-1]][2] <= word:
            path.pop()
        while following < len(phrases) and phrases[following][1] == word:
            if path:
                found[path[-1]].append(phrases[following][0])
            path.append(following)
            following += 1
        found[path[-1]].append(tag)
    return [tuple(local) for local in found]


def local_trees_of(trees: Iterable[Tree]) -> frozenset[LocalTree]:
    """Return the local trees of whole trees that have at most `MOST_CHILDREN` children."""
    return frozenset(
        local for tree in trees for local in local_trees(tree.spans(), tree.tags) if len(local) <= 1 + MOST_CHILDREN
    )


def read_local_trees(stored: object) -> frozenset[LocalTree]:
    """Return local trees that were stored as lists of labels. Raises ModelError for anything else."""
    if not isinstance(stored, list):
        raise ModelError(f"the model is damaged: its local trees are {stored!r:.40}, no list")
    for labels in stored:
        check_texts(labels, "local trees")
        if not 2 <= len(labels) <= 1 + MOST_CHILDREN:
            raise ModelError(f"the model is damaged: {labels!r:.40} is no local tree of at most {MOST_CHILDREN}")
    return frozenset(map(tuple, stored))


@dataclass(frozen=True)
class Mender:
    """Edits of trees of phrases that leave fewer local trees which training has not seen.

    seen: the local trees of training; empty: unknown, and nothing is mended. probabilities: of the phrases that trees
    may have. threshold: what a phrase costs, see `Recombination`. An unseen local tree costs as much as a phrase that
    has no probability at all. kept: spans whose phrases stay.
    """

    seen: Collection[LocalTree]
    probabilities: Mapping[Phrase, float]
    threshold: float
    kept: Collection[tuple[int, int]] = ()

    def unseen(self, phrases: Sequence[Phrase], tags: Sequence[str]) -> list[int]:
        """Return the places of the phrases whose local trees are short and unseen; none if training is unknown."""
        if not self.seen:
            return []
        return [
            place
            for place, local in enumerate(local_trees(phrases, tags))
            if len(local) <= 1 + MOST_CHILDREN and local not in self.seen
        ]

    def price(self, phrases: Sequence[Phrase], tags: Sequence[str]) -> float:
        """Return what the unseen local trees cost."""
        return self.threshold * len(self.unseen(phrases, tags))

    def mended(self, phrases: Sequence[Phrase], tags: Sequence[str]) -> Sequence[Phrase]:
        """Return phrases, given as for `local_trees`, after the edits that cost less than the unseen local trees do.

        An edit leaves out one phrase, adds one, or does both. The one that gains most is first.
        """
        places = self.unseen(phrases, tags)
        for _ in range(MOST_EDITS):
            best, chosen = 0.0, None
            for cost, edited in sorted(self._edits(phrases, places[:MOST_EDITS])):
                if self.threshold * min(len(places), AT_ONCE) - cost <= best:
                    break
                left = self.unseen(edited, tags)
                gain = self.threshold * (len(places) - len(left)) - cost
                if gain > best and len(left) < len(places):
                    best, chosen = gain, (edited, left)
            if chosen is None:
                break
            phrases, places = chosen
        return phrases

    def _edits(self, phrases: Sequence[Phrase], places: Iterable[int]) -> Iterator[tuple[float, list[Phrase]]]:
        """Yield the edits of the local trees at these places: what each costs, and the phrases after it."""
        order, known = list(map(_key, phrases)), set(phrases)
        for place in places:
            _, start, end = phrases[place]
            here, spans = [place], {(start, end)}  # the phrases of the local tree, and the spans of all of its nodes
            while start < end:
                child = bisect_left(order, (start, -end), place + 1)
                is_phrase = child < len(phrases) and phrases[child][1] == start
                stop = phrases[child][2] if is_phrase else start + 1
                here += [child] * is_phrase
                spans.add((start, stop))
                start = stop
            new = [phrase for span in spans for phrase in self._over.get(span, ()) if phrase not in known]
            for left_out in [None, *(n for n in here if n and phrases[n][1:] not in self.kept)]:
                rest = [phrase for n, phrase in enumerate(phrases) if n != left_out]
                cost = 0.0 if left_out is None else self._gain(phrases[left_out])
                if left_out is not None:
                    yield cost, rest
                for phrase in new:
                    key, keys = _key(phrase), list(map(_key, rest))
                    for n in range(max(1, bisect_left(keys, key)), bisect_right(keys, key) + 1):
                        yield cost - self._gain(phrase), [*rest[:n], phrase, *rest[n:]]

    def _gain(self, phrase: Phrase) -> float:
        return self.probabilities.get(phrase, 0.0) - self.threshold

    @cached_property
    def _over(self) -> dict[tuple[int, int], list[Phrase]]:
        """The phrases over each span, but for the root."""
        found: dict[tuple[int, int], list[Phrase]] = {}
        for phrase in self.probabilities:
            if phrase[0] != ROOT:
                found.setdefault(phrase[1:], []).append(phrase)
        return found


def _key(phrase: Phrase) -> tuple[int, int]:
    """Return what phrases in pre-order are sorted by; those over the same words are in any order."""
    return phrase[1], -phrase[2]
