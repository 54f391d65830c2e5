"""Which spans have nodes, and with which labels: three linear models over hashed features, each for what is left.

The gate looks at all spans, at few features, and at each span on its own. Trees without labels over the spans that it
leaves have the sum of the spans' scores, which gives the spans posteriors (`Bracketings`). Over those with a high
posterior there are logistic classifiers, one for each label: the weights of a feature for all labels are neighbours in
memory. What depends on one end of a span is summed up once per position.
"""

from libc.math cimport INFINITY, exp, log, sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest_builder cimport SpanStates, cell_of
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.prefetch cimport prefetch

from spacy_incparse.chart.templates import PRUNER_ATOMS, PRUNER_GROUPS

cdef double NEGLIGIBLE = -30  # logarithm of a share of a sum of bracketings
cdef float LEAST_GRADIENT = 0.003  # smaller ones are not applied
cdef float TINY = 1e-6  # keeps the first steps finite

cdef enum:
    PAD = 3
    MAX_BITS = 24
    N_FIELDS = 2
    LENGTH = 4 * PAD * N_FIELDS
    SHAPE = LENGTH + 1
    SHAPE_WORDS = 4  # whose tags are the span's shape; of longer spans, the first and the last two

cdef enum:  # groups of templates
    BEGIN, END, GATE, SPAN, WORD, N_GROUPS

assert len(PRUNER_ATOMS) == SHAPE + 1 and len(PRUNER_GROUPS) == N_GROUPS

# The atoms of one span stand in a row of numbers; a template is a list of places in that row.
cdef struct TemplateC:
    uint64_t seed
    int32_t first  # its atoms are atoms[first:last] of the template table
    int32_t last


# Something whose labels may be looked at: a word, or a span that passed the gate.
cdef struct OpenC:
    size_t cell
    int32_t begin
    int32_t end


cdef inline size_t row_of(uint64_t hashed, int bits) noexcept nogil:
    """Return the row of a feature in a table of 2**bits rows."""
    return hashed & ((<uint64_t>1 << bits) - 1)


cdef inline int group_of(const OpenC* span) noexcept nogil:
    """Return the group of templates of a word or of several."""
    return WORD if span.end == span.begin + 1 else SPAN


cdef _copied(vector[float]* table):
    return np.array(<float[: table.size()]>table.data()) if table.size() else np.zeros(0, np.float32)


cdef inline float _sum(const float* weights, int bits, const uint64_t* rows, int32_t n) noexcept nogil:
    cdef int32_t k
    cdef float total = 0
    for k in range(n):
        total += weights[row_of(rows[k], bits)]
    return total


cdef inline uint32_t _mixed(uint32_t hashed, uint32_t code) noexcept nogil:
    return (hashed ^ code) * <uint32_t>0x9E3779B1


