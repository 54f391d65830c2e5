"""A read-only sequence of whole numbers in compiled memory; Python integers are made only where somebody looks."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef class IntVector:
    """The numbers of a `vector[int32_t]`. It is equal to any sequence of the same numbers."""

    def __len__(self):
        return <Py_ssize_t>self.values.size()

    def __getitem__(self, Py_ssize_t index):
        cdef Py_ssize_t n = self.values.size()
        if not -n <= index < n:
            raise IndexError(f"there is no number {index} among {n}")
        return self.values[index + n if index < 0 else index]

    def __eq__(self, other):
        return list(self) == list(other)

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return repr(list(self))


cdef IntVector taken(vector[int32_t]* values):
    """Return an IntVector with the numbers of a vector, which is empty afterwards."""
    cdef IntVector found = IntVector()
    found.values.swap(values[0])
    return found


cdef int copy_ints(object source, vector[int32_t]* target) except -1:
    """Copy the numbers of an IntVector, or of any sequence."""
    if isinstance(source, IntVector):
        target[0] = (<IntVector>source).values
    else:
        target[0] = source
    return 0
