"""Trees whose branches may cross, as treebanks of German have them, and their continuous trees.

Branches are made continuous by *raising*, the variant of Boyd (2007, section 2) and of the SPMRL 2013 shared task
(Seddah et al. 2013): first, what hangs from the virtual root inside another phrase, mostly punctuation, is attached to
the lowest node over both of its neighbours; then, from the lowest phrases up, only the children in the block around the
head stay in a phrase with gaps, and the others are attached to the next node above that covers them without a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import FUNCTIONS, WRAPPERS, bare_label, function_tags
from spacy_incparse.trees.tree import Tree

HEAD_FUNCTION = "HD"  # the edge label of heads in NEGRA, TIGER and TueBa-D/Z
NO_EDGE = "--"
_head_rules = lru_cache(HeadRules.from_name)


class NoTreeError(Exception):
    """Words and nodes that are no tree, with the number of one that shows it."""

    def __init__(self, node: int, what: str):
        super().__init__(what)
        self.node, self.what = node, what


@lru_cache(maxsize=10_000)  # labels are few, nodes are many
def with_edge(category: str, edge: str) -> str:
    """Return the label of a node with an edge label: NP-SB; NP if there is none.

    Hyphens in a category, such as R-SIMPX of TueBa-D/Z, become `_` (functions follow hyphens), unless functions of the
    Penn Treebank follow them. A tag such as -LRB- has no functions.
    """
    if category[:1] in ("-", "=", ""):
        return category
    if not all(part in FUNCTIONS or part.isdigit() for part in function_tags(category).split("-") if part):
        category = category.replace("-", "_").replace("=", "_")
    return category if not edge.strip("-_") else f"{category}{'' if edge[0] == '=' else '-'}{edge}"


@lru_cache(maxsize=10_000)
def without_edge(label: str) -> tuple[str, str]:
    """Return the category of a label and what follows it, as an edge label: the inverse of `with_edge`."""
    category = bare_label(label)
    return category, label[len(category) :].removeprefix("-") or NO_EDGE


def tree_of_graph(words: Sequence[str], labels: Sequence[str], parents: Sequence[int], root: int) -> tuple[Tree, int]:
    """Return the continuous tree, and how many nodes were attached elsewhere for it.

    labels: of the words, then of the phrases. parents: of each of them, by number; that of the root does not count.
    Raises NoTreeError if they form no tree with these words.
    """
    n = len(words)
    children: list[list[int]] = [[] for _ in labels]
    for word in range(n):  # from left to right, so that children are in the order of their first words
        child, node = word, parents[word]
        while True:
            children[node].append(child)
            if node == root or len(children[node]) > 1:
                break
            child, node = node, parents[node]
    order = _preorder(children, root)
    if len(order) < len(labels):
        empty = next((node for node in range(n, len(labels)) if not children[node]), -1)
        if empty >= 0:
            raise NoTreeError(empty, "has no words below it")
        raise NoTreeError(min(set(range(n, len(labels))) - set(order)), "is its own ancestor")
    n_moved, parents = 0, list(parents)
    if [node for node in order if node < n] != list(range(n)):
        moved = _lowered(children, parents, root, n) if labels[root] in WRAPPERS else set[int]()
        n_moved = len(moved | _raised(children, parents, root, labels, n))
        order = _preorder(children, root)
    sizes = [1] * len(labels)
    for node in reversed(order[1:]):
        sizes[parents[node]] += sizes[node]
    arrays = TreeArrays.of([labels[node] for node in order], [sizes[node] for node in order], words)
    return Tree(arrays), n_moved


def _preorder(children: Sequence[Sequence[int]], root: int) -> list[int]:
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(children[node])
    return order


def _lowered(children: list[list[int]], parents: list[int], root: int, n: int) -> set[int]:
    """Attach children of the root that lie in gaps of others to the lowest node over both neighbours; return them."""
    owners, moved = [root] * n, set[int]()
    are_whole = dict[int, bool]()
    for top in children[root]:
        words = [node for node in _preorder(children, top) if node < n]
        are_whole[top] = max(words) - min(words) + 1 == len(words)
        for word in words:
            owners[word] = top
    begin = 0
    while begin < n:
        end = begin
        while end < n and are_whole[owners[end]]:
            end += 1
        if 0 < begin < end < n and (target := _lowest_common(parents, begin - 1, end, root)) != root:
            for top in dict.fromkeys(owners[begin:end]):
                parents[top] = target
                children[root].remove(top)
                children[target].append(top)
                moved.add(top)
        begin = end + 1
    return moved


def _lowest_common(parents: Sequence[int], one: int, other: int, root: int) -> int:
    above = {root}
    while one != root:
        one = parents[one]
        above.add(one)
    while other not in above:
        other = parents[other]
    return other


def _raised(children: list[list[int]], parents: list[int], root: int, labels: Sequence[str], n: int) -> set[int]:
    """Attach what a gap separates from the head of a phrase to nodes above it; return what is moved."""
    starts, ends, moved = list(range(len(labels))), list(range(1, len(labels) + 1)), set[int]()
    for node in reversed(_preorder(children, root)):
        if node < n:
            continue
        below = sorted(children[node], key=starts.__getitem__)
        blocks: list[list[int]] = []
        for child in below:
            if not blocks or ends[blocks[-1][-1]] < starts[child]:
                blocks.append([])
            blocks[-1].append(child)
        if len(blocks) > 1:
            head = _head([child for child in below if child not in moved] or below, node, labels)
            below = next(block for block in blocks if head in block)
            for child in (child for block in blocks if block is not below for child in block):
                parents[child] = parents[node]
                children[parents[node]].append(child)
                moved.add(child)
        children[node], starts[node], ends[node] = below, starts[below[0]], ends[below[-1]]
    return moved


def _head(candidates: Sequence[int], node: int, labels: Sequence[str]) -> int:
    """Return the child with the edge label HD, or else that of the head table `any`."""
    for child in candidates:
        if HEAD_FUNCTION in function_tags(labels[child]).split("-"):
            return child
    return candidates[
        _head_rules("any").head_index(bare_label(labels[node]), [bare_label(labels[child]) for child in candidates])
    ]
