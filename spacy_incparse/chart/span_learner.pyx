"""Learning to classify spans, by AdaGrad (Duchi et al. 2011).

The loss of a sentence is the sum of three: the log losses of the gate over all spans, the negative log probability of
the gold tree without labels, and the log losses of the labels over single words and the spans of the gold tree.
"""

from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import numpy as np

from spacy_incparse.chart.span_limits cimport cell_of
from spacy_incparse.chart.span_scorer cimport BEGIN, END, SPAN, WORD, GateC, SpanScorer

cdef float LEAST_GRADIENT = 0.003  # smaller ones are not applied
cdef float TINY = 1e-6             # keeps the first steps finite


cdef class SpanLearner(SpanScorer):
    """A scorer whose weights change."""

    def learn(self, const uint32_t[:, ::1] codes, const int32_t[:, ::1] gold, float gate_step, float step, float least):
        """Learn from one sentence. Return its loss.

        gold: rows of span and label, sorted; each span that has a node is among them. Trees are summed up over spans
        with a node and those whose gate score is at least `least`.
        """
        cdef double loss
        self.gate_squares.resize(self.gate.size(), 0)
        self.label_squares.resize(self.labels.size(), 0)
        self._load(codes)
        kept = np.zeros(cell_of(0, self.n_words + 1), np.uint8)
        kept[np.asarray(gold)[:, 0]] = 1
        cdef const uint8_t[::1] has_node = kept
        with nogil:
            self._score_positions()
            self._score_gate()
            self._find_posteriors(least, &has_node[0])
            self._open(0, &has_node[0])
            self._score_labels()
            loss = self._learn_gate(&has_node[0], gate_step)
            loss += self._learn_labels(gold, step)
        return loss

    cdef double _learn_gate(self, const uint8_t* has_node, float step) noexcept nogil:
        cdef int32_t i, j, p, n_begin = self.bounds[1] - self.bounds[0], n_end = self.bounds[2] - self.bounds[1]
        cdef size_t cell
        cdef GateC gradient
        cdef double loss = 0
        self.begin_gate.assign(self.n_words + 1, GateC(0, 0))
        self.end_gate.assign(self.n_words + 1, GateC(0, 0))
        for j in range(2, self.n_words + 1):
            for i in range(j - 1):
                cell = cell_of(i, j)
                gradient.own = _log_loss(self.gate_scores[cell], has_node[cell], &loss)
                gradient.tree = self.bracketings.posteriors[cell] - has_node[cell]
                if _is_small(gradient.own) and _is_small(gradient.tree):
                    continue
                self.begin_gate[i].own += gradient.own
                self.begin_gate[i].tree += gradient.tree
                self.end_gate[j].own += gradient.own
                self.end_gate[j].tree += gradient.tree
                self._fill_place(i, j)
                self._find_rows(SPAN, &self.rows[0])
                self._change_gate(&self.rows[0], SPAN, gradient, step)
        for p in range(self.n_words + 1):
            self._change_gate(&self.begin_rows[p * n_begin], BEGIN, self.begin_gate[p], step)
            self._change_gate(&self.end_rows[p * n_end], END, self.end_gate[p], step)
        return loss

    cdef void _change_gate(self, const uint64_t* rows, int group, GateC gradient, float step) noexcept nogil:
        cdef int32_t k
        cdef size_t row
        for k in range(self.bounds[group + 1] - self.bounds[group]):
            row = 2 * (rows[k] & ((<uint64_t>1 << self.gate_bits) - 1))
            _descend(&self.gate[row], &self.gate_squares[row], gradient.own, step)
            _descend(&self.gate[row + 1], &self.gate_squares[row + 1], gradient.tree, step)

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
                if _is_small(gradients[c]):
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
                _descend(&self.labels[row], &self.label_squares[row], gradients[c], step)


cdef inline bint _is_small(float gradient) noexcept nogil:
    return -LEAST_GRADIENT < gradient < LEAST_GRADIENT


cdef inline void _descend(float* weight, float* squares, float gradient, float step) noexcept nogil:
    """Take one step of AdaGrad."""
    if gradient:
        squares[0] += gradient * gradient
        weight[0] -= step * gradient / <float>sqrt(squares[0] + TINY)


cdef float _log_loss(float score, float is_gold, double* loss) noexcept nogil:
    """Return the gradient of the log loss with respect to a score, and add the loss."""
    cdef double p = 1 / (1 + exp(-<double>score))
    cdef double right = p if is_gold else 1 - p
    loss[0] += 1 - right  # its linear part is enough to watch learning
    return <float>(p - is_gold)
