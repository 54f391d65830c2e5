"""The learners of Collins (2000), section 2.3, and the ranking perceptron: the loops over candidates and features."""

from libc.math cimport exp, fabs, log, sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.rerank.array_memory cimport doubles, int32s, int64s

from spacy_incparse.rerank.sparse_rows import inverted

cdef enum:
    BLOCK_BITS = 7     # 128 features in a block: with 300,000 features, 2,300 blocks
    SUM_AFRESH = 1000  # rounds, after which rounding errors of the sums that table 2 changes are cleared


def pair_differences(feature_starts, features, better, worse):
    """Return the differences of pairs, the sets B of equation 4: starts (n_pairs + 1,) int64 and slots (n,) int32.

    better, worse: (n_pairs,) int64, candidates. A feature k that only the better one has (k in B+) is slot 2 k, one
    that only the other has (k in B-) is slot 2 k + 1; slots ascend within a pair.
    """
    cdef Py_ssize_t pair, n_pairs = len(better)
    all_starts = np.zeros(n_pairs + 1, np.int64)
    cdef const int64_t* begin = int64s(feature_starts)
    cdef const int32_t* feature = int32s(features)
    cdef const int64_t* first = int64s(better)
    cdef const int64_t* other = int64s(worse)
    cdef int64_t* starts = int64s(all_starts, True)
    cdef int32_t* slots
    with nogil:
        for pair in range(n_pairs):
            starts[pair + 1] = starts[pair] + _differences(begin, feature, first[pair], other[pair], NULL)
    all_slots = np.empty(all_starts[n_pairs], np.int32)
    slots = int32s(all_slots, True)
    with nogil:
        for pair in range(n_pairs):
            _differences(begin, feature, first[pair], other[pair], slots + starts[pair])
    return all_starts, all_slots


cdef Py_ssize_t _differences(
    const int64_t* starts, const int32_t* features, int64_t better, int64_t worse, int32_t* out
) noexcept nogil:
    """Return the number of differences; write their slots to `out` unless it is NULL."""
    cdef int64_t a = starts[better], a_end = starts[better + 1], b = starts[worse], b_end = starts[worse + 1]
    cdef Py_ssize_t n = 0
    while a < a_end or b < b_end:
        if a < a_end and b < b_end and features[a] == features[b]:
            a, b = a + 1, b + 1
            continue
        if b == b_end or (a < a_end and features[a] < features[b]):
            if out:
                out[n] = 2 * features[a]
            a += 1
        else:
            if out:
                out[n] = 2 * features[b] + 1
            b += 1
        n += 1
    return n


