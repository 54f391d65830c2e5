"""Two linear classifiers of spans: whether there is any node over a span (the gate), and which ones.

The gate has one weight per feature; it is asked for all spans. The labels of those that pass are found by logistic
classifiers, one for each label: a feature's weights for all of them are neighbours in memory. Features of one end of a
span are summed up once per position.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import numpy as np

from spacy_incparse.chart.bracketings cimport Bracketings
from spacy_incparse.chart.span_limits cimport cell_of
from spacy_incparse.chart.span_states cimport SpanStates
from spacy_incparse.chart.span_templates import ATOMS, GROUPS, PADDING
from spacy_incparse.lexicon.hashing cimport mix64

cdef enum:
    PAD = 3
    N_FIELDS = 2
    LENGTH = 4 * PAD * N_FIELDS
    SHAPE = LENGTH + 1
    BLOCK = 16        # columns
    SHAPE_WORDS = 4   # of which the tags are the span's shape; of longer ones, the first and last two

assert PADDING == PAD and len(ATOMS) == SHAPE + 1


cdef class SpanScorer:
    """Weights, and the sentence that they were last applied to. Not for several threads at a time.

    n_columns: the number of labels. highest, lowest: for each state of the grammar the labels that it needs, or -1; see
    `span_labels.SpanLabels`. gate_bits, label_bits: the tables have 2**bits rows.
    """

    def __init__(self, int32_t n_columns, highest, lowest, int gate_bits, int label_bits):
        self.n_columns, self.gate_bits, self.label_bits = n_columns, gate_bits, label_bits
        self.highest, self.lowest = highest, lowest
        self.width = max(1, (n_columns + BLOCK - 1) // BLOCK) * BLOCK
        self.gate.assign(<size_t>2 << gate_bits, 0)
        self.labels.assign((<size_t>1 << label_bits) * self.width, 0)
        self.place.assign(len(ATOMS), 0)
        self.bracketings = Bracketings()
        for group, templates in enumerate(GROUPS):
            self.bounds[group] = self.templates.size()
            for template in templates:
                first = self.atoms.size()
                for atom in template.split():
                    self.atoms.push_back(ATOMS.index(atom))
                self.templates.push_back(TemplateC(mix64(self.templates.size() + 1), first, self.atoms.size()))
        self.bounds[4] = self.templates.size()
        self.rows.assign(self.templates.size(), 0)

    def weights(self):
        """Return copies of the tables: float32 (2**gate_bits, 2) and (2**label_bits, n_columns)."""
        gate, labels = <float[: self.gate.size()]>self.gate.data(), <float[: self.labels.size()]>self.labels.data()
        return np.array(gate).reshape(-1, 2), np.array(labels).reshape(-1, self.width)[:, : self.n_columns].copy()

    def load_weights(self, const float[:, ::1] gate, const float[:, ::1] labels):
        """Set the tables. Raises ValueError if their size is another."""
        cdef Py_ssize_t row
        cdef int32_t c
        shape = (2 * <size_t>gate.shape[0], <size_t>labels.shape[0], labels.shape[1])
        if shape != (self.gate.size(), self.labels.size() // self.width, self.n_columns):
            raise ValueError(f"weights of the sizes {shape}")
        for row in range(gate.shape[0]):
            self.gate[2 * row], self.gate[2 * row + 1] = gate[row, 0], gate[row, 1]
        for row in range(labels.shape[0]):
            for c in range(self.n_columns):
                self.labels[row * self.width + c] = labels[row, c]

    def start(self, float node, const float[::1] of_spans, const float[::1] of_words):
        """Set the weights of the templates without atoms, the first ones of their groups, which all spans have.

        node: of the gate. of_spans, of_words: of the labels of several words and of single words.
        """
        cdef uint64_t row = self.templates[self.bounds[SPAN]].seed
        cdef int32_t c
        self.gate[2 * (row & ((<uint64_t>1 << self.gate_bits) - 1))] = node
        for c in range(self.n_columns):
            row = self.templates[self.bounds[SPAN]].seed & ((<uint64_t>1 << self.label_bits) - 1)
            self.labels[row * self.width + c] = of_spans[c]
            row = self.templates[self.bounds[WORD]].seed & ((<uint64_t>1 << self.label_bits) - 1)
            self.labels[row * self.width + c] = of_words[c]

    # Scores

    def posteriors(self, const uint32_t[:, ::1] codes, float least_gate):
        """Return the probability of each span of several words: float32 (n_spans,).

        Spans whose gate score is less than `least_gate` have none, unless there is no tree without them.
        """
        self._load(codes)
        with nogil:
            self._score_positions()
            self._score_gate()
            self._find_posteriors(least_gate, NULL)
        return np.array(self.bracketings.posteriors, np.float32)

    def states_left(self, float least, const int32_t[:, ::1] kept):
        """Return the states that are left over the spans of the last sentence, a `SpanStates`.

        These have a probability of at least `least`, or are among `kept`: rows of span and state, sorted.
        """
        cdef SpanStates found = SpanStates([0], [], <int32_t>self.highest.size())
        cdef Py_ssize_t n_kept = kept.shape[0]
        with nogil:
            self._open(least, NULL)
            self._score_labels()
            self._list_states(least, &kept[0, 0] if n_kept else NULL, n_kept, found)
        return found

    cdef void _load(self, const uint32_t[:, ::1] codes):
        cdef Py_ssize_t k
        self.n_words = codes.shape[0]
        self.codes.assign((self.n_words + 2 * PAD) * N_FIELDS, 0)
        for k in range(self.n_words):
            self.codes[(k + PAD) * N_FIELDS] = codes[k, 0]
            self.codes[(k + PAD) * N_FIELDS + 1] = codes[k, 1]

    cdef void _fill_place(self, int32_t i, int32_t j) noexcept nogil:
        """Set the atoms of a span, or with i = j, those of a begin and an end."""
        cdef int32_t k, f
        cdef uint32_t* place = &self.place[0]
        cdef const uint32_t* begin = &self.codes[(i + PAD) * N_FIELDS]
        cdef const uint32_t* end = &self.codes[(j + PAD) * N_FIELDS]
        for k in range(PAD):
            for f in range(N_FIELDS):
                place[k * N_FIELDS + f] = begin[(-1 - k) * N_FIELDS + f]
                place[(PAD + k) * N_FIELDS + f] = begin[k * N_FIELDS + f]
                place[(2 * PAD + k) * N_FIELDS + f] = end[(-1 - k) * N_FIELDS + f]
                place[(3 * PAD + k) * N_FIELDS + f] = end[k * N_FIELDS + f]
        place[LENGTH] = _length_step(j - i)
        place[SHAPE] = j - i
        if j - i <= SHAPE_WORDS:
            for k in range(j - i):
                place[SHAPE] = place[SHAPE] * <uint32_t>0x9E3779B1 ^ begin[k * N_FIELDS]
        else:
            place[SHAPE] = place[LENGTH]
            for k in range(SHAPE_WORDS // 2):
                place[SHAPE] = place[SHAPE] * <uint32_t>0x9E3779B1 ^ begin[k * N_FIELDS]
                place[SHAPE] = place[SHAPE] * <uint32_t>0x9E3779B1 ^ end[(-1 - k) * N_FIELDS]

    cdef void _find_rows(self, int group, uint64_t* rows) noexcept nogil:
        """Set the hashes of a group's features of the current place."""
        cdef int32_t t, a
        cdef uint64_t h
        for t in range(self.bounds[group], self.bounds[group + 1]):
            h = self.templates[t].seed
            for a in range(self.templates[t].first, self.templates[t].last):
                h = (h ^ self.place[self.atoms[a]]) * <uint64_t>0x9E3779B97F4A7C15
                h ^= h >> 32
            rows[t - self.bounds[group]] = h

    cdef GateC _gate_sum(self, const uint64_t* rows, int group) noexcept nogil:
        cdef int32_t k
        cdef GateC total = GateC(0, 0)
        cdef const float* row
        for k in range(self.bounds[group + 1] - self.bounds[group]):
            row = &self.gate[2 * (rows[k] & ((<uint64_t>1 << self.gate_bits) - 1))]
            total.own += row[0]
            total.tree += row[1]
        return total

    cdef void _add_label_rows(self, const uint64_t* rows, int group, float* sums) noexcept nogil:
        cdef int32_t k, c
        cdef const float* row
        for k in range(self.bounds[group + 1] - self.bounds[group]):
            row = &self.labels[(rows[k] & ((<uint64_t>1 << self.label_bits) - 1)) * self.width]
            for c in range(self.width):
                sums[c] += row[c]

    cdef void _score_positions(self) noexcept nogil:
        """Sum up the weights of the features of each position, as the begin and as the end of a span."""
        cdef int32_t p, n = self.n_words + 1
        cdef int32_t n_begin = self.bounds[1] - self.bounds[0], n_end = self.bounds[2] - self.bounds[1]
        self.begin_rows.resize(n * n_begin)
        self.end_rows.resize(n * n_end)
        self.begin_gate.assign(n, GateC(0, 0))
        self.end_gate.assign(n, GateC(0, 0))
        self.begin_labels.assign(n * self.width, 0)
        self.end_labels.assign(n * self.width, 0)
        for p in range(n):
            self._fill_place(p, p)
            self._find_rows(BEGIN, &self.begin_rows[p * n_begin])
            self._find_rows(END, &self.end_rows[p * n_end])
            self.begin_gate[p] = self._gate_sum(&self.begin_rows[p * n_begin], BEGIN)
            self.end_gate[p] = self._gate_sum(&self.end_rows[p * n_end], END)
            self._add_label_rows(&self.begin_rows[p * n_begin], BEGIN, &self.begin_labels[p * self.width])
            self._add_label_rows(&self.end_rows[p * n_end], END, &self.end_labels[p * self.width])

    cdef void _score_gate(self) noexcept nogil:
        cdef int32_t i, j
        cdef GateC total
        self.gate_scores.assign(cell_of(0, self.n_words + 1), 0)
        self.tree_scores.assign(cell_of(0, self.n_words + 1), 0)
        for j in range(2, self.n_words + 1):
            for i in range(j - 1):
                self._fill_place(i, j)
                self._find_rows(SPAN, &self.rows[0])
                total = self._gate_sum(&self.rows[0], SPAN)
                self.gate_scores[cell_of(i, j)] = self.begin_gate[i].own + self.end_gate[j].own + total.own
                self.tree_scores[cell_of(i, j)] = self.begin_gate[i].tree + self.end_gate[j].tree + total.tree

    cdef void _find_posteriors(self, float least, const uint8_t* kept) noexcept nogil:
        cdef size_t cell
        self.is_open.resize(self.gate_scores.size())
        for cell in range(self.gate_scores.size()):
            self.is_open[cell] = self.gate_scores[cell] >= least or (kept != NULL and kept[cell])
        self.is_open[cell_of(0, self.n_words)] = True
        if not self.bracketings.run(self.n_words, self.tree_scores.data(), self.is_open.data()):
            self.is_open.assign(self.is_open.size(), True)
            self.bracketings.run(self.n_words, self.tree_scores.data(), self.is_open.data())

    cdef void _open(self, float least, const uint8_t* kept) noexcept nogil:
        """Choose the spans whose labels are looked at."""
        cdef bint is_chosen
        cdef int32_t i, j
        cdef size_t cell
        self.open.clear()
        self.open_begins.clear()
        self.open_ends.clear()
        for j in range(1, self.n_words + 1):
            for i in range(j):
                cell = cell_of(i, j)
                if kept != NULL:
                    is_chosen = kept[cell]
                else:
                    is_chosen = self.bracketings.posteriors[cell] >= least
                if is_chosen or i + 1 == j:
                    self.open.push_back(<int32_t>cell)
                    self.open_begins.push_back(i)
                    self.open_ends.push_back(j)

    cdef void _score_labels(self) noexcept nogil:
        cdef size_t k
        cdef int32_t i, j, c
        cdef float* sums
        self.label_scores.assign(self.open.size() * self.width, 0)
        for k in range(self.open.size()):
            i, j = self.open_begins[k], self.open_ends[k]
            sums = &self.label_scores[k * self.width]
            self._fill_place(i, j)
            if j == i + 1:
                self._find_rows(WORD, &self.rows[0])
                self._add_label_rows(&self.rows[0], WORD, sums)
            else:
                for c in range(self.width):
                    sums[c] = self.begin_labels[i * self.width + c] + self.end_labels[j * self.width + c]
                self._find_rows(SPAN, &self.rows[0])
                self._add_label_rows(&self.rows[0], SPAN, sums)

    # States

    cdef void _list_states(self, float least, const int32_t* kept, size_t n_kept, SpanStates found) noexcept nogil:
        cdef size_t cell, k = 0, g = 0
        cdef int32_t state
        self.has_label.assign(self.width + 1, False)
        self.is_kept.assign(self.highest.size(), False)
        for cell in range(self.gate_scores.size()):
            while g < n_kept and <size_t>kept[2 * g] == cell:
                self.is_kept[kept[2 * g + 1]] = True
                found.states.push_back(kept[2 * g + 1])
                g += 1
            if k < self.open.size() and <size_t>self.open[k] == cell:
                found.states.resize(found.first.back())
                self._find_labels(k, least)
                for state in range(<int32_t>self.highest.size()):
                    if self.is_kept[state] or (
                        self.has_label[self.highest[state] + 1] and self.has_label[self.lowest[state] + 1]
                    ):
                        found.states.push_back(state)
                k += 1
            self._forget_kept(cell, kept, g)
            found.first.push_back(<int32_t>found.states.size())

    cdef void _find_labels(self, size_t k, float least) noexcept nogil:
        """Find the labels that an open span may have. Only single words may have the label -1, which is a tag's."""
        cdef bint is_word = self.open_ends[k] == self.open_begins[k] + 1
        cdef float posterior = 1 if is_word else self.bracketings.posteriors[self.open[k]]
        cdef float least_score = _log_odds(least / posterior)
        cdef const float* scores = &self.label_scores[k * self.width]
        cdef int32_t c
        self.has_label[0] = is_word
        for c in range(self.n_columns):
            self.has_label[c + 1] = scores[c] >= least_score

    cdef void _forget_kept(self, size_t cell, const int32_t* kept, size_t end) noexcept nogil:
        while end > 0 and <size_t>kept[2 * end - 2] == cell:
            end -= 1
            self.is_kept[kept[2 * end + 1]] = False


cdef uint32_t _length_step(int32_t length) noexcept nogil:
    """Return the length up to 5 words, then by steps that grow."""
    cdef uint32_t step = 6
    if length <= 5:
        return length
    while length > 7:
        length = length * 3 // 4
        step += 1
    return step

cdef float _log_odds(float probability) noexcept nogil:
    if probability >= 1:
        return INFINITY
    return <float>log(probability / (1 - probability)) if probability > 0 else -INFINITY
