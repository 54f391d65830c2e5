"""The base of training and decoding: templates as structs, words as type ids, and beam search for the best tags.

Hypotheses of the search differ in their last two tags.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport map_init, map_prefetch
from spacy_incparse.linear.hashing cimport hash_bytes, mix64
from spacy_incparse.tagging.tagger_model cimport (
    AtomC, ModelC, TemplateC, WINDOW, add_all_scores, add_parts, history_key, score_of, word_part,
)

from spacy_incparse.tagging.words import (
    BOUNDARIES, FIELDS, TAG, orient_quotes, outcomes, parse_template, shorten, word_fields,
)
from spacy_incparse.tagging.words import MAX_LENGTH as _MAX_LENGTH

cdef Py_ssize_t MAX_LENGTH = _MAX_LENGTH


cdef class Engine:
    """Templates, weights and word types of one tagger, given its settings and clusters."""

    def __init__(self, settings, clusters):
        self.names, self.dictionary, self.clusters = list(settings.labels), settings.dictionary, clusters
        tag_ids = {tag: number for number, tag in enumerate(self.names)}
        self.only_tags = {word: tag_ids[tag] for word, tag in settings.dictionary.only_tags.items()}
        self.model.n_tags, self.model.beam_size, self.model.n_fields = len(self.names), settings.beam_size, len(FIELDS)
        for row in outcomes(settings.labels, settings.separators):
            self.model.first_outcomes.push_back(<int32_t>self.model.outcomes.size())
            for outcome in row:
                self.model.outcomes.push_back(outcome)
        self.model.first_outcomes.push_back(<int32_t>self.model.outcomes.size())
        self.model.n_outcomes = max(self.model.outcomes) + 1
        for number, text in enumerate(settings.templates):
            self._add_template(number, parse_template(text))
        map_init(&self.model.weights.runs)
        for values in BOUNDARIES:
            self.add_type(values, -1)
        self.type_ids = {}

    def _add_template(self, int number, list atoms):
        cdef TemplateC made
        made.base = _multiplier(number, 0)
        made.first_atom = <int32_t>self.model.atoms.size()
        words = [atom for atom in atoms if atom.field != TAG]
        tags = [atom.offset for atom in atoms if atom.field == TAG]
        for place, atom in enumerate(words):
            self.model.atoms.push_back(AtomC(FIELDS.index(atom.field), atom.offset, _multiplier(number, 3 + place)))
        made.n_atoms = len(words)
        made.tag_multiplier = _multiplier(number, 1) if -1 in tags else 0
        made.tag2_multiplier = _multiplier(number, 2) if -2 in tags else 0
        offsets = {atom.offset for atom in words}
        if -2 in tags:
            self.model.trigram_templates.push_back(made)
        elif tags:
            self.model.bigram_templates.push_back(made)
        elif len(offsets) > 1:
            self.model.window_templates.push_back(made)
        else:
            self.model.word_templates[<int>words[0].offset + WINDOW].push_back(made)

    cdef int32_t add_type(self, tuple values, int32_t only_tag) except -1:
        for value in values:
            text = value.encode("utf-8", "surrogatepass")
            self.model.fields.push_back(<uint32_t>(hash_bytes(text, len(text), 0) >> 32))
        self.model.only_tags.push_back(only_tag)
        return <int32_t>self.model.only_tags.size() - 1

    cdef int add_sentence(self, words, vector[int32_t]& types) except -1:
        """Append the types of the words, between boundary types."""
        for _ in range(WINDOW):
            types.push_back(0)
        for word in orient_quotes(words) if '"' in words else words:
            if len(word) > MAX_LENGTH:
                word = shorten(word)
            found = self.type_ids.get(word)
            if found is None:
                values = word_fields(word, self.dictionary, self.clusters)
                found = self.type_ids[word] = self.add_type(values, self.only_tags.get(word, -1))
            types.push_back(found)
        for _ in range(WINDOW):
            types.push_back(1)
        return 0


cdef uint64_t _multiplier(int template, int place):
    """Return a fixed pseudo-random odd number for each place of each template."""
    return mix64(<uint64_t>(64 * template + place + 1)) | 1


cdef int prepare(const ModelC* model, SearchC* search, int32_t n_words) except -1 nogil:
    """Allocate memory for a sentence and set its static scores to 0."""
    search.n_nodes.resize(n_words)
    search.nodes.resize(n_words * model.beam_size)
    search.static_scores.assign(n_words * model.n_outcomes, 0)
    search.parts.resize(model.bigram_templates.size() + model.trigram_templates.size())
    search.keys.resize(max(model.beam_size, model.n_tags) * search.parts.size())
    search.bigram_scores.resize(model.beam_size * model.n_outcomes)
    search.scores.assign(model.n_outcomes, 0)


cdef int search_tags(const ModelC* model, SearchC* search, const int32_t* types, int32_t n_words) except -1 nogil:
    """Fill the beam of each word; `types` points to the first word, and the static scores have been computed."""
    cdef int32_t i
    for i in range(n_words):
        search.n_nodes[i] = 0
        if model.only_tags[types[i]] < 0:
            _extend(model, search, types + i, i)
        else:
            _extend_by_one_tag(model, search, types + i, i, model.only_tags[types[i]])


cdef void _extend(const ModelC* model, SearchC* search, const int32_t* types, int32_t i) noexcept nogil:
    cdef NodeC start
    cdef const NodeC* before = _nodes_before(model, search, i, &start)
    cdef int32_t n_before = search.n_nodes[i - 1] if i else 1
    cdef const int32_t* static_row = search.static_scores.data() + i * model.n_outcomes
    cdef int32_t* scores = search.scores.data()
    cdef const int32_t* bigram_row
    cdef int32_t node, tag
    cdef size_t k, n_bigrams = model.bigram_templates.size(), n_keys = search.parts.size()
    cdef uint32_t* keys = search.keys.data()
    set_parts(model, search, types)
    for node in range(n_before):
        hash_history(model, search, 0, before[node].tag, before[node].previous_tag, keys + node * n_keys)
    for k in range(n_before * n_keys):  # all before any is read
        map_prefetch(&model.weights.runs, keys[k])
    for node in range(n_before):
        bigram_row = _bigram_row(model, search, before, node)
        for tag in range(model.n_tags):
            scores[tag] = static_row[tag] + bigram_row[tag]
        add_all_scores(&model.weights, keys + node * n_keys + n_bigrams, n_keys - n_bigrams, scores)
        add_parts(model, scores)
        for tag in range(model.n_tags):
            _offer(model, search, i, NodeC(before[node].score + scores[tag], tag, before[node].tag, node))


cdef void _extend_by_one_tag(const ModelC* model, SearchC* search, const int32_t* types, int32_t i,
                             int32_t tag) noexcept nogil:
    """Extend by the known tag of a word: only the history distinguishes hypotheses; a single one needs no score."""
    cdef NodeC start
    cdef const NodeC* before = _nodes_before(model, search, i, &start)
    cdef int32_t n_before = search.n_nodes[i - 1] if i else 1
    cdef int32_t node
    cdef int64_t score = 0
    if n_before > 1:
        set_parts(model, search, types)
    for node in range(n_before):
        if n_before > 1:
            score = history_score(model, search, before[node].tag, before[node].previous_tag, tag)
        _offer(model, search, i, NodeC(before[node].score + score, tag, before[node].tag, node))


cdef const NodeC* _nodes_before(const ModelC* model, const SearchC* search, int32_t i, NodeC* start) noexcept nogil:
    if i:
        return search.nodes.data() + (i - 1) * model.beam_size
    start[0] = NodeC(0, -1, -1, -1)
    return start


cdef void set_parts(const ModelC* model, SearchC* search, const int32_t* types) noexcept nogil:
    """Hash the words around the current one for all history templates."""
    cdef size_t k, n_bigrams = model.bigram_templates.size()
    for k in range(n_bigrams):
        search.parts[k] = word_part(model, &model.bigram_templates[k], types)
    for k in range(model.trigram_templates.size()):
        search.parts[n_bigrams + k] = word_part(model, &model.trigram_templates[k], types)


cdef void hash_history(const ModelC* model, const SearchC* search, size_t first, int32_t tag, int32_t tag2,
                       uint32_t* keys) noexcept nogil:
    """Compute the keys of the history templates from number `first` on, at the word last given to `set_parts`."""
    cdef size_t k, n_bigrams = model.bigram_templates.size()
    for k in range(first, n_bigrams):
        keys[k - first] = history_key(&model.bigram_templates[k], search.parts[k], tag, -1)
    for k in range(max(first, n_bigrams), n_bigrams + model.trigram_templates.size()):
        keys[k - first] = history_key(&model.trigram_templates[k - n_bigrams], search.parts[k], tag, tag2)


cdef const int32_t* _bigram_row(const ModelC* model, SearchC* search, const NodeC* before, int32_t node) noexcept nogil:
    """Return the scores given only the last tag; hypotheses that end in the same tag share them."""
    cdef int32_t earlier, tag
    for earlier in range(node):
        if before[earlier].tag == before[node].tag:
            return search.bigram_scores.data() + earlier * model.n_outcomes
    cdef int32_t* row = search.bigram_scores.data() + node * model.n_outcomes
    for tag in range(model.n_outcomes):
        row[tag] = 0
    add_all_scores(
        &model.weights, search.keys.data() + node * search.parts.size(), model.bigram_templates.size(), row
    )
    add_parts(model, row)
    return row


cdef void add_history_scores(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2,
                             int32_t* scores) noexcept nogil:
    """Add the history's scores for all tags of the word last given to `set_parts`."""
    hash_history(model, search, 0, tag, tag2, search.keys.data())
    add_all_scores(&model.weights, search.keys.data(), search.parts.size(), scores)
    add_parts(model, scores)


