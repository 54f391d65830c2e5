"""Hashed integer weights with lazy averaging: sums of integers are exact, whatever compiler and machine."""

import zlib
from math import sqrt

import numpy as np

from cpython.buffer cimport PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int16_t, int64_t, uint16_t, uint32_t
from libc.string cimport memcpy

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip
from spacy_incparse.integer_arrays import check_size, pack, unpack_into

from spacy_incparse.linear.prefetch cimport huge_pages

cdef enum:
    LIMIT = 32000   # weights stay within +-LIMIT
    MAX_SCALE = 64  # units of an averaged weight of 1.0, less where large weights would not fit
    MAX_CHANGES = 65535  # that are counted
    PIECE = 1 << 20  # bytes compressed at once


cdef class Weights:
    """A table of 16-bit weights, read only.

    bits: the table has 2**bits rows. n_columns: the largest number of outcomes of a row. scale: units in a weight of 1.
    """

    def __init__(self, int bits, int n_columns, int scale=1):
        if not 1 <= bits <= 30:
            raise ValueError(f"table_bits must be 1 to 30, not {bits}")
        if scale < 1:
            raise ValueError(f"scale must be 1 or more, not {scale}")
        self.bits, self.n_columns, self.scale = bits, n_columns, scale
        self.table.reserve((1 << bits) + n_columns)
        huge_pages(self.table.data(), self.table.capacity() * sizeof(int16_t))
        self.table.resize((1 << bits) + n_columns, 0)

    @staticmethod
    def from_bytes(bytes data, int bits, int n_columns, int scale) -> Weights:
        """Return a table of what `to_bytes` returned. Raise ModelError if the size does not fit the table."""
        if 0 < bits < 60:
            check_size(data, 2 * ((<int64_t>1 << bits) + n_columns), "the weights")
        return Weights(bits, n_columns, scale).load_bytes(data)

    cdef const int8_t* small_data(self, int* step):
        """Return the table divided by a step, a power of 2, in 8 bits; NULL if some weight would not be the same.

        It is made once; half the memory is twice as much of it in the processor's caches.
        """
        cdef size_t k
        cdef int bits = 0, largest = 0
        if self.small_step == 0:
            for k in range(self.table.size()):
                bits |= self.table[k]
                largest = max(largest, abs(self.table[k]))
            self.small_step = max(1, bits & -bits)
            if largest > 127 * self.small_step:
                self.small_step = -1
            else:
                self.small.reserve(self.table.size())
                huge_pages(self.small.data(), self.small.capacity())
                self.small.resize(self.table.size())
                for k in range(self.table.size()):
                    self.small[k] = <int8_t>(self.table[k] // self.small_step)
        step[0] = self.small_step
        return self.small.data() if self.small_step > 0 else NULL

    def __len__(self):
        return self.table.size()

    def __getitem__(self, Py_ssize_t index):
        if not 0 <= index < <Py_ssize_t>self.table.size():
            raise IndexError(index)
        return self.table[index]

    def view(self):
        """Return the table (int16) as memory, which may be read as long as the weights exist.

        It may be written until a parser is made of them.
        """
        return PyMemoryView_FromMemory(<char*>self.table.data(), self.table.size() * sizeof(int16_t), PyBUF_WRITE)

    def to_bytes(self) -> bytes:
        """Return the compressed table."""
        return pack(np.frombuffer(self.view(), np.int16))

    def load_bytes(self, bytes data):
        """Read what `to_bytes` returned. Raise ModelError if the size does not fit."""
        unpack_into(np.frombuffer(self.view(), np.int16), data, "the weights")
        return self


cdef class AveragedWeights(Weights):
    """Perceptron weights in training: raw values in `table`, and what their average needs (Collins & Roark, 2.2).

    step_decay: c; the n-th change of a weight has the size 1 / sqrt(1 + c * n), after AdaGrad (Duchi et al. 2011). With
    0 each has the size 1, as in the paper, and raw weights are whole numbers (in the units of those that they start
    from); else they are in units of 1 / 64.
    """

    def __init__(self, int bits, int n_columns, double step_decay=0.0):
        super().__init__(bits, n_columns, MAX_SCALE if step_decay else 1)
        self.step_decay, self.unit = step_decay, 1
        self.sums.resize(self.table.size(), 0)
        self.n_steps = 1
        if step_decay:
            self.n_changes.resize(self.table.size(), 0)
            self.steps = [max(1, int(MAX_SCALE / sqrt(1 + step_decay * n) + 0.5)) for n in range(MAX_CHANGES + 1)]

    cdef const int8_t* small_data(self, int* step):
        """Return NULL: these weights change."""
        return NULL

    cdef void add(self, uint32_t feature, int change) noexcept nogil:
        """Change the weight of a feature (a table index), at most up to LIMIT."""
        cdef int n, value, units = change * self.unit
        if not self.n_changes.empty():
            n = self.n_changes[feature]
            units *= self.steps[n]
            self.n_changes[feature] = min(n + change * change, MAX_CHANGES)
        value = self.table[feature] + units
        if -LIMIT <= value <= LIMIT:
            self.table[feature] = value
            self.sums[feature] += units * self.n_steps

    def start_from(self, Weights old, int64_t n_steps):
        """Begin with trained weights, which count in the average like those of so many steps.

        Each weight's next change has the size that it had when the weight was last changed, or a larger one: a weight
        of size w has changed so often at least that the steps make w. `old` may have fewer columns.
        """
        cdef size_t k
        if old.bits != self.bits or old.n_columns > self.n_columns:
            raise ValueError("the trained weights are a table of another size")
        if self.n_changes.empty():
            self.scale = self.unit = old.scale
        for k in range(old.table.size()):
            self.table[k] = old.table[k] * (self.scale // old.scale)
            if not self.n_changes.empty():
                self.n_changes[k] = _changes_behind(abs(self.table[k]) / <double>self.scale, self.step_decay)
        self.n_steps = n_steps

    def widen(self, AveragedWeights old):
        """Take over everything from weights in training that have fewer columns."""
        self.scale, self.unit, self.n_steps = old.scale, old.unit, old.n_steps
        memcpy(self.table.data(), old.table.data(), old.table.size() * sizeof(int16_t))
        memcpy(self.sums.data(), old.sums.data(), old.sums.size() * sizeof(int64_t))
        memcpy(self.n_changes.data(), old.n_changes.data(), old.n_changes.size() * sizeof(uint16_t))

    def step(self):
        """Count one training example: the average is over the weights of the start and those after each example."""
        self.n_steps += 1

    def averaged(self) -> Weights:
        """Return the averages, rounded to units of 1 / scale, the largest power of two up to 64 that fits."""
        return averaged_over([self])

    cdef double average(self, size_t k) noexcept nogil:
        return (self.table[k] - self.sums[k] / <double>self.n_steps) / self.scale

    def state_to_bytes(self) -> bytes:
        """Return raw weights, sums and numbers of changes, compressed lightly: the training state."""
        cdef size_t n = self.table.size()
        packer = zlib.compressobj(1)
        parts = [packer.compress(self.n_steps.to_bytes(8, "little"))]
        _pack(packer, parts, <const char*>self.table.data(), n * sizeof(int16_t))
        _pack(packer, parts, <const char*>self.sums.data(), n * sizeof(int64_t))
        _pack(packer, parts, <const char*>self.n_changes.data(), self.n_changes.size() * sizeof(uint16_t))
        return b"".join([*parts, packer.flush()])

    def load_state(self, bytes data):
        """Read what `state_to_bytes` returned on a machine of this byte order. Raise ModelError if it does not fit."""
        cdef Py_ssize_t n = self.table.size()
        cdef Py_ssize_t n_change_bytes = self.n_changes.size() * sizeof(uint16_t)
        cdef Py_ssize_t n_bytes = <Py_ssize_t>(8 + n * (sizeof(int16_t) + sizeof(int64_t))) + n_change_bytes
        cdef bytes state = unzip(data, "the training state is", n_bytes)
        if len(state) != n_bytes:
            raise ModelError("the training state belongs to another configuration: start the training anew")
        self.n_steps = int.from_bytes(state[:8], "little")
        cdef const char* source = state
        source += 8
        memcpy(self.table.data(), source, n * sizeof(int16_t))
        source += n * sizeof(int16_t)
        memcpy(self.sums.data(), source, n * sizeof(int64_t))
        memcpy(self.n_changes.data(), source + n * sizeof(int64_t), n_change_bytes)
        return self


cdef int _pack(packer, list parts, const char* source, size_t n_bytes) except -1:
    """Compress memory a piece at a time, since a copy of all of it would be the largest thing in training."""
    cdef size_t k
    for k in range(0, n_bytes, PIECE):
        parts.append(packer.compress(source[k:min(k + PIECE, n_bytes)]))
    return 0


cdef int _changes_behind(double size, double step_decay) noexcept nogil:
    """The least number of changes that give a weight this size: the sum of their steps is about 2 sqrt(n / c) or less.

    The integral of 1 / sqrt(1 + c x) from 0 to n is 2 (sqrt(1 + c n) - 1) / c.
    """
    cdef double root = 1 + size * step_decay / 2
    cdef double n = (root * root - 1) / step_decay
    return <int>n if n < MAX_CHANGES else MAX_CHANGES


def averaged_over(learnt) -> Weights:
    """Return the mean of several learners' averages, rounded as `AveragedWeights.averaged` says.

    Features have the same place in all tables, so that models of several seeds can be mixed into one.
    """
    cdef AveragedWeights first = learnt[0]
    cdef size_t k, n = first.table.size()
    cdef double mean, largest = 0.0
    cdef int scale = MAX_SCALE
    cdef vector[PyObject*] models
    for weights in learnt:
        models.push_back(<PyObject*>weights)
    for k in range(n):
        mean = _mean(&models, k)
        largest = max(largest, mean if mean > 0 else -mean)
    while scale > 1 and largest * scale > LIMIT:
        scale //= 2
    cdef Weights result = Weights(first.bits, first.n_columns, scale)
    for k in range(n):
        mean = _mean(&models, k)
        result.table[k] = <int16_t>(mean * scale + (0.5 if mean >= 0 else -0.5))
    return result


cdef double _mean(const vector[PyObject*]* models, size_t k):
    cdef double total = 0.0
    cdef size_t i
    for i in range(models.size()):
        total += (<AveragedWeights>models[0][i]).average(k)
    return total / models.size()
