"""Two linear classifiers of spans: whether there is any node over a span (the gate), and which ones.

The gate has one weight per feature; it is asked for all spans. The labels of those that pass are found by logistic
classifiers, one for each label: a feature's weights for all of them are neighbours in memory. Features of one end of a
span are summed up once per position. Both are trained by AdaGrad (Duchi et al. 2011) on the sum of log losses.
"""

from libc.math cimport exp, sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import numpy as np

from spacy_incparse.chart.span_limits cimport cell_of
from spacy_incparse.chart.span_templates import ATOMS, GROUPS, PADDING
from spacy_incparse.lexicon.hashing cimport mix64

cdef enum:
    BEGIN = 0
    END = 1
    SPAN = 2
    WORD = 3
    PAD = 3
    N_FIELDS = 2
    LENGTH = 4 * PAD * N_FIELDS
    SHAPE = LENGTH + 1
    BLOCK = 16        # columns
    SHAPE_WORDS = 4   # of which the tags are the span's shape; of longer ones, the first and last two

cdef float LEAST_GRADIENT = 0.003  # smaller ones are not applied
cdef float TINY = 1e-6

assert PADDING == PAD and len(ATOMS) == SHAPE + 1


cdef class SpanScorer:
    """Weights, and the sentence that they were last applied to. Not for several threads at a time.

    n_columns: the number of labels. gate_bits, label_bits: the tables have 2**bits rows.
    """

    def __init__(self, int32_t n_columns, int gate_bits=18, int label_bits=15):
        self.n_columns, self.gate_bits, self.label_bits = n_columns, gate_bits, label_bits
        self.width = max(1, (n_columns + BLOCK - 1) // BLOCK) * BLOCK
        self.gate.assign(<size_t>1 << gate_bits, 0)
        self.labels.assign((<size_t>1 << label_bits) * self.width, 0)
        self.place.assign(len(ATOMS), 0)
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
        """Return copies of the tables: float32 (2**gate_bits,) and (2**label_bits, n_columns)."""
        gate, labels = <float[: self.gate.size()]>self.gate.data(), <float[: self.labels.size()]>self.labels.data()
        return np.array(gate), np.array(labels).reshape(-1, self.width)[:, : self.n_columns].copy()

    def load_weights(self, const float[::1] gate, const float[:, ::1] labels):
        """Set the tables. Raises ValueError if their size is another."""
        cdef Py_ssize_t row
        cdef int32_t c
        shape = (<size_t>gate.shape[0], <size_t>labels.shape[0], labels.shape[1])
        if shape != (self.gate.size(), self.labels.size() // self.width, self.n_columns):
            raise ValueError(f"weights of the sizes {shape}")
        for row in range(gate.shape[0]):
            self.gate[row] = gate[row]
        for row in range(labels.shape[0]):
            for c in range(self.n_columns):
                self.labels[row * self.width + c] = labels[row, c]

    # Scores

    def score_gate(self, const uint32_t[:, ::1] codes):
        """Return the score of each span of two words or more, and 0 for others: float32 (n_spans,)."""
        self._load(codes)
        with nogil:
            self._score_positions()
            self._score_gate()
        return np.array(self.gate_scores, np.float32)

    def score_labels(self, float least, const uint8_t[::1] kept):
        """Return the spans of the last sentence that are worth a look and the scores of their labels.

        These are the single words and the spans whose gate score is at least `least`, or which are marked in `kept`:
        int32 (n,) and float32 (n, n_columns).
        """
        with nogil:
            self._open(least, &kept[0])
            self._score_labels()
        found = np.array(self.label_scores, np.float32).reshape(-1, self.width)
        return np.array(self.open, np.int32), found[:, : self.n_columns]

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

    cdef float _gate_sum(self, const uint64_t* rows, int group) noexcept nogil:
        cdef int32_t k
        cdef float total = 0
        for k in range(self.bounds[group + 1] - self.bounds[group]):
            total += self.gate[rows[k] & (self.gate.size() - 1)]
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
        self.begin_gate.assign(n, 0)
        self.end_gate.assign(n, 0)
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
        self.gate_scores.assign(cell_of(0, self.n_words + 1), 0)
        for j in range(2, self.n_words + 1):
            for i in range(j - 1):
                self._fill_place(i, j)
                self._find_rows(SPAN, &self.rows[0])
                self.gate_scores[cell_of(i, j)] = (
                    self.begin_gate[i] + self.end_gate[j] + self._gate_sum(&self.rows[0], SPAN)
                )

    cdef void _open(self, float least, const uint8_t* kept) noexcept nogil:
        """Choose the spans that are looked at again."""
        cdef int32_t i, j
        cdef size_t cell
        self.open.clear()
        self.open_begins.clear()
        self.open_ends.clear()
        for j in range(1, self.n_words + 1):
            for i in range(j):
                cell = cell_of(i, j)
                if i + 1 == j or self.gate_scores[cell] >= least or kept[cell]:
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

    # Learning

    def learn(self, const uint32_t[:, ::1] codes, const int32_t[:, ::1] gold, float step, float least):
        """Learn from one sentence. Return its loss.

        gold: rows of span and label, sorted; each span that has a node is among them. The labels are learned for single
        words, spans with a node, and spans whose gate score is at least `least`.
        """
        cdef double loss
        if self.gate_squares.empty():
            self.gate_squares.assign(self.gate.size(), 0)
            self.label_squares.assign(self.labels.size(), 0)
        self._load(codes)
        kept = np.zeros(cell_of(0, self.n_words + 1), np.uint8)
        kept[np.asarray(gold)[:, 0]] = 1
        cdef const uint8_t[::1] has_node = kept
        with nogil:
            self._score_positions()
            self._score_gate()
            self._open(least, &has_node[0])
            self._score_labels()
            loss = self._learn_gate(&has_node[0], step)
            loss += self._learn_labels(gold, step)
        return loss

    cdef double _learn_gate(self, const uint8_t* has_node, float step) noexcept nogil:
        cdef int32_t i, j, p, n_begin = self.bounds[1] - self.bounds[0], n_end = self.bounds[2] - self.bounds[1]
        cdef size_t cell
        cdef float gradient
        cdef double loss = 0
        self.begin_gate.assign(self.n_words + 1, 0)
        self.end_gate.assign(self.n_words + 1, 0)
        for j in range(2, self.n_words + 1):
            for i in range(j - 1):
                cell = cell_of(i, j)
                gradient = _log_loss(self.gate_scores[cell], has_node[cell], &loss)
                if -LEAST_GRADIENT < gradient < LEAST_GRADIENT:
                    continue
                self.begin_gate[i] += gradient
                self.end_gate[j] += gradient
                self._fill_place(i, j)
                self._find_rows(SPAN, &self.rows[0])
                self._change_gate(&self.rows[0], SPAN, gradient, step)
        for p in range(self.n_words + 1):
            self._change_gate(&self.begin_rows[p * n_begin], BEGIN, self.begin_gate[p], step)
            self._change_gate(&self.end_rows[p * n_end], END, self.end_gate[p], step)
        return loss

    cdef void _change_gate(self, const uint64_t* rows, int group, float gradient, float step) noexcept nogil:
        cdef int32_t k
        cdef size_t row
        if gradient == 0:
            return
        for k in range(self.bounds[group + 1] - self.bounds[group]):
            row = rows[k] & (self.gate.size() - 1)
            self.gate_squares[row] += gradient * gradient
            self.gate[row] -= step * gradient / <float>sqrt(self.gate_squares[row] + TINY)

    cdef double _learn_labels(self, const int32_t[:, ::1] gold, float step) noexcept nogil:
        cdef int32_t i, j, p, c, n_begin = self.bounds[1] - self.bounds[0], n_end = self.bounds[2] - self.bounds[1]
        cdef size_t k, g = 0
        cdef float* gradients
        cdef double loss = 0
        cdef float is_gold
        self.begin_labels.assign((self.n_words + 1) * self.width, 0)
        self.end_labels.assign((self.n_words + 1) * self.width, 0)
        for k in range(self.open.size()):
            i, j = self.open_begins[k], self.open_ends[k]
            gradients = &self.label_scores[k * self.width]
            for c in range(self.n_columns):
                is_gold = 0
                while g < <size_t>gold.shape[0] and gold[g, 0] == self.open[k] and gold[g, 1] <= c:
                    is_gold = gold[g, 1] == c
                    g += 1
                gradients[c] = _log_loss(gradients[c], is_gold, &loss)
                if -LEAST_GRADIENT < gradients[c] < LEAST_GRADIENT:
                    gradients[c] = 0
            self._fill_place(i, j)
            self._find_rows(WORD if j == i + 1 else SPAN, &self.rows[0])
            self._change_labels(&self.rows[0], WORD if j == i + 1 else SPAN, gradients, step)
            if j > i + 1:
                for c in range(self.n_columns):
                    self.begin_labels[i * self.width + c] += gradients[c]
                    self.end_labels[j * self.width + c] += gradients[c]
        for p in range(self.n_words + 1):
            self._change_labels(&self.begin_rows[p * n_begin], BEGIN, &self.begin_labels[p * self.width], step)
            self._change_labels(&self.end_rows[p * n_end], END, &self.end_labels[p * self.width], step)
        return loss

    cdef void _change_labels(self, const uint64_t* rows, int group, const float* gradients, float step) noexcept nogil:
        cdef int32_t k, c
        cdef size_t row
        for c in range(self.n_columns):
            if gradients[c] == 0:
                continue
            for k in range(self.bounds[group + 1] - self.bounds[group]):
                row = (rows[k] & ((<uint64_t>1 << self.label_bits) - 1)) * self.width + c
                self.label_squares[row] += gradients[c] * gradients[c]
                self.labels[row] -= step * gradients[c] / <float>sqrt(self.label_squares[row] + TINY)


cdef uint32_t _length_step(int32_t length) noexcept nogil:
    """Return the length up to 5 words, then by steps that grow."""
    cdef uint32_t step = 6
    if length <= 5:
        return length
    while length > 7:
        length = length * 3 // 4
        step += 1
    return step


cdef float _log_loss(float score, float is_gold, double* loss) noexcept nogil:
    """Return the gradient of the log loss with respect to a score, and add the loss."""
    cdef double p = 1 / (1 + exp(-<double>score))
    cdef double right = p if is_gold else 1 - p
    loss[0] += 1 - right  # its linear part is enough to watch learning
    return <float>(p - is_gold)
