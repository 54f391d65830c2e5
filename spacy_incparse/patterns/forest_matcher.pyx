"""Runs the instructions of program.py that look for nodes: a machine with a stack of choices.

It tries nodes in pre-order, so that the first solution has the leftmost node at each choice. The nodes that it tries
for a register are those of a set: without references it never fails.
"""

from cpython.exc cimport PyErr_CheckSignals

from spacy_incparse.errors import IncparseError

from spacy_incparse.patterns.sets cimport GoalC, find_sources, make_sets, read_masks, set_of
from spacy_incparse.trees.forest cimport pack

cdef enum:
    STEPS_TO_SIGNALS = 1 << 20   # steps between checks for interrupts: some patterns take exponential time


cdef int search(MachineC* machine, SetsC* sets, const TreeC* tree, int32_t root, bint again) except -1 nogil:
    """Find the first solution at the root, or with `again` the next one; return 1 if found, else 0.

    The solution is in `machine.bound`.
    """
    cdef int32_t next_one = 0, n_steps = 0
    if again:
        next_one = _backtrack(machine, tree)
    else:
        _start(machine, tree, root)
    while next_one >= 0 and machine.code[0][next_one].operation != ACCEPT:
        if not _run(machine, sets, tree, &next_one):
            next_one = _backtrack(machine, tree)
        n_steps += 1
        if n_steps == STEPS_TO_SIGNALS:
            n_steps = 0
            with gil:
                PyErr_CheckSignals()
    return next_one >= 0


cdef void _start(MachineC* machine, const TreeC* tree, int32_t root) noexcept nogil:
    machine.registers.assign(machine.n_registers, NOTHING)
    machine.registers[0] = root
    machine.bound.assign(machine.n_bound, NOTHING)
    machine.slots.assign(machine.n_slots, 0)
    machine.candidates.resize(<size_t>machine.n_registers * tree.n)
    machine.changes.clear()
    machine.choices.clear()


cdef bint _run(MachineC* machine, SetsC* sets, const TreeC* tree, int32_t* next_one) noexcept nogil:
    """Run an instruction and advance; return False if it fails."""
    cdef const InstructionC* instruction = &machine.code[0][next_one[0]]
    cdef const int32_t* given = &instruction.arguments[0]
    cdef int operation = instruction.operation
    next_one[0] += 1
    if operation == CHOOSE:
        _find_candidates(machine, sets, tree, given)
        return _choose(machine, tree, given[0], next_one[0], 0)
    if operation == NAME:
        return _bind(machine, given[0], machine.registers[given[1]])
    if operation == CHECK:
        return set_of(sets, tree.n, given[1])[machine.registers[given[0]]]
    if operation == SAME:
        return machine.bound[given[0]] != NOTHING and (
            (machine.bound[given[0]] == machine.registers[given[1]]) != given[2]
        )
    if operation == LIKE:
        return machine.bound[given[0]] != NOTHING and (
            _are_alike(machine, tree, machine.bound[given[0]], machine.registers[given[1]]) != given[2]
        )
    if operation == CAPTURE:
        return _capture(machine, tree, machine.n_names + given[0], machine.registers[given[1]], given[2])
    if operation == GOTO:
        next_one[0] = given[0]
    elif operation == EITHER:
        _push(machine, given[0], NOTHING, 0)
    elif operation == MAYBE or operation == UNLESS:
        machine.slots[given[1]] = machine.choices.size()
        _push(machine, given[0], NOTHING, 0)
    elif operation == FOUND:
        machine.choices[machine.slots[given[0]]].is_dead = True
    elif operation == FAIL:
        _take_back(machine, machine.choices[machine.slots[given[0]]].n_changes)
        machine.choices.resize(machine.slots[given[0]])
        return False
    return True


cdef int32_t _backtrack(MachineC* machine, const TreeC* tree) noexcept nogil:
    """Go back to the last choice and try its next option; return the next instruction, or -1 if no choice is left."""
    cdef ChoiceC choice
    while not machine.choices.empty():
        choice = machine.choices.back()
        machine.choices.pop_back()
        _take_back(machine, choice.n_changes)
        if choice.is_dead:
            continue
        if choice.register == NOTHING or _choose(machine, tree, choice.register, choice.target, choice.node + 1):
            return choice.target
    return -1


cdef void _push(MachineC* machine, int32_t target, int32_t register, int32_t node) noexcept nogil:
    cdef ChoiceC choice
    choice.target, choice.register, choice.node = target, register, node
    choice.n_changes, choice.is_dead = machine.changes.size(), False
    machine.choices.push_back(choice)


cdef void _find_candidates(MachineC* machine, SetsC* sets, const TreeC* tree, const int32_t* given) noexcept nogil:
    """Find the nodes B related to a known A: those from which the inverse step leads to A."""
    cdef uint8_t* candidates = machine.candidates.data() + <size_t>given[0] * tree.n
    cdef const uint8_t* among = set_of(sets, tree.n, given[5])
    cdef GoalC goal
    cdef int32_t k
    sets.single.assign(tree.n, 0)
    sets.single[machine.registers[given[1]]] = 1
    goal.target = sets.single.data()
    goal.chain = set_of(sets, tree.n, given[4])
    find_sources(tree, given[2], given[3], goal, candidates, &sets.scratch)
    for k in range(tree.n):
        candidates[k] &= among[k]


cdef bint _choose(MachineC* machine, const TreeC* tree, int32_t register, int32_t target, int32_t first) noexcept nogil:
    """Put the first candidate from a node on into a register; return False if there is none."""
    cdef const uint8_t* candidates = machine.candidates.data() + <size_t>register * tree.n
    cdef int32_t k
    for k in range(first, tree.n):
        if candidates[k]:
            machine.registers[register] = k
            _push(machine, target, register, k)
            return True
    return False


cdef bint _bind(MachineC* machine, int32_t place, int32_t value) noexcept nogil:
    cdef ChangeC change
    change.place, change.before = place, machine.bound[place]
    machine.changes.push_back(change)
    machine.bound[place] = value
    return True


cdef void _take_back(MachineC* machine, size_t n_changes) noexcept nogil:
    cdef ChangeC change
    while machine.changes.size() > n_changes:
        change = machine.changes.back()
        machine.bound[change.place] = change.before
        machine.changes.pop_back()


cdef bint _are_alike(const MachineC* machine, const TreeC* tree, int32_t first, int32_t second) noexcept nogil:
    cdef int32_t one = tree.symbols[first], other = tree.symbols[second]
    if machine.compares_categories and not one & 1 and not other & 1:
        return machine.categories[one >> 1] == machine.categories[other >> 1]
    return one == other


cdef bint _capture(
    MachineC* machine, const TreeC* tree, int32_t place, int32_t node, int32_t number
) noexcept nogil:
    """Assign the regular expression's capture at the node to the variable, or compare it with the variable's value."""
    cdef int32_t symbol = tree.symbols[node], value
    if symbol & 1:
        value = machine.word_captures[0][number][symbol >> 1]
    else:
        value = machine.label_captures[0][number][symbol >> 1]
    if machine.bound[place] == NOTHING:
        return value != NOTHING and _bind(machine, place, value)
    return machine.bound[place] == value

# Counts and finds the matches of a compiled pattern, in forests and in single trees.

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
