# The memory of NumPy arrays, for loops over them.
#
#     cdef const int32_t* columns = int32s(data.features)
#
# A typed memoryview is safer, but each module with one takes three more seconds to compile. A pointer is valid as long
# as somebody holds the array, so a class keeps the array as an attribute beside it. The array must be contiguous, of
# one dimension and of exactly this type, and one that is written to must be writable, or a ValueError is raised.
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t


cdef inline void* array_memory(object array, bint is_float, Py_ssize_t size, bint writable) except? NULL:
    cdef Py_buffer view
    cdef bint fits
    cdef void* memory
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
    fits = view.ndim == 1 and view.itemsize == size and (view.format[0] == c"d") == is_float
    memory = view.buf
    PyBuffer_Release(&view)
    if not fits:
        raise ValueError(f"expected an array of {'floats' if is_float else 'integers'} of {size} bytes, not {array!r}")
    return memory


cdef inline int32_t* int32s(object array, bint writable=False) except? NULL:
    return <int32_t*>array_memory(array, False, sizeof(int32_t), writable)


cdef inline int64_t* int64s(object array, bint writable=False) except? NULL:
    return <int64_t*>array_memory(array, False, sizeof(int64_t), writable)


cdef inline double* doubles(object array, bint writable=False) except? NULL:
    return <double*>array_memory(array, True, sizeof(double), writable)


cdef inline char* writable_bytes(object array) except? NULL:
    return <char*>array_memory(array, False, 1, True)
