# The feature with the greatest gain, while the gains of many features change each round. Features lie in blocks; a
# block whose gains have changed is searched again, of the others only their maximum is looked at.
from libcpp.vector cimport vector


cdef class BestFeature:
    cdef vector[double] gains       # of each feature
    cdef vector[int] best_of_block  # the block's feature with the greatest gain, the first of several
    cdef vector[char] is_changed    # for each block: whether gains have changed since it was searched
    cdef void set_gain(self, Py_ssize_t feature, double gain) noexcept nogil
    cdef Py_ssize_t best(self) noexcept nogil
    cdef int _search(self, Py_ssize_t block) noexcept nogil
