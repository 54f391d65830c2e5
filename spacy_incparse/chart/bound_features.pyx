"""The features of the edges of a forest.

Many edges share their features: those of a word at a border and a rule, say, do not depend on the other borders. So
each pair of a place and an outcome, a *unit*, is scored once, and an edge's score is a sum over a few units. The way
back is the same: an edge's value is added to its units, and then each unit with a value changes the weights of its
features.
"""

import struct
import zlib

from libc.math cimport fabs, sqrtf
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.linear.prefetch cimport prefetch

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

cdef enum:
    AHEAD = 6  # units whose weights are asked for in advance

cdef double TINY = 1e-9  # values of units that change nothing

ctypedef fused weight_t:
    int16_t
    float
    double


cdef class BoundFeatures:
    """The features of the edges of one forest.

    Weights are arrays of `FeatureGroups.n_weights` numbers.
    """

    @property
    def n_units(self):
        """The number of distinct pairs of a place and an outcome."""
        cdef size_t g, n = 0
        for g in range(self.units.size()):
            n += self.units[g].size()
        return n

    def scores(self, const weight_t[::1] weights, double unit=1.0):
        """Return the score of each edge: float64 (n_edges,).

        unit: what a weight of 1 counts, for weights in smaller units.
        """
        cdef vector[vector[double]] sums
        cdef Py_ssize_t g
        cdef double[::1] scores
        found = np.empty(self.n_edges)
        self._check(len(weights))
        if self.n_edges:
            scores = found
            sums.resize(self.units.size())
            with nogil:
                for g in range(<Py_ssize_t>self.units.size()):
                    _score_units(&weights[0], &self.units[g], self.rows.data(),
                                 self.n_templates[g], unit, &sums[g])
                self._spread_units(&sums, &scores[0])
        return found

    def update(self, LearningWeights weights not None, const double[::1] edge_values):
        """Add the gradient that these values of the edges stand for, the derivatives by their scores."""
        cdef vector[vector[double]] sums
        cdef Py_ssize_t g, u, t, n
        cdef UnitC unit
        self._check(len(weights.values), edge_values.shape[0])
        if not self.n_edges:
            return
        with nogil:
            self._sum_units(&edge_values[0], &sums)
            for g in range(<Py_ssize_t>self.units.size()):
                n = self.n_templates[g]
                for u in range(<Py_ssize_t>self.units[g].size()):
                    if fabs(sums[g][u]) > TINY:
                        unit = self.units[g][u]
                        for t in range(n):
                            weights.add(self.rows[unit.row + t] + unit.column, <float>sums[g][u])

    def feature_vector(self, const double[::1] edge_values):
        """Return the sum over all edges of value times features: weights' numbers, int64, ascending; float64 sums."""
        cdef vector[vector[double]] sums
        cdef vector[int64_t] numbers
        cdef vector[double] values
        cdef Py_ssize_t g, u, t, n
        cdef UnitC unit
        self._check(self.n_weights, edge_values.shape[0])
        if self.n_edges:
            self._sum_units(&edge_values[0], &sums)
        for g in range(<Py_ssize_t>sums.size()):
            n = self.n_templates[g]
            for u in range(<Py_ssize_t>self.units[g].size()):
                unit = self.units[g][u]
                if fabs(sums[g][u]) > TINY:
                    for t in range(n):
                        numbers.push_back(self.rows[unit.row + t] + unit.column)
                        values.push_back(sums[g][u])
        features, places = np.unique(np.array(numbers, np.int64), return_inverse=True)
        return features, np.bincount(places, np.array(values, float), len(features))

    def _check(self, Py_ssize_t n_weights, Py_ssize_t n_values=-1):
        if n_weights != self.n_weights:
            raise ValueError(f"there are {n_weights} weights, the features have {self.n_weights}")
        if n_values >= 0 and n_values != self.n_edges:
            raise ValueError(f"{n_values} values for {self.n_edges} edges")

    cdef void _spread_units(self, const vector[vector[double]]* sums, double* edge_scores) noexcept nogil:
        """Fill the scores of edges with the sums of their units' scores."""
        cdef size_t r, m, n_run = self.run_groups.size(), n_edge = self.edge_groups.size()
        cdef const int32_t* units
        cdef int32_t e
        cdef double common
        for r in range(self.run_starts.size() - 1):
            common = self.constants[r]
            units = self.run_units.data() + r * n_run
            for m in range(n_run):
                if units[m] >= 0:
                    common += sums[0][self.run_groups[m]][units[m]]
            for e in range(self.run_starts[r], self.run_starts[r + 1]):
                edge_scores[e] = common
                units = self.edge_units.data() + e * n_edge
                for m in range(n_edge):
                    if units[m] >= 0:
                        edge_scores[e] += sums[0][self.edge_groups[m]][units[m]]

    cdef void _sum_units(self, const double* edge_values, vector[vector[double]]* sums) noexcept nogil:
        """Fill the values of units with the sums of their edges' values."""
        cdef size_t r, m, g, n_run = self.run_groups.size(), n_edge = self.edge_groups.size()
        cdef const int32_t* units
        cdef int32_t e
        cdef double total
        sums.resize(self.units.size())
        for g in range(self.units.size()):
            sums[0][g].assign(self.units[g].size(), 0)
        for r in range(self.run_starts.size() - 1):
            total = 0
            for e in range(self.run_starts[r], self.run_starts[r + 1]):
                total += edge_values[e]
                units = self.edge_units.data() + e * n_edge
                for m in range(n_edge):
                    if units[m] >= 0:
                        sums[0][self.edge_groups[m]][units[m]] += edge_values[e]
            units = self.run_units.data() + r * n_run
            for m in range(n_run):
                if units[m] >= 0:
                    sums[0][self.run_groups[m]][units[m]] += total


cdef void _score_units(const weight_t* weights, const vector[UnitC]* units, const uint32_t* rows,
                       Py_ssize_t n_templates, double unit, vector[double]* sums) noexcept nogil:
    cdef Py_ssize_t u, t, n = units.size()
    cdef const uint32_t* row
    cdef int32_t column
    cdef double total
    sums.resize(n)
    for u in range(n):
        if u + AHEAD < n:
            row, column = rows + units[0][u + AHEAD].row, units[0][u + AHEAD].column
            for t in range(n_templates):
                prefetch(&weights[row[t] + column])
        row, column, total = rows + units[0][u].row, units[0][u].column, 0
        for t in range(n_templates):
            total += weights[row[t] + column]
        sums[0][u] = total * unit


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
