"""Probabilities of the decisions of the generative model, and the scores of all moves at one word."""

from threading import Lock

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort

from spacy_incparse.incremental.left_context cimport (
    L01, L10, N_STRUCTURE_FIELDS, ContextC, chain_context, frame_above, node_key, node_values,
)
from spacy_incparse.incremental.moves cimport Moves, TrieNodeC, contains
from spacy_incparse.incremental.state cimport SHIFT, STOP, SentenceC, opened, tag_symbol
from spacy_incparse.linear.hash_map cimport map_allot, map_clear, map_find, map_init, map_insert, map_place
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.prefetch cimport huge_pages, prefetch

cdef enum:
    MAX_DISTRIBUTIONS = 20000  # remembered over sentences, as are
    MAX_WORD_VALUES = 500000


cdef class ContextTable:
    """Counts by context, with one interpolation weight a context.

    above, values: by context, the number of the one that it refines (-1 for none) and the value that it adds.
    n_outcomes: how many outcomes each context has; outcomes and counts: all of them, sorted within a context.
    weights: lambda by context. The arrays come as the bytes of int32 and, for weights, float64: typed memoryviews
    would make each module several times as large and as long to compile.
    """

    def __init__(
        self, int n_levels, bytes above, bytes values, bytes n_outcomes, bytes outcomes, bytes counts, bytes weights
    ):
        cdef Py_ssize_t k, j, n = len(above) // sizeof(int32_t), n_cells = len(outcomes) // sizeof(int32_t)
        cdef CountedC context
        cdef uint64_t total
        cdef const int32_t* outcomes_of = <const int32_t*><const char*>n_outcomes
        cdef const int32_t* all_outcomes = <const int32_t*><const char*>outcomes
        cdef const int32_t* all_counts = <const int32_t*><const char*>counts
        cdef const int32_t* all_above = <const int32_t*><const char*>above
        cdef const int32_t* all_values = <const int32_t*><const char*>values
        cdef const double* all_weights = <const double*><const char*>weights
        cdef size_t size = 16
        if not 0 < n_levels <= MAX_LEVELS:
            raise ValueError(f"a table has 1 to {MAX_LEVELS} levels, not {n_levels}")
        self.n_levels = n_levels
        self.contexts.reserve(n)
        self.cells.reserve(n_cells)
        huge_pages(self.contexts.data(), n * sizeof(CountedC))
        huge_pages(self.cells.data(), n_cells * sizeof(CellC))
        while 2 * size < 3 * <size_t>n:  # at most two thirds full: in training there are many such tables
            size *= 2
        map_allot(&self.numbers, size)
        context.begin = 0
        for k in range(n):
            context.n = outcomes_of[k]
            total = 0
            for j in range(context.begin, context.begin + context.n):
                total += all_counts[j]
                self.cells.push_back(CellC(all_outcomes[j], all_counts[j]))
            context.scale, context.rest = all_weights[k] / total, 1.0 - all_weights[k]
            self.contexts.push_back(context)
            context.begin += context.n
            map_place(&self.numbers, context_hash(all_above[k], all_values[k]), k)

    def __len__(self):
        return <Py_ssize_t>self.contexts.size()

    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil:
        """Fill in the probabilities of all outcomes; `base` is that of each before anything is counted."""
        cdef const CountedC* context
        cdef int level
        cdef uint32_t k
        cdef double left = 1.0, scale
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] = 0.0
        for level in range(n_found - 1, -1, -1):
            context = &self.contexts[path[level]]
            scale = left * context.scale
            for k in range(context.begin, context.begin + context.n):
                probabilities[self.cells[k].outcome] += scale * self.cells[k].count
            left *= context.rest
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] += left * base

    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil:
        """Return the probability of one outcome."""
        cdef const CountedC* context
        cdef int level
        cdef uint32_t low, high, middle
        cdef double left = 1.0, result = 0.0
        for level in range(n_found):
            prefetch(&self.cells[self.contexts[path[level]].begin])
        for level in range(n_found - 1, -1, -1):
            context = &self.contexts[path[level]]
            low, high = context.begin, context.begin + context.n
            while low < high:
                middle = (low + high) // 2
                if self.cells[middle].outcome < outcome:
                    low = middle + 1
                else:
                    high = middle
            if low < context.begin + context.n and self.cells[low].outcome == outcome:
                result += left * context.scale * self.cells[low].count
            left *= context.rest
        return result + left * base


