"""The features of the edges of a forest, and weights that follow gradients by them.

Many edges share their features: those of a word at a border and a rule, say, do not depend on the other borders. So
templates with the same outcome that depend on the same borders form a *group*, and each pair of a place and an outcome,
a *unit*, is scored once: an edge's score is a sum over a few units. The way back is the same: an edge's value is added
to its units, and then each unit with a value changes the weights of its features. A forest's units are found in one
walk over its edges. Tables say which ones were made before: of the same word, of the same span, or at the same split.
"""

import struct
import zlib

from libc.math cimport fabs, sqrtf
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest cimport Forest, IDENTITY, NodeC
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.prefetch cimport prefetch

from spacy_incparse.chart.forest import GLUE_SCORE
from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

cdef enum:
    AHEAD = 6       # units whose weights are asked for in advance
    PAD = 3         # words beyond the sentence, as in crf.py
    KIND_VALUE = 4  # the numbers of values in templates.WORD_VALUES
    TAG_VALUE = 5

cdef double TINY = 1e-9  # values of units that change nothing
cdef double GLUE = GLUE_SCORE
cdef uint64_t BASE = 0x9E3779B97F4A7C15

ctypedef fused weight_t:
    int16_t
    float
    double


def packed_arrays(arrays):
    """Return arrays as bytes, compressed lightly."""
    packer = zlib.compressobj(1)
    return b"".join([packer.compress(array) for array in arrays] + [packer.flush()])


def fill_arrays(arrays, bytes data):
    """Fill arrays with what `packed_arrays` returned on a machine of this byte order.

    Raises ModelError if it does not fit.
    """
    cdef Py_ssize_t n_bytes = sum([array.nbytes for array in arrays]), start = 0
    state = unzip(data, "the training state is", n_bytes)
    if len(state) != n_bytes:
        raise ModelError("the training state belongs to another configuration: start the training anew")
    for array in arrays:
        array[:] = np.frombuffer(state[start : start + array.nbytes], array.dtype)
        start += array.nbytes


cdef class LearningWeights:
    """Weights that follow the gradient of an objective with an L2 prior: sum of f(example) - l2 / 2 |w|^2 each.

    A change of a weight w with gradient g is `step` * g; with AdaGrad (Duchi et al. 2011) it is divided by the square
    root of `damping` plus the sum of its squared gradients so far. The prior pulls a weight down by the share
    `step` * l2 at each step, with the same divisor. A weight is not touched for that before its next change: what
    would have happened since its last one is made up for then (Carpenter 2008), with 1 / (1 + x) for exp(-x).

    n: the number of weights. damping: 0 for plain gradient ascent.
    """

    cdef readonly object values      # the weights, float32
    cdef readonly object squares     # sums of squared gradients, float32; None without AdaGrad
    cdef readonly object clocks      # by weight: the clock at its last change
    cdef readonly double l2
    cdef public double step          # the size of the next changes
    cdef public double clock         # the sum of the sizes of all steps so far
    cdef float* value
    cdef float* square
    cdef float* changed

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
        return struct.pack("<d", self.clock) + packed_arrays(self._arrays())

    def load_state(self, bytes data):
        """Read what `state_to_bytes` returned. Raises ModelError if it does not fit."""
        fill_arrays(self._arrays(), data[8:])
        (self.clock,) = struct.unpack("<d", data[:8])

    def _arrays(self):
        return [array for array in (self.values, self.clocks, self.squares) if array is not None]


# An outcome at a place: its features are table[rows[row + t] + column] for each template t of the group.
cdef struct UnitC:
    uint32_t row
    int32_t column


cdef class BoundFeatures:
    """The features of the edges of one forest.

    Weights are arrays of `FeatureGroups.n_weights` numbers.
    """

    cdef readonly Py_ssize_t n_edges
    cdef readonly Py_ssize_t n_weights
    cdef vector[size_t] n_templates            # by group
    cdef vector[int32_t] run_groups            # the numbers of the groups that are equal for all splits
    cdef vector[int32_t] edge_groups
    cdef vector[uint32_t] rows
    cdef vector[vector[UnitC]] units           # by group
    cdef vector[int32_t] run_starts            # the first edge of each run: edges of a node with one rule
    cdef vector[int32_t] run_units             # by run, then by run group: a unit or -1
    cdef vector[int32_t] edge_units            # by edge, then by edge group
    cdef vector[double] constants              # by run: the score of what is no rule

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