cdef int64_t history_score(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2,
                           int32_t given) noexcept nogil:
    """Return the history's score for one tag of the word last given to `set_parts`."""
    hash_history(model, search, 0, tag, tag2, search.keys.data())
    return _sum_of(model, search.keys.data(), search.parts.size(), given)


cdef inline int64_t _sum_of(const ModelC* model, const uint32_t* keys, size_t n, int32_t given) noexcept nogil:
    cdef int64_t score = 0
    cdef size_t k
    cdef int32_t outcome
    for k in range(n):
        for outcome in range(model.first_outcomes[given], model.first_outcomes[given + 1]):
            score += score_of(&model.weights, keys[k], model.outcomes[outcome])
    return score


cdef void add_scores_by_tag(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2, int32_t given,
                            int64_t* scores) noexcept nogil:
    """Add to each tag's score the `history_score` with that tag in place of ANY_TAG.

    If that is the tag before the last, bigrams do not read it: they are computed once for all tags.
    """
    cdef size_t k, n_bigrams = model.bigram_templates.size(), n_keys = search.parts.size()
    cdef size_t first = n_bigrams if tag2 == ANY_TAG else 0, n = n_keys - first
    cdef int64_t shared = 0
    cdef int32_t one
    cdef uint32_t* keys = search.keys.data()
    if first:
        hash_history(model, search, 0, tag, -1, keys)
        shared = _sum_of(model, keys, first, given)
    for one in range(model.n_tags):
        hash_history(model, search, first, one if tag == ANY_TAG else tag, one if tag2 == ANY_TAG else tag2, keys)
        keys += n
    for k in range(model.n_tags * n):
        map_prefetch(&model.weights.runs, search.keys[k])
    for one in range(model.n_tags):
        scores[one] += shared + _sum_of(model, search.keys.data() + one * n, n, given)


