"""Features of the candidate trees of a sentence.

Most parts of the trees in a list are the same. Nodes that look the same to all families form a part: its
features are extracted once, and a tree's features are counted from the parts that it consists of. Parts that all trees
have equally often cannot tell trees apart; with `drop_common` they matter only where they add to the count of a feature
that varies.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from functools import partial
from threading import Lock

import numpy as np

from spacy_incparse.linear.hash_map cimport HashMapC, map_clear, map_find, map_init, map_insert
from spacy_incparse.rerank.families cimport (
    CLOSED, PREPOSITIONAL, FamilyC, TreeC, argument, extended, family_function, governor,
    head_tag, is_top, label_above, number, plus2, plus3, plus4, tag_at, text_value,
)
from spacy_incparse.rerank.sparse_rows cimport ColumnTable
from spacy_incparse.rerank.tree_reader cimport TreeReader, find_rules

from spacy_incparse.rerank.features import FAMILIES, LEXICALIZED, MAX_LENGTH, check_families
from spacy_incparse.settings import check_number

cdef enum:
    AHEAD = 16   # look-ups whose memory is on its way
    PHRASE = 1   # fires at phrases, sees what `node_signatures` hashes
    WORD = 2     # the same at POS nodes
    SUBTREE = 4  # fires at phrases, sees the whole phrase

FUNCTIONS = [name for name in FAMILIES if not name.startswith(LEXICALIZED)]


cdef class PackedTrees:
    """Reads one list of trees after the other. `heads` and `closed_tags` are as for `TreeReader`."""
    cdef vector[TreeC] trees            # of the last list
    cdef vector[TreeC] lexicalized      # the same with the labels of the second pass
    cdef TreeReader reader

    def __init__(self, heads, closed_tags):
        self.reader = TreeReader(heads, closed_tags)

    cdef int read(self, list trees) except -1:
        """Replace what was read before. Raises ValueError unless there are trees, all over the same words."""
        cdef size_t k, n = len(trees)
        if not trees:
            raise ValueError("a list of candidates needs at least one tree")
        all_arrays = [tree.own_arrays for tree in trees]
        words = all_arrays[0].words
        for arrays in all_arrays:
            if arrays.words != words:
                raise ValueError(f"the trees of a list have different words: {words!r:.80} and {arrays.words!r:.80}")
        self.trees.resize(n)
        values = [text_value(word.lower()) for word in words]
        for k in range(n):
            self.trees[k].words = values
            self.reader.read(all_arrays[k], &self.trees[k])
        self.lexicalized = self.trees
        for k in range(n):
            _lexicalize(&self.lexicalized[k])


cdef int _lexicalize(TreeC* tree) except -1 nogil:
    """Put the labels of the second pass into a tree."""
    cdef int32_t node, head
    for node in range(tree.n_nodes):
        head = tree.head_words[node]
        if tree.marks[tree.leaves[head]] & CLOSED:
            tree.labels[node] = plus2(0, tree.labels[node], tree.words[head])
    find_rules(tree)


cdef struct ChosenC:
    FamilyC extract
    uint64_t family     # the hash of the name, folded as the first field of a tuple
    int scope           # PHRASE, WORD or SUBTREE
    bint lexicalized
    int32_t max_count


# Nodes of several trees that look the same to all families of a scope: their features are extracted once.
cdef struct PartC:
    int32_t tree    # one of these nodes
    int32_t node
    int scope
    bint varies     # whether trees have it in different numbers


# A feature that is present a number of times, as an indicator.
cdef struct IndicatorC:
    uint64_t value  # its key, or its column
    int32_t feature
    int32_t count


cdef class FeatureExtractor:
    """Extracts the chosen families of features, listed in rerank/features.py, from lists of trees.

    families: their names. heads: the head table. max_count: a feature that a tree has c times becomes the indicators
    that it has it at least once, ..., min(c, max_count) times. closed_tags: the tags of closed classes, for the
    lexicalized families: `features.closed_class_tags` finds them in a treebank.

    Labels are read without function tags, words in lowercase. Threads that share an extractor take turns.
    """
    cdef readonly tuple families
    cdef readonly object heads
    cdef readonly int max_count
    cdef readonly tuple closed_tags
    cdef object lock
    cdef PackedTrees packed
    cdef int scopes
    cdef vector[ChosenC] chosen
    cdef vector[PartC] parts
    cdef HashMapC part_numbers         # by signature
    cdef vector[int32_t] part_counts   # by part and tree
    cdef vector[uint64_t] features     # the keys of distinct features, without counts
    cdef HashMapC feature_numbers      # by key
    cdef vector[int32_t] feature_counts  # by feature and tree
    cdef vector[int32_t] max_counts    # by feature
    cdef vector[uint64_t] signatures   # scratch
    cdef vector[uint64_t] keys_found
    cdef vector[uint64_t] plain_keys

    def __init__(self, families, heads, max_count=4, *, closed_tags=()):
        cdef ChosenC family
        self.families, self.heads = check_families(families), heads
        check_number("max_count", max_count, 1, MAX_LENGTH)
        self.max_count, self.closed_tags = max_count, tuple(sorted(set(closed_tags)))
        self.packed = PackedTrees(heads, self.closed_tags)
        self.lock = Lock()
        map_init(&self.part_numbers)
        map_init(&self.feature_numbers)
        for name in self.families:
            plain = name.removeprefix(LEXICALIZED)
            family.extract = family_function(FUNCTIONS.index(plain))
            family.family, family.lexicalized = extended(0, text_value(name)), plain != name
            family.scope = {"phrase": PHRASE, "word": WORD, "subtree": SUBTREE}[FAMILIES[name].scope]
            family.max_count = MAX_LENGTH if name == "right-branch" else self.max_count
            self.chosen.push_back(family)
            self.scopes |= family.scope

    def keys(self, trees, *, drop_common=True):
        """Return (starts, keys): the keys of tree k are keys[starts[k] : starts[k + 1]], distinct and ascending.

        starts: (n + 1,) int64. keys: uint64, of indicators. drop_common: leave out the keys that all trees have.
        Raises ValueError if there are no trees, or if they have different words.
        """
        return self._found(list(trees), drop_common, None)

    def columns(self, trees, columns):
        """Return (starts, columns) as `keys`, but columns (int32, ascending) instead of keys, without unknown features.

        columns: the `FeatureColumns`. Features that all trees have are left out.
        """
        starts, found = self._found(list(trees), True, columns.table)
        return starts, found.astype(np.int32)

    def __reduce__(self):
        return partial(FeatureExtractor, closed_tags=self.closed_tags), (self.families, self.heads, self.max_count)

    cdef tuple _found(self, list trees, bint drop_common, ColumnTable table):
        """Return where the keys of each tree begin, and the keys; with a table, columns instead of keys."""
        cdef vector[IndicatorC] found
        cdef size_t part
        with self.lock:
            self.packed.read(trees)
            self._find_parts()
            self.features.clear()
            self.feature_counts.clear()
            self.max_counts.clear()
            map_clear(&self.feature_numbers)
            for part in range(self.parts.size()):
                if self.parts[part].varies or not drop_common:
                    self._count_part(part, False)
            for part in range(self.parts.size()):
                if drop_common and not self.parts[part].varies:
                    self._count_part(part, True)
            self._indicators(drop_common, &found)
            if table is not None:
                _look_up(table, &found)
            return self._by_tree(&found)

    cdef int _find_parts(self) except -1:
        """Find the parts of all trees, and how often each tree has them."""
        cdef size_t k, part, n = self.packed.trees.size()
        cdef int32_t node
        cdef const TreeC* tree
        cdef const int32_t* counts
        self.parts.clear()
        self.part_counts.clear()
        map_clear(&self.part_numbers)
        for k in range(n):
            tree = &self.packed.lexicalized[k]
            if self.scopes & (PHRASE | WORD):
                node_signatures(tree, &self.signatures)
                for node in range(tree.n_nodes):
                    self._add_part(k, node, WORD if tree.sizes[node] == 1 else PHRASE)
            if self.scopes & SUBTREE:
                subtree_signatures(tree, &self.signatures)
                for node in range(tree.n_nodes):
                    if tree.sizes[node] > 1:
                        self._add_part(k, node, SUBTREE)
        for part in range(self.parts.size()):
            counts = self.part_counts.data() + part * n
            for k in range(1, n):
                if counts[k] != counts[0]:
                    self.parts[part].varies = True

    cdef int _add_part(self, size_t tree, int32_t node, int scope) except -1:
        cdef uint64_t signature = self.signatures[node]
        cdef int32_t part = map_find(&self.part_numbers, signature)
        if part < 0:
            part = <int32_t>self.parts.size()
            map_insert(&self.part_numbers, signature, part)
            self.parts.push_back(PartC(<int32_t>tree, node, scope, False))
            self.part_counts.resize(self.part_counts.size() + self.packed.trees.size(), 0)
        self.part_counts[part * self.packed.trees.size() + tree] += 1

    cdef int _count_part(self, size_t part, bint only_known) except -1:
        """Add the features of a part to the trees that have it; `only_known`: only features counted already."""
        cdef size_t k, i
        cdef const ChosenC* family
        cdef const int32_t* counts = self.part_counts.data() + part * self.packed.trees.size()
        cdef int32_t node = self.parts[part].node
        cdef const TreeC* plain = &self.packed.trees[self.parts[part].tree]
        cdef const TreeC* lexicalized = &self.packed.lexicalized[self.parts[part].tree]
        for k in range(self.chosen.size()):
            family = &self.chosen[k]
            if family.scope != self.parts[part].scope:
                continue
            self.keys_found.clear()
            family.extract(lexicalized if family.lexicalized else plain, node, family.family, &self.keys_found)
            self.plain_keys.clear()
            if family.lexicalized:
                family.extract(plain, node, family.family, &self.plain_keys)
            for i in range(self.keys_found.size()):
                # Where no label has a word of a closed class, the second pass finds what the first one did.
                if not family.lexicalized or self.keys_found[i] != self.plain_keys[i]:
                    self._count_key(self.keys_found[i], family.max_count, counts, only_known)

    cdef int _count_key(self, uint64_t key, int32_t max_count, const int32_t* counts, bint only_known) except -1:
        cdef int32_t feature = map_find(&self.feature_numbers, key), k
        cdef int32_t n = <int32_t>self.packed.trees.size()
        cdef int32_t* sums
        if feature < 0:
            if only_known:
                return 0
            feature = <int32_t>self.features.size()
            map_insert(&self.feature_numbers, key, feature)
            self.features.push_back(key)
            self.max_counts.push_back(max_count)
            self.feature_counts.resize(self.feature_counts.size() + n, 0)
        sums = self.feature_counts.data() + <size_t>feature * n
        for k in range(n):
            sums[k] += counts[k]

    cdef int _indicators(self, bint drop_common, vector[IndicatorC]* found) except -1:
        """List the indicators that some tree has; with `drop_common` only those that some tree lacks."""
        cdef size_t feature, n = self.packed.trees.size(), k
        cdef int32_t least, most, count
        cdef const int32_t* counts
        for feature in range(self.features.size()):
            counts = self.feature_counts.data() + feature * n
            least = most = counts[0]
            for k in range(1, n):
                least, most = min(least, counts[k]), max(most, counts[k])
            for count in range(least + 1 if drop_common else 1, min(most, self.max_counts[feature]) + 1):
                found.push_back(IndicatorC(extended(self.features[feature], number(count)), <int32_t>feature, count))

    cdef tuple _by_tree(self, vector[IndicatorC]* found):
        """Return where the values of each tree begin, and the values."""
        cdef vector[int64_t] starts
        cdef vector[uint64_t] values
        cdef size_t k, n = self.packed.trees.size(), i
        starts.push_back(0)
        sort(found.begin(), found.end(), _is_before)
        for k in range(n):
            for i in range(found.size()):
                if self.feature_counts[found[0][i].feature * n + k] >= found[0][i].count:
                    values.push_back(found[0][i].value)
            starts.push_back(values.size())
        return _array(starts.data(), starts.size() * 8, "i8"), _array(values.data(), values.size() * 8, "u8")


cdef bint _is_before(const IndicatorC& a, const IndicatorC& b) noexcept nogil:
    return a.value < b.value


cdef _array(const void* data, size_t n_bytes, kind):
    """Return a copy of numbers as a (read-only) NumPy array."""
    return np.frombuffer(PyBytes_FromStringAndSize(<const char*>data, n_bytes), dtype=kind)


cdef int _look_up(ColumnTable table, vector[IndicatorC]* found) except -1:
    """Replace keys by columns; indicators without a column are left out."""
    cdef size_t k, n = 0
    cdef int32_t column
    for k in range(found.size()):
        if k + AHEAD < found.size():
            table.ask_for(found[0][k + AHEAD].value)
        column = table.find(found[0][k].value)
        if column >= 0:
            found[0][n] = found[0][k]
            found[0][n].value = <uint64_t>column
            n += 1
    found.resize(n)


# What families of features look at around a node, as a hash: equal signatures, equal features. Whatever a family reads
# has to be part of it: a test compares the features of each tree with those of the tree alone.

cdef int node_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil:
    """Hash each node, its children, the rule and label above, and the words and governors around.

    tree: with lexicalized labels.
    """
    cdef int32_t node
    found.resize(tree.n_nodes)
    for node in range(tree.n_nodes):
        found[0][node] = _children(tree, node, _above(tree, node, _around(tree, node)))


cdef uint64_t _around(const TreeC* tree, int32_t node) noexcept nogil:
    """Hash the node, and the words and tags inside and outside its ends."""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus4(0, tree.labels[node], tree.sizes[node] == 1, start, end)
    key = plus3(key, tag_at(tree, start - 2), tag_at(tree, start - 1), tag_at(tree, start))
    return plus3(key, tag_at(tree, end - 1), tag_at(tree, end), tree.last_content)


cdef uint64_t _above(const TreeC* tree, int32_t node, uint64_t key) noexcept nogil:
    """Hash what is above the node, and above its maximal projection."""
    cdef int32_t parent = tree.parents[node], head = tree.head_words[node], governing = governor(tree, head)
    key = plus4(key, head, head_tag(tree, node), tree.labels[tree.tops[head]], is_top(tree, node))
    if parent >= 0:
        key = plus2(key, tree.rules[parent], label_above(tree, parent))
    if governing >= 0:
        key = plus3(key, number(governing), tree.tags[governing], tree.labels[tree.tops[governing]])
    return key


cdef uint64_t _children(const TreeC* tree, int32_t node, uint64_t key) noexcept nogil:
    cdef int32_t child = node + 1, behind = node + tree.sizes[node], within
    while child < behind:
        key = plus4(key, tree.labels[child], tree.ends[child], tree.head_words[child], head_tag(tree, child))
        if tree.marks[child] & PREPOSITIONAL and tree.sizes[child] > 1:
            within = argument(tree, child)
            if within >= 0:
                key = plus3(key, tree.labels[within], tree.head_words[within], head_tag(tree, within))
        child += tree.sizes[child]
    return key


cdef int subtree_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil:
    """Hash each node with everything below it, and whether it is the maximal projection of its head."""
    cdef int32_t node
    found.resize(tree.n_nodes)
    for node in range(tree.n_nodes):
        found[0][node] = plus3(1, tree.labels[node], tree.starts[node], tree.sizes[node])
    for node in range(tree.n_nodes - 1, 0, -1):  # children come after their parents
        found[0][tree.parents[node]] = extended(found[0][tree.parents[node]], found[0][node])
    for node in range(tree.n_nodes):
        found[0][node] = extended(found[0][node], is_top(tree, node))
