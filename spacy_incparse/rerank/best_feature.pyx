"""The feature with the greatest gain."""

cdef enum:
    BLOCK_BITS = 7  # 128 features in a block: with 300,000 features, 2,300 blocks


cdef class BestFeature:
    """Gains of features, at first 0."""

    def __init__(self, Py_ssize_t n_features):
        cdef Py_ssize_t n_blocks = (n_features + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS
        self.gains.resize(n_features, 0.0)
        self.best_of_block.resize(n_blocks, 0)
        self.is_changed.resize(n_blocks, 1)

    cdef void set_gain(self, Py_ssize_t feature, double gain) noexcept nogil:
        self.gains[feature] = gain
        self.is_changed[feature >> BLOCK_BITS] = 1

    cdef Py_ssize_t best(self) noexcept nogil:
        """Return the feature with the greatest gain, the first of several; -1 if no gain is above 0."""
        cdef Py_ssize_t block, feature, best = -1
        cdef double gain, most = 0
        for block in range(<Py_ssize_t>self.best_of_block.size()):
            if self.is_changed[block]:
                self.best_of_block[block] = self._search(block)
                self.is_changed[block] = 0
            feature = self.best_of_block[block]
            gain = self.gains[feature]
            if gain > most:
                most, best = gain, feature
        return best

    cdef int _search(self, Py_ssize_t block) noexcept nogil:
        cdef Py_ssize_t feature, first = block << BLOCK_BITS
        cdef Py_ssize_t end = min(first + (1 << BLOCK_BITS), <Py_ssize_t>self.gains.size())
        cdef Py_ssize_t best = first
        for feature in range(first + 1, end):
            if self.gains[feature] > self.gains[best]:
                best = feature
        return best
