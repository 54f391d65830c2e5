"""Scores of moves: the dot product of weights and the features of Collins & Roark (2004), section 3.2, and beyond."""

from threading import Lock

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_incparse.linear.templates import CHILD_FIELDS, KINDS, compile_kind, split_by_label

from spacy_incparse.linear.extraction cimport Templates, hash_rows, position_sums
from spacy_incparse.linear.weights cimport Weights, sum_of_cells, sum_of_rows
from spacy_incparse.linear.prefetch cimport prefetch
from spacy_incparse.incremental.left_context cimport (
    L10,
    N_POSITION_FIELDS,
    N_STRUCTURE_FIELDS,
    ContextC,
    chain_context,
    chain_key,
    frame_above,
    node_key,
    node_values,
    position_values,
    span_key,
    span_values,
)
from spacy_incparse.linear.hash_map cimport map_clear, map_find, map_init, map_insert
from spacy_incparse.incremental.moves cimport TaggedChainC, Moves, TrieNodeC, contains
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.state cimport SHIFT, STOP, SentenceC, opened, tag_symbol


cdef bint better(const ChainScoreC& a, const ChainScoreC& b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and a.chain_id < b.chain_id)


cdef class Scorer:
    """The scorer of one model; it holds scratch memory, so a thread needs its own.

    The weights' table is read whenever a score is asked for, so that a learner's changes count at once.
    """

    def __init__(self, Moves moves, templates, Weights weights):
        cdef int number
        self.lock = Lock()
        self.moves, self.weights = moves, weights
        self.table, self.shift = weights.data(), 64 - weights.bits
        self.small = weights.small_data(&self.step)
        self.memory, self.n_bytes = <const char*>self.table, 2
        if self.small != NULL:
            self.memory, self.n_bytes = <const char*>self.small, 1
        self.other_total = 0
        self.has_other = False
        cdef Templates owner
        by_label, in_chains = split_by_label(templates)
        sets = [(templates, kind) for kind in KINDS]
        sets += [(divided, kind, CHILD_FIELDS) for divided in (by_label, in_chains) for kind in KINDS[:2]]
        self.owners = tuple([Templates(compile_kind(*one)) for one in sets])
        self.reads_far = any("L12" in one.fields or "L40" in one.fields for one in templates)
        for number in range(N_SETS):
            owner = self.owners[number]
            self.templates[number] = owner.c
            self.sums[number].resize(owner.c.n)
            self.rows[number].resize(owner.c.n)
            self.shift_columns[number].resize(owner.c.n)
            self.hashes.resize(max(self.hashes.size(), <size_t>owner.c.n))
        self.chain_frames.resize(moves.longest_chain + 1)
        map_init(&self.site_memo)
        map_init(&self.close_memo)
        map_init(&self.part_memo)

    cdef int begin(self, Sentence sentence) except -1:
        """Take up a sentence, before its search; what a subclass adds may differ from sentence to sentence."""
        return 0

    cdef void look_up(self, const ContextC* context, const uint32_t* values) noexcept nogil:
        """Let a subclass take up a context, with its field values."""

    cdef void expect(self, int symbol) noexcept nogil:
        """Let a subclass ask for memory: it will be asked for this outcome's score, of SHIFT for the word's too."""

    cdef int32_t other_score(self, int symbol) noexcept nogil:
        """Return a subclass's score of an outcome of the context that was looked up last."""
        return 0

    cdef int32_t other_word(self) noexcept nogil:
        """Return a subclass's score of the word under its tag, in the context that was looked up last."""
        return 0

    cdef void start_word(
        self, const SentenceC* sentence, int position, int alternative, bint relaxed
    ) noexcept nogil:
        """Go to the position before a word (n: the sentence's end), which is to be absorbed under one of its tags.

        `relaxed` ignores triples and seen lists.
        """
        cdef uint32_t[N_POSITION_FIELDS] values
        cdef int kind
        if self.keeps_word and self._is_at(sentence, alternative, relaxed):
            return
        self.sentence, self.position, self.relaxed = sentence, position, relaxed
        self.alternative, self.tag = alternative, sentence.alternative_tags[alternative]
        position_values(sentence, &self.moves.symbols, position, alternative, values)
        for kind in range(N_SETS):
            position_sums(&self.templates[kind], values, self.sums[kind].data())
        if position < sentence.n:
            self._set_shift_columns(NODE)
            self._set_shift_columns(NODE_BY_LABEL)
            self._set_shift_columns(NODE_IN_CHAIN)
        self.chains.clear()
        self.sites.clear()
        self.parts.clear()
        self.walked.clear()
        self.label_scores.clear()
        self.expected_rows.clear()
        self.label_rows.assign(self.moves.symbols.n_symbols, NO_ROW)
        map_clear(&self.part_memo)
        map_clear(&self.site_memo)
        map_clear(&self.close_memo)

    cdef bint _is_at(self, const SentenceC* sentence, int alternative, bint relaxed) noexcept nogil:
        """Return whether it is there already; alternatives are numbered through the sentence."""
        return self.sentence == sentence and self.alternative == alternative and self.relaxed == relaxed

    cdef void _set_shift_columns(self, int nodes) noexcept nogil:
        """Fill in the columns of the POS node: of templates that do not read the tag, its symbol."""
        cdef int k, symbol = tag_symbol(&self.moves.symbols, self.tag)
        for k in range(self.templates[nodes].n):
            self.shift_columns[nodes][k] = SHIFT if self.templates[nodes].reads_tag[k] else symbol

    cdef void _hash(self, int kind, const uint32_t* values) noexcept nogil:
        cdef int k
        hash_rows(
            &self.templates[kind], self.sums[kind].data(), values, self.shift,
            self.hashes.data(), self.rows[kind].data(),
        )
        cdef const uint32_t* rows = self.rows[kind].data()
        for k in range(self.templates[kind].n):
            prefetch(self.memory + self.n_bytes * <size_t>rows[k])

    cdef int32_t _column_score(self, int kind, int column) noexcept nogil:
        return self._score_of(kind, self.rows[kind].data(), column)

    cdef int32_t _score_of(self, int kind, const uint32_t* rows, int column) noexcept nogil:
        cdef int n = self.templates[kind].n
        if self.small != NULL:
            return self.step * sum_of_rows(self.small + column, rows, n)
        return sum_of_rows(self.table + column, rows, n)

    cdef int32_t _shift_score(self, int nodes, int words) noexcept nogil:
        """Return the score of the POS node and its word by two sets of templates, in the context hashed last."""
        return self._shift_score_of(nodes, self.rows[nodes].data(), words, self.rows[words].data())

    cdef int32_t _shift_score_of(
        self, int nodes, const uint32_t* node_rows, int words, const uint32_t* word_rows
    ) noexcept nogil:
        """Return the score of the POS node and its word in these rows of two sets of templates."""
        cdef int n = self.templates[nodes].n
        cdef int32_t score = self._score_of(words, word_rows, 0)
        cdef const int32_t* columns = self.shift_columns[nodes].data()
        if self.small != NULL:
            return score + self.step * sum_of_cells(self.small, node_rows, columns, n)
        return score + sum_of_cells(self.table, node_rows, columns, n)

    cdef int32_t _other_shift_score(self) noexcept nogil:
        """Return what another model says of the POS node and the word, in the context that was looked up last."""
        if not self.has_other:
            return 0
        return self.other_score(tag_symbol(&self.moves.symbols, self.tag)) + self.other_word()

    cdef SiteC site(self, const ContextC* context) noexcept nogil:
        """Return all that can be done at an attachment site; a copy, since later sites move the list."""
        cdef uint64_t key = node_key(context)
        cdef int32_t found = map_find(&self.site_memo, key)
        if found >= 0:
            return self.sites[found]
        cdef SiteC site = self._new_site(context)
        map_insert(&self.site_memo, key, self.sites.size())
        self.sites.push_back(site)
        return site

    cdef SiteC _new_site(self, const ContextC* context) noexcept nogil:
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef SiteC site
        cdef bint at_end = self.position == self.sentence.n
        cdef int tag = self.tag
        cdef const uint64_t* triples = self.moves.triple_set(context.parent.label, context.parent.child1)
        cdef const uint64_t* seen = self.moves.outcome_filter(context.parent.label, context.parent.child1, tag)
        site.first, site.n, site.stop_score = self.chains.size(), 0, 0
        site.can_stop = context.parent.n_children > 0
        if not self.relaxed:
            if triples == NULL:
                site.can_stop = False
                return site
            site.can_stop = site.can_stop and contains(triples, STOP) and (seen == NULL or contains(seen, STOP))
        if at_end and not site.can_stop:
            return site
        node_values(context, self.sentence, &self.moves.symbols, self.position, values)
        self._hash(NODE, values)
        if not at_end:  # all rows are asked for before the first is read
            self._hash(WORD, values)
            self._hash(CHAIN, values)
        if self.has_other:
            self.look_up(context, values)
        if site.can_stop:
            site.stop_score = self._column_score(NODE, STOP) + (self.other_score(STOP) if self.has_other else 0)
        if not at_end:
            self._score_chains(context, tag, triples, seen)
            site.n = <int32_t>self.chains.size() - site.first
            sort(self.chains.begin() + site.first, self.chains.end(), &better)
        return site

    cdef void _score_chains(
        self, const ContextC* context, int tag, const uint64_t* triples, const uint64_t* seen
    ) noexcept nogil:
        """Walk the trie of the tag's chains from the site down, and append each chain with its score.

        The site's context was hashed last by the templates of nodes, words and chains.
        """
        cdef size_t first = self.chains.size(), first_walked = self.walked.size()
        cdef const vector[int32_t]* roots = &self.moves.strict_roots
        cdef TrieNodeC root
        cdef int32_t child
        cdef int label
        if self.relaxed:
            roots = &self.moves.relaxed_roots
        root = self.moves.trie[roots[0][tag]]
        if root.chain_id >= 0 and (self.relaxed or (
            contains(triples, tag_symbol(&self.moves.symbols, tag)) and (seen == NULL or contains(seen, SHIFT))
        )):
            self._append(root.chain_id, self._shift_score(NODE, WORD) + self._other_shift_score())
        self.columns.clear()
        self.allowed.clear()
        for child in range(root.first_child, root.first_child + root.n_children):
            label = self.moves.trie[child].label
            if self.moves.trie[child].n_chains and (
                self.relaxed or (contains(triples, label) and (seen == NULL or contains(seen, label)))
            ):
                self.columns.push_back(label)
                self.allowed.push_back(child)
        self._open_children(NODE, NULL, 0, 0)
        while not self.pending.empty():
            self._walk(context)
        self.chains.insert(self.chains.end(), self.walked.begin() + first_walked, self.walked.end())
        if self.chains.size() > first:
            self._add_chain_scores(first)

    cdef void _open_children(self, int nodes, const int32_t* by_label, int depth, int32_t score) noexcept nogil:
        """Score the trie nodes in `allowed` in the context hashed last, and put them on the stack."""
        cdef Py_ssize_t k
        cdef PendingC pending
        self._score_columns(nodes)
        pending.depth = depth
        for k in range(<Py_ssize_t>self.allowed.size() - 1, -1, -1):
            pending.node, pending.score = self.allowed[k], score + self.column_scores[k]
            self._expect_label(self.columns[k])
            if by_label != NULL:
                pending.score += by_label[self.columns[k]]
            self.pending.push_back(pending)

    cdef void _walk(self, const ContextC* site) noexcept nogil:
        """Take a trie node off the stack and add the chains from there on, with their scores so far, to `walked`.

        At many sites the same is below a node: what was walked once is only repeated. The stack makes this a
        depth-first walk, so chain_frames[:depth] holds the constituents above the node.
        """
        cdef PendingC here = self.pending.back()
        cdef const TrieNodeC* node = &self.moves.trie[here.node]
        cdef uint64_t key = chain_key(site, here.node, here.depth, self.reads_far)
        cdef int32_t found = map_find(&self.part_memo, key)
        cdef WalkedC part
        self.pending.pop_back()
        if found >= 0:
            self._repeat(&self.parts[found], node.n_chains, here.score)
        else:
            map_insert(&self.part_memo, key, self.parts.size())
            part.first, part.score = self.walked.size(), here.score
            self.parts.push_back(part)
            self._open(site, node, here)

    cdef void _repeat(self, const WalkedC* part, int32_t n, int32_t score) noexcept nogil:
        """Add n chains that were walked before, below another score."""
        cdef size_t k, first = part.first
        cdef int32_t difference = score - part.score
        cdef ChainScoreC chain
        for k in range(first, first + n):
            chain = self.walked[k]
            chain.score += difference
            self.walked.push_back(chain)

    cdef void _open(self, const ContextC* site, const TrieNodeC* node, PendingC here) noexcept nogil:
        """Open a trie node's constituent, end a chain there, and put the nodes below it on the stack."""
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef ContextC context
        cdef ChainScoreC chain
        cdef const int32_t* by_label
        cdef int32_t child
        self.chain_frames[here.depth] = opened(
            node.label, self.position, 0, frame_above(site, self.chain_frames.data(), here.depth, 1)
        )
        context = chain_context(site, self.chain_frames.data(), here.depth)
        node_values(&context, self.sentence, &self.moves.symbols, self.position, values)
        self._hash(NODE_IN_CHAIN, values)
        if node.chain_id >= 0:
            self._hash(WORD_IN_CHAIN, values)
        if self.has_other:
            self.look_up(&context, values)
            self._expect_all(node)
        by_label = self._scores_of_label(node.label)
        if node.chain_id >= 0:
            chain.chain_id = node.chain_id
            chain.score = here.score + by_label[SHIFT] + self._shift_score(NODE_IN_CHAIN, WORD_IN_CHAIN)
            chain.score += self._other_shift_score()
            self.walked.push_back(chain)
        self.columns.clear()
        self.allowed.clear()
        for child in range(node.first_child, node.first_child + node.n_children):
            if self.moves.trie[child].n_chains:
                self.columns.push_back(self.moves.trie[child].label)
                self.allowed.push_back(child)
        if not self.allowed.empty():
            self._open_children(NODE_IN_CHAIN, by_label, here.depth + 1, here.score)

    cdef void _expect_all(self, const TrieNodeC* node) noexcept nogil:
        cdef int32_t child
        if node.chain_id >= 0:
            self.expect(SHIFT)
        for child in range(node.first_child, node.first_child + node.n_children):
            self.expect(self.moves.trie[child].label)

    cdef void _expect_label(self, int label) noexcept nogil:
        """Ask for the memory that `_scores_of_label` is going to read."""
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef int kind, k, column, n_columns
        cdef const char* row
        cdef const int32_t* columns = self.moves.columns_below(self.relaxed, self.tag, label, &n_columns)
        if self.label_rows[label] != NO_ROW:
            return
        self.label_rows[label] = EXPECTED - <int32_t>self.expected_rows.size()
        memset(values, 0, sizeof(values))
        values[L10] = label
        for kind in range(NODE_BY_LABEL, WORD_BY_LABEL + 1):
            self._hash(kind, values)
            for k in range(self.templates[kind].n):
                self.expected_rows.push_back(self.rows[kind][k])
        for k in range(self.templates[NODE_BY_LABEL].n):
            row = self.memory + self.n_bytes * <size_t>self.rows[NODE_BY_LABEL][k]
            for column in range(n_columns):
                prefetch(row + self.n_bytes * columns[column])

    cdef const int32_t* _scores_of_label(self, int label) noexcept nogil:
        """Return what the templates that read nothing else say of the outcomes inside a chain's constituent, by symbol.

        Only of those that chains of the word's tag have there; SHIFT stands for the POS node with its word. Valid until
        the next call.
        """
        cdef int k, n_columns
        cdef const int32_t* columns = self.moves.columns_below(self.relaxed, self.tag, label, &n_columns)
        cdef size_t n = self.label_scores.size()
        cdef int32_t* scores
        cdef const uint32_t* rows
        if self.label_rows[label] >= 0:
            return &self.label_scores[self.label_rows[label]]
        rows = &self.expected_rows[EXPECTED - self.label_rows[label]]
        self.label_rows[label] = n
        self.label_scores.resize(n + self.moves.symbols.n_symbols, 0)
        scores = &self.label_scores[n]
        for k in range(n_columns):
            scores[columns[k]] = self._score_of(NODE_BY_LABEL, rows, columns[k])
        scores[SHIFT] = self._shift_score_of(NODE_BY_LABEL, rows, WORD_BY_LABEL, rows + self.templates[NODE_BY_LABEL].n)
        return scores

    cdef void _add_chain_scores(self, size_t first) noexcept nogil:
        """Add the templates of whole chains, hashed last; a chain's column is its rank among its tag's chains."""
        cdef size_t k
        for k in range(first, self.chains.size()):
            self.chains[k].score += self._column_score(CHAIN, self.moves.tagged_chains[self.chains[k].chain_id].rank)

    cdef int32_t close_score(self, const ContextC* context) noexcept nogil:
        """The closing templates' score of the end of context.parent; the node templates' is the site's stop_score."""
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef uint64_t key
        cdef int32_t score
        if self.templates[CLOSE].n == 0:
            return 0
        key = span_key(context, node_key(context), &self.moves.symbols)
        score = map_find(&self.close_memo, key)
        if score >= 0:
            return score - CLOSE_OFFSET
        node_values(context, self.sentence, &self.moves.symbols, self.position, values)
        span_values(context, self.sentence, &self.moves.symbols, self.position, values)
        self._hash(CLOSE, values)
        score = self._column_score(CLOSE, 0)
        map_insert(&self.close_memo, key, score + CLOSE_OFFSET)
        return score

    cdef void _score_columns(self, int nodes) noexcept nogil:
        """column_scores[k] = sum over a set of node templates of table[row + columns[k]], and another model's score."""
        cdef size_t k, n = self.columns.size()
        self.column_scores.resize(n)
        for k in range(n):
            self.column_scores[k] = self._column_score(nodes, self.columns[k])
            if self.has_other:
                self.column_scores[k] += self.other_score(self.columns[k])

    cdef void _append(self, int32_t chain_id, int32_t score) noexcept nogil:
        cdef ChainScoreC chain
        chain.chain_id, chain.score = chain_id, score
        self.chains.push_back(chain)

    cdef void emit_stop(self, const ContextC* context, vector[uint32_t]* features) noexcept nogil:
        """Append the features, as table indices, of the end of context.parent; the rest goes to `other_total`."""
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        node_values(context, self.sentence, &self.moves.symbols, self.position, values)
        span_values(context, self.sentence, &self.moves.symbols, self.position, values)
        self._emit(NODE, values, STOP, features)
        self._emit(CLOSE, values, 0, features)
        self._emit_other(context, values, STOP)

    cdef void emit_chain(self, const ContextC* site, int32_t chain_id, vector[uint32_t]* features) noexcept nogil:
        """Append the features, as table indices, of a chain that is put on a site; the rest goes to `other_total`."""
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef TaggedChainC chain = self.moves.tagged_chains[chain_id]
        cdef ContextC context = site[0]
        cdef int k, depth, symbol
        node_values(site, self.sentence, &self.moves.symbols, self.position, values)
        self._emit(CHAIN, values, chain.rank, features)
        for depth in range(chain.n):
            symbol = self.moves.chain_labels[chain.first + depth]
            self._emit(NODE, values, symbol, features)
            self._emit_other(&context, values, symbol)
            self.chain_frames[depth] = opened(symbol, self.position, 0, context.parent)
            context = chain_context(site, self.chain_frames.data(), depth)
            node_values(&context, self.sentence, &self.moves.symbols, self.position, values)
        self._emit(NODE, values, SHIFT, features)
        symbol = tag_symbol(&self.moves.symbols, self.tag)
        for k in range(self.templates[NODE].n):
            if not self.templates[NODE].reads_tag[k]:
                features[0][features.size() - self.templates[NODE].n + k] += symbol - SHIFT
        self._emit(WORD, values, 0, features)
        self._emit_other(&context, values, symbol)
        self.other_total += self.other_word()

    cdef void _emit_other(self, const ContextC* context, const uint32_t* values, int symbol) noexcept nogil:
        if self.has_other:
            self.look_up(context, values)
            self.other_total += self.other_score(symbol)

    cdef void _emit(self, int kind, const uint32_t* values, int column, vector[uint32_t]* features) noexcept nogil:
        cdef int k
        self._hash(kind, values)
        for k in range(self.templates[kind].n):
            features.push_back(self.rows[kind][k] + column)


cdef enum:
    CLOSE_OFFSET = 1 << 30  # lets the memo hold negative scores
    NO_ROW = -1
    EXPECTED = -2
