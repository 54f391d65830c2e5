"""Log-linear learning with sparse weights: one pass of AdaGrad (Duchi et al. 2011) over examples."""

from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.array_memory cimport doubles, int32s, writable_bytes

cdef double LEAST = 1e-3  # smaller gradients change nothing


def learn(features, firsts, tags, groups, targets, possible, weights, squares, order, int n_features, int n_classes,
          double rate):
    """Change the weights by the gradients of the log loss of each group, in an order.

    The rows groups[g] : groups[g + 1] of a group compete with each other, and in each row the classes; targets[g] is
    the number of the right one among all of these, and possible[n_classes * row + class] says which compete. A row has
    the features features[n_features * row : ...], -1 for none. A feature f has weights for the classes
    tags[firsts[f] : firsts[f + 1]]. Arrays are flat: int32; weights and squares, which are the sums of squared
    gradients, float64; possible int8.
    """
    cdef const int32_t* feature = int32s(features)
    cdef const int32_t* first = int32s(firsts)
    cdef const int32_t* tag = int32s(tags)
    cdef const int32_t* group = int32s(groups)
    cdef const int32_t* target = int32s(targets)
    cdef const char* is_possible = writable_bytes(possible)
    cdef double* weight = doubles(weights, writable=True)
    cdef double* square = doubles(squares, writable=True)
    cdef const int32_t* places = int32s(order)
    cdef vector[double] scores
    cdef size_t i, n = len(order)
    cdef int64_t k, start
    cdef int32_t row, cell, n_rows
    cdef double gradient
    with nogil:
        for i in range(n):
            start, n_rows = group[places[i]], group[places[i] + 1] - group[places[i]]
            scores.assign(n_rows * n_classes, 0)
            for row in range(n_rows):
                for k in range((start + row) * n_features, (start + row + 1) * n_features):
                    if feature[k] >= 0:
                        for cell in range(first[feature[k]], first[feature[k] + 1]):
                            scores[row * n_classes + tag[cell]] += weight[cell]
            _to_gradients(scores, is_possible + start * n_classes, target[places[i]])
            for row in range(n_rows):
                for k in range((start + row) * n_features, (start + row + 1) * n_features):
                    if feature[k] >= 0:
                        for cell in range(first[feature[k]], first[feature[k] + 1]):
                            gradient = scores[row * n_classes + tag[cell]]
                            if fabs(gradient) > LEAST:
                                square[cell] += gradient * gradient
                                weight[cell] -= rate * gradient / sqrt(square[cell])


cdef void _to_gradients(vector[double]& scores, const char* possible, int32_t target) noexcept nogil:
    """Turn scores into the gradients of the log loss: probabilities, minus 1 for the right one."""
    cdef size_t k
    cdef double most = scores[target], total = 0
    for k in range(scores.size()):
        if possible[k] and scores[k] > most:
            most = scores[k]
    for k in range(scores.size()):
        scores[k] = exp(scores[k] - most) if possible[k] else 0
        total += scores[k]
    for k in range(scores.size()):
        scores[k] /= total
    scores[target] -= 1
