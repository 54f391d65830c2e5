"""Trees packed into arrays of integers, all of them side by side, for patterns to be matched on."""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree, TreeArrays


cdef class Symbols:
    """The labels and words of one or more forests, each with a number."""

    def __init__(self):
        self.label_numbers, self.word_numbers = {}, {}
        self.labels, self.words = [], []

    def __len__(self):
        return len(self.labels) + len(self.words)

    cdef int32_t label(self, text) except -1:
        """Give the symbol of a label."""
        number = self.label_numbers.get(text)
        if number is not None:
            return 2 * <int32_t>number
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
        """Give the symbol of a word."""
        number = self.word_numbers.get(text)
        if number is None:
            number = self.word_numbers[text] = len(self.words)
            self.words.append(text)
        return 2 * <int32_t>number + 1


cdef class Forest:
    """Many trees in one piece of memory, about 12 bytes a node.

    trees: Tree objects; each is taken as a root, also where it is a part of a larger tree. They are kept, so that
        matches are nodes of theirs.
    symbols: shared by forests that are searched for the same patterns, so that no label is looked at twice.
    """

    def __init__(self, trees=(), *, Symbols symbols=None):
        self.symbols = Symbols() if symbols is None else symbols
        self.firsts.push_back(0)
        self.trees = []
        for tree in trees:
            self.add(tree)

    def add(self, tree):
        """Add a tree behind the others."""
        if self.n_searches:
            raise RuntimeError("the forest is being searched in another thread: nothing can be added to it now")
        pack(tree, self.symbols, &self.nodes)
        self.trees.append(tree)
        self.close_tree()

    def __len__(self):
        return self.firsts.size() - 1

    @property
    def n_nodes(self):
        """The number of phrases, POS nodes and words of all trees."""
        return self.nodes.sizes.size()

    def tree(self, int64_t i):
        """Give tree number i, from 0."""
        if not 0 <= i < <int64_t>self.firsts.size() - 1:
            raise IndexError(f"no tree {i} in a forest of {len(self)}")
        if self.trees[i] is None:
            self.trees[i] = self._unpack(i)
        return self.trees[i]

    def __getitem__(self, int64_t i):
        return self.tree(i + len(self) if i < 0 else i)

    def __reduce__(self):
        return Forest, ([self.tree(i) for i in range(len(self))],)

    cdef void close_tree(self):
        """Note that the nodes that have been added are a tree."""
        self.firsts.push_back(self.nodes.sizes.size())

    def _unpack(self, int64_t i):
        cdef int64_t k
        cdef int32_t symbol, size, n_words = 0
        cdef vector[int32_t] words_before   # at each node, and behind the last
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
    """Add the nodes from a node of a tree down, with their words; the node is the root of what is added."""
    arrays = tree.arrays
    cdef tuple labels = arrays.labels, sizes = arrays.sizes, words = arrays.words
    cdef int32_t first = tree.index, i, size, number
    cdef int32_t behind = first + <int32_t>sizes[first], word = arrays.starts[first]
    cdef size_t begin = nodes.sizes.size(), k
    cdef dict label_numbers = symbols.label_numbers, word_numbers = symbols.word_numbers
    cdef vector[int32_t] ends, path   # of the open phrases: their last node in the tree, and their node here
    for i in range(first, behind):
        found = label_numbers.get(labels[i])
        nodes.symbols.push_back(symbols.label(labels[i]) if found is None else 2 * <int32_t>found)
        size = sizes[i]
        if size > 1:
            path.push_back(nodes.sizes.size())
            ends.push_back(i + size - 1)
            nodes.sizes.push_back(0)
            continue
        found = word_numbers.get(words[word])
        nodes.symbols.push_back(symbols.word(words[word]) if found is None else 2 * <int32_t>found + 1)
        word += 1
        nodes.sizes.push_back(2)
        nodes.sizes.push_back(1)
        while not ends.empty() and ends.back() == i:
            k = path.back()
            nodes.sizes[k] = <int32_t>(nodes.sizes.size() - k)
            ends.pop_back()
            path.pop_back()
    number = <int32_t>(nodes.sizes.size() - begin)
    nodes.parents.resize(nodes.sizes.size())
    find_parents(nodes.sizes.data() + begin, nodes.parents.data() + begin, number)
    return 0


cdef void find_parents(const int32_t* sizes, int32_t* parents, int32_t n) noexcept nogil:
    """Find the parents of a tree's nodes from the sizes of the subtrees."""
    cdef int32_t k, last, parent = -1
    for k in range(n):
        parents[k] = parent
        if sizes[k] > 1:
            parent = k
            continue
        last = k
        while parent >= 0 and parent + sizes[parent] == last + 1:
            parent = parents[parent]
