"""The candidate trees of a sentence as arrays: labels and words hashed, heads found."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_incparse.linear.hash_map cimport map_find, map_init, map_insert
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.rerank.feature_keys cimport extended, text_value
from spacy_incparse.trees.forest cimport find_parents

from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.rerank.features import is_prepositional
from spacy_incparse.trees.labels import bare_label

cdef enum:
    MANY_LABELS = 1 << 16  # then the table of labels is cleared: files may have any number of them


cdef class PackedTrees:
    """Reads one list of trees after the other; what it learns of labels is kept.

    heads: the `HeadRules`. closed_tags: the tags of closed classes of words.
    """

    def __init__(self, heads, closed_tags):
        self.heads, self.closed_tags = heads, frozenset(closed_tags)
        self._forget_labels()

    def _forget_labels(self):
        self.label_numbers, self.categories = {}, []
        self.label_values.clear()
        self.label_marks.clear()
        map_init(&self.ranks)

    cdef int read(self, list trees) except -1:
        """Replace what was read before. Raises ValueError unless there are trees, all over the same words."""
        if not trees:
            raise ValueError("a list of candidates needs at least one tree")
        all_arrays = [tree.own_arrays for tree in trees]
        words = all_arrays[0].words
        for arrays in all_arrays:
            if arrays.words != words:
                raise ValueError(f"the trees of a list have different words: {words!r:.80} and {arrays.words!r:.80}")
        self._start(words, len(trees))
        for arrays in all_arrays:
            self._read_tree(arrays)
        return self._complete()

    cdef TreeC tree(self, Py_ssize_t k, bint lexicalized) noexcept:
        """Return a view of one tree, until the next list is read; `lexicalized`: with the labels of the second pass."""
        cdef TreeC view
        cdef Py_ssize_t first = self.firsts[k], word = k * self.n_words
        view.n_nodes, view.n_words = self.firsts[k + 1] - self.firsts[k], self.n_words
        view.last_content = self.last_contents[k]
        view.sizes, view.starts = self.nodes.sizes.data() + first, self.nodes.starts.data() + first
        view.ends, view.parents = self.nodes.ends.data() + first, self.nodes.parents.data() + first
        view.heads, view.head_numbers = self.nodes.heads.data() + first, self.nodes.head_numbers.data() + first
        view.head_words, view.marks = self.nodes.head_words.data() + first, self.nodes.marks.data() + first
        view.labels, view.rules = self.nodes.labels.data() + first, self.nodes.rules.data() + first
        if lexicalized:
            view.labels = self.nodes.lexicalized_labels.data() + first
            view.rules = self.nodes.lexicalized_rules.data() + first
        view.leaves, view.tops = self.leaves.data() + word, self.tops.data() + word
        view.tags, view.words = self.tags.data() + word, self.words.data()
        return view

    cdef int _start(self, tuple words, Py_ssize_t n_trees) except -1:
        if len(self.label_numbers) > MANY_LABELS:
            self._forget_labels()
        self.n_trees, self.n_words = n_trees, <int32_t>len(words)
        self.words.clear()
        for word in words:
            self.words.push_back(text_value(word.lower()))
        self.firsts.assign(1, 0)
        self.nodes.numbers.clear()
        self.nodes.sizes.clear()
        self.nodes.starts.clear()
        self.nodes.ends.clear()
        return 0

    cdef int _read_tree(self, arrays) except -1:
        cdef tuple labels = arrays.labels, sizes = arrays.sizes, starts = arrays.starts, ends = arrays.ends
        cdef Py_ssize_t k
        for k in range(len(labels)):
            self.nodes.numbers.push_back(self._number(labels[k]))
            self.nodes.sizes.push_back(<int32_t>sizes[k])
            self.nodes.starts.push_back(<int32_t>starts[k])
            self.nodes.ends.push_back(<int32_t>ends[k])
        self.firsts.push_back(<int32_t>self.nodes.sizes.size())
        return 0

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

    cdef int _complete(self) except -1:
        """Derive all that follows from labels and sizes."""
        cdef size_t n_words = self.n_trees * self.n_words
        cdef Py_ssize_t k
        _resize(&self.nodes, self.nodes.sizes.size())
        self.last_contents.assign(self.n_trees, -1)
        self.leaves.resize(n_words)
        self.tops.resize(n_words)
        self.tags.resize(n_words)
        for k in range(self.n_trees):
            self._find_heads(k)
            self._find_words(k)
            self._find_labels(k)
        return 0

    cdef int _find_heads(self, Py_ssize_t k) except -1:
        """Find the head child of each node of a tree, among the children from left to right."""
        cdef int32_t node, child, rank, best, n
        cdef size_t first = self.firsts[k]
        cdef const int32_t* sizes = self.nodes.sizes.data() + first
        cdef const int32_t* numbers = self.nodes.numbers.data() + first
        for node in range(self.firsts[k + 1] - self.firsts[k]):
            self.nodes.heads[first + node], self.nodes.head_numbers[first + node] = node, 0
            child, best, n = node + 1, -1, 0
            while child < node + sizes[node]:
                rank = self._rank(numbers[node], numbers[child])
                if best < 0 or (rank >> 1) < (best >> 1) or ((rank >> 1) == (best >> 1) and rank & 1):
                    best = rank
                    self.nodes.heads[first + node], self.nodes.head_numbers[first + node] = child, n
                child += sizes[child]
                n += 1
        return 0

    cdef void _find_words(self, Py_ssize_t k) noexcept:
        """Find parents, lexical heads, and what belongs to each word of a tree."""
        cdef TreeC tree = self.tree(k, False)
        cdef int32_t node
        cdef size_t first = self.firsts[k], word = k * self.n_words
        cdef int32_t* parents = self.nodes.parents.data() + first
        cdef int32_t* head_words = self.nodes.head_words.data() + first
        cdef int32_t* tops = self.tops.data() + word
        find_parents(tree.sizes, parents, tree.n_nodes)
        for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parents
            head_words[node] = tree.starts[node] if tree.sizes[node] == 1 else head_words[tree.heads[node]]
            tops[head_words[node]] = node
            self.nodes.marks[first + node] = self.label_marks[self.nodes.numbers[first + node]]
            if tree.sizes[node] == 1:
                self.leaves[word + tree.starts[node]] = node
                self.tags[word + tree.starts[node]] = self.label_values[self.nodes.numbers[first + node]]
                if not tree.marks[node] & PUNCTUATION and self.last_contents[k] < 0:
                    self.last_contents[k] = tree.starts[node]

    cdef void _find_labels(self, Py_ssize_t k) noexcept:
        """Hash the labels and rules of a tree, as they are and for the second pass."""
        cdef TreeC tree = self.tree(k, False)
        cdef size_t first = self.firsts[k]
        cdef uint64_t* labels = self.nodes.labels.data() + first
        cdef uint64_t* lexicalized = self.nodes.lexicalized_labels.data() + first
        cdef int32_t node, head
        for node in range(tree.n_nodes):
            labels[node] = lexicalized[node] = self.label_values[self.nodes.numbers[first + node]]
            head = tree.head_words[node]
            if tree.marks[tree.leaves[head]] & CLOSED:
                lexicalized[node] = extended(extended(0, labels[node]), tree.words[head])
        _find_rules(&tree, labels, self.nodes.rules.data() + first)
        _find_rules(&tree, lexicalized, self.nodes.lexicalized_rules.data() + first)

    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1:
        """Return twice the rank of a child among possible heads, plus one if the last of equal rank wins."""
        cdef uint64_t key = mix64(<uint64_t>parent << 32 | <uint64_t>child)
        cdef int32_t found = map_find(&self.ranks, key)
        if found < 0:
            rank, direction = self.heads.priority(self.categories[parent], self.categories[child])
            found = 2 * <int32_t>rank + <int32_t>(direction < 0)
            map_insert(&self.ranks, key, found)
        return found


cdef void _find_rules(const TreeC* tree, const uint64_t* labels, uint64_t* rules) noexcept nogil:
    """Hash the rule of each phrase: its label and the labels of its children from left to right."""
    cdef int32_t node, parent
    for node in range(tree.n_nodes):
        rules[node] = extended(0, labels[node]) if tree.sizes[node] > 1 else 0
        parent = tree.parents[node]
        if parent >= 0:
            rules[parent] = extended(rules[parent], labels[node])


cdef int _resize(NodesC* nodes, size_t n) except -1:
    nodes.parents.resize(n)
    nodes.heads.resize(n)
    nodes.head_numbers.resize(n)
    nodes.head_words.resize(n)
    nodes.marks.resize(n)
    nodes.labels.resize(n)
    nodes.rules.resize(n)
    nodes.lexicalized_labels.resize(n)
    nodes.lexicalized_rules.resize(n)
    return 0
