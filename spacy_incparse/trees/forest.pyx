"""Trees packed into contiguous arrays of integers, for pattern matching."""

from cpython.dict cimport PyDict_GetItem
from cpython.long cimport PyLong_AsLong
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree, TreeArrays


cdef class Symbols:
    """The labels and words of one or more forests, numbered."""

    def __init__(self):
        self.label_numbers, self.word_numbers = {}, {}
        self.labels, self.words = [], []

    def __len__(self):
        return len(self.labels) + len(self.words)

    cdef int32_t label(self, text) except -1:
        """Return the symbol of a label."""
        cdef PyObject* found = PyDict_GetItem(self.label_numbers, text)
        if found != NULL:
            return 2 * <int32_t>PyLong_AsLong(<object>found)
        cdef int32_t new = len(self.labels), category
        self.label_numbers[text] = new
        self.labels.append(text)
        self.categories.push_back(2 * new)
        bare = bare_label(text)
        if bare != text:
            category = self.label(bare)
            self.categories[new] = category
        return 2 * new

    cdef int32_t word(self, text) except -1:
        """Return the symbol of a word."""
        cdef PyObject* found = PyDict_GetItem(self.word_numbers, text)
        if found != NULL:
            return 2 * <int32_t>PyLong_AsLong(<object>found) + 1
        self.word_numbers[text] = len(self.words)
        self.words.append(text)
        return 2 * <int32_t>len(self.words) - 1


cdef class Forest:
    """Many trees in one block of memory, about 12 bytes per node.

    trees: Tree objects; each is treated as a root, even if it is part of a larger tree. They are kept, and matches
        are nodes of these trees.
    symbols: shared by forests that are searched for the same patterns, so that each label is tested only once.

    If trees of a file were left out, `places` has the number in the file, from 0, of each tree in the forest.
    """

    def __init__(self, trees=(), *, Symbols symbols=None):
        self.symbols = Symbols() if symbols is None else symbols
        self.firsts.push_back(0)
        self.trees = []
        for tree in trees:
            self.add(tree)

    def add(self, tree):
        """Append a tree."""
        if self.n_searches:
            raise RuntimeError("the forest is being searched in another thread: nothing can be added to it now")
        pack(tree, self.symbols, &self.nodes)
        self.trees.append(tree)
        self.close_tree()

    def __len__(self):
        return self.firsts.size() - 1

    @property
    def n_nodes(self):
        """Number of phrases, POS nodes and words of all trees."""
        return self.nodes.sizes.size()

    def tree(self, int64_t i):
        """Return tree number i, from 0."""
        if not 0 <= i < <int64_t>self.firsts.size() - 1:
            raise IndexError(f"no tree {i} in a forest of {len(self)}")
        if self.trees[i] is None:
            self.trees[i] = self._unpack(i)
        return self.trees[i]

    def place(self, int64_t i):
        """Return the number of tree i in its file; both count from 0."""
        return i if self.places is None else self.places[i]

    def __getitem__(self, int64_t i):
        return self.tree(i + len(self) if i < 0 else i)

    def __reduce__(self):
        return Forest, ([self.tree(i) for i in range(len(self))],)

    cdef void close_tree(self):
        """Mark the end of a tree, made of the nodes added since the last call."""
        self.firsts.push_back(self.nodes.sizes.size())

    def _unpack(self, int64_t i):
        cdef int64_t k
        cdef int32_t symbol, size, n_words = 0
        cdef vector[int32_t] words_before   # at each node, and after the last
        for k in range(self.firsts[i], self.firsts[i + 1]):
            words_before.push_back(n_words)
            n_words += self.nodes.symbols[k] & 1
        words_before.push_back(n_words)
        labels, sizes, words = [], [], []
        for k in range(self.firsts[i], self.firsts[i + 1]):
            symbol, size = self.nodes.symbols[k], self.nodes.sizes[k]
            if symbol & 1:
                words.append(self.symbols.words[symbol >> 1])
                continue
            labels.append(self.symbols.labels[symbol >> 1])
            n_words = words_before[k - self.firsts[i] + size] - words_before[k - self.firsts[i]]
            sizes.append(size - n_words)
        return Tree(TreeArrays.of(labels, sizes, words))


cdef int pack(tree, Symbols symbols, NodesC* nodes) except -1:
    """Add the subtree under a node, with its words; the node becomes the root."""
    arrays = tree.arrays
    cdef tuple labels = arrays.labels, sizes = arrays.sizes, words = arrays.words
    cdef tuple starts = arrays.starts, ends = arrays.ends
    cdef int32_t first = tree.index, i, size, n_words, parent = -1, k = 0
    cdef int32_t word = starts[first], behind = first + <int32_t>sizes[first]
    cdef size_t begin = nodes.sizes.size(), n = begin + <size_t>(behind - first + <int32_t>ends[first] - word)
    nodes.symbols.resize(n)
    nodes.sizes.resize(n)
    nodes.parents.resize(n)
    cdef int32_t* new_symbols = nodes.symbols.data() + begin
    cdef int32_t* new_sizes = nodes.sizes.data() + begin
    cdef int32_t* new_parents = nodes.parents.data() + begin
    for i in range(first, behind):
        new_symbols[k], new_parents[k] = symbols.label(labels[i]), parent
        size = sizes[i]
        if size > 1:
            n_words = <int32_t>ends[i] - <int32_t>starts[i]
            new_sizes[k] = size + n_words
            parent = k
            k += 1
            continue
        new_sizes[k], new_sizes[k + 1] = 2, 1
        new_symbols[k + 1], new_parents[k + 1] = symbols.word(words[word]), k
        word += 1
        k += 2
        while parent >= 0 and parent + new_sizes[parent] == k:
            parent = new_parents[parent]
    return 0


cdef void find_parents(const int32_t* sizes, int32_t* parents, int32_t n) noexcept nogil:
    """Derive the parents of a tree's nodes from the subtree sizes."""
    cdef int32_t k, last, parent = -1
    for k in range(n):
        parents[k] = parent
        if sizes[k] > 1:
            parent = k
            continue
        last = k
        while parent >= 0 and parent + sizes[parent] == last + 1:
            parent = parents[parent]