cdef class Bracketings:
    """The probabilities of spans if a binary tree is as probable as the exponential of the sum of its spans' scores.

        inside     I(i, j) = s(i, j) + log sum over k of exp(I(i, k) + I(k, j))
        posterior  P(i, k) and P(k, j) += P(i, j) exp(s(i, j) + I(i, k) + I(k, j) - I(i, j)), from the top down

    Trees without labels are few enough to be summed up exactly: there is one number per span, and only spans that are
    open have one. Not for several threads at a time.
    """

    cdef int32_t n_words
    # Inside scores by begin and end, and by end and begin: for all splits of a span, those of both parts are neighbours
    # in memory. -INFINITY: there is no tree over the span.
    cdef vector[double] by_begin
    cdef vector[double] by_end
    cdef vector[double] sums       # of both parts, by split of the current span
    cdef vector[float] posteriors  # by cell

    cdef bint run(self, int32_t n_words, const float* scores, const uint8_t* is_open) noexcept nogil:
        """Compute `posteriors` from the scores of open spans, by cell. Return whether any tree has only such spans.

        Single words do not count: each tree has them.
        """
        cdef int32_t i, j
        cdef size_t cell
        self.n_words = n_words
        self.by_begin.assign((n_words + 1) * (n_words + 1), -INFINITY)
        self.by_end.assign((n_words + 1) * (n_words + 1), -INFINITY)
        self.sums.resize(n_words)
        self.posteriors.assign(cell_of(0, n_words + 1), 0)
        for j in range(1, n_words + 1):
            self.by_begin[(j - 1) * (n_words + 1) + j] = self.by_end[j * (n_words + 1) + j - 1] = 0
            for i in range(j - 2, -1, -1):
                cell = cell_of(i, j)
                if is_open[cell]:
                    self.by_begin[i * (n_words + 1) + j] = self._inside(i, j, scores[cell])
                    self.by_end[j * (n_words + 1) + i] = self.by_begin[i * (n_words + 1) + j]
        if self.by_begin[n_words] == -INFINITY:
            return False
        self.posteriors[cell_of(0, n_words)] = 1
        for j in range(n_words, 1, -1):
            for i in range(j - 1):
                cell = cell_of(i, j)
                if self.posteriors[cell] > 0:
                    self._pass_down(i, j, self.posteriors[cell], scores[cell])
        return True

    cdef double _inside(self, int32_t i, int32_t j, double score) noexcept nogil:
        cdef double most = self._find_sums(i, j), total = 0
        cdef int32_t k
        if most == -INFINITY:
            return -INFINITY
        for k in range(i + 1, j):
            if self.sums[k] - most > NEGLIGIBLE:
                total += exp(self.sums[k] - most)
        return score + most + log(total)

    cdef void _pass_down(self, int32_t i, int32_t j, double posterior, double score) noexcept nogil:
        cdef double inside = self.by_begin[i * (self.n_words + 1) + j] - score
        cdef int32_t k
        cdef float part
        self._find_sums(i, j)
        for k in range(i + 1, j):
            if self.sums[k] - inside > NEGLIGIBLE:
                part = <float>(posterior * exp(self.sums[k] - inside))
                self.posteriors[cell_of(i, k)] += part
                self.posteriors[cell_of(k, j)] += part

    cdef double _find_sums(self, int32_t i, int32_t j) noexcept nogil:
        """Set the sums of the scores of both parts of a span. Return the greatest one."""
        cdef const double* left = &self.by_begin[i * (self.n_words + 1)]
        cdef const double* right = &self.by_end[j * (self.n_words + 1)]
        cdef double* sums = &self.sums[0]
        cdef double most = -INFINITY
        cdef int32_t k
        for k in range(i + 1, j):
            sums[k] = left[k] + right[k]
        for k in range(i + 1, j):
            most = sums[k] if sums[k] > most else most
        return most


