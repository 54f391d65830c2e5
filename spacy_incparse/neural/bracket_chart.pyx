"""CKY over one number per span, without a grammar: the best set of brackets, and the probability of each.

A tree of a sentence of n words has a bracket over some of the spans (i, j), 0 <= i < j <= n, and no two of them cross.
A tree's score is the sum of its brackets' values v(i, j); words and spans without a bracket add nothing. Every tree has
exactly one derivation, so the distribution exp(score) / Z is one over trees of any arity:

    item      I(i, i + 1) = 0 + v(i, i + 1)       one word, without or with a bracket
              I(i, j) = v(i, j) * M(i, j)         a bracket over two or more items
    many      M(i, j) = sum over k of I(i, k) * S(k, j)      an item and the sequence after it
    sequence  S(i, j) = I(i, j) + M(i, j)         one or more items side by side; S(0, n) is the whole sentence

(sums and products of a semiring: max and +, or log-sum-exp and +). This is the recursion of `recurrences.pyx` for the
forest that `bracket_forest.py` writes down; it is repeated here because that forest has n^3/6 edges, which take a
hundred times as long to write as to use. Stern et al. (2017, section 3.1) maximize over the same trees, but count a
tree once for each way to make it binary, which changes nothing for a maximum, though it does for a sum.

There are n (n + 1) / 2 spans, in the order of `cell_of`: (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), ...
"""

from libc.math cimport INFINITY, exp, log, log1p
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest_builder cimport cell_of


# The values of all items and sequences of a sentence: item (i, j) at i * (n + 1) + j, sequence (i, j) at
# j * (n + 1) + i, so that both are read in order where they meet.
cdef struct ChartC:
    int32_t n
    double* items
    double* many
    double* sequences


cdef inline size_t _item(int32_t n, int32_t i, int32_t j) noexcept nogil:
    return <size_t>i * (n + 1) + j


cdef inline size_t _sequence(int32_t n, int32_t i, int32_t j) noexcept nogil:
    return <size_t>j * (n + 1) + i


cdef inline double _log_add(double a, double b) noexcept nogil:
    if a < b:
        a, b = b, a
    return a if b == -INFINITY else a + log1p(exp(b - a))


def best_brackets(const double[::1] values, int32_t n_words):
    """Return the score of the best tree and the numbers of the spans with a bracket, in pre-order: int32.

    values: of each span, float64 (n_spans,); -inf: no bracket there. Among equal trees, the one without the bracket
    wins, and then the one with the shorter first item.
    """
    _check(values, n_words)
    cdef ChartC chart
    tables = _tables(n_words, &chart)
    splits = np.zeros((n_words + 1) * (n_words + 1), np.int32)
    cdef int32_t[::1] chosen = splits
    cdef vector[int32_t] found
    with nogil:
        _fill_best(&chart, &values[0], &chosen[0])
        _follow(&chart, &values[0], &chosen[0], &found)
    return float(tables[2][_sequence(n_words, 0, n_words)]), np.array(found, np.int32)


def bracket_marginals(const double[::1] values, int32_t n_words):
    """Return log Z and the probability that a tree has a bracket over each span: float64 (n_spans,)."""
    _check(values, n_words)
    cdef ChartC chart
    tables = _tables(n_words, &chart)
    found = np.zeros(values.shape[0])
    shares = np.zeros((2, (n_words + 1) * (n_words + 1)))
    cdef double[::1] probabilities = found
    cdef double[:, ::1] share = shares
    with nogil:
        _fill_inside(&chart, &values[0])
        _fill_outside(&chart, &values[0], &share[0, 0], &share[1, 0], &probabilities[0])
    return float(tables[2][_sequence(n_words, 0, n_words)]), found


def _check(const double[::1] values, int32_t n_words):
    if n_words < 1 or values.shape[0] != n_words * (n_words + 1) // 2:
        raise ValueError(f"{values.shape[0]} values for the spans of {n_words} words")


cdef _tables(int32_t n, ChartC* chart):
    """Return the chart's three tables, which Python owns."""
    found = np.full((3, (n + 1) * (n + 1)), -np.inf)
    cdef double[:, ::1] rows = found
    chart.n, chart.items, chart.many, chart.sequences = n, &rows[0, 0], &rows[1, 0], &rows[2, 0]
    return found


cdef void _fill_best(ChartC* chart, const double* values, int32_t* splits) noexcept nogil:
    cdef int32_t n = chart.n, i, j
    cdef double value, many
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            value = values[cell_of(i, j)]
            if i == j - 1:
                chart.items[_item(n, i, j)] = max(0.0, value)
            else:
                many = _best_split(chart, i, j, &splits[_item(n, i, j)])
                chart.many[_item(n, i, j)] = many
                chart.items[_item(n, i, j)] = many + value
                chart.sequences[_sequence(n, i, j)] = max(many, many + value)
                continue
            chart.sequences[_sequence(n, i, j)] = chart.items[_item(n, i, j)]


