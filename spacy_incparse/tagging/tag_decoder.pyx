"""Tagging with final weights: scores that depend only on a word type are summed once and cached."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.tagging.engine cimport (
    ANY_TAG, N_BOUNDARIES, Engine, add_history_scores, add_scores_by_tag, best_tags, prepare, search_tags, set_parts,
)
from spacy_incparse.tagging.tagger_model cimport WINDOW, add_parts, add_scores, context_key, fill_weights, word_part

cdef enum:
    N_PLACES = 2 * WINDOW + 1


cdef class Decoder(Engine):
    """Final weights and the types seen so far, of which at most `max_types` are cached."""

    # For each type N_PLACES rows of scores: what it adds to the tags of the word WINDOW places to its right, ..., to
    # its own, ..., to those of the word WINDOW places to its left.
    cdef vector[int32_t] type_scores
    cdef vector[int32_t] types
    cdef vector[int32_t] tags
    cdef vector[int64_t] substitutes  # by tag: the sequence's score with this tag for one word
    cdef Py_ssize_t max_types
    cdef double scale  # of the weights

    def __init__(self, settings, clusters, Py_ssize_t max_types):
        Engine.__init__(self, settings, clusters)
        self.max_types, self.scale = max_types, settings.scale

    def set_weights(self, bytes keys, bytes lengths, bytes tags, bytes weights):
        """Fill the table from the bytes of arrays as returned by `Trainer.averaged_weights`."""
        fill_weights(&self.model.weights, keys, lengths, tags, weights, len(keys) // sizeof(uint32_t))
        self.type_scores.clear()
        self._add_type_scores()

    def tag(self, words):
        """Return the tags of a sentence."""
        self._decode(words)
        return [self.names[tag] for tag in self.tags]

    def substitution_scores(self, words):
        """Return tag ids and a list of scores per word: the sequence's score with only this word's tag replaced.

        A score is the sum of the scores that depend on the tag: its own and those of the next two words.
        """
        cdef int32_t i, n_words = len(words)
        self._decode(words, all_scores=True)
        scores = []
        for i in range(n_words):
            self._score_substitutes(i, n_words)
            scores.append(list(self.substitutes))
        return list(self.tags), scores

    def lattice(self, words, int32_t n_tags, double margin):
        """Return the tags of a sentence: a name if a word has only one candidate, else [(name, gap to the best)].

        A word has up to n_tags candidates, which score at most `margin` less than the best; the best comes first.
        """
        cdef int32_t i, n_words = len(words)
        if n_tags < 2:  # the other tags' scores are not needed
            return self.tag(words)
        self._decode(words)
        return [
            self.names[self.tags[i]]
            if self.model.only_tags[self.types[i + WINDOW]] >= 0
            else self._alternatives(i, n_words, n_tags, margin)
            for i in range(n_words)
        ]

    cdef object _alternatives(self, int32_t i, int32_t n_words, int32_t n_tags, double margin):
        cdef int32_t tag, best = self.tags[i]
        cdef int64_t least
        self._score_substitutes(i, n_words)
        least = self.substitutes[best] - <int64_t>(margin * self.scale)
        found = []
        for tag in range(self.model.n_tags):
            if tag != best and self.substitutes[tag] >= least:
                # If the beam erred, another tag may score above the chosen one: then its gap is 0.
                found.append((max(self.substitutes[best] - self.substitutes[tag], 0), tag))
        if not found:
            return self.names[best]
        return [(self.names[best], 0.0)] + [
            (self.names[tag], gap / self.scale) for gap, tag in sorted(found)[:n_tags - 1]
        ]

    cdef void _score_substitutes(self, int32_t i, int32_t n_words) noexcept nogil:
        cdef const int32_t* types = self.types.data() + WINDOW
        cdef int32_t tag, n_tags = self.model.n_tags
        cdef int32_t before = self.tags[i - 1] if i > 0 else -1
        cdef int32_t before2 = self.tags[i - 2] if i > 1 else -1
        cdef int32_t* scores = self.search.scores.data()
        self.substitutes.resize(n_tags)
        for tag in range(n_tags):
            scores[tag] = self.search.static_scores[i * self.model.n_outcomes + tag]
        set_parts(&self.model, &self.search, types + i)
        add_history_scores(&self.model, &self.search, before, before2, scores)
        for tag in range(n_tags):
            self.substitutes[tag] = scores[tag]
        if i + 1 < n_words:
            set_parts(&self.model, &self.search, types + i + 1)
            add_scores_by_tag(
                &self.model, &self.search, ANY_TAG, before, self.tags[i + 1], self.substitutes.data()
            )
        if i + 2 < n_words:
            set_parts(&self.model, &self.search, types + i + 2)
            add_scores_by_tag(
                &self.model, &self.search, self.tags[i + 1], ANY_TAG, self.tags[i + 2], self.substitutes.data()
            )

    cdef int _decode(self, words, bint all_scores=False) except -1:
        cdef int32_t i, n_words = len(words)
        if <Py_ssize_t>len(self.type_ids) + n_words > self.max_types:
            self.type_ids.clear()
            self.model.only_tags.resize(N_BOUNDARIES)
            self.model.fields.resize(N_BOUNDARIES * self.model.n_fields)
            self.type_scores.resize(N_BOUNDARIES * N_PLACES * self.model.n_outcomes)
        self.types.clear()
        self.tags.resize(n_words)
        if n_words == 0:
            return 0
        self.add_sentence(words, self.types)
        self._add_type_scores()
        prepare(&self.model, &self.search, n_words)
        for i in range(n_words):
            if all_scores or self.model.only_tags[self.types[i + WINDOW]] < 0:
                self._add_static_scores(i)
        search_tags(&self.model, &self.search, self.types.data() + WINDOW, n_words)
        best_tags(&self.model, &self.search, n_words, 0, self.tags.data())
        return 0

    cdef int _add_type_scores(self) except -1:
        """Sum the scores of the types added since the last call."""
        cdef size_t row_size = self.model.n_outcomes
        cdef size_t n_types = self.model.only_tags.size()
        cdef size_t done = self.type_scores.size() // (row_size * N_PLACES)
        cdef size_t type_id
        cdef int32_t place
        self.type_scores.resize(n_types * N_PLACES * row_size)
        for type_id in range(done, n_types):
            for place in range(N_PLACES):
                self._sum_templates(<int32_t>type_id, place, self._row(<int32_t>type_id, place))
        return 0

    cdef inline int32_t* _row(self, int32_t type_id, int32_t place) noexcept nogil:
        return self.type_scores.data() + (<size_t>type_id * N_PLACES + place) * self.model.n_outcomes

    cdef void _sum_templates(self, int32_t type_id, int32_t place, int32_t* scores) noexcept nogil:
        cdef int32_t types[N_PLACES]
        cdef size_t k
        types[place] = type_id
        for k in range(self.model.word_templates[place].size()):
            add_scores(
                &self.model.weights,
                context_key(word_part(&self.model, &self.model.word_templates[place][k], &types[WINDOW])), scores
            )

    cdef void _add_static_scores(self, int32_t i) noexcept nogil:
        """Add the scores of word i's tags that depend on the words around it."""
        cdef const int32_t* types = self.types.data() + WINDOW + i
        cdef int32_t* scores = self.search.static_scores.data() + i * self.model.n_outcomes
        cdef const int32_t* row
        cdef int32_t place, tag
        cdef size_t k
        for place in range(N_PLACES):
            if self.model.word_templates[place].size():
                row = self._row(types[place - WINDOW], place)
                for tag in range(self.model.n_outcomes):
                    scores[tag] += row[tag]
        for k in range(self.model.window_templates.size()):
            add_scores(
                &self.model.weights, context_key(word_part(&self.model, &self.model.window_templates[k], types)), scores
            )
        add_parts(&self.model, scores)