cdef class PrunerScorer:
    """Weights, and the sentence that they were last applied to. Not for several threads at a time.

    n_columns: the number of labels. highest, lowest: for each state of the grammar the labels that it needs, or -1; see
    `SpanClassifier`. gate_bits, tree_bits, label_bits: the tables have 2**bits rows.
    """

    cdef readonly int32_t n_columns
    cdef int gate_bits
    cdef int tree_bits
    cdef int label_bits
    cdef int32_t width                    # columns in memory
    cdef vector[TemplateC] templates      # by group
    cdef int32_t bounds[6]                # of the groups
    cdef int32_t n_templates[5]
    cdef int32_t stride                   # of `rows`: the largest number of templates of a group
    cdef vector[int32_t] atoms
    cdef vector[float] gate               # a weight per feature
    cdef vector[float] tree
    cdef vector[float] labels             # rows of `width` weights
    cdef vector[int32_t] highest          # by state of the grammar: the label it needs at its top, or -1
    cdef vector[int32_t] lowest           # and at its bottom
    # The current sentence
    cdef int32_t n_words
    cdef vector[uint32_t] codes           # by word, with `PAD` words at both ends: tag, word
    cdef vector[uint32_t] place           # the atoms of the current span
    # By BEGIN and END:
    cdef vector[vector[uint64_t]] end_rows  # hashes of the features of each position as begin, and as end
    cdef vector[vector[float]] end_gate     # the sums of their weights
    cdef vector[vector[float]] end_tree
    cdef vector[vector[float]] end_labels
    cdef vector[float] gate_scores        # by cell
    cdef vector[float] tree_scores
    cdef vector[OpenC] open               # by cell
    cdef vector[uint8_t] is_open          # by cell: whether trees may have the span
    cdef vector[uint64_t] rows            # hashes of the features of what is open, `stride` each
    cdef Bracketings bracketings
    cdef vector[size_t] chosen            # of `open`: those whose labels are looked at
    cdef vector[float] label_scores       # rows of `width`, by place in `chosen`
    cdef vector[uint8_t] has_label        # by label + 1, of the current span
    cdef vector[uint8_t] is_kept          # by state, over the current span

    def __init__(self, int32_t n_columns, highest, lowest, int gate_bits, int tree_bits, int label_bits):
        if not 1 <= min(gate_bits, tree_bits, label_bits) <= max(gate_bits, tree_bits, label_bits) <= MAX_BITS:
            raise ValueError(f"tables of {gate_bits}, {tree_bits}, {label_bits} bits: choose 1 to {<int>MAX_BITS} bits")
        self.n_columns, self.highest, self.lowest = n_columns, highest, lowest
        self.gate_bits, self.tree_bits, self.label_bits = gate_bits, tree_bits, label_bits
        self.width = (n_columns + 3) // 4 * 4  # sums of four at a time
        self.gate.assign(<size_t>1 << gate_bits, 0)
        self.tree.assign(<size_t>1 << tree_bits, 0)
        self.labels.assign((<size_t>1 << label_bits) * self.width, 0)
        self.end_rows.resize(2)
        self.end_gate.resize(2)
        self.end_tree.resize(2)
        self.end_labels.resize(2)
        self.place.assign(len(PRUNER_ATOMS), 0)
        self.bracketings = Bracketings()
        for group, templates in enumerate(PRUNER_GROUPS.values()):
            self.bounds[group] = self.templates.size()
            self.n_templates[group] = len(templates)
            self.stride = max(self.stride, <int32_t>len(templates))
            for template in templates:
                first = self.atoms.size()
                for atom in template.split():
                    self.atoms.push_back(PRUNER_ATOMS.index(atom))
                self.templates.push_back(TemplateC(mix64(self.templates.size() + 1), first, self.atoms.size()))

    # Weights

    def weights(self):
        """Return copies of the tables of the gate, the trees and the labels: float32."""
        labels = _copied(&self.labels).reshape(-1, max(self.width, 1))[:, : self.n_columns]
        return _copied(&self.gate), _copied(&self.tree), np.ascontiguousarray(labels).ravel()

    def load_weights(self, const float[::1] gate, const float[::1] tree, const float[::1] labels):
        """Set the tables to what `weights` returned. Raises ValueError if their sizes are others."""
        cdef size_t k, n_labels = (<size_t>1 << self.label_bits) * self.n_columns
        sizes = gate.shape[0], tree.shape[0], labels.shape[0]
        if sizes != (self.gate.size(), self.tree.size(), n_labels):
            raise ValueError(f"{sizes} weights do not fit tables of {self.gate.size(), self.tree.size(), n_labels}")
        for k in range(self.gate.size()):
            self.gate[k] = gate[k]
        for k in range(self.tree.size()):
            self.tree[k] = tree[k]
        for k in range(n_labels):
            self.labels[k // self.n_columns * self.width + k % self.n_columns] = labels[k]

    # From outside

    def states_left(self, const uint32_t[:, ::1] codes, float least_gate, float least, const int32_t[:, ::1] kept):
        """Return the states that are left over the spans of a sentence, a `SpanStates`.

        These have a probability of at least `least`, or are among `kept`: rows of span and state, sorted. codes:
        (n_words, 2), a number for each tag and word. Spans whose gate score is less than `least_gate` have the
        probability 0, unless there is no tree without them.
        """
        cdef SpanStates found = SpanStates([0], [], <int32_t>self.highest.size())
        cdef Py_ssize_t n_kept = kept.shape[0]
        self._load(codes)
        with nogil:
            self._score_positions()
            self._score_gate()
            self._score_trees(least_gate, NULL)
            self._choose(least, NULL)
            self._score_labels()
            self._list_states(least, &kept[0, 0] if n_kept else NULL, n_kept, found)
        return found

    def posteriors(self):
        """Return the probability of each span of the last sentence: float32 (n_spans,)."""
        return np.array(self.bracketings.posteriors, np.float32)

    # Features

    cdef void _load(self, const uint32_t[:, ::1] codes):
        cdef Py_ssize_t k, f
        self.n_words = codes.shape[0]
        self.codes.assign((self.n_words + 2 * PAD) * N_FIELDS, 0)
        for k in range(self.n_words):
            for f in range(N_FIELDS):
                self.codes[(k + PAD) * N_FIELDS + f] = codes[k, f]

    cdef void _fill_place(self, int32_t i, int32_t j) noexcept nogil:
        """Set the atoms of a span, or with i = j, those of a begin and an end."""
        cdef int32_t k, f, length = j - i
        cdef uint32_t step = 0
        cdef uint32_t* place = &self.place[0]
        cdef const uint32_t* begin = &self.codes[(i + PAD) * N_FIELDS]
        cdef const uint32_t* end = &self.codes[(j + PAD) * N_FIELDS]
        for k in range(PAD):
            for f in range(N_FIELDS):
                place[k * N_FIELDS + f] = begin[(-1 - k) * N_FIELDS + f]
                place[(PAD + k) * N_FIELDS + f] = begin[k * N_FIELDS + f]
                place[(2 * PAD + k) * N_FIELDS + f] = end[(-1 - k) * N_FIELDS + f]
                place[(3 * PAD + k) * N_FIELDS + f] = end[k * N_FIELDS + f]
        while length > 7:  # up to 7 words it is the length, then there are steps that grow by a third
            length = length * 3 // 4
            step += 8
        place[LENGTH] = place[SHAPE] = length + step
        if j - i <= SHAPE_WORDS:
            for k in range(j - i):
                place[SHAPE] = _mixed(place[SHAPE], begin[k * N_FIELDS])
        else:
            for k in range(SHAPE_WORDS // 2):
                place[SHAPE] = _mixed(place[SHAPE], begin[k * N_FIELDS])
                place[SHAPE] = _mixed(place[SHAPE], end[(-1 - k) * N_FIELDS])

    cdef void _find_rows(self, int group, uint64_t* rows) noexcept nogil:
        """Set the hashes of a group's features of the current place."""
        cdef int32_t t, a
        cdef uint64_t h
        for t in range(self.bounds[group], self.bounds[group] + self.n_templates[group]):
            h = self.templates[t].seed
            for a in range(self.templates[t].first, self.templates[t].last):
                h = (h ^ self.place[self.atoms[a]]) * <uint64_t>0x9E3779B97F4A7C15
                h ^= h >> 32
            rows[t - self.bounds[group]] = h

    cdef void _add_labels(self, const uint64_t* rows, int group, float* sums) noexcept nogil:
        cdef int32_t k, c
        cdef const float* row
        for k in range(self.n_templates[group]):
            row = &self.labels[row_of(rows[k], self.label_bits) * self.width]
            for c in range(self.width):
                sums[c] += row[c]

    # Gate and trees

    cdef void _score_positions(self) noexcept nogil:
        """Sum up the weights of the features of each position, as the begin and as the end of a span."""
        cdef int32_t p, n = self.n_words + 1, side, n_templates
        cdef uint64_t* rows
        for side in range(BEGIN, END + 1):
            n_templates = self.n_templates[side]
            self.end_rows[side].resize(n * n_templates)
            self.end_gate[side].resize(n)
            self.end_tree[side].resize(n)
            self.end_labels[side].assign(n * self.width, 0)
            for p in range(n):
                rows = &self.end_rows[side][p * n_templates]
                self._fill_place(p, p)
                self._find_rows(side, rows)
                self.end_gate[side][p] = _sum(&self.gate[0], self.gate_bits, rows, n_templates)
                self.end_tree[side][p] = _sum(&self.tree[0], self.tree_bits, rows, n_templates)
                self._add_labels(rows, side, &self.end_labels[side][p * self.width])

    cdef void _score_gate(self) noexcept nogil:
        cdef int32_t i, j
        cdef float score
        self.rows.resize(max(<size_t>self.stride, self.rows.size()))
        self.gate_scores.assign(cell_of(0, self.n_words + 1), 0)
        for j in range(2, self.n_words + 1):
            for i in range(j - 1):
                self._fill_place(i, j)
                self._find_rows(GATE, &self.rows[0])
                score = _sum(&self.gate[0], self.gate_bits, &self.rows[0], self.n_templates[GATE])
                self.gate_scores[cell_of(i, j)] = self.end_gate[BEGIN][i] + self.end_gate[END][j] + score

    cdef void _score_trees(self, float least, const uint8_t* kept) noexcept nogil:
        """Find what passes the gate or is kept, and its posteriors; if there is no tree, those of everything."""
        self._find_open(least, kept)
        if not self.bracketings.run(self.n_words, self.tree_scores.data(), self.is_open.data()):
            self._find_open(-INFINITY, kept)
            self.bracketings.run(self.n_words, self.tree_scores.data(), self.is_open.data())

    cdef void _find_open(self, float least, const uint8_t* kept) noexcept nogil:
        cdef int32_t i, j
        cdef size_t cell, n_rows = 0
        cdef float score
        self.open.clear()
        self.is_open.assign(self.gate_scores.size(), False)
        self.tree_scores.assign(self.gate_scores.size(), 0)
        for j in range(1, self.n_words + 1):
            for i in range(j):
                cell = cell_of(i, j)
                if j > i + 1 and self.gate_scores[cell] < least and j - i < self.n_words:
                    if kept == NULL or not kept[cell]:
                        continue
                self.is_open[cell] = True
                self.open.push_back(OpenC(cell, i, j))
                if self.rows.size() < n_rows + self.stride:
                    self.rows.resize(2 * n_rows + self.stride)
                self._fill_place(i, j)
                self._find_rows(group_of(&self.open.back()), &self.rows[n_rows])
                if j > i + 1:
                    score = _sum(&self.tree[0], self.tree_bits, &self.rows[n_rows], self.n_templates[SPAN])
                    self.tree_scores[cell] = self.end_tree[BEGIN][i] + self.end_tree[END][j] + score
                n_rows += self.stride

    # Labels

    cdef void _choose(self, float least, const uint8_t* kept) noexcept nogil:
        """Choose what has a posterior of at least `least`, or what is kept if there is such a table, and all words."""
        cdef size_t k
        cdef bint is_chosen
        self.chosen.clear()
        for k in range(self.open.size()):
            if kept != NULL:
                is_chosen = kept[self.open[k].cell]
            else:
                is_chosen = self.bracketings.posteriors[self.open[k].cell] >= least
            if is_chosen or self.open[k].end == self.open[k].begin + 1:
                self.chosen.push_back(k)

    cdef void _score_labels(self) noexcept nogil:
        cdef size_t k
        cdef int32_t c
        cdef const OpenC* span
        cdef const float* begin
        cdef const float* end
        cdef float* sums
        self.label_scores.assign(self.chosen.size() * self.width, 0)
        for k in range(self.chosen.size()):
            if k + 1 < self.chosen.size():
                self._fetch_labels(self.chosen[k + 1])
            span, sums = &self.open[self.chosen[k]], &self.label_scores[k * self.width]
            if span.end > span.begin + 1:
                begin = &self.end_labels[BEGIN][span.begin * self.width]
                end = &self.end_labels[END][span.end * self.width]
                for c in range(self.width):
                    sums[c] = begin[c] + end[c]
            self._add_labels(&self.rows[self.chosen[k] * self.stride], group_of(span), sums)

    cdef void _fetch_labels(self, size_t k) noexcept nogil:
        """Ask for the weights that are needed next: the table is larger than the processor's cache."""
        cdef int32_t t, c
        cdef const float* row
        for t in range(self.n_templates[group_of(&self.open[k])]):
            row = &self.labels[row_of(self.rows[k * self.stride + t], self.label_bits) * self.width]
            for c in range(0, self.width, 16):  # weights in a line of the cache
                prefetch(row + c)

    # States

    cdef void _list_states(self, float least, const int32_t* kept, size_t n_kept, SpanStates found) noexcept nogil:
        cdef size_t cell, c = 0, first = 0, last = 0, k
        cdef int32_t state
        self.is_kept.assign(self.highest.size(), False)
        for cell in range(self.gate_scores.size()):
            while last < n_kept and <size_t>kept[2 * last] == cell:
                self.is_kept[kept[2 * last + 1]] = True
                last += 1
            if c < self.chosen.size() and self.open[self.chosen[c]].cell == cell:
                self._find_labels(c, least)
                for state in range(<int32_t>self.highest.size()):
                    if self.is_kept[state] or (
                        self.has_label[self.highest[state] + 1] and self.has_label[self.lowest[state] + 1]
                    ):
                        found.states.push_back(state)
                c += 1
            else:
                for k in range(first, last):
                    found.states.push_back(kept[2 * k + 1])
            for k in range(first, last):
                self.is_kept[kept[2 * k + 1]] = False
            first = last
            found.first.push_back(<int32_t>found.states.size())

    cdef void _find_labels(self, size_t k, float least) noexcept nogil:
        """Find the labels that a chosen span may have. Only single words have the label -1, which is a tag's."""
        cdef const OpenC* span = &self.open[self.chosen[k]]
        cdef bint is_word = span.end == span.begin + 1
        cdef float posterior = 1 if is_word else self.bracketings.posteriors[span.cell]
        cdef float share = least / max(posterior, <float>1e-30)
        cdef float least_score = INFINITY if share >= 1 else <float>log(share / (1 - share)) if share > 0 else -INFINITY
        cdef int32_t c
        self.has_label.resize(self.n_columns + 1)
        self.has_label[0] = is_word
        for c in range(self.n_columns):
            self.has_label[c + 1] = self.label_scores[k * self.width + c] >= least_score


cdef class PrunerLearner(PrunerScorer):
    """A scorer whose weights change.

    tree_step, label_step: the sizes of a weight's first step, for gate and trees, and for labels. start_squares: the
    sum of squared gradients that weights begin with; with a large one, all steps have the same size.
    """

    cdef float tree_step
    cdef float label_step
    cdef vector[float] gate_squares   # sums of squared gradients
    cdef vector[float] tree_squares
    cdef vector[float] label_squares

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
        self.end_gate[BEGIN].assign(n, 0)
        self.end_gate[END].assign(n, 0)
        for j in range(2, n):
            for i in range(j - 1):
                cell = cell_of(i, j)
                gradient = _log_loss(self.gate_scores[cell], has_node[cell], &loss)
                if gradient:
                    self.end_gate[BEGIN][i] += gradient
                    self.end_gate[END][j] += gradient
                    self._fill_place(i, j)
                    self._find_rows(GATE, &self.rows[0])
                    _change(self.gate.data(), self.gate_squares.data(), self.gate_bits, &self.rows[0],
                            self.n_templates[GATE], gradient, self.tree_step)
        self._change_ends(&self.gate, &self.gate_squares, self.gate_bits, &self.end_gate)
        return loss

    cdef double _learn_trees(self, const uint8_t* has_node) noexcept nogil:
        cdef int32_t n = self.n_words + 1
        cdef size_t k
        cdef float gradient
        cdef double loss = self.bracketings.by_begin[self.n_words]  # of all trees
        self.end_tree[BEGIN].assign(n, 0)
        self.end_tree[END].assign(n, 0)
        for k in range(self.open.size()):
            if self.open[k].end == self.open[k].begin + 1:
                continue
            loss -= has_node[self.open[k].cell] * self.tree_scores[self.open[k].cell]
            gradient = _unless_small(self.bracketings.posteriors[self.open[k].cell] - has_node[self.open[k].cell])
            self.end_tree[BEGIN][self.open[k].begin] += gradient
            self.end_tree[END][self.open[k].end] += gradient
            _change(self.tree.data(), self.tree_squares.data(), self.tree_bits, &self.rows[k * self.stride],
                    self.n_templates[SPAN], gradient, self.tree_step)
        self._change_ends(&self.tree, &self.tree_squares, self.tree_bits, &self.end_tree)
        return loss

    cdef void _change_ends(self, vector[float]* weights, vector[float]* squares, int bits,
                           const vector[vector[float]]* gradients) noexcept nogil:
        """Change the weights of what depends on one end of spans."""
        cdef size_t i, side
        for i in range(gradients[0][BEGIN].size()):
            for side in range(BEGIN, END + 1):
                _change(weights.data(), squares.data(), bits, &self.end_rows[side][i * self.n_templates[side]],
                        self.n_templates[side], gradients[0][side][i], self.tree_step)

    cdef double _learn_labels(self, const int32_t* gold, size_t n_gold) noexcept nogil:
        cdef int32_t i, c, side, n = self.n_words + 1
        cdef size_t k, g = 0
        cdef const OpenC* span
        cdef float* gradients
        cdef double loss = 0
        cdef float is_gold
        self.end_labels[BEGIN].assign(n * self.width, 0)
        self.end_labels[END].assign(n * self.width, 0)
        for k in range(self.chosen.size()):
            span, gradients = &self.open[self.chosen[k]], &self.label_scores[k * self.width]
            for c in range(self.n_columns):
                is_gold = g < n_gold and <size_t>gold[2 * g] == span.cell and gold[2 * g + 1] == c
                g += <size_t>is_gold
                gradients[c] = _log_loss(gradients[c], is_gold, &loss)
            self._change_labels(&self.rows[self.chosen[k] * self.stride], group_of(span), gradients)
            for c in range(self.n_columns if group_of(span) == SPAN else 0):
                self.end_labels[BEGIN][span.begin * self.width + c] += gradients[c]
                self.end_labels[END][span.end * self.width + c] += gradients[c]
        for i in range(n):
            for side in range(BEGIN, END + 1):
                self._change_labels(&self.end_rows[side][i * self.n_templates[side]], side,
                                    &self.end_labels[side][i * self.width])
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


cdef void _change(float* weights, float* squares, int bits, const uint64_t* rows, int32_t n, float gradient,
                  float step) noexcept nogil:
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
