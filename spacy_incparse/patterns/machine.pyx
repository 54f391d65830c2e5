"""Runs the instructions of program.py that look for nodes: a machine with a stack of choices.

It tries nodes in pre-order, so that the first solution has the leftmost node at each choice. The nodes that it tries
for a register are those of a set: without references it never fails.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, uint8_t

from spacy_incparse.patterns.relations cimport GoalC, TreeC, find_sources
from spacy_incparse.patterns.sets cimport InstructionC, SetsC, set_of

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