cdef double _best_split(const ChartC* chart, int32_t i, int32_t j, int32_t* split) noexcept nogil:
    cdef const double* items = &chart.items[_item(chart.n, i, 0)]
    cdef const double* sequences = &chart.sequences[_sequence(chart.n, 0, j)]
    cdef double best = -INFINITY, here
    cdef int32_t k
    split[0] = i + 1
    for k in range(i + 1, j):
        here = items[k] + sequences[k]
        if here > best:
            best, split[0] = here, k
    return best


cdef void _follow(const ChartC* chart, const double* values, const int32_t* splits,
                  vector[int32_t]* found) noexcept nogil:
    """Append the spans with a bracket in the best tree, in pre-order."""
    cdef int32_t n = chart.n, i, j, k
    cdef bint is_item
    cdef vector[int32_t] waiting  # start, end, and whether it has to be one item
    _push(&waiting, 0, n, False)
    while not waiting.empty():
        i, j, is_item = waiting[waiting.size() - 3], waiting[waiting.size() - 2], waiting.back() != 0
        waiting.resize(waiting.size() - 3)
        if (is_item and j > i + 1) or values[cell_of(i, j)] > 0:
            found.push_back(<int32_t>cell_of(i, j))
        if j > i + 1:
            k = splits[_item(n, i, j)]
            _push(&waiting, k, j, False)
            _push(&waiting, i, k, True)


cdef inline void _push(vector[int32_t]* waiting, int32_t i, int32_t j, bint is_item) noexcept nogil:
    waiting.push_back(i)
    waiting.push_back(j)
    waiting.push_back(is_item)


cdef void _fill_inside(ChartC* chart, const double* values) noexcept nogil:
    cdef int32_t n = chart.n, i, j
    cdef double value, many
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            value = values[cell_of(i, j)]
            if i == j - 1:
                chart.items[_item(n, i, j)] = chart.sequences[_sequence(n, i, j)] = _log_add(0.0, value)
                continue
            many = _sum_splits(chart, i, j)
            chart.many[_item(n, i, j)] = many
            chart.items[_item(n, i, j)] = many + value
            chart.sequences[_sequence(n, i, j)] = _log_add(many, many + value)


cdef double _sum_splits(const ChartC* chart, int32_t i, int32_t j) noexcept nogil:
    cdef const double* items = &chart.items[_item(chart.n, i, 0)]
    cdef const double* sequences = &chart.sequences[_sequence(chart.n, 0, j)]
    cdef double highest = -INFINITY, total = 0
    cdef int32_t k
    for k in range(i + 1, j):
        highest = max(highest, items[k] + sequences[k])
    if highest == -INFINITY:
        return highest
    for k in range(i + 1, j):
        total += exp(items[k] + sequences[k] - highest)
    return highest + log(total)


cdef void _fill_outside(const ChartC* chart, const double* values, double* item_shares, double* sequence_shares,
                        double* found) noexcept nogil:
    """Fill the probabilities of brackets from the top down, longer spans first; shares must be 0 before.

    p(S(0, n)) = 1; each of I, M and S hands its probability on in proportion to its parts.
    """
    cdef int32_t n = chart.n, i, j, length
    cdef double item, sequence, many
    sequence_shares[_sequence(n, 0, n)] = 1
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            item, sequence = item_shares[_item(n, i, j)], sequence_shares[_sequence(n, i, j)]
            if length == 1:
                found[cell_of(i, j)] = (item + sequence) * exp(values[cell_of(i, j)] - chart.items[_item(n, i, j)])
                continue
            many = 0
            if sequence > 0:
                many = sequence * exp(chart.many[_item(n, i, j)] - chart.sequences[_sequence(n, i, j)])
                item += sequence - many
            found[cell_of(i, j)] = item
            many += item
            if many > 0:
                _share_splits(chart, i, j, many, item_shares, sequence_shares)


cdef void _share_splits(const ChartC* chart, int32_t i, int32_t j, double share, double* item_shares,
                        double* sequence_shares) noexcept nogil:
    cdef size_t first = _item(chart.n, i, 0), column = _sequence(chart.n, 0, j)
    cdef double many = chart.many[_item(chart.n, i, j)], here
    cdef int32_t k
    for k in range(i + 1, j):
        here = share * exp(chart.items[first + k] + chart.sequences[column + k] - many)
        item_shares[first + k] += here
        sequence_shares[column + k] += here
