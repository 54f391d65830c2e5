"""The content heads of a tree: who governs whom in each phrase, with coordinations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.trees.arrays import TreeArrays, children
from spacy_incparse.trees.labels import bare_label

CONJUNCT, CONJUNCTION = "conj", "cc"


class Skeleton:
    """The heads of a tree by the head rules of a language table, as Universal Dependencies have them: content words.

    A copula depends on its predicate, an auxiliary on its verb, a preposition on its noun, and the first conjunct is
    the head of a coordination. All lists have an entry for each node in pre-order.

    sorts: the category of a phrase, or what `head_functions` has for its function; the class of a word. heads: the
    child that is the head, the node itself at a word. governors: the sibling that a node depends on; -1 for a head
    child. kinds: "conj" for a conjunct, "cc" for a conjunction, else "". words: the word that is the head.
    """

    def __init__(self, arrays: TreeArrays, table: LanguageTable):
        self.arrays, self.table = arrays, table
        n = len(arrays.sizes)
        self.categories = [bare_label(label) for label in arrays.labels]
        self.children = [list(children(arrays, node)) if arrays.sizes[node] > 1 else [] for node in range(n)]
        self.functions = [arrays.functions_of(node) for node in range(n)]
        self.is_existential = [False] * n
        self.sorts = self._sorts()
        self.heads, self.governors, self.kinds = list(range(n)), [-1] * n, [""] * n
        for node, nodes in enumerate(self.children):
            if nodes:
                head = self._joined(node, nodes)
                self.heads[node] = head
                self.governors[head] = -1
        self.words = list(arrays.starts)
        for node in range(n - 1, -1, -1):  # children come after their parents
            self.words[node] = self.words[self.heads[node]] if self.children[node] else arrays.starts[node]

    def is_a(self, node: int, kind: str) -> bool:
        """Return whether the category of a node is in one of the sets of the table."""
        return self.categories[node] in self.table.categories[kind]

    def has_word(self, node: int, kind: str) -> bool:
        """Return whether the head of a node is in one of the table's lists of words."""
        return self.table.has_word(kind, self.arrays.words[self.words[node]])

    def first_tag(self, node: int) -> str:
        """Return the tag of the first word below a node."""
        return self.arrays.labels[self.arrays.leaves[self.arrays.starts[node]]]

    def _sorts(self) -> list[str]:
        arrays, table, sorts = self.arrays, self.table, list[str]()
        for node, category in enumerate(self.categories):
            above, sort = arrays.parents[node], category
            is_below = above >= 0 and self.is_existential[above]
            if not self.children[node]:
                sort = table.word_class(category, arrays.words[arrays.starts[node]])
                self.is_existential[node] = is_below and sort == "BE"
                sort = category if self.is_existential[node] else sort  # it is no copula
            elif above >= 0 and self.is_a(above, "clausal") and not self.is_a(node, "clausal"):
                named = (table.head_functions[tag] for tag in self.functions[node] if tag in table.head_functions)
                sort = next(named, category)
            if self.children[node]:
                words = [one for one in self.children[node] if arrays.ends[one] == arrays.starts[one] + 1]
                has_there = any(self.first_tag(one) in table.categories["existential"] for one in words)
                self.is_existential[node] = has_there or (is_below and self.is_a(node, "verb_phrase"))
            sorts.append(sort)
        return sorts

    def _joined(self, node: int, nodes: Sequence[int]) -> int:
        """Set the governors of the children of a phrase, and return its head."""
        names = [self.sorts[one] for one in nodes]
        head = nodes[self._head_of(node, nodes)]
        for one in nodes:
            self.governors[one] = head
        if self.is_a(node, "nominal"):
            self._join_compounds(nodes, names, head)
        middle = [i for i in range(1, len(nodes) - 1) if self.is_a(nodes[i], "conjunction")]
        if not middle:
            return head
        groups = self._conjuncts(node, nodes, names, head, middle)
        if len(groups) > 1:
            return self._coordinated(node, nodes, names, groups)
        for i in middle:
            self._join_words(nodes, names, head, i)
        return head

    def _head_of(self, node: int, nodes: Sequence[int]) -> int:
        """Return the index of the head among some children of a phrase; names have their head first."""
        names = [self.sorts[one] for one in nodes]
        found = first = self.table.heads.head_index(self.categories[node], names)
        is_name = self.table.categories["name"]
        while first and names[first] in is_name and names[first - 1] in is_name:
            first -= 1
        ends_common = self.table.has_word("name_ends", self.arrays.words[self.arrays.starts[nodes[found]]])
        is_described = any(name in self.table.categories["describing"] for name in names[:first])
        return found if ends_common or is_described else first

    def _join_compounds(self, nodes: Sequence[int], names: Sequence[str], head: int) -> None:
        nouns = self.table.categories["common_noun"]
        for i, (one, name) in enumerate(zip(nodes[:-2], names[:-2], strict=True)):
            if one == head:
                continue
            if self.is_a(nodes[i + 1], "hyphen"):
                self.governors[one] = nodes[i + 2]
            elif name in nouns and names[i + 1] in nouns and nodes[i + 1] != head:
                self.governors[one] = nodes[i + 1]

    def _are_alike(self, name: str, other: str) -> bool:
        return name == other or any(name in labels and other in labels for labels in self.table.alike)

    def _conjuncts(
        self, node: int, nodes: Sequence[int], names: Sequence[str], head: int, middle: Sequence[int]
    ) -> list[list[int]]:
        """Return the indices of children between conjunctions and punctuation, in groups that can be conjuncts."""
        punctuation, sort = self.table.heads.punctuation, self.sorts[head]
        is_mixed = self.is_a(node, "mixed")
        separates = [i in middle or name in punctuation for i, name in enumerate(names)]
        can_be = [not separates[i] and (is_mixed or self._are_alike(sort, name)) for i, name in enumerate(names)]
        groups: list[list[int]] = [[]]
        for is_between, indices in groupby(range(len(nodes)), key=separates.__getitem__):
            if not is_between:
                groups[-1] += indices
            elif any(can_be[i] for i in groups[-1]):
                groups.append([])
        if len(groups) > 1 and not any(can_be[i] for i in groups[-1]):
            last = groups.pop()
            groups[-1] += last
        return groups

    def _coordinated(
        self, node: int, nodes: Sequence[int], names: Sequence[str], groups: Sequence[Sequence[int]]
    ) -> int:
        heads = []
        for group in groups:
            heads.append(group[self._head_of(node, [nodes[i] for i in group])])
            for i in group:
                self.governors[nodes[i]] = nodes[heads[-1]]
        first = nodes[heads[0]]
        for i in heads[1:]:
            self.governors[nodes[i]], self.kinds[nodes[i]] = first, CONJUNCT
        grouped = {i for group in groups for i in group}
        for i in range(len(nodes)):
            if i not in grouped:
                after = (nodes[top] for group, top in zip(groups, heads, strict=True) if group[0] > i)
                self.governors[nodes[i]] = next(after, first)
                self.kinds[nodes[i]] = CONJUNCTION if self.is_a(nodes[i], "conjunction") else ""
        return first

    def _join_words(self, nodes: Sequence[int], names: Sequence[str], head: int, i: int) -> None:
        """Coordinate what is beside a conjunction, as in "big and small dogs", where the head of the phrase is not."""
        punctuation, before, after = self.table.heads.punctuation, i - 1, i + 1
        while after < len(nodes) - 1 and names[after] in punctuation:
            after += 1
        while before and names[before] in punctuation:
            before -= 1
        self.kinds[nodes[i]] = CONJUNCTION
        self.governors[nodes[i]] = nodes[after] if nodes[after] != head else head
        if nodes[after] != head and self._are_alike(names[before], names[after]):
            first = before
            while first >= 2 and names[first - 1] in punctuation and names[first - 2] == names[before]:
                first -= 2
            for other in (*range(first + 2, i, 2), after):
                self.governors[nodes[other]], self.kinds[nodes[other]] = nodes[first], CONJUNCT
