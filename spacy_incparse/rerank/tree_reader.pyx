"""Reading trees as numbers, for features of whole trees."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport map_find, map_init, map_insert
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.rerank.families cimport CLOSED, CONJUNCTION, PREPOSITIONAL, PUNCTUATION, TreeC, extended, text_value
from spacy_incparse.trees.forest cimport find_parents

from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.rerank.features import is_prepositional
from spacy_incparse.trees.labels import bare_label

cdef enum:
    MANY_LABELS = 1 << 16  # then the table of labels is cleared: files may have any number of them


cdef class TreeReader:
    def __init__(self, heads, closed_tags):
        self.heads, self.closed_tags = heads, frozenset(closed_tags)
        self._forget_labels()

    def _forget_labels(self):
        self.label_numbers, self.categories = {}, []
        self.label_values.clear()
        self.label_marks.clear()
        map_init(&self.ranks)

    cdef int read(self, arrays, TreeC* tree) except -1:
        """Read a tree whose words are there already, and derive all that follows from labels and sizes."""
        if len(self.label_numbers) > MANY_LABELS:
            self._forget_labels()
        cdef vector[int32_t] numbers = [self._number(label) for label in arrays.labels]
        cdef int32_t node, n = <int32_t>numbers.size(), n_words = <int32_t>tree.words.size()
        tree.n_nodes, tree.n_words, tree.last_content = n, n_words, -1
        tree.sizes, tree.starts, tree.ends = arrays.sizes, arrays.starts, arrays.ends
        tree.parents.resize(n)
        find_parents(tree.sizes.data(), tree.parents.data(), n)
        tree.marks.resize(n)
        tree.labels.resize(n)
        for node in range(n):
            tree.marks[node], tree.labels[node] = self.label_marks[numbers[node]], self.label_values[numbers[node]]
        self._find_heads(numbers.data(), tree)
        tree.head_words.resize(n)
        tree.leaves.resize(n_words)
        tree.tops.resize(n_words)
        tree.tags.resize(n_words)
        for node in range(n - 1, -1, -1):  # children come after their parents
            tree.head_words[node] = tree.starts[node] if tree.sizes[node] == 1 else tree.head_words[tree.heads[node]]
            tree.tops[tree.head_words[node]] = node
            if tree.sizes[node] == 1:
                tree.leaves[tree.starts[node]], tree.tags[tree.starts[node]] = node, tree.labels[node]
                if not tree.marks[node] & PUNCTUATION and tree.last_content < 0:
                    tree.last_content = tree.starts[node]
        find_rules(tree)

    cdef int32_t _number(self, label) except -1:
        """Return the number of a label's category."""
        found = self.label_numbers.get(label)
        if found is not None:
            return found
        category = bare_label(label)
        if category != label:
            found = self.label_numbers[label] = self._number(category)
            return found
        marks = PUNCTUATION * (label in self.heads.punctuation) + CONJUNCTION * (label in CONJUNCTIONS)
        marks += PREPOSITIONAL * is_prepositional(label) + CLOSED * (label in self.closed_tags)
        found = self.label_numbers[label] = len(self.categories)
        self.categories.append(label)
        self.label_values.push_back(text_value(label))
        self.label_marks.push_back(<uint8_t>marks)
        return found

    cdef int _find_heads(self, const int32_t* numbers, TreeC* tree) except -1:
        """Find the head child of each node, among the children from left to right; numbers: those of the labels."""
        cdef int32_t node, child, rank, best, n
        tree.heads.resize(tree.n_nodes)
        tree.head_numbers.assign(tree.n_nodes, 0)
        for node in range(tree.n_nodes):
            tree.heads[node], child, best, n = node, node + 1, -1, 0
            while child < node + tree.sizes[node]:
                rank = self._rank(numbers[node], numbers[child])
                if best < 0 or (rank >> 1) < (best >> 1) or ((rank >> 1) == (best >> 1) and rank & 1):
                    best, tree.heads[node], tree.head_numbers[node] = rank, child, n
                child += tree.sizes[child]
                n += 1

    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1:
        """Return twice the rank of a child among possible heads, plus one if the last of equal rank wins."""
        cdef uint64_t key = mix64(<uint64_t>parent << 32 | <uint64_t>child)
        cdef int32_t found = map_find(&self.ranks, key)
        if found < 0:
            rank, direction = self.heads.priority(self.categories[parent], self.categories[child])
            found = 2 * <int32_t>rank + <int32_t>(direction < 0)
            map_insert(&self.ranks, key, found)
        return found


cdef int find_rules(TreeC* tree) except -1 nogil:
    """Hash the rule of each phrase: its label and the labels of its children from left to right."""
    cdef int32_t node, parent
    tree.rules.resize(tree.n_nodes)
    for node in range(tree.n_nodes):
        tree.rules[node] = extended(0, tree.labels[node]) if tree.sizes[node] > 1 else 0
        parent = tree.parents[node]
        if parent >= 0:
            tree.rules[parent] = extended(tree.rules[parent], tree.labels[node])
