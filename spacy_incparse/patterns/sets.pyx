"""Each relation is computed in one pass over a tree, whatever its depth.

A step leads from A to B; a repeated step may pass through nodes in between. So A is a source if one step leads to some
M that is a target, or that is allowed in between and is a source itself. A step leads either only down and to the right
in pre-order, or only up and to the left: in a pass from the other end, M is always known before A.
"""

from libc.string cimport memcpy, memset

cdef void find_sources(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    memset(sources, 0, tree.n)
    if step == SELF:
        memcpy(sources, goal.target, tree.n)
    elif step == ANY:
        _any(tree, goal.target, sources)
    elif step == SISTER:
        _sister(tree, goal.target, sources, scratch)
    elif step == CHILD:
        _child(tree, goal, sources)
    elif step == PARENT:
        _parent(tree, goal, sources)
    elif step == NEXT_SISTER:
        _next_sister(tree, goal, sources)
    elif step == PREVIOUS_SISTER:
        _previous_sister(tree, goal, sources)
    elif step == NEXT:
        _next(tree, goal, sources, scratch)
    elif step == PREVIOUS:
        _previous(tree, goal, sources, scratch)
    elif step in (NTH_CHILD, ONLY_CHILD, HEAD):
        _certain_child(tree, step, number, goal, sources)
    else:
        _parent_of_certain_child(tree, step - 1, number, goal, sources)


cdef inline uint8_t _leads_on(GoalC goal, const uint8_t* sources, int32_t node) noexcept nogil:
    """Return whether reaching this node is enough."""
    return goal.target[node] | (goal.chain[node] & sources[node])


cdef inline bint _is_sister(const TreeC* tree, int32_t behind, int32_t node) noexcept nogil:
    """Return whether the node after a node's subtree is its sister."""
    cdef int32_t parent = tree.parents[node]
    return parent >= 0 and behind < parent + tree.sizes[parent]


cdef void _any(const TreeC* tree, const uint8_t* target, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n):
        if target[k]:
            memset(sources, 1, tree.n)
            return


cdef void _sister(
    const TreeC* tree, const uint8_t* target, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    cdef int32_t k
    scratch.assign(tree.n, 0)     # number of children of each node that are targets
    for k in range(1, tree.n):
        scratch[0][tree.parents[k]] += target[k]
    for k in range(1, tree.n):
        sources[k] = scratch[0][tree.parents[k]] > target[k]


cdef void _child(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n - 1, 0, -1):
        sources[tree.parents[k]] |= _leads_on(goal, sources, k)


cdef void _parent(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(1, tree.n):
        sources[k] = _leads_on(goal, sources, tree.parents[k])


cdef void _next_sister(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k, behind
    for k in range(tree.n - 1, 0, -1):
        behind = k + tree.sizes[k]
        if _is_sister(tree, behind, k):
            sources[k] = _leads_on(goal, sources, behind)


cdef void _previous_sister(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k, behind
    for k in range(1, tree.n):
        behind = k + tree.sizes[k]
        if _is_sister(tree, behind, k):
            sources[behind] = _leads_on(goal, sources, k)


cdef void _next(const TreeC* tree, GoalC goal, uint8_t* sources, vector[int32_t]* scratch) noexcept nogil:
    """B can be the node that follows A's subtree in pre-order, its first child, the first child of that, and so on."""
    cdef int32_t k, behind
    scratch.assign(tree.n + 1, 0)     # whether any of these is enough, by the highest
    for k in range(tree.n - 1, -1, -1):
        behind = k + tree.sizes[k]
        sources[k] = scratch[0][behind]
        scratch[0][k] = _leads_on(goal, sources, k) or (tree.sizes[k] > 1 and scratch[0][k + 1])


cdef void _previous(const TreeC* tree, GoalC goal, uint8_t* sources, vector[int32_t]* scratch) noexcept nogil:
    """B can be any node that ends where A begins."""
    cdef int32_t k
    cdef int32_t* starts
    cdef int32_t* ends
    scratch.assign(2 * tree.n + 1, 0)
    starts = scratch.data()           # the highest node that begins at the same place as node k
    ends = starts + tree.n            # whether any node that ends before node k is enough
    for k in range(tree.n):
        starts[k] = starts[k - 1] if tree.parents[k] == k - 1 and k else k
        sources[k] = ends[starts[k]]
        if _leads_on(goal, sources, k):
            ends[k + tree.sizes[k]] = 1


cdef void _certain_child(const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n - 1, 0, -1):
        if _leads_on(goal, sources, k) and _is_that_child(tree, step, number, k):
            sources[tree.parents[k]] = 1


cdef void _parent_of_certain_child(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources
) noexcept nogil:
    cdef int32_t k
    for k in range(1, tree.n):
        sources[k] = _leads_on(goal, sources, tree.parents[k]) and _is_that_child(tree, step, number, k)


cdef inline bint _is_that_child(const TreeC* tree, int step, int number, int32_t node) noexcept nogil:
    cdef int32_t parent = tree.parents[node]
    if step == ONLY_CHILD:
        return tree.sizes[parent] == tree.sizes[node] + 1
    if step == HEAD:
        return tree.heads[parent] == node
    if number > 0:
        return _is_from_left(tree, parent, node, number)
    return _is_from_right(tree, parent, node, -number)


cdef bint _is_from_left(const TreeC* tree, int32_t parent, int32_t node, int number) noexcept nogil:
    cdef int32_t child = parent + 1, _
    for _ in range(number - 1):
        if child >= node:
            return False
        child += tree.sizes[child]
    return child == node


cdef bint _is_from_right(const TreeC* tree, int32_t parent, int32_t node, int number) noexcept nogil:
    cdef int32_t behind = node + tree.sizes[node], end = parent + tree.sizes[parent], _
    for _ in range(number - 1):
        if behind >= end:
            return False
        behind += tree.sizes[behind]
    return behind == end

# Runs the instructions of program.py that compute sets of nodes.

cdef uint64_t read_masks(
    const TreeC* tree, const uint64_t* label_masks, const uint64_t* word_masks, vector[uint64_t]* masks
) noexcept nogil:
    """Look up the mask of each node; return the union of all masks."""
    cdef int32_t k, symbol
    cdef uint64_t mask, together = 0
    masks.resize(tree.n)
    for k in range(tree.n):
        symbol = tree.symbols[k]
        mask = word_masks[symbol >> 1] if symbol & 1 else label_masks[symbol >> 1]
        masks[0][k] = mask
        together |= mask
    return together


cdef void make_sets(const vector[InstructionC]* instructions, const TreeC* tree, SetsC* sets) noexcept nogil:
    """Compute all sets in order; `sets.masks` is already filled."""
    cdef size_t k
    sets.sets.resize((instructions.size() + 1) * tree.n)
    memset(sets.sets.data(), 0, tree.n)
    for k in range(instructions.size()):
        _make_set(&instructions[0][k], <int32_t>k, tree, sets)


cdef void _make_set(const InstructionC* instruction, int32_t number, const TreeC* tree, SetsC* sets) noexcept nogil:
    cdef const int32_t* given = &instruction.arguments[0]
    cdef uint8_t* made = set_of(sets, tree.n, number)
    cdef const uint8_t* first
    cdef GoalC goal
    if instruction.operation == FILL:
        memset(made, given[0], tree.n)
    elif instruction.operation == TEST:
        _test(sets.masks.data(), given[0], tree.n, made)
    elif instruction.operation == RELATION:
        goal.target = set_of(sets, tree.n, given[0])
        goal.chain = set_of(sets, tree.n, given[3])
        find_sources(tree, given[1], given[2], goal, made, &sets.scratch)
    elif instruction.operation == NOT:
        first = set_of(sets, tree.n, given[0])
        _not(first, tree.n, made)
    else:
        first = set_of(sets, tree.n, given[0])
        _join(instruction.operation == AND, first, set_of(sets, tree.n, given[1]), tree.n, made)


cdef void _test(const uint64_t* masks, int32_t bit, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    for k in range(n):
        made[k] = (masks[k] >> bit) & 1


cdef void _not(const uint8_t* given, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    for k in range(n):
        made[k] = given[k] ^ 1


cdef void _join(bint both, const uint8_t* first, const uint8_t* second, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    if both:
        for k in range(n):
            made[k] = first[k] & second[k]
    else:
        for k in range(n):
            made[k] = first[k] | second[k]

# Masks, captures and head ranks by symbol: computed once per label and word, in Python, and then looked up.

cdef class Tables:
    """The tables of one pattern for one set of symbols.

    tests: `LabelTests`. captures: (description, group) of each capture. heads: `HeadRules`, or None if not needed.
    """

    def __init__(self, Symbols symbols, tests, captures, heads):
        self.symbols, self.tests, self.captures, self.heads = symbols, tests, captures, heads
        self.other_words, self.known_words = tests.other_words, tests.known_words
        self.captured = {}
        self.label_captures.resize(len(captures))
        self.word_captures.resize(len(captures))

    cdef bint is_complete(self):
        """Return whether the tables have all labels and words of the symbols."""
        cdef size_t n_labels = len(self.symbols.labels), n_words = len(self.symbols.words)
        return self.label_masks.size() == n_labels and self.word_masks.size() == n_words

    cdef int update(self) except -1:
        """Add the labels and words that are new since the last call."""
        # While Python code runs, another thread may do the same: the first one fills the tables.
        cdef size_t n_known
        while self.label_masks.size() < <size_t>len(self.symbols.labels):
            n_known = self.label_masks.size()
            labels = self.symbols.labels[n_known:]
            masks = self.tests.label_masks(labels)
            captures = [self._captured(labels, False, *capture) for capture in self.captures]
            if n_known == self.label_masks.size():
                _append(masks, captures, &self.label_masks, &self.label_captures)
                self.categories = self.symbols.categories
        while self.word_masks.size() < <size_t>len(self.symbols.words):
            n_known = self.word_masks.size()
            if self.other_words is not None:
                self._add_known_words(n_known, len(self.symbols.words))
                continue
            words = self.symbols.words[n_known:]
            masks = self.tests.word_masks(words)
            captures = [self._captured(words, True, *capture) for capture in self.captures]
            if n_known == self.word_masks.size():
                _append(masks, captures, &self.word_masks, &self.word_captures)
        return 0

    cdef int _add_known_words(self, size_t n_known, size_t n_words) except -1:
        """Add new words; only those that the pattern spells out matter."""
        cdef uint64_t mask = self.other_words
        self.word_masks.resize(n_words, mask)
        for text, its_mask in self.known_words.items():
            number = self.symbols.word_numbers.get(text)
            if number is not None and n_known <= <size_t>number < n_words:
                mask = its_mask
                self.word_masks[<size_t>number] = mask
        return 0

    def _captured(self, texts, words, description, group):
        found = self.tests.captured(description, group, texts, words=words)
        return [-1 if text is None else self.captured.setdefault(text, len(self.captured)) for text in found]

    cdef int find_heads(self, const NodesC* nodes, size_t first, size_t behind, int32_t* heads) except -1:
        """Find the head child of each node of a tree, counted from its first node; -1 for words."""
        cdef int32_t node, child, end, rank, best
        cdef const int32_t* sizes = nodes.sizes.data() + first
        cdef const int32_t* symbols = nodes.symbols.data() + first
        for node in range(<int32_t>(behind - first)):
            heads[node] = -1
            child, end = node + 1, node + sizes[node]
            best = -1
            while child < end:
                rank = 0 if symbols[child] & 1 else self._rank(symbols[node], symbols[child])
                if best < 0 or (rank >> 1) < (best >> 1) or ((rank >> 1) == (best >> 1) and rank & 1):
                    best, heads[node] = rank, child
                child += sizes[child]
        return 0

    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1:
        parent, child = self.symbols.categories[parent >> 1], self.symbols.categories[child >> 1]
        cdef uint64_t key = <uint64_t>parent << 32 | <uint64_t>child
        if self.ranks.count(key):
            return self.ranks[key]
        rank, direction = self.heads.priority(self.symbols.labels[parent >> 1], self.symbols.labels[child >> 1])
        self.ranks[key] = 2 * <int32_t>rank + <int32_t>(direction < 0)
        return self.ranks[key]


cdef int _append(
    list masks, list captures, vector[uint64_t]* known_masks, vector[vector[int32_t]]* known_captures
) except -1:
    cdef uint64_t mask
    cdef int32_t value
    cdef size_t k
    for mask in masks:
        known_masks.push_back(mask)
    for k in range(known_captures.size()):
        for value in captures[k]:
            known_captures[0][k].push_back(value)
    return 0
