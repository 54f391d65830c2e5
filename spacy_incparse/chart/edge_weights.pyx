"""Hashed weights in training."""

import struct
import zlib

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

from libc.math cimport sqrtf
from libc.stdint cimport uint32_t


cdef class LearningWeights:
    """Weights that follow the gradient of an objective with an L2 prior: sum of f(example) - l2 / 2 |w|^2 each.

    A change of a weight w with gradient g is `step` * g; with AdaGrad (Duchi et al. 2011) it is divided by the square
    root of `damping` plus the sum of its squared gradients so far. The prior pulls a weight down by the share
    `step` * l2 at each step, with the same divisor. A weight is not touched for that before its next change: what
    would have happened since its last one is made up for then (Carpenter 2008), with 1 / (1 + x) for exp(-x).

    n: the number of weights. damping: 0 for plain gradient ascent.
    """

    def __init__(self, Py_ssize_t n, *, double step, double l2=0.0, double damping=0.0):
        cdef float[::1] values, squares, clocks
        if n < 1:
            raise ValueError(f"there must be at least one weight, not {n}")
        self.step, self.l2, self.clock = step, l2, 0
        self.values = values = np.zeros(n, np.float32)
        self.clocks = clocks = np.zeros(n, np.float32)
        self.squares = None
        self.square = NULL
        if damping:
            self.squares = squares = np.full(n, damping, np.float32)
            self.square = &squares[0]
        self.value, self.changed = &values[0], &clocks[0]

    def tick(self):
        """Count one step: the prior pulls all weights down."""
        self.clock += self.step

    cdef void add(self, uint32_t feature, float gradient) noexcept nogil:
        """Change the weight of a feature."""
        cdef float rate = 1
        cdef float waited = <float>self.clock - self.changed[feature]
        if self.square != NULL:
            rate = 1 / sqrtf(self.square[feature])
            self.square[feature] += gradient * gradient
        self.value[feature] /= 1 + waited * <float>self.l2 * rate
        self.changed[feature] = <float>self.clock
        if self.square != NULL:
            rate = 1 / sqrtf(self.square[feature])
        self.value[feature] += <float>self.step * rate * gradient

    def settled(self):
        """Return the weights as they are once the prior has pulled all of them down: float32 (n,)."""
        rate = 1 if self.squares is None else 1 / np.sqrt(self.squares)
        waited = np.float32(self.clock) - self.clocks
        return self.values / (1 + waited * np.float32(self.l2) * rate)

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes, compressed lightly."""
        packer = zlib.compressobj(1)
        parts = [packer.compress(array) for array in self._arrays()]
        return b"".join([struct.pack("<d", self.clock), *parts, packer.flush()])

    def load_state(self, bytes data):
        """Read what `state_to_bytes` returned on a machine of this byte order. Raise ModelError if it does not fit."""
        cdef Py_ssize_t n_bytes = sum([array.nbytes for array in self._arrays()]), start = 0
        state = unzip(data[8:], "the training state is", n_bytes)
        if len(state) != n_bytes:
            raise ModelError("the training state belongs to another configuration: start the training anew")
        for array in self._arrays():
            array[:] = np.frombuffer(state[start : start + array.nbytes], np.float32)
            start += array.nbytes
        (self.clock,) = struct.unpack("<d", data[:8])

    def _arrays(self):
        return [array for array in (self.values, self.clocks, self.squares) if array is not None]