# What the features of a group depend on, besides the outcome. Groups up to SPAN are equal for all splits of a rule.
cdef enum Anchor:
    NOWHERE
    START
    END
    SPAN
    WORD
    SPLIT      # the border between the children
    WHOLE      # the span and this border


# A part of a template: a value of the word at an offset from a border (0: i, 1: j, 2: k), or one of `SpanValue`.
cdef struct FieldC:
    int32_t value
    int32_t border
    int32_t offset
    uint64_t coefficient


cdef enum SpanValue:
    LENGTH = 100
    LEFT_LENGTH
    RIGHT_LENGTH
    SHAPE
    TAGS
    SHORT
    MIDDLE
    RANK


# Templates with the same anchor and outcome. Template t has fields[begins[t]:begins[t + 1]].
cdef struct GroupC:
    int32_t anchor
    int32_t n_columns
    vector[uint64_t] biases
    vector[int32_t] begins
    vector[FieldC] fields
    vector[int32_t] columns   # by rule, then by state: see templates.columns


# The sentence, as its fields read it.
cdef struct SentenceC:
    int32_t n_words
    const uint32_t* values    # of words, by kind of value
    size_t stride             # from one kind of value to the next
    const uint32_t* ranks     # of lexical rules, by word
    int32_t n_lexical
    vector[uint64_t] shapes   # hashes of the first words' kinds, and of their tags
    vector[uint64_t] tags
    vector[uint64_t] powers


