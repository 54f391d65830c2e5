"""The moves of a grammar in the form that the search reads (Collins & Roark 2004, section 3.1)."""

from libc.stdint cimport int32_t, uint64_t

from spacy_incparse.incremental.grammar import END as GRAMMAR_END
from spacy_incparse.incremental.grammar import NO_SIBLING as GRAMMAR_NO_SIBLING
from spacy_incparse.incremental.grammar import SHIFT as GRAMMAR_SHIFT
from spacy_incparse.incremental.grammar import STOP as GRAMMAR_STOP
from spacy_incparse.transforms.left_corner import slash_base

from spacy_incparse.linear.hash_map cimport map_find, map_init, map_insert
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.incremental.state cimport FIRST_NONTERMINAL, NONE, NO_RANK, SHIFT, STOP

WORST_RANK = NO_RANK // 2 - 1


cdef uint64_t outcome_filter_key(int parent, int sibling, int tag) noexcept nogil:
    return mix64(<uint64_t>parent << 40 | <uint64_t>sibling << 20 | <uint64_t>tag)


cdef class Moves:
    """All moves, made from a `Grammar` and head rules.

    min_count: contexts (parent, left sibling, look-ahead tag) seen at least so often allow only the outcomes that they
    were seen with; 0 switches these lists off. min_share: the share of a context's outcomes below which one counts as
    unseen. punctuation: ids of the tags of punctuation. conjunctions: symbols that link conjuncts.
    """

    def __init__(self, grammar, heads, punctuation, conjunctions, int min_count, double min_share):
        self.symbols.n_nonterminals, self.symbols.n_tags = grammar.labels.first_tag, len(grammar.tags)
        self.symbols.n_symbols = FIRST_NONTERMINAL + grammar.labels.n_symbols
        self.n_words = (self.symbols.n_symbols + 63) // 64
        self._read_symbols(grammar, heads, punctuation, conjunctions)
        self._read_slashes(grammar)
        self._read_triples(grammar)
        self._read_outcome_filters(grammar, min_count, min_share)
        self._read_chains(grammar)

    def _read_symbols(self, grammar, heads, punctuation, conjunctions):
        cdef int n = self.symbols.n_symbols, parent, child, rank
        labels = grammar.labels
        names = [None, None] + [labels.name(number) for number in range(labels.n_symbols)]
        self.head_rule.resize(n * n, 0)
        for parent in map(_symbol, labels.nonterminal_ids.values()):
            for child in range(FIRST_NONTERMINAL, n):
                rank, direction = heads.priority(names[parent], names[child])
                self.head_rule[parent * n + child] = 2 * min(rank, WORST_RANK) + (direction < 0)
        self.is_punctuation.resize(self.symbols.n_tags + 2, 0)
        self.is_conjunction.resize(n + 2, 0)
        for tag in punctuation:
            self.is_punctuation[<int>tag] = 1
        for symbol in range(FIRST_NONTERMINAL, n):
            self.is_conjunction[<int>symbol] = names[symbol] in conjunctions
        self.symbols.head_rule = self.head_rule.data()
        self.symbols.is_punctuation = self.is_punctuation.data()
        self.symbols.is_conjunction = self.is_conjunction.data()

    def _read_slashes(self, grammar):
        cdef int symbol
        self.is_slash.resize(self.symbols.n_symbols, 0)
        self.slash_of.resize(self.symbols.n_symbols, NONE)
        symbols = {name: _symbol(number) for name, number in grammar.labels.nonterminal_ids.items()}
        for name, symbol in symbols.items():
            base = slash_base(name)
            if base is not None:
                self.is_slash[symbol] = 1
                if base in symbols:
                    self.slash_of[<int>symbols[base]] = symbol

    def _read_triples(self, grammar):
        cdef int n = self.symbols.n_symbols, k
        self.triples.resize(n * n, -1)
        for parent, sibling, symbol in sorted(grammar.triples):
            k = _symbol(parent) * n + (NONE if sibling == GRAMMAR_NO_SIBLING else _symbol(sibling))
            if self.triples[k] < 0:
                self.triples[k] = self._new_set()
            self._insert(self.triples[k], STOP if symbol == GRAMMAR_STOP else _symbol(symbol))

    def _read_outcome_filters(self, grammar, int min_count, double min_share):
        map_init(&self.outcome_filters)
        for (parent, sibling, tag), outcomes in grammar.contexts.items():
            total = sum(outcomes.values())
            if not min_count or total < min_count:
                continue
            key = outcome_filter_key(
                _symbol(parent),
                NONE if sibling == GRAMMAR_NO_SIBLING else _symbol(sibling),
                grammar.labels.end_tag if tag == GRAMMAR_END else tag,
            )
            outcome_set = self._new_set()
            map_insert(&self.outcome_filters, key, outcome_set)
            for outcome, count in outcomes.items():
                if count >= min_share * total:
                    self._insert(outcome_set, _outcome(outcome))

    def _read_chains(self, grammar):
        leaves = []
        for tag, chains in enumerate(grammar.chains):
            chains = list(chains)
            if () not in chains:
                chains.append(())  # a word can always attach by its bare tag when rules are relaxed
            numbers = {}
            for rank, chain in enumerate(chains):
                self._new_chain(tag, chain, rank)
                numbers[chain] = len(leaves)
                leaves.append((tag, chain))
            self.relaxed_roots.push_back(self._new_trie(tag, numbers, False))
            strict = {chain: numbers[chain] for chain in grammar.chains[tag]}
            self.strict_roots.push_back(self._new_trie(tag, strict, True))
        self.leaves = tuple(leaves)
        self.leaf_numbers = {pair: number for number, pair in enumerate(leaves)}
        self.longest_chain = max([len(chain) for _, chain in leaves], default=0)
        most_chains = max([self.tagged_chains[k].rank + 1 for k in range(len(leaves))], default=1)
        self.n_columns = max(self.symbols.n_symbols, most_chains)

    def _new_chain(self, tag, chain, rank):
        cdef TaggedChainC chain_id
        chain_id.first, chain_id.n, chain_id.rank, chain_id.tag = self.chain_labels.size(), len(chain), rank, tag
        for nonterminal in chain:
            self.chain_labels.push_back(_symbol(nonterminal))
        self.tagged_chains.push_back(chain_id)

    def _new_trie(self, tag, numbers, strict):
        """Lay out a tag's chains level by level. Strict: without steps that seen outcomes exclude inside a chain."""
        cdef TrieNodeC node
        cdef int32_t root = self.trie.size()
        node.label, node.first_child, node.n_children, node.chain_id, node.n_chains = NONE, 0, 0, -1, 0
        self.trie.push_back(node)
        level = [(root, (), sorted(numbers))]
        while level:
            below = []
            for number, prefix, chains in level:
                depth = len(prefix)
                parent = _symbol(prefix[depth - 1]) if prefix else NONE
                steps = sorted({chain[depth] for chain in chains if len(chain) > depth})
                steps = [step for step in steps if not strict or self._allows_inside(parent, tag, _symbol(step))]
                if prefix in numbers and (not strict or self._allows_inside(parent, tag, SHIFT)):
                    self.trie[<int32_t>number].chain_id = numbers[prefix]
                self.trie[<int32_t>number].first_child = self.trie.size()
                self.trie[<int32_t>number].n_children = len(steps)
                for step in steps:
                    node.label = _symbol(step)
                    longer = (*prefix, step)
                    below.append((self.trie.size(), longer, [c for c in chains if c[: depth + 1] == longer]))
                    self.trie.push_back(node)
            level = below
        self._count_chains(root)
        return root

    def _count_chains(self, int32_t root):
        cdef int32_t k, child
        cdef TrieNodeC* node
        for k in range(<int32_t>self.trie.size() - 1, root - 1, -1):  # children come after their parents
            node = &self.trie[k]
            node.n_chains = node.chain_id >= 0
            for child in range(node.first_child, node.first_child + node.n_children):
                node.n_chains += self.trie[child].n_chains

    def _allows_inside(self, int parent, int tag, int outcome):
        """Whether an outcome may come first inside a constituent of a chain; at the trie's root the site decides."""
        cdef const uint64_t* seen = NULL
        if parent != NONE:
            seen = self.outcome_filter(parent, NONE, tag)
        return seen == NULL or contains(seen, outcome)

    def _new_set(self):
        for _ in range(self.n_words):
            self.sets.push_back(0)
        return self.sets.size() // self.n_words - 1

    def _insert(self, int32_t set_number, int symbol):
        self.sets[set_number * self.n_words + (symbol >> 6)] |= <uint64_t>1 << (symbol & 63)

    cdef const uint64_t* outcome_filter(self, int parent, int sibling, int tag) noexcept nogil:
        """Return the outcomes seen in a context; NULL where it is too rare to exclude any."""
        cdef int32_t found = map_find(&self.outcome_filters, outcome_filter_key(parent, sibling, tag))
        return &self.sets[<size_t>found * self.n_words] if found >= 0 else NULL


def _symbol(grammar_id):
    return grammar_id + FIRST_NONTERMINAL


def _outcome(grammar_outcome):
    if grammar_outcome == GRAMMAR_STOP:
        return STOP
    return SHIFT if grammar_outcome == GRAMMAR_SHIFT else _symbol(grammar_outcome)
