"""From the moves of a derivation straight to the arrays of the restored tree.

The readable twins are `restore(build_tree(...))` of transforms/left_corner.py and incremental/grammar.py. The steps
are the same: lay out the transformed tree in pre-order, write each phrase anew, and make X over nothing but X one X.
"""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.trees.tree import TreeArrays

from spacy_incparse.incremental.sentence cimport copy_ints
from spacy_incparse.incremental.moves cimport TaggedChainC, Moves
from spacy_incparse.incremental.state cimport FIRST_NONTERMINAL, NONE

cdef enum:
    LEAF = 0      # the label of POS nodes, whose tags are given
    CLOSE = -1    # a piece of work: end the phrase that was opened last


# Nodes in pre-order; a node of size 1 is a POS node.
cdef struct NodesC:
    vector[int32_t] labels
    vector[int32_t] sizes
    vector[int32_t] path  # the open phrases


cdef class TreeWriter:
    """Writes trees of one grammar. names: its nonterminals; root: the symbol of the root."""

    cdef Moves moves
    cdef int root
    cdef list names

    def __init__(self, Moves moves, names, int root):
        self.moves, self.root = moves, root
        self.names = [""] * FIRST_NONTERMINAL + list(names)

    def restored(self, n_closings, leaves):
        """Return the nodes of the tree that the moves build, one move a word, as bytes: their labels, then their sizes.

        These are a key of trees over the same words and tags, and take much less time than `write`.
        """
        cdef vector[int32_t] closings, leaf_numbers
        cdef NodesC transformed, restored
        copy_ints(n_closings, &closings)
        copy_ints(leaves, &leaf_numbers)
        with nogil:
            self._build(&transformed, &closings, &leaf_numbers)
            self._restore(&transformed, &restored)
            _merge_doubled(&restored)
            restored.labels.insert(restored.labels.end(), restored.sizes.begin(), restored.sizes.end())
        return (<const char*>restored.labels.data())[:restored.labels.size() * sizeof(int32_t)]

    def write(self, bytes nodes, words, tags):
        """Return the `TreeArrays` of the tree with these nodes, from `restored`, one word and tag a word."""
        cdef int32_t k, n = len(nodes) // (2 * sizeof(int32_t)), n_words = 0
        cdef const int32_t* labels = <const int32_t*><const char*>nodes
        cdef const int32_t* sizes = labels + n
        cdef vector[int32_t] words_before  # at each node, and after the last
        for k in range(n):
            words_before.push_back(n_words)
            n_words += sizes[k] == 1
        words_before.push_back(n_words)
        names = tuple([tags[words_before[k]] if sizes[k] == 1 else self.names[labels[k]] for k in range(n)])
        starts = tuple([words_before[k] for k in range(n)])
        ends = tuple([words_before[k + sizes[k]] for k in range(n)])
        return TreeArrays(names, starts, ends, tuple([sizes[k] for k in range(n)]), tuple(words))

    cdef void _build(
        self, NodesC* nodes, const vector[int32_t]* n_closings, const vector[int32_t]* leaves
    ) noexcept nogil:
        cdef size_t word
        cdef int32_t k, _
        cdef const TaggedChainC* chain
        _open(nodes, self.root)
        for word in range(leaves.size()):
            chain = &self.moves.tagged_chains[leaves[0][word]]
            for _ in range(n_closings[0][word]):
                _close(nodes)
            for k in range(chain.n):
                _open(nodes, self.moves.chain_labels[chain.first + k])
            nodes.labels.push_back(LEAF)
            nodes.sizes.push_back(1)
        while not nodes.path.empty():
            _close(nodes)

    cdef void _restore(self, const NodesC* source, NodesC* target) noexcept nogil:
        """Work off pieces: a node to write, CLOSE, or CLOSE - label to open a phrase."""
        cdef vector[int32_t] pending, pieces
        cdef int32_t piece
        pending.push_back(0)
        while not pending.empty():
            piece = pending.back()
            pending.pop_back()
            if piece == CLOSE:
                _close(target)
            elif piece < CLOSE:
                _open(target, CLOSE - piece)
            elif source.sizes[piece] == 1:
                target.labels.push_back(LEAF)
                target.sizes.push_back(1)
            else:
                pieces.clear()
                self._rewrite(source, piece, &pieces)
                while not pieces.empty():
                    pending.push_back(pieces.back())
                    pieces.pop_back()

    cdef void _rewrite(self, const NodesC* source, int32_t node, vector[int32_t]* pieces) noexcept nogil:
        """Fold the slash children of a phrase from the left; a slash node itself leaves its children in its place."""
        cdef int32_t label = source.labels[node], end = node + source.sizes[node]
        cdef int32_t step = self.moves.slash_of[label], child, k, _, n_steps = 0
        cdef bint is_step
        if not self.moves.is_slash[label]:
            child = node + 1 + source.sizes[node + 1]
            while child < end and step != NONE:
                n_steps += source.labels[child] == step
                child += source.sizes[child]
            for _ in range(1 + n_steps):
                pieces.push_back(CLOSE - label)
        child = node + 1
        while child < end:
            is_step = step != NONE and child > node + 1 and source.labels[child] == step
            if is_step:
                pieces.push_back(CLOSE)
                k = child + 1
                while k < child + source.sizes[child]:
                    pieces.push_back(k)
                    k += source.sizes[k]
            else:
                pieces.push_back(child)
            child += source.sizes[child]
        if not self.moves.is_slash[label]:
            pieces.push_back(CLOSE)


cdef void _open(NodesC* nodes, int32_t label) noexcept nogil:
    nodes.path.push_back(nodes.labels.size())
    nodes.labels.push_back(label)
    nodes.sizes.push_back(0)


cdef void _close(NodesC* nodes) noexcept nogil:
    cdef int32_t node = nodes.path.back()
    nodes.path.pop_back()
    nodes.sizes[node] = <int32_t>nodes.labels.size() - node


cdef void _merge_doubled(NodesC* nodes) noexcept nogil:
    """Drop each phrase that has nothing but a phrase of the same label below it."""
    cdef int32_t k, n = nodes.labels.size(), n_dropped = 0
    cdef vector[int32_t] dropped_before
    for k in range(n):
        dropped_before.push_back(n_dropped)
        n_dropped += _is_doubled(nodes, k)
    dropped_before.push_back(n_dropped)
    if n_dropped == 0:
        return
    cdef int32_t kept = 0
    for k in range(n):
        if dropped_before[k + 1] == dropped_before[k]:
            nodes.sizes[kept] = nodes.sizes[k] - (dropped_before[k + nodes.sizes[k]] - dropped_before[k])
            nodes.labels[kept] = nodes.labels[k]
            kept += 1
    nodes.labels.resize(kept)
    nodes.sizes.resize(kept)


cdef bint _is_doubled(const NodesC* nodes, int32_t node) noexcept nogil:
    return (
        nodes.sizes[node] >= 3
        and nodes.labels[node] == nodes.labels[node + 1]
        and nodes.sizes[node + 1] + 1 == nodes.sizes[node]
    )
