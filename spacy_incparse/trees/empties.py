"""What a treebank says beside the phrases on words: function tags and empty categories.

The Penn Treebank writes both into the brackets: the NP-SBJ-1 of `(S (NP-SBJ-1 She) (VP wants (S (NP-SBJ (-NONE- *-1))
(VP to (VP go)))))` is a subject, and the antecedent of the one without words. On a Doc, leaf i is word i, so a tree has
them beside its nodes, as an `Annotation`. `with_empties` writes them into the tree, `without_empties` takes them out.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, compress

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.tokens import escape_brackets, escape_label
from spacy_incparse.trees.arrays import ArraysBuilder, TreeArrays, children, closings, compress_nodes
from spacy_incparse.trees.brackets import parse_one
from spacy_incparse.trees.labels import ROOT, TRACE_TAG, WRAPPERS, bare_label

_INDEXED = re.compile(r"(.+?)(?:-(\d+))+", re.DOTALL)  # the word of a trace
_INDEX = re.compile(r"-(\d+)(?=[-=]|$)")  # in a label; a gap index, such as =1, is none


@dataclass(frozen=True)
class Empty:
    """An empty category: phrases without words, and where they stand in the tree of the phrases that have some.

    An empty category may be the antecedent of another, as the trace of a relative pronoun is that of a passive.
    """

    parent: int  # pre-order number of the phrase
    position: int  # number of its children before the empty category
    fragment: str  # brackets without indices, such as "(NP-SBJ (-NONE- *))" or "(SBAR (-NONE- 0) (S (-NONE- *T*)))"
    antecedent: int | None = None  # pre-order number of the node that the last leaf refers to
    chain: int | None = None  # or the number of another empty category of the tree
    layer: int = (
        0  # 1: in a phrase that has only `parent` beside it, with its label, as in (NP (NP it) (S *EXP*)); 2 ...
    )

    @property
    def type(self) -> str:
        """What the last leaf is: `*`, `*T*`, `0`, `*U*`, `*EXP*`, ..."""
        return fragment_arrays(self.fragment).words[-1]

    @property
    def label(self) -> str:
        """The label of the outermost phrase, with its functions; `-NONE-` if there is only the leaf."""
        return fragment_arrays(self.fragment).labels[0]


@dataclass(frozen=True)
class Annotation:
    """The functions and empty categories of a tree.

    The empty categories are in the order of parents, positions and layers. Empty categories of the same place stand
    from left to right.
    """

    functions: tuple[tuple[str, ...], ...] = ()  # of each node; (): those of the labels
    empties: tuple[Empty, ...] = ()

    def below(self, node: int, behind: int) -> Annotation:
        """Return what is about the nodes from `node` up to `behind`; antecedents elsewhere are dropped."""
        kept = [number for number, one in enumerate(self.empties) if node <= one.parent < behind]
        new = {number: i for i, number in enumerate(kept)}
        inside = {old: old - node for old in range(node, behind)} if kept else {}
        empties = (_renumbered(self.empties[number], inside, new) for number in kept)
        return Annotation(self.functions[node:behind], tuple(empties))

    def overt(self, number: int) -> int | None:
        """Return the node at the end of the chain of antecedents of an empty category; None if there is none."""
        one = self.empties[number]
        while one.chain is not None:
            one = self.empties[one.chain]
        return one.antecedent


def _renumbered(one: Empty, nodes: Mapping[int, int], empties: Mapping[int, int]) -> Empty:
    antecedent = None if one.antecedent is None else nodes.get(one.antecedent)
    chain = None if one.chain is None else empties.get(one.chain)
    return replace(one, parent=nodes[one.parent], antecedent=antecedent, chain=chain)


def _place(one: Empty) -> tuple[int, int, int]:
    return one.parent, one.position, one.layer


@lru_cache(maxsize=10_000)  # fragments are few
def fragment_arrays(fragment: str) -> TreeArrays:
    """Return the fragment of an `Empty` as a tree. Raises IncparseError unless it is a tree of traces."""
    try:
        arrays = parse_one(fragment)
    except TreebankError:
        raise IncparseError(f"the empty category {fragment!r:.60} is no tree") from None
    if any(arrays.labels[leaf] != TRACE_TAG for leaf in arrays.leaves):
        raise IncparseError(f"the empty category {fragment!r:.60} has other words than traces")
    return arrays


def annotated(arrays: TreeArrays, functions: Sequence[tuple[str, ...]], empties: Sequence[Empty]) -> TreeArrays:
    """Return the tree with these functions, a set for each node or none at all, and these empties, in any order.

    Raises IncparseError if one of them does not fit the tree.
    """
    if functions and len(functions) != len(arrays.sizes):
        raise IncparseError(f"there are functions of {len(functions)} nodes, but the tree has {len(arrays.sizes)}")
    for one in empties:
        _check(arrays, one, empties)
    order = sorted(range(len(empties)), key=lambda number: _place(empties[number]))
    new = {number: i for i, number in enumerate(order)}
    nodes = {node: node for one in empties for node in (one.parent, one.antecedent) if node is not None}
    in_order = tuple(_renumbered(empties[number], nodes, new) for number in order)
    return replace(arrays, annotation=Annotation(tuple(functions), in_order))


def _check(arrays: TreeArrays, one: Empty, empties: Sequence[Empty]) -> None:
    what, n = f"the empty category {one.fragment!r:.60}", len(arrays.sizes)
    fragment_arrays(one.fragment)
    if not 0 <= one.parent < n or arrays.sizes[one.parent] == 1:
        raise IncparseError(f"{what} is in node {one.parent}, which is no phrase of the tree")
    n_children = sum(1 for _ in children(arrays, one.parent))
    if one.layer < 0 or one.position not in ((0, n_children) if one.layer else range(n_children + 1)):
        raise IncparseError(f"{what} is at place {one.position} of a phrase with {n_children} children")
    if one.antecedent is not None and (one.chain is not None or not 0 <= one.antecedent < n):
        raise IncparseError(f"{what} has the antecedent {one.antecedent}; the tree has the nodes 0 to {n - 1}")
    chain, n_links = one.chain, 0
    while chain is not None:
        n_links += 1
        if not 0 <= chain < len(empties) or empties[chain].label == TRACE_TAG or n_links > len(empties):
            raise IncparseError(f"{what} refers to the empty category {chain}, which cannot be its antecedent")
        chain = empties[chain].chain


def with_empties(arrays: TreeArrays) -> TreeArrays:
    """Return the tree as the Penn Treebank prints it: functions in the labels, traces as leaves, with co-indices."""
    if arrays.annotation is None:
        return arrays
    empties, sizes = arrays.annotation.empties, arrays.sizes
    places: dict[tuple[int, int, int], list[int]] = {}
    layers: dict[int, int] = {}
    for number, one in enumerate(empties):
        places.setdefault(_place(one), []).append(number)
        layers[one.parent] = max(layers.get(one.parent, 0), one.layer)
    antecedents = sorted({(one.antecedent, one.chain) for one in empties} - {(None, None)}, key=str)
    indices = {antecedent: f"-{i}" for i, antecedent in enumerate(antecedents, start=1)}
    builder, words = ArraysBuilder(), iter(arrays.words)

    def add(node: int, position: int, layer: int) -> None:
        for number in places.get((node, position, layer), ()):
            one, fragment = empties[number], fragment_arrays(empties[number].fragment)
            last = len(fragment.sizes) - 1
            for i, n_closed in enumerate(closings(fragment, 0)):
                label = fragment.labels[i] + (indices.get((None, number), "") if i == 0 else "")
                if fragment.sizes[i] > 1:
                    builder.open(label)
                    continue
                index = indices.get((one.antecedent, one.chain), "") if i == last else ""
                builder.leaf(label, fragment.words[fragment.starts[i]] + index)
                for _ in range(n_closed - 1):
                    builder.close()

    path: list[list[int]] = []  # the open phrases, each with the number of its children so far
    for node, size in enumerate(sizes):
        label = arrays.full_label(node) + indices.get((node, None), "")
        if size > 1:
            for layer in range(layers.get(node, 0), -1, -1):
                builder.open(label)
                add(node, 0, layer)
                label = bare_label(label)
            path.append([node, 0])
            continue
        builder.leaf(label, next(words))
        while path:
            path[-1][1] += 1
            top, n_children = path[-1]
            add(top, n_children, 0)
            if top + sizes[top] > node + 1:
                break
            path.pop()
            builder.close()
            for layer in range(1, layers.get(top, 0) + 1):
                add(top, n_children, layer)
                builder.close()
    return builder.arrays()


def without_empties(arrays: TreeArrays, *, standard: bool = False) -> TreeArrays | None:
    """Return the tree of the phrases with words, labelled with categories, and all else as its `Annotation`.

    None if there are no words. The inverse of `with_empties`. A phrase that has nothing but one of the same category
    beside the empties that go is merged with it. standard: also do what `treebanks.reader.STANDARD` does with wrappers
    and with other phrases over one of the same category.

    An index on a trace refers to the phrase with that index. Where no trace has one (CRAFT), the nodes with the same
    index are a chain, and the antecedent of an empty one is the nearest that c-commands it, or else one with words.
    Indices of gapping (`=1`) and of phrases inside a fragment are dropped.
    """
    removal = _Removal(with_empties(arrays), standard)
    return removal.result() if removal.has_words else None


def printed(arrays: TreeArrays) -> tuple[TreeArrays, Sequence[int]]:
    """Return the tree of `with_empties`, and for each of its nodes the node of `arrays` that it is, or is in."""
    whole = with_empties(arrays)
    removal = _Removal(whole, standard=False)
    removal.result()
    return whole, removal.homes


def co_indexed(arrays: TreeArrays) -> list[tuple[int, int]]:
    """Return the traces among the leaves of a tree as the Penn Treebank prints it, each with the node of its index."""
    nodes = {found[1]: node for node, label in enumerate(arrays.labels) if (found := _INDEX.search(label, 1))}
    pairs = []
    for leaf in arrays.leaves:
        found = _INDEXED.fullmatch(arrays.words[arrays.starts[leaf]]) if arrays.labels[leaf] == TRACE_TAG else None
        if found and found[2] in nodes:
            pairs.append((leaf, nodes[found[2]]))
    return pairs


class _Removal:
    """Takes the empties out of a tree. `old` numbers count its nodes, `new` ones those of the result."""

    def __init__(self, arrays: TreeArrays, standard: bool):
        self._arrays, self._standard = arrays, standard
        sizes, parents = arrays.sizes, arrays.parents
        self._labels = [bare_label(label) for label in arrays.labels]
        is_word = (size == 1 and label != TRACE_TAG for size, label in zip(sizes, arrays.labels, strict=True))
        n_words = list(accumulate(is_word, initial=0))
        self._has_words = [n_words[old + size] > n_words[old] for old, size in enumerate(sizes)]
        self.has_words = self._has_words[0]
        self._fragments = [
            old for old, has in enumerate(self._has_words) if old and not has and self._has_words[parents[old]]
        ]
        self._holders = {parents[old] for old in self._fragments}
        self.homes = [0] * len(sizes)  # old node -> the new one that it has become part of
        self._parts: dict[int, list[int]] = {}  # new node -> the old ones merged into it, from the outside in
        self._children: dict[int, list[int]] = {}  # new node -> its children, as old nodes

    def result(self) -> TreeArrays:
        """Return the tree with its annotation."""
        arrays, kept = self._arrays, self._kept()
        _, kept_sizes = compress_nodes(self._labels, arrays.sizes, kept)
        labels = [ROOT] if self._standard else []
        is_whole, before, n_before = list(kept), -1, -1
        for old, keep in enumerate(kept):
            above = self.homes[arrays.parents[old]] if old else 0
            if keep and self._is_doubled(before, old) and kept_sizes[n_before] == kept_sizes[n_before + 1] + 1:
                is_whole[old] = False
                self._parts[above].append(old)
            elif keep:
                if labels:
                    self._children.setdefault(above, []).append(old)
                above = len(labels)
                labels.append(self._labels[old])
                self._parts[above] = [old]
            if keep:
                before, n_before = old, n_before + 1
            self.homes[old] = above
        _, sizes = compress_nodes(self._labels, arrays.sizes, is_whole)
        sizes = [len(sizes) + 1, *sizes] if self._standard else sizes
        functions = [self._functions(new) for new in range(len(labels))]
        words = [arrays.words[arrays.starts[old]] for old in arrays.leaves if self._has_words[old]]
        return annotated(TreeArrays.of(labels, sizes, words), functions, self._empties())

    def _kept(self) -> list[bool]:
        """Return which nodes stay, if phrases with the same label are not merged."""
        kept, sizes, labels = list(self._has_words), self._arrays.sizes, self._labels
        if self._standard:
            nodes = list(compress(range(len(kept)), kept))
            n_before = list(accumulate(kept, initial=0))
            n_wrappers = 0
            for old in nodes:
                is_over_all = n_before[old + sizes[old]] == len(nodes) and n_before[old] == n_wrappers
                if labels[old] not in WRAPPERS or sizes[old] == 1 or not is_over_all:
                    break
                n_wrappers += 1
            for number, old in enumerate(nodes):
                kept[old] = number >= n_wrappers and (sizes[old] == 1 or labels[old] not in ("", ROOT))
        return kept

    def _is_doubled(self, before: int, old: int) -> bool:
        is_phrase = before >= 0 and self._arrays.sizes[old] > 1
        return is_phrase and self._labels[before] == self._labels[old] and (self._standard or before in self._holders)

    def _functions(self, new: int) -> tuple[str, ...]:
        tags = (tag for old in self._parts.get(new, ()) for tag in self._arrays.functions_of(old))
        return tuple(dict.fromkeys(tags))

    def _empties(self) -> list[Empty]:
        inside = {
            old: number
            for number, first in enumerate(self._fragments)
            for old in range(first, first + self._arrays.sizes[first])
        }
        empties = []
        for old, found in zip(self._fragments, self._antecedents(inside), strict=True):
            above = self._arrays.parents[old]
            parent = self.homes[above]
            holders = [part for part in self._parts.get(parent, ())[:-1] if part in self._holders]
            layer = len(holders) - holders.index(above) if above in holders else 0
            position = bisect(self._children[parent], old)
            chain = None if found is None else inside.get(found)
            antecedent = None if found is None or chain is not None else self.homes[found]
            empties.append(Empty(parent, position, self._fragment(old), antecedent, chain, layer))
        return _without_circles(empties)

    def _fragment(self, first: int) -> str:
        """Return the brackets of a subtree of traces, without indices."""
        arrays, pieces = self._arrays, []
        for old, n_closed in enumerate(closings(arrays, first), start=first):
            label = "-".join((self._labels[old], *arrays.functions_of(old)))
            word = f" {escape_brackets(self._word(old)[0])}" if arrays.sizes[old] == 1 else ""
            pieces.append(f"({escape_label(label)}{word}{')' * n_closed}")
        return " ".join(pieces)

    def _word(self, leaf: int) -> tuple[str, str | None]:
        """Return the word of a trace without its index, and the index."""
        word = self._arrays.words[self._arrays.starts[leaf]]
        found = _INDEXED.fullmatch(word)
        return (found[1], found[2]) if found else (word, None)

    def _antecedents(self, inside: Mapping[int, int]) -> list[int | None]:
        """Return the antecedent of each fragment, as an old node."""
        arrays = self._arrays
        by_index: dict[str, list[int]] = {}
        for old, label in enumerate(arrays.labels):
            if found := _INDEX.search(label, len(self._labels[old])):
                by_index.setdefault(found[1], []).append(old)
        leaves = [leaf for leaf in arrays.leaves if not self._has_words[leaf]]
        have_indices = any(self._word(leaf)[1] for leaf in leaves)
        antecedents = []
        for number, first in enumerate(self._fragments):
            nodes = range(first, first + arrays.sizes[first])
            if have_indices:
                indices = [self._word(old)[1] for old in nodes if arrays.sizes[old] == 1]
            else:
                indices = [index for index, olds in by_index.items() if not set(olds).isdisjoint(nodes)]
            index = next((index for index in reversed(indices) if index), "")
            others = [old for old in by_index.get(index, ()) if inside.get(old) != number]
            above = {old: arrays.parents[old] for old in others if old}
            commanding = [
                old for old, over in above.items()
                if over < first < over + arrays.sizes[over] and not old < first < old + arrays.sizes[old]
            ]  # fmt: skip
            possible = others if have_indices else [old for old in others if self._has_words[old]]
            if not have_indices:
                commanding = [old for old in commanding if self._has_words[old] or old < first]
            nearest = max(commanding, key=lambda old: (above[old], -abs(old - first)), default=None)
            antecedents.append(next(iter(possible), None) if nearest is None else nearest)
        return antecedents


def _without_circles(empties: list[Empty]) -> list[Empty]:
    """Return the empties without an antecedent where these refer to each other in a circle."""
    for number, one in enumerate(empties):
        seen, chain = {number}, one.chain
        while chain is not None and chain not in seen:
            seen.add(chain)
            chain = empties[chain].chain
        if chain is not None:
            empties[number] = replace(one, chain=None)
    return empties