cdef class FeatureGroups:
    """The templates of a grammar's edges by what they depend on. Not for several threads at a time.

    groups: for each the `Anchor`, the templates as pairs of a bias and rows (value, border, offset, coefficient), and
    the columns of its outcome. bits: there are 2**bits rows of weights.
    """

    cdef readonly int32_t n_rules
    cdef readonly int32_t n_states
    cdef readonly int32_t first_lexical
    cdef readonly int32_t bits
    cdef readonly Py_ssize_t n_weights  # the rows, and the columns behind the last one
    cdef vector[GroupC] groups
    cdef vector[size_t] n_templates     # by group
    cdef vector[int32_t] run_groups     # the numbers of the groups that are equal for all splits
    cdef vector[int32_t] edge_groups
    # For the sentence that is being bound:
    cdef SentenceC sentence
    cdef vector[vector[uint64_t]] tables       # by group: the epoch and the unit of (place, column)
    cdef vector[uint32_t] epochs               # by group: that of the units that may be used again
    cdef uint32_t epoch                        # counts sentences and spans
    cdef vector[vector[uint32_t]] place_rows   # by group: the first row of each place
    cdef vector[vector[int32_t]] row_spans     # by group and split: the span for which its rows were computed
    cdef int32_t n_spans

    def __init__(self, groups, int32_t n_rules, int32_t n_states, int32_t first_lexical, int32_t bits):
        cdef int32_t number
        cdef GroupC group
        self.n_rules, self.n_states, self.first_lexical, self.bits = n_rules, n_states, first_lexical, bits
        for number, (anchor, templates, columns) in enumerate(groups):
            group = GroupC(anchor, columns.max(initial=0) + 1, [], [0], [], columns.tolist())
            for bias, fields in templates:
                group.biases.push_back(bias)
                for value, border, offset, coefficient in fields:
                    group.fields.push_back(FieldC(value, border, offset, coefficient))
                group.begins.push_back(<int32_t>group.fields.size())
            self.n_templates.push_back(group.biases.size())
            self.groups.push_back(group)
            if anchor < SPLIT:
                self.run_groups.push_back(number)
            else:
                self.edge_groups.push_back(number)
        self.n_weights = (1 << bits) + max([1] + [columns.max() + 1 for _, _, columns in groups])
        self.tables.resize(self.groups.size())
        self.epochs.resize(self.groups.size())
        self.place_rows.resize(self.groups.size())
        self.row_spans.resize(self.groups.size())

    def bind(self, Forest forest not None, const uint32_t[:, ::1] words, const uint32_t[:, ::1] ranks):
        """Return the features of a forest's edges; words, ranks: of `EdgeFeatures`."""
        cdef BoundFeatures bound = BoundFeatures()
        cdef int32_t v, i = -1, j = -1
        cdef NodeC node
        bound.n_edges, bound.n_weights = forest.n_edges, self.n_weights
        bound.run_groups, bound.edge_groups = self.run_groups, self.edge_groups
        bound.n_templates = self.n_templates
        bound.units.resize(self.groups.size())
        bound.edge_units.resize(forest.edges.size() * self.edge_groups.size())
        self.sentence.n_words = forest.n_words
        self.sentence.values, self.sentence.stride = &words[0, 0] + PAD, words.shape[1]
        self.sentence.ranks, self.sentence.n_lexical = &ranks[0, 0], <int32_t>ranks.shape[1]
        with nogil:
            self._start(bound)
            for v in range(<int32_t>forest.nodes.size()):
                node = forest.nodes[v]
                if node.start != i or node.end != j:
                    i, j = node.start, node.end
                    self._start_span(bound, i, j)
                self._bind_node(bound, forest, v)
            bound.run_starts.push_back(<int32_t>forest.edges.size())
        return bound

    cdef void _start(self, BoundFeatures bound) noexcept nogil:
        """Prepare for a sentence: compute what depends on one border."""
        cdef size_t g
        cdef int32_t p, anchor, n = self.sentence.n_words
        self.n_spans = 0
        self._start_epoch()
        _prefix_hashes(&self.sentence, KIND_VALUE, &self.sentence.shapes)
        _prefix_hashes(&self.sentence, TAG_VALUE, &self.sentence.tags)
        self.sentence.powers.assign(1, 1)
        for _ in range(n + 2):
            self.sentence.powers.push_back(self.sentence.powers.back() * BASE)
        for g in range(self.groups.size()):
            anchor = self.groups[g].anchor
            self.epochs[g] = self.epoch
            if self.tables[g].size() < <size_t>(n + 1) * self.groups[g].n_columns:
                self.tables[g].resize(<size_t>(n + 1) * self.groups[g].n_columns)
            self.place_rows[g].assign(n + 1, 0)
            self.row_spans[g].assign(n + 1, -1)
            if anchor == NOWHERE:
                self.place_rows[g][0] = self._rows(bound, &self.groups[g], 0, 0, 0, -1)
            elif anchor == START or anchor == END or anchor == SPLIT:
                for p in range(n + 1):
                    self.place_rows[g][p] = self._rows(bound, &self.groups[g], p, p, p, -1)

    cdef void _start_epoch(self) noexcept nogil:
        """Make all units of groups that join the new epoch unknown, without wiping their tables."""
        cdef size_t g
        self.epoch += 1
        if self.epoch == 0:  # after four billion spans
            for g in range(self.tables.size()):
                self.tables[g].assign(self.tables[g].size(), 0)
                self.epochs[g] = 1
            self.epoch = 1

    cdef void _start_span(self, BoundFeatures bound, int32_t i, int32_t j) noexcept nogil:
        cdef size_t g
        self.n_spans += 1
        self._start_epoch()
        for g in range(self.groups.size()):
            if self.groups[g].anchor == SPAN or self.groups[g].anchor == WHOLE:
                self.epochs[g] = self.epoch
                if self.groups[g].anchor == SPAN:
                    self.place_rows[g][0] = self._rows(bound, &self.groups[g], i, j, j, -1)

    cdef void _bind_node(self, BoundFeatures bound, Forest forest, int32_t v) noexcept nogil:
        cdef NodeC node = forest.nodes[v]
        cdef int32_t e = forest.first_edges[v], end = forest.first_edges[v + 1], first, rule, number
        cdef size_t m
        while e < end:
            first, rule = e, forest.edges[e].rule
            while e < end and forest.edges[e].rule == rule:
                e += 1
            number = self.n_rules + node.state if rule == IDENTITY else rule
            if rule < IDENTITY or number >= self.n_rules + self.n_states:
                number = -1
            bound.run_starts.push_back(first)
            bound.constants.push_back(GLUE if rule < IDENTITY else 0)
            for m in range(self.run_groups.size()):
                bound.run_units.push_back(self._run_unit(bound, self.run_groups[m], number, node.start, node.end))
            for m in range(self.edge_groups.size()):
                self._bind_edges(bound, forest, m, number, v, first, e)

    cdef int32_t _run_unit(self, BoundFeatures bound, int32_t g, int32_t number, int32_t i, int32_t j) noexcept nogil:
        cdef const GroupC* group = &self.groups[g]
        cdef int32_t column = -1 if number < 0 else group.columns[number]
        if column < 0:
            return -1
        if group.anchor == WORD:
            bound.units[g].push_back(UnitC(self._rows(bound, group, i, j, j, number - self.first_lexical), column))
            return <int32_t>bound.units[g].size() - 1
        return self._unit(bound, g, i if group.anchor == START else j if group.anchor == END else 0, column)

    cdef void _bind_edges(self, BoundFeatures bound, Forest forest, size_t m, int32_t number, int32_t v, int32_t first,
                          int32_t end) noexcept nogil:
        """Find the units of an edge group for edges of a node with one rule."""
        cdef int32_t g = self.edge_groups[m], i = forest.nodes[v].start, j = forest.nodes[v].end, e, k
        cdef const GroupC* group = &self.groups[g]
        cdef int32_t column = -1 if number < 0 else group.columns[number]
        cdef size_t n_groups = self.edge_groups.size()
        cdef int32_t* unit = bound.edge_units.data() + first * n_groups + m
        for e in range(first, end):
            unit[0] = -1
            if column >= 0:
                k = j if forest.edges[e].right < 0 else forest.nodes[forest.edges[e].left].end
                if group.anchor == WHOLE and self.row_spans[g][k] != self.n_spans:
                    self.row_spans[g][k] = self.n_spans
                    self.place_rows[g][k] = self._rows(bound, group, i, j, k, -1)
                unit[0] = self._unit(bound, g, k, column)
            unit += n_groups

    cdef int32_t _unit(self, BoundFeatures bound, int32_t g, int32_t place, int32_t column) noexcept nogil:
        """Return the number of a unit, a new one if there is none."""
        cdef uint64_t* entry = self.tables[g].data() + place * self.groups[g].n_columns + column
        if entry[0] >> 32 != self.epochs[g]:
            entry[0] = <uint64_t>self.epochs[g] << 32 | bound.units[g].size()
            bound.units[g].push_back(UnitC(self.place_rows[g][place], column))
        return <int32_t><uint32_t>entry[0]

    cdef uint32_t _rows(self, BoundFeatures bound, const GroupC* group, int32_t i, int32_t j, int32_t k,
                        int32_t lexical) noexcept nogil:
        """Append the rows of all templates of a group at a place; return the first one's index.

        A row is the multilinear hash of Dietzfelbinger (1996).
        """
        cdef uint32_t first = <uint32_t>bound.rows.size()
        cdef size_t t
        cdef int32_t f
        cdef uint64_t h
        for t in range(group.biases.size()):
            h = group.biases[t]
            for f in range(group.begins[t], group.begins[t + 1]):
                h += group.fields[f].coefficient * self._value(&group.fields[f], i, j, k, lexical)
            bound.rows.push_back(<uint32_t>(h >> (64 - self.bits)))
        return first

    cdef uint32_t _value(self, const FieldC* field, int32_t i, int32_t j, int32_t k, int32_t lexical) noexcept nogil:
        cdef const SentenceC* s = &self.sentence
        cdef int32_t border
        if field.value < LENGTH:
            border = i if field.border == 0 else j if field.border == 1 else k
            return s.values[field.value * s.stride + border + field.offset]
        if field.value == LENGTH:
            return _bucket(j - i)
        if field.value == LEFT_LENGTH:
            return _bucket(k - i)
        if field.value == RIGHT_LENGTH:
            return _bucket(j - k)
        if field.value == SHAPE:
            return _span_hash(s, &s.shapes, i - 1, j + 1)
        if field.value == TAGS:
            return _span_hash(s, &s.tags, i, j)
        if field.value == SHORT:
            return min(j - i, 4)
        if field.value == MIDDLE:
            return s.values[i + 1] if j - i == 3 else 0
        return s.ranks[i * s.n_lexical + lexical]


cdef void _prefix_hashes(const SentenceC* s, int32_t value, vector[uint64_t]* hashes) noexcept nogil:
    """Fill hashes of the first values: of those of the word before the sentence, of that and the first word, ..."""
    cdef Py_ssize_t p
    hashes.assign(1, 0)
    for p in range(-1, s.n_words + 1):
        hashes.push_back(hashes.back() * BASE + mix64(s.values[value * s.stride + p]))


cdef inline uint32_t _span_hash(const SentenceC* s, const vector[uint64_t]* hashes, int32_t i,
                                int32_t j) noexcept nogil:
    """Return a hash of the values of the words from i to j, which may be -1 and n_words + 1."""
    return <uint32_t>(mix64(hashes[0][j + 1] - hashes[0][i + 1] * s.powers[j - i]) >> 32)


cdef inline uint32_t _bucket(int32_t length) noexcept nogil:
    """Return the bucket of a length: 1 to 6 words, then up to 8, 10, 15, 20, 30, 40, and more."""
    if length <= 6:
        return length
    if length <= 10:
        return 7 if length <= 8 else 8
    if length <= 20:
        return 9 if length <= 15 else 10
    return 11 if length <= 30 else 12 if length <= 40 else 13
