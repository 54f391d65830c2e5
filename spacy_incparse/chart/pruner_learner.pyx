"""Learning to classify spans, by AdaGrad (Duchi et al. 2011).

The loss of a sentence is the sum of three: the log losses of the gate over all spans, the negative log probability of
the gold tree without labels, and the log losses of the labels over single words and the spans of the gold tree.
"""

from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import numpy as np

from spacy_incparse.chart.rule_tables cimport cell_of
from spacy_incparse.chart.pruner_scorer cimport BEGIN, END, GATE, SPAN, WORD, OpenC, PrunerScorer, group_of, row_of

cdef float LEAST_GRADIENT = 0.003  # smaller ones are not applied
cdef float TINY = 1e-6             # keeps the first steps finite


cdef class PrunerLearner(PrunerScorer):
    """A scorer whose weights change.

    tree_step, label_step: the sizes of a weight's first step, for gate and trees, and for labels. start_squares: the
    sum of squared gradients that weights begin with; with a large one, all steps have the same size.
    """

    def __init__(self, *table_sizes, float tree_step, float label_step, float start_squares=0):
        super().__init__(*table_sizes)
        self.tree_step, self.label_step = tree_step, label_step
        self.gate_squares.assign(self.gate.size(), start_squares + TINY)
        self.tree_squares.assign(self.tree.size(), start_squares + TINY)
        self.label_squares.assign(self.labels.size(), start_squares + TINY)

    def start(self, float node, const float[::1] of_spans, const float[::1] of_words):
        """Set the weights of the templates without atoms, the first of their groups, which all spans have.

        node: of the gate. of_spans, of_words: of the labels of several words and of single words.
        """
        cdef size_t span_row = row_of(self.templates[self.bounds[SPAN]].seed, self.label_bits) * self.width
        cdef size_t word_row = row_of(self.templates[self.bounds[WORD]].seed, self.label_bits) * self.width
        cdef int32_t c
        self.gate[row_of(self.templates[self.bounds[GATE]].seed, self.gate_bits)] = node
        for c in range(self.n_columns):
            self.labels[span_row + c] = of_spans[c]
            self.labels[word_row + c] = of_words[c]

    def learn(self, const uint32_t[:, ::1] codes, const int32_t[:, ::1] gold, float least):
        """Learn from one sentence. Return its loss with the weights before that.

        gold: rows of span and label, sorted; each span that has a node is among them. Trees are summed up over spans
        with a node and those whose gate score is at least `least`.
        """
        cdef double loss
        cdef size_t n_gold = gold.shape[0]
        self._load(codes)
        kept = np.zeros(cell_of(0, self.n_words + 1), np.uint8)
        kept[np.asarray(gold)[:, 0]] = 1
        cdef const uint8_t[::1] has_node = kept
        with nogil:
            self._score_positions()
            self._score_gate()
            self._score_trees(least, &has_node[0])
            self._choose(0, &has_node[0])
            self._score_labels()
            loss = self._learn_labels(&gold[0, 0] if n_gold else NULL, n_gold)
            loss += self._learn_trees(&has_node[0])
            loss += self._learn_gate(&has_node[0])
        return loss

    cdef double _learn_gate(self, const uint8_t* has_node) noexcept nogil:
        cdef int32_t i, j, n = self.n_words + 1
        cdef size_t cell
        cdef float gradient
        cdef double loss = 0
        self.begin_gate.assign(n, 0)
        self.end_gate.assign(n, 0)
        for j in range(2, n):
            for i in range(j - 1):
                cell = cell_of(i, j)
                gradient = _log_loss(self.gate_scores[cell], has_node[cell], &loss)
                if gradient:
                    self.begin_gate[i] += gradient
                    self.end_gate[j] += gradient
                    self._fill_place(i, j)
                    self._find_rows(GATE, &self.rows[0])
                    _change(self.gate.data(), self.gate_squares.data(), self.gate_bits, &self.rows[0],
                            self.n_templates[GATE], gradient, self.tree_step)
        for i in range(n):
            _change(self.gate.data(), self.gate_squares.data(), self.gate_bits,
                    &self.begin_rows[i * self.n_templates[BEGIN]], self.n_templates[BEGIN], self.begin_gate[i],
                    self.tree_step)
            _change(self.gate.data(), self.gate_squares.data(), self.gate_bits,
                    &self.end_rows[i * self.n_templates[END]], self.n_templates[END], self.end_gate[i], self.tree_step)
        return loss

    cdef double _learn_trees(self, const uint8_t* has_node) noexcept nogil:
        cdef int32_t i, n = self.n_words + 1
        cdef size_t k
        cdef float gradient
        cdef double loss = self.bracketings.log_partition()
        self.begin_tree.assign(n, 0)
        self.end_tree.assign(n, 0)
        for k in range(self.open.size()):
            if self.open[k].end == self.open[k].begin + 1:
                continue
            loss -= has_node[self.open[k].cell] * self.tree_scores[self.open[k].cell]
            gradient = _unless_small(self.bracketings.posteriors[self.open[k].cell] - has_node[self.open[k].cell])
            self.begin_tree[self.open[k].begin] += gradient
            self.end_tree[self.open[k].end] += gradient
            _change(self.tree.data(), self.tree_squares.data(), self.tree_bits, &self.rows[k * self.stride],
                    self.n_templates[SPAN], gradient, self.tree_step)
        for i in range(n):
            _change(self.tree.data(), self.tree_squares.data(), self.tree_bits,
                    &self.begin_rows[i * self.n_templates[BEGIN]], self.n_templates[BEGIN], self.begin_tree[i],
                    self.tree_step)
            _change(self.tree.data(), self.tree_squares.data(), self.tree_bits,
                    &self.end_rows[i * self.n_templates[END]], self.n_templates[END], self.end_tree[i], self.tree_step)
        return loss

    cdef double _learn_labels(self, const int32_t* gold, size_t n_gold) noexcept nogil:
        cdef int32_t i, c, n = self.n_words + 1
        cdef size_t k, g = 0
        cdef const OpenC* span
        cdef const uint64_t* rows
        cdef float* gradients
        cdef double loss = 0
        cdef float is_gold
        self.begin_labels.assign(n * self.width, 0)
        self.end_labels.assign(n * self.width, 0)
        for k in range(self.chosen.size()):
            span, gradients = &self.open[self.chosen[k]], &self.label_scores[k * self.width]
            for c in range(self.n_columns):
                is_gold = g < n_gold and <size_t>gold[2 * g] == span.cell and gold[2 * g + 1] == c
                g += <size_t>is_gold
                gradients[c] = _log_loss(gradients[c], is_gold, &loss)
            self._change_labels(&self.rows[self.chosen[k] * self.stride], group_of(span), gradients)
            for c in range(self.n_columns if group_of(span) == SPAN else 0):
                self.begin_labels[span.begin * self.width + c] += gradients[c]
                self.end_labels[span.end * self.width + c] += gradients[c]
        for i in range(n):
            rows, gradients = &self.begin_rows[i * self.n_templates[BEGIN]], &self.begin_labels[i * self.width]
            self._change_labels(rows, BEGIN, gradients)
            rows, gradients = &self.end_rows[i * self.n_templates[END]], &self.end_labels[i * self.width]
            self._change_labels(rows, END, gradients)
        return loss

    cdef void _change_labels(self, const uint64_t* rows, int group, const float* gradients) noexcept nogil:
        cdef int32_t k, c
        cdef size_t place
        for c in range(self.n_columns):
            if gradients[c] == 0:
                continue
            for k in range(self.n_templates[group]):
                place = row_of(rows[k], self.label_bits) * self.width + c
                _descend(&self.labels[place], &self.label_squares[place], gradients[c], self.label_step)


cdef void _change(
    float* weights, float* squares, int bits, const uint64_t* rows, int32_t n, float gradient, float step
) noexcept nogil:
    """Change the weights of some features."""
    cdef int32_t k
    if gradient:
        for k in range(n):
            _descend(&weights[row_of(rows[k], bits)], &squares[row_of(rows[k], bits)], gradient, step)


cdef inline void _descend(float* weight, float* squares, float gradient, float step) noexcept nogil:
    """Take one step of AdaGrad."""
    squares[0] += gradient * gradient
    weight[0] -= step * gradient / <float>sqrt(squares[0])


cdef inline float _unless_small(float gradient) noexcept nogil:
    return 0 if -LEAST_GRADIENT < gradient < LEAST_GRADIENT else gradient


cdef float _log_loss(float score, float is_gold, double* loss) noexcept nogil:
    """Return the gradient of the log loss, log(1 + exp(score)) - is_gold * score, and add the loss."""
    cdef double odds = exp(-<double>abs(score))
    loss[0] += log(1 + odds) + max(score, 0) - is_gold * score
    return _unless_small(<float>((1 if score >= 0 else odds) / (1 + odds) - is_gold))
