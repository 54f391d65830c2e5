# Relations between the nodes of a tree, on sets: from the set of all B to the set of all A related to one of them.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector


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


# A tree to be matched: see forest.pxd. heads[k] is the head child of node k; NULL if no relation needs it.
cdef struct TreeC:
    int32_t n
    const int32_t* symbols
    const int32_t* sizes
    const int32_t* parents
    const int32_t* heads


# The nodes B and, for repeated steps, the nodes allowed in between. A set has one byte per node, 0 or 1.
cdef struct GoalC:
    const uint8_t* target
    const uint8_t* chain   # all 0 if the step is not repeated


# sources := { A : some B in `target` is reached from A by the step, or by several steps through `chain` only }
cdef void find_sources(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil
