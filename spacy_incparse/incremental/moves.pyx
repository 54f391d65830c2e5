"""The moves of a grammar in the form that the search reads (Collins & Roark 2004, section 3.1); constraints on them."""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.incremental.grammar import END as GRAMMAR_END
from spacy_incparse.incremental.grammar import NO_SIBLING as GRAMMAR_NO_SIBLING
from spacy_incparse.incremental.grammar import SHIFT as GRAMMAR_SHIFT
from spacy_incparse.incremental.grammar import STOP as GRAMMAR_STOP
from spacy_incparse.transforms.left_corner import slash_base

from spacy_incparse.incremental.state cimport FIRST_NONTERMINAL, FrameC, NONE, NO_RANK, SHIFT, STOP
from spacy_incparse.linear.hash_map cimport map_find, map_init, map_insert
from spacy_incparse.linear.hashing cimport mix64

WORST_RANK = NO_RANK // 2 - 1


cdef uint64_t outcome_filter_key(int parent, int sibling, int tag) noexcept nogil:
    return mix64(<uint64_t>parent << 40 | <uint64_t>sibling << 20 | <uint64_t>tag)


cdef class Moves:
    """All moves, made from a `Grammar` and head rules.

    min_count: contexts (parent, left sibling, look-ahead tag) seen at least so often allow only the outcomes that they
    were seen with; 0 switches these lists off. min_share: the share of a context's outcomes below which one counts as
    unseen. punctuation: ids of the tags of punctuation.
    """

    def __init__(self, grammar, heads, punctuation, int min_count, double min_share):
        self.symbols.n_nonterminals, self.symbols.n_tags = grammar.labels.first_tag, len(grammar.tags)
        self.symbols.n_symbols = FIRST_NONTERMINAL + grammar.labels.n_symbols
        self.n_words = (self.symbols.n_symbols + 63) // 64
        self._read_symbols(grammar, heads, punctuation)
        self._read_slashes(grammar)
        self._read_triples(grammar)
        self._read_outcome_filters(grammar, min_count, min_share)
        self._read_chains(grammar)

    def _read_symbols(self, grammar, heads, punctuation):
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
            self.is_conjunction[<int>symbol] = names[symbol] in CONJUNCTIONS
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
            strict = {chain: numbers[chain] for chain in grammar.chains[tag]}
            self.strict_roots.push_back(self._new_trie(tag, strict, True))
            self.relaxed_roots.push_back(self._new_trie(tag, numbers, False))
            self._add_label_columns(self.strict_roots[tag], self.relaxed_roots[tag])
            self._add_label_columns(self.relaxed_roots[tag], self.trie.size())
        self.label_begin.push_back(self.label_columns.size())
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

    def _add_label_columns(self, int32_t root, int32_t end):
        """Add what comes below each label in the trie[root:end]."""
        cdef int32_t k, child
        cdef const TrieNodeC* node
        below = [set() for _ in range(self.symbols.n_symbols)]
        for k in range(root + 1, end):
            node = &self.trie[k]
            for child in range(node.first_child, node.first_child + node.n_children):
                if self.trie[child].n_chains:
                    below[node.label].add(self.trie[child].label)
        for columns in below:
            self.label_begin.push_back(self.label_columns.size())
            for column in sorted(columns):
                self.label_columns.push_back(column)

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


cdef class BracketConstraints:
    """The constraints on one sentence of n_words words.

    required, forbidden: brackets as (start, end, symbol of the label), with NONE for any label. The root is never
    asked for here: it is in every tree.
    """

    def __init__(self, Moves moves, int32_t n_words, required, forbidden):
        self.moves, self.n_words = moves, n_words
        for start, end, label in sorted(required, key=lambda bracket: (bracket[0], -bracket[1])):
            self.required.push_back(BracketC(start, end, label))
        for start, end, label in forbidden:
            self.forbidden.push_back(BracketC(start, end, label))

    cdef void start_word(self, int32_t position) noexcept nogil:
        """Go to the position before a word; n_words: to the end."""
        cdef size_t k
        cdef BracketC bracket
        self.position = position
        self.starting.clear()
        self.begun.clear()
        self.ending.clear()
        self.excluded.clear()
        self.doomed.clear()
        for k in range(self.required.size()):
            bracket = self.required[k]
            if bracket.end == position:
                self.ending.push_back(bracket)
            elif bracket.start == position:
                self.starting.push_back(bracket)
            elif bracket.start < position < bracket.end:
                self.begun.push_back(bracket)
        for k in range(self.forbidden.size()):
            bracket = self.forbidden[k]
            if bracket.end == position:
                self.excluded.push_back(bracket)
            if bracket.end == self.n_words == position + 1:
                self.doomed.push_back(bracket)
        self.ask_chains = not (
            self.starting.empty() and self.ending.empty() and self.excluded.empty() and self.doomed.empty()
        )

    cdef void start_hypothesis(self) noexcept nogil:
        """Forget what the hypothesis before has made."""
        self.made.assign(self.ending.size(), False)
        self.n_missing = <int32_t>self.ending.size()

    cdef bint keeps_begun(self, const FrameC* frame, const FrameC* frames) noexcept nogil:
        """Return whether the constituents from a frame upward may become all brackets that have begun.

        From the inside out: a bracket around another one is a constituent above that one's, or the same one, where a
        step on it can make the inner bracket; those over the same words may stand in any order.
        """
        cdef const FrameC* here
        cdef int32_t height, lowest = 0, highest = 0
        cdef bint has_inner = False
        cdef int k, last = <int>self.begun.size() - 1
        for k in range(last, -1, -1):
            if k < last and (
                self.begun[k].start != self.begun[k + 1].start or self.begun[k].end != self.begun[k + 1].end
            ):
                lowest, has_inner = highest, True
            here, height = frame, 0
            while (
                height < lowest
                or (height == lowest and has_inner and self.moves.slash_of[here.label] == NONE)
                or not self._is(&self.begun[k], here.start, here.label)
            ):
                here, height = &frames[here.parent], height + 1
                if here.parent == 0 or here.start < self.begun[k].start:
                    return False
            if here.parent == 0:
                return False
            highest = max(highest, height)
        return True

    cdef bint is_doomed(self, const FrameC* frame, const FrameC* frames) noexcept nogil:
        """Whether, with the last word below this frame, a forbidden bracket ends at the end."""
        if self.doomed.empty():
            return False
        while frame.parent != 0:
            if self._has(&self.doomed, frame.start, frame.label):
                return True
            frame = &frames[frame.parent]
        return False

    cdef bint allows_chain(self, const FrameC* site, const TaggedChainC* chain) noexcept nogil:
        """Return whether a chain may be put on a site."""
        cdef int32_t k
        cdef bint is_step = (
            chain.n > 0
            and site.n_children > 0
            and self.moves.slash_of[site.label] == self.moves.chain_labels[chain.first]
        )
        if not self.ask_chains:
            return True
        if is_step and self._has(&self.excluded, site.start, site.label):
            return False
        if self.n_missing and not (is_step and self._makes_missing(site)):
            return False
        for k in range(chain.first, chain.first + chain.n):
            if self._has(&self.doomed, self.position, self.moves.chain_labels[k]):
                return False
        return self._opens_all(chain)

    cdef bint close(self, const FrameC* frame) noexcept nogil:
        """Note that a constituent ends here. Return whether it may."""
        cdef size_t k
        if frame.parent == 0:
            return True
        if self._has(&self.excluded, frame.start, frame.label):
            return False
        for k in range(self.ending.size()):
            if not self.made[k] and self._is(&self.ending[k], frame.start, frame.label):
                self.made[k] = True
                self.n_missing -= 1
        return True

    cdef bint _makes_missing(self, const FrameC* site) noexcept nogil:
        """Return whether the bracket that a step on a site completes is all that is missing."""
        cdef size_t k
        for k in range(self.ending.size()):
            if not self.made[k] and not self._is(&self.ending[k], site.start, site.label):
                return False
        return True

    cdef bint _opens_all(self, const TaggedChainC* chain) noexcept nogil:
        """Whether a chain has a constituent for each bracket that starts here: `keeps_begun` from the outside in."""
        cdef size_t k
        cdef int32_t here, label, first = 0, furthest = 0
        cdef bint has_outer = False
        for k in range(self.starting.size()):
            if k > 0 and self.starting[k].end != self.starting[k - 1].end:
                first, has_outer = furthest, True
            here = first
            while here < chain.n:
                label = self.moves.chain_labels[chain.first + here]
                if self._is(&self.starting[k], self.position, label) and not (
                    here == first and has_outer and self.moves.slash_of[label] == NONE
                ):
                    break
                here += 1
            if here == chain.n:
                return False
            furthest = max(furthest, here)
        return True

    cdef bint _has(self, const vector[BracketC]* brackets, int32_t start, int32_t label) noexcept nogil:
        cdef size_t k
        for k in range(brackets.size()):
            if self._is(&brackets[0][k], start, label):
                return True
        return False

    cdef bint _is(self, const BracketC* bracket, int32_t start, int32_t label) noexcept nogil:
        """Return whether a constituent may become a bracket, by where it starts and its label."""
        if bracket.start != start:
            return False
        return bracket.label == label or (bracket.label == NONE and not self.moves.is_slash[label])


cdef class LeftCornerMoves:
    """Finds the moves of trees, as numbers of a grammar's nonterminals.

    nonterminals: the labels of the left-corner form, numbered from `first`.
    """

    cdef dict phrases   # label -> number
    cdef dict steps     # NP -> number of NP/NP

    def __init__(self, nonterminals, int first):
        self.phrases, self.steps = {}, {}
        for number, label in enumerate(nonterminals, start=first):
            base = slash_base(label)
            if base is None:
                self.phrases[label] = number
            else:
                self.steps[base] = number

    def of(self, arrays):
        """Return the tags of the words; for each word the number of closings; and the symbols of its chain, from the
        highest to the lowest.

        arrays: `TreeArrays` of a whole tree. Raises KeyError for a label without a number.
        """
        cdef tuple labels = arrays.labels, starts = arrays.starts, ends = arrays.ends, sizes = arrays.sizes
        cdef list tags = [], n_closings = [], chains = [], chain = []
        cdef vector[int32_t] open_ends, pending  # pending: phrases that are still to be opened as steps
        cdef int32_t start, n_closed = 0, n = <int32_t>len(sizes), node = _innermost(labels, sizes, 0, &pending) + 1
        open_ends.push_back(<int32_t>ends[0])
        while node < n:
            start = starts[node]
            while open_ends.back() <= start:
                open_ends.pop_back()
                n_closed += 1
            if not pending.empty() and <int32_t>ends[pending.back() + 1] == start:
                chain.append(self.steps[labels[pending.back()]])
                open_ends.push_back(<int32_t>ends[pending.back()])
                pending.pop_back()
            if <int32_t>sizes[node] == 1:
                tags.append(labels[node])
                n_closings.append(n_closed)
                chains.append(chain)
                chain, n_closed = [], 0
            else:
                chain.append(self.phrases[labels[node]])
                open_ends.push_back(<int32_t>ends[node])
                node = _innermost(labels, sizes, node, &pending)
            node += 1
        return tuple(tags), n_closings, chains


cdef int32_t _innermost(tuple labels, tuple sizes, int32_t node, vector[int32_t]* pending) except -1:
    """Return the innermost repetition of a phrase's label at its left corner; those around it become pending."""
    cdef str label = labels[node]
    cdef int32_t n = <int32_t>len(sizes)
    while node + 1 < n and label == <str>labels[node + 1] and 1 < <int32_t>sizes[node + 1] < <int32_t>sizes[node] - 1:
        pending.push_back(node)
        node += 1
    return node
