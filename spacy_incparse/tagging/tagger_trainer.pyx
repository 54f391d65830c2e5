"""Training the tagger: the averaged perceptron of Collins (2002) over beam search, with integer weights."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport HashMapC, MapEntryC
from spacy_incparse.tagging.engine cimport (
    Engine, NodeC, best_tags, hash_history, history_score, prepare, search_tags, set_parts,
)
from spacy_incparse.tagging.tagger_model cimport (
    CellC, ModelC, TotalC, WINDOW, add_all_scores, add_parts, context_key, update_weight, word_part,
)

import numpy


cdef class Trainer(Engine):
    """A corpus and the weights trained on it; the right tag must win by more than `margin`, in updates."""

    cdef int32_t margin
    cdef vector[int32_t] types
    cdef vector[int32_t] gold
    cdef vector[int32_t] first_types
    cdef vector[int32_t] first_tags
    cdef vector[int32_t] guess
    cdef vector[uint32_t] keys  # scratch memory: the contexts of a word
    cdef int64_t n_steps

    def __init__(self, settings, clusters, int margin):
        Engine.__init__(self, settings, clusters)
        self.margin, self.only_tags = margin, {}  # frequent words are training examples, too

    @property
    def n_words(self):
        """Number of words in the corpus."""
        return <Py_ssize_t>self.gold.size()

    def add_corpus(self, sentences, tags):
        """Append sentences, with a row of tags each, to the corpus."""
        tag_ids = {tag: number for number, tag in enumerate(self.names)}
        for words, row in zip(sentences, tags):
            self.first_types.push_back(<int32_t>self.types.size() + WINDOW)
            self.first_tags.push_back(<int32_t>self.gold.size())
            self.add_sentence(words, self.types)
            for tag in row:
                self.gold.push_back(tag_ids[tag])

    def train_epoch(self, vector[int32_t] order):
        """Train on the sentences in this order; return the number of words whose tag was wrong at the time."""
        cdef int64_t n_wrong = 0
        cdef int32_t sentence, end
        with nogil:
            for sentence in order:
                end = <int32_t>self.gold.size()
                if sentence + 1 < <int32_t>self.first_tags.size():
                    end = self.first_tags[sentence + 1]
                n_wrong += self._learn(
                    self.types.data() + self.first_types[sentence],
                    self.gold.data() + self.first_tags[sentence],
                    end - self.first_tags[sentence],
                )
                self.n_steps += 1
        return n_wrong

    cdef int32_t _learn(self, const int32_t* types, const int32_t* gold, int32_t n_words) except -1 nogil:
        cdef int32_t i, n_update, n_wrong = 0
        prepare(&self.model, &self.search, n_words)
        for i in range(n_words):
            self._hash_static(types + i)
            add_all_scores(
                &self.model.weights, self.keys.data(), self.keys.size(),
                self.search.static_scores.data() + i * self.model.n_outcomes
            )
            add_parts(&self.model, self.search.static_scores.data() + i * self.model.n_outcomes)
            self.search.static_scores[i * self.model.n_outcomes + gold[i]] -= self.margin
        search_tags(&self.model, &self.search, types, n_words)
        self.guess.resize(n_words)
        best_tags(&self.model, &self.search, n_words, 0, self.guess.data())
        for i in range(n_words):
            n_wrong += self.guess[i] != gold[i]
        if n_wrong:
            n_update = self._update_length(types, gold, n_words)
            best_tags(&self.model, &self.search, n_update, 0, self.guess.data())
            self._update(types, gold, self.guess.data(), n_update)
        return n_wrong

    cdef int _hash_static(self, const int32_t* types) except -1 nogil:
        """Fill `keys` with the contexts of a word that do not depend on earlier tags."""
        cdef size_t k
        cdef int32_t place
        self.keys.clear()
        for place in range(2 * WINDOW + 1):
            for k in range(self.model.word_templates[place].size()):
                self.keys.push_back(context_key(word_part(&self.model, &self.model.word_templates[place][k], types)))
        for k in range(self.model.window_templates.size()):
            self.keys.push_back(context_key(word_part(&self.model, &self.model.window_templates[k], types)))

    cdef int32_t _update_length(self, const int32_t* types, const int32_t* gold, int32_t n_words) except -1 nogil:
        """Return the prefix length with the largest violation (max-violation; Huang et al. 2012).

        A violation is the margin by which the best hypothesis beats the right tags; ties go to the longest prefix. The
        length is 0 (no update) if the best hypothesis wins only because the right tags were pruned.
        """
        cdef int64_t violation, largest = 0, score = 0
        cdef int32_t i, length = 0
        cdef const NodeC* best
        for i in range(n_words):
            set_parts(&self.model, &self.search, types + i)
            score += self.search.static_scores[i * self.model.n_outcomes + gold[i]]
            score += history_score(
                &self.model, &self.search, gold[i - 1] if i > 0 else -1, gold[i - 2] if i > 1 else -1, gold[i]
            )
            best = &self.search.nodes[i * self.model.beam_size]
            violation = best.score - score
            if violation >= largest and (violation > 0 or best.tag != gold[i]):
                largest, length = violation, i + 1
        return length

    cdef int _update(self, const int32_t* types, const int32_t* gold, const int32_t* guess,
                     int32_t n_words) except -1 nogil:
        """Add 1 to the weights that the right tags fire and -1 to those the guess fires; common weights stay."""
        cdef int32_t i
        cdef bint same_history = True, same
        for i in range(n_words):
            same = gold[i] == guess[i]
            if not same:
                self._hash_static(types + i)
                self._update_all(self.keys, self.keys.size(), gold[i], guess[i], 1)
                self._update_all(self.keys, self.keys.size(), guess[i], gold[i], -1)
            if not (same and same_history and (i < 2 or gold[i - 2] == guess[i - 2])):
                set_parts(&self.model, &self.search, types + i)
                self._update_history(gold, i, 1)
                self._update_history(guess, i, -1)
            same_history = same

    cdef int _update_history(self, const int32_t* tags, int32_t i, int32_t change) except -1 nogil:
        hash_history(
            &self.model, &self.search, 0, tags[i - 1] if i > 0 else -1, tags[i - 2] if i > 1 else -1,
            self.search.keys.data()
        )
        self._update_all(self.search.keys, self.search.parts.size(), tags[i], -1, change)

    cdef int _update_all(self, const vector[uint32_t]& keys, size_t n, int32_t tag, int32_t other,
                         int32_t change) except -1 nogil:
        """Change the weights of a tag and of its parts in contexts, except of parts that another tag has, too."""
        cdef size_t k
        cdef int32_t place, outcome
        for place in range(self.model.first_outcomes[tag], self.model.first_outcomes[tag + 1]):
            outcome = self.model.outcomes[place]
            if other < 0 or not has_outcome(&self.model, other, outcome):
                for k in range(n):
                    update_weight(&self.model.weights, keys[k], outcome, change, self.n_steps)

    def averaged_weights(self, int scale):
        """Return (keys, lengths, tags, weights): contexts by key, each with its cells by tag; weights times `scale`.

        A weight is the mean over all steps, with halves rounded away from 0; weights of 0 are left out. All are whole
        numbers, so that every platform has the same result.
        """
        cdef vector[MapEntryC] runs
        cdef const HashMapC* contexts = &self.model.weights.runs
        cdef size_t i
        for i in range(contexts.entries.size()):
            if contexts.entries[i].stamp == contexts.stamp:
                runs.push_back(contexts.entries[i])
        sort(runs.begin(), runs.end(), _is_before)
        cdef vector[uint32_t] keys
        cdef vector[int32_t] lengths, tags, weights
        cdef size_t n_before
        for i in range(runs.size()):
            n_before = tags.size()
            self._add_averages(runs[i].value, scale, tags, weights)
            if tags.size() > n_before:
                keys.push_back(<uint32_t>runs[i].key)
                lengths.push_back(<int32_t>(tags.size() - n_before))
        return (
            numpy.array(keys, dtype="uint32"), numpy.array(lengths, dtype="int32"),
            numpy.array(tags, dtype="int32"), numpy.array(weights, dtype="int32"),
        )

    cdef void _add_averages(self, int32_t run, int scale, vector[int32_t]& tags, vector[int32_t]& weights) except *:
        cdef CellC* cell = self.model.weights.cells.data() + run
        cdef TotalC* total = self.model.weights.totals.data() + run
        cdef int64_t sum_of_steps
        cdef int32_t tag, i, rounded, n_cells = 1
        while not cell[n_cells - 1].is_last:
            n_cells += 1
        for tag in range(self.model.n_outcomes):
            for i in range(n_cells):
                if cell[i].tag == tag:
                    sum_of_steps = total[i].total + cell[i].weight * (self.n_steps - total[i].step)
                    rounded = _divide(sum_of_steps * scale, self.n_steps)
                    if rounded:
                        tags.push_back(tag)
                        weights.push_back(rounded)


cdef inline bint _is_before(const MapEntryC& left, const MapEntryC& right) noexcept nogil:
    return left.key < right.key


cdef inline int32_t _divide(int64_t number, int64_t by) noexcept nogil:
    """Return the quotient rounded to the nearest whole number, halves away from 0."""
    if number < 0:
        return -_divide(-number, by)
    return <int32_t>((2 * number + by) // (2 * by))


cdef inline bint has_outcome(const ModelC* model, int32_t tag, int32_t outcome) noexcept nogil:
    cdef int32_t place
    for place in range(model.first_outcomes[tag], model.first_outcomes[tag + 1]):
        if model.outcomes[place] == outcome:
            return True
    return False