cdef class GreedyRounds:
    """Learning in rounds, between rounds: each round changes the weight of the feature that lowers the loss most.

    That is the one with the greatest gain; the gains of many features change each round. Features lie in blocks. A
    block whose gains have changed is searched again; of the others only the best feature is read.
    """
    cdef readonly object weights           # of the features, (n_features,) float64
    cdef readonly Py_ssize_t n_rounds
    cdef double smoothing
    cdef Py_ssize_t n_features
    cdef double* alphas                    # the weights
    cdef tuple arrays                      # whose memory is used below
    cdef vector[double] gains              # by feature; at first, they are 0
    cdef vector[int] best_of_block         # the block's feature with the greatest gain, the first of several
    cdef vector[char] block_is_changed     # whether gains have changed since it was searched
    cdef vector[int32_t] changed           # features whose gains this round has changed
    cdef vector[char] is_changed           # by feature

    cdef int _begin(self, Py_ssize_t n_features, double smoothing) except -1:
        cdef Py_ssize_t n_blocks = (n_features + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS
        self.n_features, self.smoothing, self.weights = n_features, smoothing, np.zeros(n_features)
        self.alphas = doubles(self.weights, True)
        self.gains.resize(n_features, 0.0)
        self.best_of_block.resize(n_blocks, 0)
        self.block_is_changed.resize(n_blocks, 1)
        self.is_changed.resize(n_features, 0)

    cdef void _set_gain(self, Py_ssize_t feature, double gain) noexcept nogil:
        self.gains[feature] = gain
        self.block_is_changed[feature >> BLOCK_BITS] = 1

    cdef Py_ssize_t _best(self) noexcept nogil:
        """Return the feature with the greatest gain, the first of several; -1 if no gain is above 0."""
        cdef Py_ssize_t block, feature, first, best = -1
        cdef double most = 0
        for block in range(<Py_ssize_t>self.best_of_block.size()):
            if self.block_is_changed[block]:
                first = self.best_of_block[block] = block << BLOCK_BITS
                for feature in range(first + 1, min(first + (1 << BLOCK_BITS), self.n_features)):
                    if self.gains[feature] > self.gains[self.best_of_block[block]]:
                        self.best_of_block[block] = feature
                self.block_is_changed[block] = 0
            feature = self.best_of_block[block]
            if self.gains[feature] > most:
                most, best = self.gains[feature], feature
        return best

    def run(self, Py_ssize_t n_rounds):
        """Do some rounds, or fewer: no feature may be left that makes the loss less. Return how many were done."""
        cdef Py_ssize_t first = self.n_rounds, end = first + n_rounds
        with nogil:
            while self.n_rounds < end and self._round():
                pass
        return self.n_rounds - first

    cdef bint _round(self) noexcept nogil:
        """Do one round; return whether there was a feature to choose."""
        return False

    cdef void _find_gain(self, Py_ssize_t feature) noexcept nogil:
        pass

    cdef inline void _note_change(self, int32_t feature) noexcept nogil:
        if not self.is_changed[feature]:
            self.is_changed[feature] = 1
            self.changed.push_back(feature)

    cdef void _find_gains(self) noexcept nogil:
        """Find the gains of the features that have changed."""
        cdef int32_t feature
        for feature in self.changed:
            self._find_gain(feature)
            self.is_changed[feature] = 0
        self.changed.clear()


cdef class Boosting(GreedyRounds):
    """Boosting for ranking: BoostLoss minimized feature by feature (section 2.3.1, tables 1 and 2), between rounds.

    The loss is a sum over pairs (i, j) of S_{i,j} e^{-M_{i,j}}, with margins M and the weights S of Collins & Koo
    (2005), which are 1 in the paper of 2000. All that is known of feature k are two sums of it: W_k^+ over the pairs of
    which only the better candidate has k, and W_k^- over those of which only the worse one has it.

    is_naive: table 1, which sums over all pairs of all features in each round; else table 2, which changes the sums of
    the features that co-occur with the chosen one. n_additions counts the additions to W that rounds made. smoothing:
    the paper's epsilon.
    """
    cdef readonly int64_t n_additions
    cdef bint is_naive
    cdef Py_ssize_t n_pairs, n_slots
    cdef double* margins              # of pairs
    cdef const double* importances    # of pairs: S
    cdef double* losses               # of pairs: S e^-M
    cdef double* sums                 # by slot: W_k^+ in 2 k, W_k^- in 2 k + 1
    cdef const int64_t* b_starts      # slots by pair: B
    cdef const int32_t* b_slots
    cdef const int64_t* a_starts      # pairs by slot: A
    cdef const int32_t* a_pairs

    def __init__(self, pairs, margins, importances, double smoothing, bint is_naive=False):
        cdef Py_ssize_t pair
        self._begin(pairs.n_features, smoothing)
        self.is_naive, self.n_pairs, self.n_slots = is_naive, len(margins), 2 * self.n_features
        pair_starts, pairs_of_slot = inverted(pairs.slot_starts, pairs.slots, self.n_slots)
        self.b_starts, self.b_slots = int64s(pairs.slot_starts), int32s(pairs.slots)
        self.a_starts, self.a_pairs = int64s(pair_starts), int32s(pairs_of_slot)
        numbers = np.array(margins, float), np.array(importances, float), np.zeros(self.n_pairs), np.zeros(self.n_slots)
        self.margins, self.importances = doubles(numbers[0], True), doubles(numbers[1])
        self.losses, self.sums = doubles(numbers[2], True), doubles(numbers[3], True)
        self.arrays = pairs.slot_starts, pairs.slots, pair_starts, pairs_of_slot, *numbers
        for pair in range(self.n_pairs):
            self.losses[pair] = self.importances[pair] * exp(-self.margins[pair])
        self._sum_afresh()

    @property
    def loss(self):
        """BoostLoss, Z in the paper."""
        return self._loss()

    cdef double _loss(self) noexcept nogil:
        cdef Py_ssize_t pair
        cdef double total = 0
        for pair in range(self.n_pairs):
            total += self.losses[pair]
        return total

    cdef bint _round(self) noexcept nogil:
        """A round of table 1 or 2."""
        cdef Py_ssize_t feature
        cdef double delta
        if self.is_naive or (self.n_rounds and self.n_rounds % SUM_AFRESH == 0):
            self._sum_afresh()
        if self.is_naive:
            self.n_additions += self.a_starts[self.n_slots]
        feature = self._best()
        if feature < 0:
            return False
        delta = self._best_weight(feature)
        self.alphas[feature] += delta
        self._move(2 * feature, delta)
        self._move(2 * feature + 1, -delta)
        self._find_gains()
        self.n_rounds += 1
        return True

    cdef double _best_weight(self, Py_ssize_t feature) noexcept nogil:
        """BestWt(k) = 1/2 log((W_k^+ + epsilon Z) / (W_k^- + epsilon Z)), the end of section 2.3.1."""
        # If the ranking is perfect, losses can be too small for a float.
        cdef double smooth = max(self.smoothing * self._loss(), 1e-300)
        return 0.5 * log((max(self.sums[2 * feature], 0.0) + smooth) / (max(self.sums[2 * feature + 1], 0.0) + smooth))

    cdef void _find_gain(self, Py_ssize_t feature) noexcept nogil:
        """Z - BestLoss(k) = (sqrt(W_k^+) - sqrt(W_k^-))^2, equation 3."""
        # Where a sum should be 0, rounding can leave a little less.
        cdef double root = sqrt(max(self.sums[2 * feature], 0.0)) - sqrt(max(self.sums[2 * feature + 1], 0.0))
        self._set_gain(feature, root * root)

    cdef void _move(self, Py_ssize_t slot, double delta) noexcept nogil:
        """Add delta to the margins of the pairs in A[slot], and change the sums of all features of these pairs."""
        cdef Py_ssize_t at, pair, place
        cdef double change, loss
        cdef int32_t other
        for at in range(self.a_starts[slot], self.a_starts[slot + 1]):
            pair = self.a_pairs[at]
            self.margins[pair] += delta
            loss = self.importances[pair] * exp(-self.margins[pair])
            change = loss - self.losses[pair]
            self.losses[pair] = loss
            if self.is_naive:
                continue
            self.n_additions += self.b_starts[pair + 1] - self.b_starts[pair]
            for place in range(self.b_starts[pair], self.b_starts[pair + 1]):
                other = self.b_slots[place]
                self.sums[other] += change
                self._note_change(other >> 1)

    cdef void _sum_afresh(self) noexcept nogil:
        """Calculate W and the gains from the pairs' losses, as table 1 does in each round."""
        cdef Py_ssize_t slot, at, feature
        cdef double total
        for slot in range(self.n_slots):
            total = 0
            for at in range(self.a_starts[slot], self.a_starts[slot + 1]):
                total += self.losses[self.a_pairs[at]]
            self.sums[slot] = total
        for feature in range(self.n_features):
            self._find_gain(feature)


cdef class GreedyLogLoss(GreedyRounds):
    """LogLoss minimized feature by feature, by iterative scaling (section 2.3.2), between rounds.

    Of a list, a feature k needs only its share: the probability of the candidates that have it, s = sum of h_k(x) P(x).
    If the weight of k is raised by delta, the share becomes s e^delta / (1 + s (e^delta - 1)), because the list's
    normalizer becomes 1 + s (e^delta - 1) times as large. So an iteration takes one term per list that has k. A "place"
    is a pair (feature, list): one for each list in which a feature varies.

    data: RerankingData. values: (n_candidates,) F(x) at the start. best: (n_lists,) the candidates x_{i,1}.
    n_scaled counts the features whose BestWt was calculated, n_iterations the iterations of scaling that this took, and
    n_additions all terms of sums: of shares, and of expected numbers of features.
    """
    cdef readonly int64_t n_scaled, n_iterations, n_additions
    cdef double tolerance
    cdef int max_iterations
    cdef Py_ssize_t n_lists
    cdef object list_probabilities, best_candidates
    cdef double* deltas                    # of features: BestWt(k)
    cdef double* values                    # of candidates: F(x)
    cdef double* probabilities             # of candidates: P(x)
    cdef const int64_t* list_starts
    cdef const int64_t* feature_starts
    cdef const int64_t* best
    cdef const int32_t* features
    cdef vector[int64_t] place_starts      # by feature: its places
    cdef vector[int32_t] places            # parallel to `features`: the place of a candidate's feature
    cdef vector[int32_t] list_of_place
    cdef vector[double] shares             # by place
    cdef vector[char] is_on_best           # by place: whether x_{i,1} has the feature

    def __init__(self, data, values, best, double smoothing, double tolerance, int max_iterations):
        cdef Py_ssize_t number
        self._begin(data.n_features, smoothing)
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.n_lists, self.best_candidates = data.n_lists, best
        self.list_probabilities = np.zeros(len(values))
        values, deltas = np.array(values, float), np.zeros(self.n_features)
        self.arrays = data.list_starts, data.feature_starts, data.features, values, deltas
        self.list_starts, self.feature_starts = int64s(data.list_starts), int64s(data.feature_starts)
        self.features, self.best = int32s(data.features), int64s(best)
        self.values, self.probabilities = doubles(values, True), doubles(self.list_probabilities, True)
        self.deltas = doubles(deltas, True)
        with nogil:
            self._find_places()
            for number in range(self.n_lists):
                self._update_probabilities(number)
                self._update_shares(number)
            self._find_gains()
        self.n_additions = self.n_scaled = self.n_iterations = 0

    @property
    def loss(self):
        """LogLoss, equation 1."""
        return -np.log(self.list_probabilities[self.best_candidates]).sum()

    cdef bint _round(self) noexcept nogil:
        cdef Py_ssize_t place, feature = self._best()
        cdef double delta
        if feature < 0:
            return False
        delta = self.deltas[feature]
        self.alphas[feature] += delta
        for place in range(self.place_starts[feature], self.place_starts[feature + 1]):
            self._raise_values(self.list_of_place[place], <int32_t>place, delta)
            self._update_probabilities(self.list_of_place[place])
            self._update_shares(self.list_of_place[place])
        self._find_gains()
        self.n_rounds += 1
        return True

    cdef void _find_gain(self, Py_ssize_t feature) noexcept nogil:
        """Find BestWt(k) and BestLoss(k) by iterative scaling: delta += log(h_k / p_k) until delta stays.

        For smoothing, lists of two equal candidates are added, of which one has k: so many with k on the best, and so
        many with k on the other. Without them the weight of what is on all best candidates, or on none, is infinite.
        """
        cdef Py_ssize_t place, begin = self.place_starts[feature], end = self.place_starts[feature + 1]
        cdef double n_seen = self.smoothing, n_expected, delta = 0, step, growth, gain = 0
        cdef int _iteration
        for place in range(begin, end):
            n_seen += self.is_on_best[place]
        for _iteration in range(self.max_iterations):
            growth = exp(delta)
            n_expected = 2 * self.smoothing * growth / (1 + growth)
            for place in range(begin, end):
                n_expected += self.shares[place] * growth / (1 + self.shares[place] * (growth - 1))
            step = log(n_seen / n_expected)
            delta += step
            self.n_iterations += 1
            self.n_additions += end - begin
            if fabs(step) < self.tolerance:
                break
        growth = exp(delta)
        for place in range(begin, end):
            gain += self.is_on_best[place] * delta - log(1 + self.shares[place] * (growth - 1))
        self.deltas[feature] = delta
        # An update that is as small as the tolerance of scaling would be chosen for ever without any gain.
        self._set_gain(feature, gain if fabs(delta) > self.tolerance else 0)
        self.n_scaled += 1

    cdef void _raise_values(self, Py_ssize_t number, int32_t place, double delta) noexcept nogil:
        """Add delta to F of those candidates of a list that have the place's feature."""
        cdef Py_ssize_t candidate, at
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                if self.places[at] == place:
                    self.values[candidate] += delta
                    break

    cdef void _update_probabilities(self, Py_ssize_t number) noexcept nogil:
        cdef Py_ssize_t candidate, begin = self.list_starts[number], end = self.list_starts[number + 1]
        cdef double most = self.values[begin], total = 0
        for candidate in range(begin, end):
            most = max(most, self.values[candidate])
        for candidate in range(begin, end):
            self.probabilities[candidate] = exp(self.values[candidate] - most)
            total += self.probabilities[candidate]
        for candidate in range(begin, end):
            self.probabilities[candidate] /= total

    cdef void _update_shares(self, Py_ssize_t number) noexcept nogil:
        """Calculate the shares of all features of a list, and note that these have changed."""
        cdef Py_ssize_t candidate, at
        cdef int64_t begin = self.feature_starts[self.list_starts[number]]
        cdef int64_t end = self.feature_starts[self.list_starts[number + 1]]
        for at in range(begin, end):
            self.shares[self.places[at]] = 0
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                self.shares[self.places[at]] += self.probabilities[candidate]
                self._note_change(self.features[at])
        self.n_additions += end - begin

    cdef void _find_places(self) noexcept nogil:
        """Number the pairs (feature, list), ordered by feature, then by list."""
        cdef Py_ssize_t number, at, feature
        cdef vector[int32_t] last_list
        cdef vector[int64_t] next_place
        last_list.resize(self.n_features, -1)
        self.place_starts.resize(self.n_features + 1, 0)
        for number in range(self.n_lists):
            for at in range(self._first(number), self._first(number + 1)):
                if last_list[self.features[at]] != number:
                    last_list[self.features[at]] = number
                    self.place_starts[self.features[at] + 1] += 1
        for feature in range(self.n_features):
            self.place_starts[feature + 1] += self.place_starts[feature]
        next_place = self.place_starts
        self.list_of_place.resize(self.place_starts[self.n_features])
        self.shares.resize(self.list_of_place.size(), 0)
        self.is_on_best.resize(self.list_of_place.size(), 0)
        self.places.resize(self._first(self.n_lists))
        last_list.assign(self.n_features, -1)
        for number in range(self.n_lists):
            for at in range(self._first(number), self._first(number + 1)):
                feature = self.features[at]
                if last_list[feature] != number:
                    last_list[feature] = number
                    self.list_of_place[next_place[feature]] = number
                    next_place[feature] += 1
                self.places[at] = next_place[feature] - 1
            for at in range(self.feature_starts[self.best[number]], self.feature_starts[self.best[number] + 1]):
                self.is_on_best[self.places[at]] = 1

    cdef int64_t _first(self, Py_ssize_t number) noexcept nogil:
        """Return where the features of a list begin."""
        return self.feature_starts[self.list_starts[number]]


cdef class RankingPerceptron:
    """The weights of the averaged perceptron, with lazy averages (Freund & Schapire 1999; Collins 2002).

    data: RerankingData. base: (n_candidates,) the fixed part of F(x). best: (n_lists,) the candidates to rank first.
    """
    cdef readonly int64_t n_steps      # lists seen
    cdef readonly int64_t n_updates    # lists in which another candidate than the best stood first
    cdef tuple arrays                  # whose memory is used below
    cdef object weights, weight_sums
    cdef const int64_t* list_starts
    cdef const int64_t* feature_starts
    cdef const int64_t* best
    cdef const int32_t* features
    cdef const double* base
    cdef double* table                 # weights
    cdef double* sums                  # of step * change, so that average = table - sums / n_steps (Daume 2006)

    def __init__(self, data, base, best):
        self.arrays = data.list_starts, data.feature_starts, data.features, base, best
        self.list_starts, self.feature_starts = int64s(data.list_starts), int64s(data.feature_starts)
        self.features, self.base, self.best = int32s(data.features), doubles(base), int64s(best)
        self.weights, self.weight_sums = np.zeros(data.n_features), np.zeros(data.n_features)
        self.table, self.sums = doubles(self.weights, True), doubles(self.weight_sums, True)

    def learn(self, lists):
        """Learn from lists in this order: w += h(x_{i,1}) - h(x) where another candidate x has the highest F."""
        cdef Py_ssize_t at, guess, best, n = len(lists)
        cdef const int64_t* order = int64s(lists)
        with nogil:
            for at in range(n):
                self.n_steps += 1
                guess, best = self._guess(order[at]), self.best[order[at]]
                if guess != best:
                    self._add(best, 1.0)
                    self._add(guess, -1.0)
                    self.n_updates += 1

    def averaged(self):
        """Return the average over the weights after each list, (n_features,) float64.

        A change at step t counts from then on: in n_steps - t + 1 of the n_steps vectors.
        """
        return self.weights - self.weight_sums / max(self.n_steps, 1)

    cdef Py_ssize_t _guess(self, Py_ssize_t number) noexcept nogil:
        """Return the candidate with the highest F, the first of several."""
        cdef Py_ssize_t candidate, at, guess = self.list_starts[number]
        cdef double value, most = 0
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            value = 0
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                value += self.table[self.features[at]]
            value += self.base[candidate]
            if candidate == self.list_starts[number] or value > most:
                most, guess = value, candidate
        return guess

    cdef void _add(self, Py_ssize_t candidate, double change) noexcept nogil:
        cdef Py_ssize_t at
        for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
            self.table[self.features[at]] += change
            self.sums[self.features[at]] += change * (self.n_steps - 1)
