"""Trees whose branches may cross, as in treebanks of German, and their continuous trees.

Branches are made continuous by *raising*, the variant of Boyd (2007) and of the SPMRL 2013 shared task (Seddah et al.
2013): first, what hangs from a virtual root inside another phrase, mostly punctuation, is attached to the lowest node
over both of its neighbours; then, from the lowest phrases up, only the children in the block around the head stay in a
phrase with gaps, and the others are attached to the next node above that covers them without a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import FUNCTIONS, WRAPPERS, bare_label, function_tags
from spacy_incparse.trees.tree import Tree

_head_rules = lru_cache(HeadRules.from_name)


class BadError(Exception):
    """What is no tree, and where: the number of a node, or a line and a column."""

    def __init__(self, place: int, what: str, column: int = 1):
        super().__init__(what)
        self.place, self.column, self.what = place, column, what


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


def tree_of_graph(words: Sequence[str], labels: Sequence[str], parents: Sequence[int], root: int) -> tuple[Tree, int]:
    """Return the continuous tree, and how many nodes were attached elsewhere for it.

    labels: of the words, then of the phrases. parents: of each of them, by number; that of the root does not count.
    Raises BadError if they form no tree with these words.
    """
    n, children = len(words), list[list[int]]([] for _ in labels)
    for word in range(n):  # from left to right, so that children are in the order of their first words
        child, node = word, parents[word]
        while True:
            children[node].append(child)
            if node == root or len(children[node]) > 1:
                break
            child, node = node, parents[node]
    order, parents, n_moved = _preorder(children, root), list(parents), 0
    if len(order) < len(labels):
        lost = min(set(range(n, len(labels))) - set(order), key=lambda node: len(children[node]))
        raise BadError(lost, "is its own ancestor" if children[lost] else "has no words below it")
    if [node for node in order if node < n] != list(range(n)):
        moved = _lowered(children, parents, root, n) if labels[root] in WRAPPERS else set[int]()
        n_moved = len(moved | _raised(children, parents, root, labels, n))
        order = _preorder(children, root)
    sizes = [1] * len(labels)
    for node in reversed(order[1:]):
        sizes[parents[node]] += sizes[node]
    return Tree(TreeArrays.of([labels[node] for node in order], [sizes[node] for node in order], words)), n_moved


def _preorder(children: Sequence[Sequence[int]], root: int) -> list[int]:
    order, waiting = [], [root]
    while waiting:
        order.append(node := waiting.pop())
        waiting += reversed(children[node])
    return order


def _lowered(children: list[list[int]], parents: list[int], root: int, n: int) -> set[int]:
    """Attach children of the root that lie in gaps of others to the lowest node over both neighbours; return them."""
    owners, are_whole, moved, begin = [root] * n, dict[int, bool](), set[int](), 0
    for top in children[root]:
        words = [node for node in _preorder(children, top) if node < n]
        are_whole[top] = max(words) - min(words) + 1 == len(words)
        for word in words:
            owners[word] = top
    while begin < n:
        end = begin
        while end < n and are_whole[owners[end]]:
            end += 1
        if 0 < begin < end < n and owners[begin - 1] == owners[end]:
            above, target = {node := begin - 1}, end
            while node != root:
                above.add(node := parents[node])
            while target not in above:
                target = parents[target]
            for top in dict.fromkeys(owners[begin:end]):
                parents[top] = target
                children[root].remove(top)
                children[target].append(top)
                moved.add(top)
        begin = end + 1
    return moved


def _raised(children: list[list[int]], parents: list[int], root: int, labels: Sequence[str], n: int) -> set[int]:
    """Attach what a gap separates from the head of a phrase to nodes above it; return what is moved."""
    starts, ends, moved = list(range(len(labels))), list(range(1, len(labels) + 1)), set[int]()
    for node in reversed(_preorder(children, root)):
        if node < n:
            continue
        below, blocks = sorted(children[node], key=starts.__getitem__), list[list[int]]()
        for child in below:
            if not blocks or ends[blocks[-1][-1]] < starts[child]:
                blocks.append([])
            blocks[-1].append(child)
        if len(blocks) > 1:  # the head is the child with the edge label HD, or else that of a head table
            own = [child for child in below if child not in moved] or below
            heads = [child for child in own if "HD" in function_tags(labels[child]).split("-")] or [
                own[_head_rules("any").head_index(bare_label(labels[node]), [bare_label(labels[one]) for one in own])]
            ]
            below = next(block for block in blocks if heads[0] in block)
            for child in (child for block in blocks if block is not below for child in block):
                parents[child] = parents[node]
                children[parents[node]].append(child)
                moved.add(child)
        children[node], starts[node], ends[node] = below, starts[below[0]], ends[below[-1]]
    return moved