cdef class Probabilities:
    """P(label or STOP | node sets) and P(word | tag, word sets); every outcome has some probability.

    nodes, words: the tables of counts. node_fields, word_fields: numbers of the fields of their levels; the first level
    of `words` is the tag. root: the symbol that is no outcome. class_of: by number of a word, the row of its class.
    class_bases: rows of probabilities by tag, of any one word of a class before anything is counted; as the bytes of
        float64.
    """

    def __init__(
        self, Moves moves, int root, ContextTable nodes, ContextTable words, node_fields, word_fields, class_of,
        bytes class_bases,
    ):
        cdef const double* bases = <const double*><const char*>class_bases
        self.lock = Lock()
        self.nodes, self.words, self.root = nodes, words, root
        self.node_fields, self.word_fields = node_fields, word_fields
        self.n_symbols, self.n_nonterminals = moves.symbols.n_symbols, moves.symbols.n_nonterminals
        self.n_tags = moves.symbols.n_tags
        self.class_of = class_of
        self.class_bases.assign(bases, bases + len(class_bases) // sizeof(double))
        map_init(&self.node_memo)
        map_init(&self.word_memo)

    def node_distribution(self, values):
        """Return the probabilities of all symbols by the values of the node fields, for tests; [STOP] is the end's."""
        cdef uint32_t[N_STRUCTURE_FIELDS] all_values
        self._spread(self.node_fields, values, all_values)
        cdef const double* found = self.distribution(all_values)
        return [found[k] for k in range(self.n_symbols)]

    def word_probability(self, values, int tag, int word):
        """Return the probability of a word by the values of the word fields, for tests."""
        cdef uint32_t[N_STRUCTURE_FIELDS] all_values
        self._spread(self.word_fields, values, all_values)
        return self.word(all_values, tag, word)

    cdef _spread(self, fields, values, uint32_t* all_values):
        cdef int k, field
        for k in range(N_STRUCTURE_FIELDS):
            all_values[k] = 0
        for k, field in enumerate(fields):
            all_values[field] = values[k]

    cdef uint64_t context_key(self, const uint32_t* values) noexcept nogil:
        """Return a hash of all that a distribution depends on."""
        cdef uint64_t key = values[L01] != 0
        cdef size_t k
        for k in range(self.node_fields.size()):
            key = mix64(key ^ (values[self.node_fields[k]] + 1))
        return key

    cdef const double* distribution(self, const uint32_t* values) noexcept nogil:
        """Return the probabilities of all symbols in a context, by symbol; valid until the next call."""
        cdef uint64_t key = self.context_key(values)
        cdef int32_t found = map_find(&self.node_memo, key)
        cdef int32_t[MAX_LEVELS] path
        cdef int n_found
        cdef double* result
        if found >= 0:
            return &self.distributions[<size_t>found * self.n_symbols]
        if self.node_memo.n >= MAX_DISTRIBUTIONS:
            map_clear(&self.node_memo)
            self.distributions.clear()
        map_insert(&self.node_memo, key, self.distributions.size() // self.n_symbols)
        self.distributions.resize(self.distributions.size() + self.n_symbols)
        result = &self.distributions[self.distributions.size() - self.n_symbols]
        n_found = self.node_path(values, path)
        self.nodes.add_distribution(path, n_found, self.node_base(values), result, self.n_symbols)
        result[SHIFT] = result[self.root] = 0.0
        if values[L01] == 0:
            result[STOP] = 0.0
        return result

    cdef double outcome(self, const uint32_t* values, const int32_t* path, int n_found, int symbol) noexcept nogil:
        """Return the probability of one symbol by the known contexts of its node, which nothing remembers."""
        if symbol == SHIFT or symbol == self.root or (symbol == STOP and values[L01] == 0):
            return 0.0
        return self.nodes.probability(path, n_found, symbol, self.node_base(values))

    cdef int node_path(self, const uint32_t* values, int32_t* path) noexcept nogil:
        """Return the known contexts of nodes; in the first, a parent without children is apart, since it cannot end."""
        cdef uint32_t[MAX_LEVELS] level_values
        cdef size_t k
        for k in range(self.node_fields.size()):
            level_values[k] = values[self.node_fields[k]]
        level_values[0] = 2 * values[L10] + (values[L01] != 0)
        return self.nodes.walk(level_values, path)

    cdef double node_base(self, const uint32_t* values) noexcept nogil:
        """Return the base of each outcome: nonterminals but the root, tags and, after a first child, STOP are alike."""
        return 1.0 / (self.n_nonterminals - 1 + self.n_tags + (values[L01] != 0))

    cdef double word(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil:
        """Return the probability of a word under a tag that is put into a context."""
        cdef uint64_t key = self.word_key(values, tag, word)
        cdef int32_t found = map_find(&self.word_memo, key)
        if found >= 0:
            return self.word_values[found]
        if self.word_memo.n >= MAX_WORD_VALUES:
            map_clear(&self.word_memo)
            self.word_values.clear()
        map_insert(&self.word_memo, key, self.word_values.size())
        self.word_values.push_back(self.compute_word(values, tag, word))
        return self.word_values.back()

    cdef uint64_t word_key(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil:
        """Return a hash of all that the probability of a word depends on."""
        cdef uint64_t key = mix64(<uint64_t>word << 32 | tag)
        cdef size_t k
        for k in range(self.word_fields.size()):
            key = mix64(key ^ (values[self.word_fields[k]] + 1))
        return key

    cdef double compute_word(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil:
        """Return the probability of a word, which nothing remembers."""
        cdef int32_t[MAX_LEVELS] path
        cdef uint32_t[MAX_LEVELS] level_values
        cdef double base
        cdef size_t k
        level_values[0] = tag
        for k in range(self.word_fields.size()):
            level_values[k + 1] = values[self.word_fields[k]]
        base = self.class_bases[self.class_of[word] * self.n_tags + tag]
        return self.words.probability(path, self.words.walk(level_values, path), word, base)


cdef bint better(const ChainC& a, const ChainC& b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and a.chain_id < b.chain_id)


cdef class Scorer:
    """The scores of all moves; it holds scratch memory, so a thread needs its own."""

    def __init__(self, Moves moves, Probabilities probabilities):
        self.moves, self.probabilities = moves, probabilities
        self.chain_frames.resize(moves.longest_chain + 1)
        map_init(&self.site_memo)

    cdef void start_word(
        self, const SentenceC* lattice, int32_t first_node, int32_t last_node, bint relaxed
    ) noexcept nogil:
        """Go to the position before a word with these nodes, none at the sentence's end; `relaxed` ignores triples."""
        self.lattice, self.relaxed = lattice, relaxed
        self.first_node, self.last_node = first_node, last_node
        self.chains.clear()
        self.sites.clear()
        map_clear(&self.site_memo)

    cdef SiteC site(self, const ContextC* context, double floor) noexcept nogil:
        """Return all that can be done at an attachment site with a log probability of at least `floor`."""
        cdef uint64_t key = node_key(context)
        cdef int32_t found = map_find(&self.site_memo, key)
        cdef SiteC site
        if found >= 0:
            site = self.sites[found]
            if site.floor > floor:
                site = self.sites[found] = self._new_site(context, floor)
            return site
        site = self._new_site(context, floor)
        map_insert(&self.site_memo, key, self.sites.size())
        self.sites.push_back(site)
        return site

    cdef SiteC _new_site(self, const ContextC* context, double floor) noexcept nogil:
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef SiteC site
        cdef size_t k
        cdef int32_t node
        cdef const uint64_t* triples = self.moves.triple_set(context.parent.label, context.parent.child1)
        site.first, site.n, site.stop, site.mass, site.mass_before = self.chains.size(), 0, -INFINITY, 0.0, 0.0
        site.floor = floor
        site.can_stop = context.parent.n_children > 0
        if not self.relaxed:
            if triples == NULL:
                site.can_stop = False
                return site
            site.can_stop = site.can_stop and contains(triples, STOP)
        node_values(context, self.lattice, &self.moves.symbols, 0, values)
        if site.can_stop:
            site.stop = log(self.probabilities.distribution(values)[STOP])
        if self.first_node == self.last_node:
            return site
        self.lowest = exp(floor)
        for node in range(self.first_node, self.last_node):
            self._walk_chains(context, values, node, triples)
        site.n = <int32_t>self.chains.size() - site.first
        for k in range(<size_t>site.first, self.chains.size()):
            site.mass += self.chains[k].score
            site.mass_before += self.chains[k].before
            self.chains[k].score = log(self.chains[k].score)
            self.chains[k].before = log(self.chains[k].before)
        sort(self.chains.begin() + site.first, self.chains.end(), &better)
        return site

    cdef void _walk_chains(
        self, const ContextC* site, const uint32_t* site_values, int32_t node, const uint64_t* triples
    ) noexcept nogil:
        """Walk the trie of a tag's chains from the site down, and append each chain; scores are not logarithms yet.

        The stack makes this a depth-first walk, so chain_frames[:depth] holds the constituents above a trie node.
        """
        cdef int tag = self.lattice.tags[node], label, symbol = tag_symbol(&self.moves.symbols, tag)
        cdef PendingC here, below
        cdef TrieNodeC trie_node
        cdef uint32_t[N_STRUCTURE_FIELDS] own_values
        cdef const uint32_t* values = site_values
        cdef ContextC context
        cdef int32_t child
        cdef bint is_free
        cdef const double* distribution
        cdef ChainC chain
        chain.node = node
        here.trie_node = (self.moves.relaxed_roots if self.relaxed else self.moves.strict_roots)[tag]
        here.depth, here.probability = -1, 1.0  # the site
        self.pending.push_back(here)
        while not self.pending.empty():
            here = self.pending.back()
            self.pending.pop_back()
            trie_node = self.moves.trie[here.trie_node]
            if here.depth >= 0:
                self.chain_frames[here.depth] = opened(
                    trie_node.label, 0, 0, frame_above(site, self.chain_frames.data(), here.depth, 1)
                )
                context = chain_context(site, self.chain_frames.data(), here.depth)
                node_values(&context, self.lattice, &self.moves.symbols, 0, own_values)
                values = own_values
            distribution = self.probabilities.distribution(values)
            is_free = self.relaxed or here.depth >= 0
            below.depth = here.depth + 1
            for child in range(trie_node.first_child, trie_node.first_child + trie_node.n_children):
                label = self.moves.trie[child].label
                if is_free or contains(triples, label):
                    below.trie_node = child
                    below.probability = here.probability * distribution[label]
                    if below.probability > self.lowest:
                        self.pending.push_back(below)
            if trie_node.chain_id >= 0 and (is_free or contains(triples, symbol)):
                chain.chain_id, chain.before = trie_node.chain_id, here.probability * distribution[symbol]
                if chain.before > self.lowest:
                    chain.score = chain.before * self.probabilities.word(values, tag, self.lattice.words[node])
                    self.chains.push_back(chain)