cdef inline void _offer(const ModelC* model, SearchC* search, int32_t i, NodeC new) noexcept nogil:
    """Keep the best hypothesis for each pair of last tags, and the best of these, in the order of `_is_better`."""
    cdef NodeC* nodes = search.nodes.data() + i * model.beam_size
    cdef int32_t n_nodes = search.n_nodes[i]
    if n_nodes == model.beam_size and not _is_better(new, nodes[n_nodes - 1]):
        return
    cdef int32_t place = 0
    while place < n_nodes and (nodes[place].tag != new.tag or nodes[place].previous_tag != new.previous_tag):
        place += 1
    if place < n_nodes:
        if not _is_better(new, nodes[place]):
            return
    elif n_nodes < model.beam_size:
        search.n_nodes[i] = n_nodes + 1
    else:
        place = n_nodes - 1
    while place > 0 and _is_better(new, nodes[place - 1]):
        nodes[place] = nodes[place - 1]
        place -= 1
    nodes[place] = new


cdef inline bint _is_better(NodeC left, NodeC right) noexcept nogil:
    if left.score != right.score:
        return left.score > right.score
    if left.tag != right.tag:
        return left.tag < right.tag
    return left.back < right.back


cdef void best_tags(const ModelC* model, const SearchC* search, int32_t n_words, int32_t node,
                    int32_t* tags) noexcept nogil:
    """Return the tags of the first `n_words` words on the path to a node of the last word."""
    cdef int32_t i
    for i in range(n_words - 1, -1, -1):
        tags[i] = search.nodes[i * model.beam_size + node].tag
        node = search.nodes[i * model.beam_size + node].back
