"""Matching compiled patterns: sets of nodes in passes over a tree, then a search for the nodes that have names."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy, memset
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from spacy_incparse.trees.labels import ROOT, WRAPPERS

from spacy_incparse.trees.forest cimport Forest, NodesC, Symbols

# A tree to be matched: see trees/forest.pxd. heads[k] is the head child of node k; NULL if no relation needs it.
# n_above: 1 if node 0 is not one of the tree's, but a root added above its top node. tokens[k]: which descriptions of
# tokens fit node k of the tree; NULL if the pattern has none.
cdef struct TreeC:
    int32_t n
    int32_t n_above
    const int32_t* symbols
    const int32_t* sizes
    const int32_t* parents
    const int32_t* heads
    const uint64_t* tokens


# Relations, from the set of all B to the set of all A related to one of them. A step leads from A to B; a repeated step
# may pass through nodes in between. So A is a source if one step leads to some M that is a target, or that is allowed
# in between and is a source itself. A step leads either only down and to the right in pre-order, or only up and to the
# left: in a pass from the other end, M is always known before A, and one pass is enough, whatever the tree's depth.
cdef enum:               # the numbers of syntax.Step
    SELF = 0
    ANY = 1
    SISTER = 2
    CHILD = 3
    PARENT = 4
    NTH_CHILD = 5
    NTH_CHILD_OF = 6
    ONLY_CHILD = 7
    ONLY_CHILD_OF = 8
    HEAD = 9
    HEAD_OF = 10
    NEXT_SISTER = 11
    PREVIOUS_SISTER = 12
    NEXT = 13
    PREVIOUS = 14


# The nodes B and, for repeated steps, the nodes allowed in between. A set has one byte per node, 0 or 1.
cdef struct GoalC:
    const uint8_t* target
    const uint8_t* chain   # all 0 if the step is not repeated


cdef void _find_sources(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    """Set sources to { A : some B in `target` is reached from A by the step, or by several steps through `chain` }."""
    memset(sources, 0, tree.n)
    if step == SELF:
        memcpy(sources, goal.target, tree.n)
    elif step == ANY:
        memset(sources, memchr(goal.target, 1, tree.n) != NULL, tree.n)
    elif step == SISTER:
        _sister(tree, goal.target, sources, scratch)
    elif step == NEXT_SISTER or step == PREVIOUS_SISTER:
        _next_to_sister(tree, step, goal, sources)
    elif step == NEXT:
        _next(tree, goal, sources, scratch)
    elif step == PREVIOUS:
        _previous(tree, goal, sources, scratch)
    elif step in (CHILD, NTH_CHILD, ONLY_CHILD, HEAD):
        _child(tree, step, number, goal, sources)
    else:
        _parent(tree, step - 1, number, goal, sources)


cdef inline uint8_t _leads_on(GoalC goal, const uint8_t* sources, int32_t node) noexcept nogil:
    """Return whether reaching this node is enough."""
    return goal.target[node] | (goal.chain[node] & sources[node])


cdef void _sister(
    const TreeC* tree, const uint8_t* target, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    cdef int32_t k
    scratch.assign(tree.n, 0)     # number of children of each node that are targets
    for k in range(1, tree.n):
        scratch[0][tree.parents[k]] += target[k]
    for k in range(1, tree.n):
        sources[k] = scratch[0][tree.parents[k]] > target[k]


cdef void _next_to_sister(const TreeC* tree, int step, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t i, k, behind, parent
    for i in range(1, tree.n):
        k = i if step == PREVIOUS_SISTER else tree.n - i
        behind, parent = k + tree.sizes[k], tree.parents[k]
        if behind < parent + tree.sizes[parent]:
            if step == PREVIOUS_SISTER:
                sources[behind] = _leads_on(goal, sources, k)
            else:
                sources[k] = _leads_on(goal, sources, behind)


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


cdef void _child(const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    if step == CHILD:
        for k in range(tree.n - 1, 0, -1):
            sources[tree.parents[k]] |= _leads_on(goal, sources, k)
        return
    for k in range(tree.n - 1, 0, -1):
        if _leads_on(goal, sources, k) and _is_that_child(tree, step, number, k):
            sources[tree.parents[k]] = 1


cdef void _parent(const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources) noexcept nogil:
    """`step` leads from the parent to the child."""
    cdef int32_t k
    if step == CHILD:
        for k in range(1, tree.n):
            sources[k] = _leads_on(goal, sources, tree.parents[k])
        return
    for k in range(1, tree.n):
        sources[k] = _leads_on(goal, sources, tree.parents[k]) and _is_that_child(tree, step, number, k)


cdef inline bint _is_that_child(const TreeC* tree, int step, int number, int32_t node) noexcept nogil:
    cdef int32_t parent = tree.parents[node], end = parent + tree.sizes[parent], child, _
    if step == ONLY_CHILD:
        return tree.sizes[parent] == tree.sizes[node] + 1
    if step == HEAD:
        return tree.heads[parent] == node
    if number > 0:
        child = parent + 1
        for _ in range(number - 1):
            if child >= node:
                return False
            child += tree.sizes[child]
        return child == node
    child = node + tree.sizes[node]     # behind the node
    for _ in range(-number - 1):
        if child >= end:
            return False
        child += tree.sizes[child]
    return child == end


# The sets of nodes at which the parts of a pattern hold, in one tree.
cdef enum:                   # the numbers of compile.SetOp
    FILL = 0                 # value
    TEST = 1                 # bit of the label's mask
    RELATION = 2             # target set, step, number, chain set
    AND = 3                  # two sets
    OR = 4
    NOT = 5                  # a set


cdef struct InstructionC:
    int32_t operation
    int32_t[6] arguments


cdef struct SetsC:
    vector[uint64_t] masks   # per node: which descriptions fit its label or word
    vector[uint8_t] sets     # the empty set, then those of the program
    vector[uint8_t] single   # a set for a single node
    vector[int32_t] scratch


cdef inline uint8_t* _set_of(SetsC* sets, int32_t n_nodes, int32_t number) noexcept nogil:
    # Set -1 means "no set" and is the empty set.
    return sets.sets.data() + <size_t>(number + 1) * n_nodes


cdef void _make_set(const InstructionC* instruction, int32_t number, const TreeC* tree, SetsC* sets) noexcept nogil:
    cdef const int32_t* given = &instruction.arguments[0]
    cdef uint8_t* made = _set_of(sets, tree.n, number)
    cdef const uint8_t* first
    cdef const uint8_t* second
    cdef GoalC goal
    cdef int32_t k
    if instruction.operation == FILL:
        memset(made, given[0], tree.n)
        return
    if instruction.operation == TEST:
        for k in range(tree.n):
            made[k] = (sets.masks[k] >> given[0]) & 1
        return
    first = _set_of(sets, tree.n, given[0])
    if instruction.operation == RELATION:
        goal.target, goal.chain = first, _set_of(sets, tree.n, given[3])
        _find_sources(tree, given[1], given[2], goal, made, &sets.scratch)
    elif instruction.operation == NOT:
        for k in range(tree.n):
            made[k] = first[k] ^ 1
    else:
        second = _set_of(sets, tree.n, given[1])
        if instruction.operation == AND:
            for k in range(tree.n):
                made[k] = first[k] & second[k]
        else:
            for k in range(tree.n):
                made[k] = first[k] | second[k]


# Masks, captures and head ranks by symbol: computed once per label and word, in Python, and then looked up.
cdef class Tables:
    """The tables of one pattern for the symbols of one or more forests.

    tests: `LabelTests`. captures: (description, group) of each capture. heads: `HeadRules`, or None if not needed.
    """

    cdef Symbols symbols
    cdef object tests, captures, heads
    cdef dict captured                              # captured string -> number
    cdef int n_searches                             # searches in progress: until they end, nothing may grow
    cdef vector[int32_t] categories                 # the same as in the symbols
    cdef vector[uint8_t] are_wrappers               # whether a label, by its number, is one of a root
    cdef vector[uint64_t] label_masks, word_masks   # which descriptions fit a label or a word, by its number
    cdef vector[vector[int32_t]] label_captures, word_captures   # [capture][number] -> captured string, or -1
    cdef unordered_map[uint64_t, int32_t] ranks     # (parent, child) -> 2 * rank, + 1 if the rightmost wins

    def __init__(self, Symbols symbols, tests, captures, heads):
        self.symbols, self.tests, self.captures, self.heads, self.captured = symbols, tests, captures, heads, {}
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
        self.symbols.label(ROOT)   # for roots added above trees
        while self.label_masks.size() < <size_t>len(self.symbols.labels):
            n_known = self.label_masks.size()
            labels = self.symbols.labels[n_known:]
            masks = self.tests.label_masks(labels)
            captures = [self._captured(labels, False, *capture) for capture in self.captures]
            if n_known == self.label_masks.size():
                _append(masks, captures, &self.label_masks, &self.label_captures)
                for label in labels:
                    self.are_wrappers.push_back(label in WRAPPERS)
                self.categories = self.symbols.categories
        while self.word_masks.size() < <size_t>len(self.symbols.words):
            n_known = self.word_masks.size()
            if self.tests.other_words is not None:
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
        cdef uint64_t mask = self.tests.other_words
        self.word_masks.resize(n_words, mask)
        for text, its_mask in self.tests.known_words.items():
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


# The search for the nodes that have names, and for nodes that fit together if a pattern refers to names: a machine with
# a stack of choices. It tries nodes in pre-order, so that the first solution has the leftmost node at each choice. The
# nodes that it tries for a register are those of a set: without references it never fails.
cdef enum:                    # the numbers of compile.Op
    CHOOSE = 0                # register, register it is related to, inverse step, number, chain set, set to choose from
    NAME = 1                  # name, register
    SAME = 2                  # name, register, negated
    LIKE = 3                  # name, register, negated
    CAPTURE = 4               # variable, register, number of the capture
    CHECK = 5                 # register, set
    EITHER = 6                # start of the other alternative
    GOTO = 7
    MAYBE = 8                 # where to continue without it, slot
    FOUND = 9                 # slot
    UNLESS = 10               # where to continue if it fails, slot
    FAIL = 11                 # slot
    ACCEPT = 12
    NOTHING = -1              # a name without a node, a variable without a value
    STEPS_TO_SIGNALS = 1 << 20   # steps between checks for interrupts: some patterns take exponential time


# An alternative to try: another instruction, or the next node for a register.
cdef struct ChoiceC:
    int32_t target            # the instruction to continue with
    int32_t register          # NOTHING unless a node is chosen
    int32_t node              # the last node tried
    size_t n_changes          # length of `changes` at the time of the choice
    bint is_dead


# An entry of `bound` and its previous value.
cdef struct ChangeC:
    int32_t place
    int32_t before


# The workspace of a search; the vectors are reused from tree to tree.
cdef struct MachineC:
    const vector[InstructionC]* code
    int32_t n_registers
    int32_t n_slots
    int32_t n_bound
    int32_t n_names
    const int32_t* categories                    # symbol of a label without functions, by label number
    bint compares_categories                     # whether `~name` compares these
    const vector[vector[int32_t]]* label_captures   # [capture][label number] -> captured string, or NOTHING
    const vector[vector[int32_t]]* word_captures
    vector[int32_t] registers
    vector[int32_t] bound                        # the nodes that have names, then the values of variables
    vector[ChangeC] changes                      # changes of `bound`, to be undone
    vector[ChoiceC] choices
    vector[size_t] slots                         # number of choices at each MAYBE and UNLESS
    vector[uint8_t] candidates                   # a set for each register


cdef int _search(MachineC* machine, SetsC* sets, const TreeC* tree, int32_t root, bint again) except -1 nogil:
    """Find the first solution at the root, or with `again` the next one; return 1 if found, else 0.

    The solution is in `machine.bound`.
    """
    cdef int32_t next_one = 0, n_steps = 0
    if again:
        next_one = _backtrack(machine, tree)
    else:
        machine.registers.assign(machine.n_registers, NOTHING)
        machine.registers[0] = root
        machine.bound.assign(machine.n_bound, NOTHING)
        machine.slots.assign(machine.n_slots, 0)
        machine.candidates.resize(<size_t>machine.n_registers * tree.n)
        machine.changes.clear()
        machine.choices.clear()
    while next_one >= 0 and machine.code[0][next_one].operation != ACCEPT:
        if not _run(machine, sets, tree, &next_one):
            next_one = _backtrack(machine, tree)
        n_steps += 1
        if n_steps == STEPS_TO_SIGNALS:
            n_steps = 0
            with gil:
                PyErr_CheckSignals()
    return next_one >= 0


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
        return _set_of(sets, tree.n, given[1])[machine.registers[given[0]]]
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
    cdef const uint8_t* among = _set_of(sets, tree.n, given[5])
    cdef GoalC goal
    cdef int32_t k
    sets.single.assign(tree.n, 0)
    sets.single[machine.registers[given[1]]] = 1
    goal.target = sets.single.data()
    goal.chain = _set_of(sets, tree.n, given[4])
    _find_sources(tree, given[2], given[3], goal, candidates, &sets.scratch)
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


cdef bint _capture(MachineC* machine, const TreeC* tree, int32_t place, int32_t node, int32_t number) noexcept nogil:
    """Assign the regular expression's capture at the node to the variable, or compare it with the variable's value."""
    cdef int32_t symbol = tree.symbols[node], value
    if symbol & 1:
        value = machine.word_captures[0][number][symbol >> 1]
    else:
        value = machine.label_captures[0][number][symbol >> 1]
    if machine.bound[place] == NOTHING:
        return value != NOTHING and _bind(machine, place, value)
    return machine.bound[place] == value

# The workspace for matching, reused from tree to tree.
cdef struct WorkC:
    const uint64_t* label_masks
    const uint64_t* word_masks
    const uint8_t* are_wrappers
    int32_t root_label         # its symbol
    vector[uint64_t] tokens    # the masks of the nodes' tokens
    vector[int32_t] above      # symbols, sizes, parents and heads of a tree with a root added above it
    SetsC sets
    MachineC machine
    vector[int32_t] nodes      # the matches in a tree
    vector[int32_t] bound      # for each the nodes that have names, -1 for names without a node


cdef class Matcher:
    """The compiled form of a `Program`, which counts and finds the matches in forests.

    tests: the `LabelTests` of its descriptions. heads: the `HeadRules`, if the program uses heads.
    Nodes in results are numbers: twice the index of a tree's node, or for a word, that of its POS node plus one.
    """

    cdef object tests, captures, heads
    cdef vector[InstructionC] sets, code
    cdef int32_t result, n_names, n_registers, n_slots, n_variables
    cdef uint64_t required     # bits that a tree's masks must have for any match
    cdef uint64_t[4] roots     # bits to set and to clear at the root; and at the top node below a root that was added
    cdef bint has_references, raw_labels
    cdef Tables last           # for the symbols of the last forest

    def __init__(self, program, tests, heads, *, bint raw_labels):
        self.tests, self.raw_labels = tests, raw_labels
        self.captures = [(program.tests[bit], group) for bit, group in program.captures]
        self.heads = heads if program.uses_heads else None
        self.result, self.required, self.n_names = program.result, program.required, len(program.names)
        self.has_references = program.has_references
        self.roots = program.roots
        self.n_registers, self.n_slots, self.n_variables = program.n_registers, program.n_slots, program.n_variables
        _read_instructions(program.sets, &self.sets)
        _read_instructions(program.code, &self.code)

    def count(self, Forest forest, token_masks=None):
        """Return the number of nodes that match; a root that was added is its top node.

        token_masks: for each word, which descriptions of tokens fit it; None if the pattern has none.
        """
        cdef WorkC work
        cdef TreeC tree
        cdef vector[int32_t] heads
        cdef int64_t n_matches = 0, n
        cdef int32_t i
        cdef size_t k
        _spread(token_masks, &forest.nodes, 0, forest.nodes.symbols.size(), &work.tokens)
        cdef Tables tables = self._begin(forest, 0, forest.firsts.size() - 1, &heads, &work)
        try:
            with nogil:
                for k in range(forest.firsts.size() - 1):
                    _look_at(&forest.nodes, heads.data(), forest.firsts[k], forest.firsts[k + 1], &tree)
                    tree.tokens = work.tokens.data() + forest.firsts[k] if work.tokens.size() else NULL
                    if not self._make_sets(&tree, &work):
                        continue
                    n = 0
                    for i in range(tree.n):
                        if _set_of(&work.sets, tree.n, self.result)[i] and not (i == 1 and tree.n_above and n):
                            n += _search(&work.machine, &work.sets, &tree, i, False) if self.has_references else 1
                    n_matches += n
        finally:
            forest.n_searches -= 1
            tables.n_searches -= 1
        return n_matches

    def find(self, Forest forest, size_t first, size_t behind, bint every, token_masks=None):
        """Return (number of the tree, nodes, for each the nodes that have names) for trees from `first` on.

        Trees without matches are left out, and so are the names if the pattern has none. `token_masks` are those of the
        words of these trees.
        """
        cdef WorkC work
        cdef TreeC tree
        cdef vector[int32_t] heads
        cdef size_t k
        cdef list found = []
        behind = min(behind, forest.firsts.size() - 1)
        cdef size_t begin = forest.firsts[min(first, behind)]
        _spread(token_masks, &forest.nodes, begin, forest.firsts[behind], &work.tokens)
        cdef Tables tables = self._begin(forest, first, behind, &heads, &work)
        try:
            for k in range(first, behind):
                _look_at(&forest.nodes, heads.data(), forest.firsts[k], forest.firsts[k + 1], &tree)
                tree.tokens = work.tokens.data() + (forest.firsts[k] - begin) if work.tokens.size() else NULL
                self._match_tree(k, &tree, &work, every, found)
        finally:
            forest.n_searches -= 1
            tables.n_searches -= 1
        return found

    cdef Tables _begin(self, Forest forest, size_t first, size_t behind, vector[int32_t]* heads, WorkC* work):
        """Return the tables for some trees of a forest; until both `n_searches` are taken back, nothing may grow."""
        cdef Tables tables = self.last
        cdef size_t k, begin
        is_busy = tables is not None and tables.n_searches and not tables.is_complete()
        if tables is None or tables.symbols is not forest.symbols or is_busy:
            tables = self.last = Tables(forest.symbols, self.tests, self.captures, self.heads)
        tables.update()
        if self.heads is not None:
            heads.resize(forest.nodes.sizes.size())
            for k in range(first, behind):
                begin = forest.firsts[k]
                tables.find_heads(&forest.nodes, begin, forest.firsts[k + 1], heads.data() + begin)
        forest.n_searches += 1
        tables.n_searches += 1
        # Pointers into the tables, which must not grow while these are used.
        work.label_masks = tables.label_masks.data()
        work.word_masks = tables.word_masks.data()
        work.are_wrappers = tables.are_wrappers.data()
        work.root_label = 2 * <int32_t>tables.symbols.label_numbers[ROOT]
        work.machine.code = &self.code
        work.machine.n_registers, work.machine.n_slots = self.n_registers, self.n_slots
        work.machine.n_names, work.machine.n_bound = self.n_names, self.n_names + self.n_variables
        work.machine.categories = tables.categories.data()
        work.machine.compares_categories = not self.raw_labels
        work.machine.label_captures = &tables.label_captures
        work.machine.word_captures = &tables.word_captures
        return tables

    cdef int32_t _find_root(self, TreeC* tree, WorkC* work) except -2 nogil:
        """Return the root, the lowest of a tree's wrappers; add one above the top node if there is none.

        Return -1 if the pattern does not name it: then nothing is added.
        """
        cdef int32_t root = -1, k, n = tree.n + 1
        cdef int32_t* above
        tree.n_above = 0
        if not (self.roots[0] | self.roots[1]):
            return -1
        while (
            tree.sizes[root + 1] > 2
            and work.are_wrappers[tree.symbols[root + 1] >> 1]
            and (root < 0 or tree.sizes[root + 1] == tree.sizes[root] - 1)
        ):
            root += 1
        if root >= 0:
            return root
        work.above.resize(4 * n)
        above = work.above.data()
        above[0], above[n], above[2 * n], above[3 * n] = work.root_label, n, -1, 1
        for k in range(1, n):
            above[k], above[n + k], above[2 * n + k] = tree.symbols[k - 1], tree.sizes[k - 1], tree.parents[k - 1] + 1
            if tree.heads != NULL:
                above[3 * n + k] = tree.heads[k - 1] + (tree.heads[k - 1] >= 0)
        tree.symbols, tree.sizes, tree.parents = above, above + n, above + 2 * n
        tree.heads = above + 3 * n if tree.heads != NULL else NULL
        tree.n, tree.n_above = n, 1
        return 0

    cdef bint _make_sets(self, TreeC* tree, WorkC* work) except -1 nogil:
        """Compute all sets in order; return False, and compute none, if the tree cannot have a match."""
        cdef int32_t k, symbol, root = self._find_root(tree, work)
        cdef uint64_t mask, together = 0
        work.sets.masks.resize(tree.n)
        for k in range(tree.n):
            symbol = tree.symbols[k]
            mask = work.word_masks[symbol >> 1] if symbol & 1 else work.label_masks[symbol >> 1]
            if tree.tokens != NULL and k >= tree.n_above:
                mask |= tree.tokens[k - tree.n_above]
            if k == root:
                mask = (mask | self.roots[0]) & ~self.roots[1]
            elif k == tree.n_above and k:
                mask = (mask | self.roots[2]) & ~self.roots[3]
            work.sets.masks[k] = mask
            together |= mask
        if self.required & ~together:
            return False
        work.sets.sets.resize((self.sets.size() + 1) * tree.n)
        memset(work.sets.sets.data(), 0, tree.n)
        for k in range(<int32_t>self.sets.size()):
            _make_set(&self.sets[k], k, tree, &work.sets)
        return True

    cdef int _match_tree(self, size_t number, TreeC* tree, WorkC* work, bint every, list found) except -1:
        """Add the tree's matches to those found; with `every` a node occurs once for each solution."""
        cdef int32_t k, i
        cdef bint is_match
        work.nodes.clear()
        work.bound.clear()
        if not self._make_sets(tree, work):
            return 0
        for k in range(tree.n):
            if not _set_of(&work.sets, tree.n, self.result)[k]:
                continue
            if k == 1 and tree.n_above and work.nodes.size() and not every:
                continue
            is_match = self.code.empty() or _search(&work.machine, &work.sets, tree, k, False)
            while is_match:
                work.nodes.push_back(k)
                for i in range(self.n_names):
                    work.bound.push_back(work.machine.bound[i])
                is_match = every and not self.code.empty() and _search(&work.machine, &work.sets, tree, k, True)
        if not work.nodes.empty():
            found.append((number, *self._reported(tree, work)))
        return 0

    cdef tuple _reported(self, const TreeC* tree, WorkC* work):
        """Convert nodes that include words to nodes of a Tree; a root that was added becomes its top node."""
        cdef vector[int32_t] codes
        cdef int32_t k, node, n = -tree.n_above
        cdef size_t match
        for k in range(tree.n):
            if tree.symbols[k] & 1:
                codes.push_back(2 * (n - 1) + 1)
            else:
                codes.push_back(2 * max(n, 0))
                n += 1
        nodes, named = [], []
        for match in range(work.nodes.size()):
            nodes.append(codes[work.nodes[match]])
            if self.n_names:
                bound = []
                for k in range(self.n_names):
                    node = work.bound[match * self.n_names + k]
                    bound.append(-1 if node < 0 else codes[node])
                named.append(tuple(bound))
        return nodes, named


cdef void _look_at(const NodesC* nodes, const int32_t* heads, size_t first, size_t behind, TreeC* tree) noexcept nogil:
    tree.n = <int32_t>(behind - first)
    tree.symbols = nodes.symbols.data() + first
    tree.sizes = nodes.sizes.data() + first
    tree.parents = nodes.parents.data() + first
    tree.heads = heads + first if heads != NULL else NULL


cdef int _spread(masks, const NodesC* nodes, size_t begin, size_t end, vector[uint64_t]* spread) except -1:
    """Give the masks, if there are any, to the words among some nodes."""
    cdef size_t node, k = 0
    if masks is not None:
        spread.assign(end - begin, 0)
        for node in range(begin, end):
            if nodes.symbols[node] & 1:
                spread[0][node - begin] = masks[k]
                k += 1
    return 0


cdef int _read_instructions(instructions, vector[InstructionC]* code) except -1:
    cdef InstructionC instruction
    cdef int k
    for numbers in instructions:
        instruction.operation = numbers[0]
        for k in range(6):
            instruction.arguments[k] = numbers[k + 1]
        code.push_back(instruction)
    return 0
