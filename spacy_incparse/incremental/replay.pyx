"""A derivation done again: what learning compares, and what the tree of a user scores."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.beam cimport Beam
from spacy_incparse.incremental.left_context cimport context_of
from spacy_incparse.incremental.move_effect cimport attach_chain, end_lowest, lowest_at
from spacy_incparse.incremental.encoded_sentence cimport Sentence
from spacy_incparse.incremental.state cimport ROOT, SENTINEL, SentenceC


cdef class Replay:
    """Derivations of a beam's model, as closings and chain ids by word."""

    def __init__(self, Beam beam):
        self.beam = beam

    def features_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the features, as indices of the weight table, of a whole derivation."""
        cdef PrefixC path
        fill(&path, n_closings, chain_ids)
        self.beam.scorer.begin(sentence)
        self.beam.start(&sentence.c)
        self.features.clear()
        self.append(&sentence.c, &path, 0, sentence.c.n, True, &self.features)
        return list(self.features)

    def scores_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the scores, in table units, of the first moves of a sentence: (of closings, of the chain) by word.

        With the moves of all words, the last pair is for the end of the sentence. Threads take turns.
        """
        cdef PrefixC path
        cdef int64_t of_closings
        cdef int i, _
        fill(&path, n_closings, chain_ids)
        scores = []
        with self.beam.scorer.lock:
            self.beam.scorer.begin(sentence)
            self.beam.start(&sentence.c)
            self.lowest = lowest_at(&self.beam.frames, ROOT)
            self._take_score()
            for i in range(<int>path.chain_ids.size()):
                self._start_word(&sentence.c, i, &path)
                for _ in range(path.n_closings[i]):
                    self._stop(&self.features)
                    self._close(&sentence.c)
                of_closings = self._take_score()
                self._chain(path.chain_ids[i], &self.features)
                self._attach(&sentence.c, i, path.chain_ids[i])
                scores.append((of_closings, self._take_score()))
            if <int>path.chain_ids.size() == sentence.c.n:
                self._start_word(&sentence.c, sentence.c.n, &path)
                self._end(&sentence.c, &self.features)
                scores.append((self._take_score(), 0))
        return scores

    cdef void append(
        self, const SentenceC* sentence, const PrefixC* path, int first, int last, bint complete,
        vector[uint32_t]* features
    ) noexcept nogil:
        """Append the features of the moves at words first..last - 1, and of the closings at the end if complete.

        What of their score is no feature is left in the scorer's `other_total`.
        """
        cdef size_t mark = self.beam.frames.size()
        cdef int i, _
        self.beam.scorer.other_total = 0
        self.lowest = lowest_at(&self.beam.frames, ROOT)
        for i in range(last):
            if i >= first:
                self._start_word(sentence, i, path)
            for _ in range(path.n_closings[i]):
                if i >= first:
                    self._stop(features)
                self._close(sentence)
            if i >= first:
                self._chain(path.chain_ids[i], features)
            self._attach(sentence, i, path.chain_ids[i])
        if complete:
            self._start_word(sentence, last, path)
            self._end(sentence, features)
        self.beam.frames.resize(mark)

    cdef int64_t score(self, const vector[uint32_t]* features) noexcept nogil:
        """Return the score of what was appended last, whose features these are, in table units."""
        cdef int64_t total = self.beam.scorer.other_total
        cdef size_t k
        for k in range(features.size()):
            total += self.beam.scorer.table[features[0][k]]
        return total

    cdef int64_t _take_score(self) noexcept nogil:
        """Return the score of what was appended since this was asked last."""
        cdef int64_t total = self.score(&self.features)
        self.features.clear()
        self.beam.scorer.other_total = 0
        return total

    cdef void _start_word(self, const SentenceC* sentence, int i, const PrefixC* path) noexcept nogil:
        """Go to the position before a word, under the tag that the path absorbs it under; the end has one."""
        cdef int k, tag, alternative = sentence.first_alternative[i]
        if i < <int>path.chain_ids.size():
            tag = self.beam.moves.tagged_chains[path.chain_ids[i]].tag
            for k in range(sentence.first_alternative[i], sentence.first_alternative[i + 1]):
                if sentence.alternative_tags[k] == tag:
                    alternative = k
                    break
        self.beam.scorer.start_word(sentence, i, alternative, False)

    cdef void _stop(self, vector[uint32_t]* features) noexcept nogil:
        context = context_of(&self.lowest.frame, self.beam.frames.data())
        self.beam.scorer.emit_stop(&context, features)

    cdef void _close(self, const SentenceC* sentence) noexcept nogil:
        end_lowest(&self.lowest, self.beam.frames.data(), sentence, &self.beam.moves.symbols)

    cdef void _end(self, const SentenceC* sentence, vector[uint32_t]* features) noexcept nogil:
        """Close all that is open, the root last."""
        self._stop(features)
        while self.lowest.frame.parent != SENTINEL:
            self._close(sentence)
            self._stop(features)

    cdef void _chain(self, int32_t chain_id, vector[uint32_t]* features) noexcept nogil:
        context = context_of(&self.lowest.frame, self.beam.frames.data())
        self.beam.scorer.emit_chain(&context, chain_id, features)

    cdef void _attach(self, const SentenceC* sentence, int i, int32_t chain_id) noexcept nogil:
        """Put a chain with its word on the lowest constituent."""
        attach_chain(
            &self.lowest, &self.beam.moves.tagged_chains[chain_id], self.beam.moves.chain_labels.data(), i, i,
            &self.beam.frames, sentence, &self.beam.moves.symbols,
        )


cdef int fill(PrefixC* path, n_closings, chain_ids) except -1:
    path.n_closings = n_closings
    path.chain_ids = chain_ids
    return 0
