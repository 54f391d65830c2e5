"""Counts and finds the matches of a compiled pattern, in forests and in single trees."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.errors import IncparseError

from spacy_incparse.trees.forest cimport Forest, NodesC, Symbols, pack
from spacy_incparse.patterns.machine cimport search
from spacy_incparse.patterns.relations cimport TreeC
from spacy_incparse.patterns.sets cimport InstructionC, make_sets, read_masks, set_of
from spacy_incparse.patterns.tables cimport Tables

cdef enum:
    MANY_SYMBOLS = 1 << 20   # from trees outside forests: then the tables are cleared, as texts have no end


cdef class Matcher:
    """The compiled form of a `Program`.

    tests: the `LabelTests` of its descriptions. heads: the `HeadRules`, if the program uses heads.
    Nodes in results are numbers: twice the index of a tree's node, or for a word, that of its POS node plus one.
    """

    def __init__(self, program, tests, heads, *, bint raw_labels):
        self.tests, self.raw_labels = tests, raw_labels
        self.captures = [(program.tests[bit], group) for bit, group in program.captures]
        self.heads = heads if program.uses_heads else None
        self.result, self.required, self.n_names = program.result, program.required, len(program.names)
        self.has_references = program.has_references
        self.n_registers, self.n_slots, self.n_variables = program.n_registers, program.n_slots, program.n_variables
        _read_instructions(program.sets, &self.sets)
        _read_instructions(program.code, &self.code)

    def count(self, Forest forest):
        """Return the number of nodes that match."""
        cdef WorkC work
        cdef TreeC tree
        cdef vector[int32_t] heads
        cdef int64_t n_matches = 0
        cdef size_t k
        cdef Tables tables = self.tables_for(forest.symbols)
        self._find_heads(forest, tables, 0, forest.firsts.size() - 1, &heads)
        forest.n_searches += 1
        tables.n_searches += 1
        try:
            self.prepare(tables, &work)
            with nogil:
                for k in range(forest.firsts.size() - 1):
                    _look_at(&forest.nodes, heads.data(), forest.firsts[k], forest.firsts[k + 1], &tree)
                    self.count_tree(&tree, &work, &n_matches)
        finally:
            forest.n_searches -= 1
            tables.n_searches -= 1
        return n_matches

    def count_trees(self, trees):
        """Return the number of nodes that match in trees outside forests."""
        cdef WorkC work
        cdef TreeC tree
        cdef NodesC nodes
        cdef vector[int32_t] heads
        cdef int64_t n_matches = 0
        for given in trees:
            self._take_in(given, &nodes, &heads, &tree, &work)
            self.count_tree(&tree, &work, &n_matches)
        return n_matches

    def find(self, Forest forest, size_t first, size_t behind, bint every):
        """Return (number of the tree, nodes, for each the nodes that have names) for trees from `first` on.

        Trees without matches are left out, and so are the names if the pattern has none.
        """
        cdef WorkC work
        cdef TreeC tree
        cdef vector[int32_t] heads
        cdef size_t k
        cdef Tables tables = self.tables_for(forest.symbols)
        cdef list found = []
        behind = min(behind, forest.firsts.size() - 1)
        self._find_heads(forest, tables, first, behind, &heads)
        forest.n_searches += 1
        tables.n_searches += 1
        try:
            self.prepare(tables, &work)
            for k in range(first, behind):
                _look_at(&forest.nodes, heads.data(), forest.firsts[k], forest.firsts[k + 1], &tree)
                self.match_tree(&tree, &work, every)
                if not work.matches.nodes.empty():
                    self._report(k, &tree, &work, found)
        finally:
            forest.n_searches -= 1
            tables.n_searches -= 1
        return found

    def find_in_trees(self, list trees, bint every):
        """Return the same as `find`, for trees outside forests."""
        cdef WorkC work
        cdef TreeC tree
        cdef NodesC nodes
        cdef vector[int32_t] heads
        cdef list found = []
        cdef size_t k
        for k in range(<size_t>len(trees)):
            self._take_in(trees[k], &nodes, &heads, &tree, &work)
            self.match_tree(&tree, &work, every)
            if not work.matches.nodes.empty():
                self._report(k, &tree, &work, found)
        return found

    cdef Tables tables_for(self, Symbols symbols):
        """Return the tables for these symbols, with all their labels and words."""
        cdef Tables tables = self.last
        is_busy = tables is not None and tables.n_searches and not tables.is_complete()
        if tables is None or tables.symbols is not symbols or is_busy:
            tables = self.last = Tables(symbols, self.tests, self.captures, self.heads)
        tables.update()
        return tables

    cdef void prepare(self, Tables tables, WorkC* work):
        """Set pointers into the tables, which must not grow while these are used."""
        work.label_masks = tables.label_masks.data()
        work.word_masks = tables.word_masks.data()
        work.machine.code = &self.code
        work.machine.n_registers, work.machine.n_slots = self.n_registers, self.n_slots
        work.machine.n_names, work.machine.n_bound = self.n_names, self.n_names + self.n_variables
        work.machine.categories = tables.categories.data()
        work.machine.compares_categories = not self.raw_labels
        work.machine.label_captures = &tables.label_captures
        work.machine.word_captures = &tables.word_captures

    cdef int count_tree(self, const TreeC* tree, WorkC* work, int64_t* n_matches) except -1 nogil:
        """Add the number of matching nodes."""
        cdef int32_t k
        if not _may_match(tree, work, self.required):
            return 0
        make_sets(&self.sets, tree, &work.sets)
        for k in range(tree.n):
            if set_of(&work.sets, tree.n, self.result)[k]:
                n_matches[0] += search(&work.machine, &work.sets, tree, k, False) if self.has_references else 1
        return 0

    cdef int match_tree(self, const TreeC* tree, WorkC* work, bint every) except -1 nogil:
        """Collect the matches; with `every` a node occurs once for each solution."""
        cdef int32_t k
        cdef bint found
        work.matches.nodes.clear()
        work.matches.bound.clear()
        if not _may_match(tree, work, self.required):
            return 0
        make_sets(&self.sets, tree, &work.sets)
        for k in range(tree.n):
            if not set_of(&work.sets, tree.n, self.result)[k]:
                continue
            found = self.code.empty() or search(&work.machine, &work.sets, tree, k, False)
            while found:
                _note(k, self.n_names, work)
                found = every and not self.code.empty() and search(&work.machine, &work.sets, tree, k, True)
        return 0

    cdef int _take_in(
        self, given, NodesC* nodes, vector[int32_t]* heads, TreeC* tree, WorkC* work
    ) except -1:
        cdef Tables tables = self.own
        if tables is None or len(tables.symbols) > MANY_SYMBOLS:
            tables = self.own = Tables(Symbols(), self.tests, self.captures, self.heads)
        nodes.symbols.clear()
        nodes.sizes.clear()
        nodes.parents.clear()
        pack(given, tables.symbols, nodes)
        if self.heads is not None:
            heads.resize(nodes.sizes.size())
            tables.find_heads(nodes, 0, nodes.sizes.size(), heads.data())
        # From here until the tree has been matched, no Python code runs, so no other thread can let the tables grow.
        try:
            tables.update()
        except IncparseError:
            self.own = None   # a word whose test fails must not recur with the next tree
            raise
        self.prepare(tables, work)
        _look_at(nodes, heads.data(), 0, nodes.sizes.size(), tree)
        return 0

    cdef int _find_heads(
        self, Forest forest, Tables tables, size_t first, size_t behind, vector[int32_t]* heads
    ) except -1:
        """Find the heads in these trees of a forest, if the pattern uses heads."""
        cdef size_t k
        if self.heads is None:
            return 0
        heads.resize(forest.nodes.sizes.size())
        for k in range(first, behind):
            tables.find_heads(&forest.nodes, forest.firsts[k], forest.firsts[k + 1], heads.data() + forest.firsts[k])
        return 0

    cdef int _report(self, size_t number, const TreeC* tree, WorkC* work, list found) except -1:
        """Convert nodes that include words to nodes of a Tree."""
        cdef vector[int32_t] codes
        cdef int32_t k, node, n = 0
        cdef size_t match
        for k in range(tree.n):
            if tree.symbols[k] & 1:
                codes.push_back(2 * (n - 1) + 1)
            else:
                codes.push_back(2 * n)
                n += 1
        nodes, named = [], []
        for match in range(work.matches.nodes.size()):
            nodes.append(codes[work.matches.nodes[match]])
            if self.n_names:
                bound = []
                for k in range(self.n_names):
                    node = work.matches.bound[match * self.n_names + k]
                    bound.append(-1 if node < 0 else codes[node])
                named.append(tuple(bound))
        found.append((number, nodes, named))
        return 0


cdef bint _may_match(const TreeC* tree, WorkC* work, uint64_t required) noexcept nogil:
    return required & ~read_masks(tree, work.label_masks, work.word_masks, &work.sets.masks) == 0


cdef void _note(int32_t node, int32_t n_names, WorkC* work) noexcept nogil:
    cdef int32_t k
    work.matches.nodes.push_back(node)
    for k in range(n_names):
        work.matches.bound.push_back(work.machine.bound[k])


cdef void _look_at(
    const NodesC* nodes, const int32_t* heads, size_t first, size_t behind, TreeC* tree
) noexcept nogil:
    tree.n = <int32_t>(behind - first)
    tree.symbols = nodes.symbols.data() + first
    tree.sizes = nodes.sizes.data() + first
    tree.parents = nodes.parents.data() + first
    tree.heads = heads + first if heads != NULL else NULL


cdef int _read_instructions(instructions, vector[InstructionC]* code) except -1:
    cdef InstructionC instruction
    cdef int k
    for numbers in instructions:
        instruction.operation = numbers[0]
        for k in range(6):
            instruction.arguments[k] = numbers[k + 1]
        code.push_back(instruction)
    return 0
