"""Features of the candidate trees of a sentence.

Most parts of the trees in a list are the same. Nodes that look the same to all families form a part (signatures.pyx):
its features are extracted once, and a tree's features are counted from the parts that it consists of. Parts that all
trees have equally often cannot tell trees apart; with `drop_common` they matter only where they add to the count of a
feature that varies.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from functools import partial
from threading import Lock

import numpy as np

from spacy_incparse.linear.hash_map cimport map_clear, map_find, map_init, map_insert
from spacy_incparse.rerank.column_table cimport ColumnTable
from spacy_incparse.rerank.families_charniak_johnson cimport add_charniak_johnson_families
from spacy_incparse.rerank.families_collins cimport add_collins_families
from spacy_incparse.rerank.family_functions cimport FamilyC, NamedFamilyC
from spacy_incparse.rerank.feature_keys cimport extended, number, text_value
from spacy_incparse.rerank.packed_trees cimport PackedTrees, TreeC
from spacy_incparse.rerank.signatures cimport node_signatures, subtree_signatures

from spacy_incparse.rerank.families import LEXICALIZED, MAX_LENGTH, SCOPES, check_families, check_max_count

cdef enum:
    AHEAD = 16  # look-ups whose memory is on its way


cdef class FeatureExtractor:
    """Extracts the chosen families of features, listed in rerank/families.py, from lists of trees.

    families: their names. heads: the head table. max_count: a feature that a tree has c times becomes the indicators
    that it has it at least once, ..., min(c, max_count) times. closed_tags: the tags of closed classes, for the
    lexicalized families: `label_classes.closed_class_tags` finds them in a treebank.

    Labels are read without function tags, words in lowercase. Threads that share an extractor take turns.
    """

    def __init__(self, families, heads, max_count=4, *, closed_tags=()):
        self.families, self.heads = check_families(families), heads
        self.max_count, self.closed_tags = check_max_count(max_count), tuple(sorted(set(closed_tags)))
        self.packed = PackedTrees(heads, self.closed_tags)
        self.lock = Lock()
        map_init(&self.part_numbers)
        map_init(&self.feature_numbers)
        for name in self.families:
            self._choose(name)

    def _choose(self, str name):
        cdef ChosenC family
        cdef str plain = name.removeprefix(LEXICALIZED)
        family.extract = _function_of(plain.encode())
        family.family, family.lexicalized = extended(0, text_value(name)), plain != name
        family.scope = {"phrase": PHRASE, "word": WORD, "subtree": SUBTREE}[SCOPES[name]]
        family.max_count = MAX_LENGTH if name == "right-branch" else self.max_count
        self.chosen.push_back(family)
        self.scopes |= family.scope

    def keys(self, trees, *, drop_common=True):
        """Return (starts, keys): the keys of tree k are keys[starts[k] : starts[k + 1]], distinct and ascending.

        starts: (n + 1,) int64. keys: uint64, of indicators. drop_common: leave out the keys that all trees have.
        Raises ValueError if there are no trees, or if they have different words.
        """
        cdef vector[IndicatorC] found
        with self.lock:
            self._extract(list(trees), drop_common)
            self._indicators(drop_common, &found)
            return self._by_tree(&found, False)

    def columns(self, trees, columns):
        """Return (starts, columns) as `keys`, but columns (int32, ascending) instead of keys, without unknown features.

        columns: the `FeatureColumns`. Features that all trees have are left out.
        """
        cdef vector[IndicatorC] found
        with self.lock:
            self._extract(list(trees), True)
            self._indicators(True, &found)
            _look_up(columns.table, &found)
            return self._by_tree(&found, True)

    def __reduce__(self):
        return partial(FeatureExtractor, closed_tags=self.closed_tags), (self.families, self.heads, self.max_count)

    cdef int _extract(self, list trees, bint drop_common) except -1:
        """Count the features of the trees."""
        cdef size_t part
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
        return 0

    cdef int _find_parts(self) except -1:
        """Find the parts of all trees, and how often each tree has them."""
        cdef Py_ssize_t k
        cdef int32_t node
        cdef TreeC tree
        self.parts.clear()
        self.part_counts.clear()
        map_clear(&self.part_numbers)
        for k in range(self.packed.n_trees):
            tree = self.packed.tree(k, True)
            if self.scopes & (PHRASE | WORD):
                node_signatures(&tree, &self.signatures)
                for node in range(tree.n_nodes):
                    self._add_part(k, node, WORD if tree.sizes[node] == 1 else PHRASE)
            if self.scopes & SUBTREE:
                subtree_signatures(&tree, &self.signatures)
                for node in range(tree.n_nodes):
                    if tree.sizes[node] > 1:
                        self._add_part(k, node, SUBTREE)
        self._mark_varying()
        return 0

    cdef int _add_part(self, Py_ssize_t tree, int32_t node, int scope) except -1:
        cdef uint64_t signature = self.signatures[node]
        cdef int32_t part = map_find(&self.part_numbers, signature)
        if part < 0:
            part = <int32_t>self.parts.size()
            map_insert(&self.part_numbers, signature, part)
            self.parts.push_back(PartC(<int32_t>tree, node, scope, False))
            self.part_counts.resize(self.part_counts.size() + self.packed.n_trees, 0)
        self.part_counts[part * self.packed.n_trees + tree] += 1
        return 0

    cdef void _mark_varying(self) noexcept:
        cdef size_t part, n = self.packed.n_trees, k
        cdef const int32_t* counts
        for part in range(self.parts.size()):
            counts = self.part_counts.data() + part * n
            for k in range(1, n):
                if counts[k] != counts[0]:
                    self.parts[part].varies = True
                    break

    cdef int _count_part(self, size_t part, bint only_known) except -1:
        """Add the features of a part to the trees that have it; `only_known`: only features counted already."""
        cdef size_t k, i
        cdef const int32_t* counts = self.part_counts.data() + part * self.packed.n_trees
        cdef int32_t node = self.parts[part].node
        cdef TreeC plain = self.packed.tree(self.parts[part].tree, False)
        cdef TreeC lexicalized = self.packed.tree(self.parts[part].tree, True)
        for k in range(self.chosen.size()):
            if self.chosen[k].scope == self.parts[part].scope:
                self._emit(&self.chosen[k], node, &plain, &lexicalized)
                for i in range(self.keys_found.size()):
                    self._count_key(self.keys_found[i], self.chosen[k].max_count, counts, only_known)
        return 0

    cdef int _emit(
        self, const ChosenC* family, int32_t node, const TreeC* plain, const TreeC* lexicalized
    ) except -1:
        """Find the keys of a family at a node."""
        cdef size_t k, n = 0
        self.keys_found.clear()
        family.extract(lexicalized if family.lexicalized else plain, node, family.family, &self.keys_found)
        if not family.lexicalized:
            return 0
        # Where no label has a word of a closed class, the second pass finds what the first one did.
        self.plain_keys.clear()
        family.extract(plain, node, family.family, &self.plain_keys)
        for k in range(self.keys_found.size()):
            if self.keys_found[k] != self.plain_keys[k]:
                self.keys_found[n] = self.keys_found[k]
                n += 1
        self.keys_found.resize(n)
        return 0

    cdef int _count_key(self, uint64_t key, int32_t max_count, const int32_t* counts, bint only_known) except -1:
        cdef int32_t feature = map_find(&self.feature_numbers, key), k
        cdef int32_t n = <int32_t>self.packed.n_trees
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
        return 0

    cdef int _indicators(self, bint drop_common, vector[IndicatorC]* found) except -1:
        """List the indicators that some tree has; with `drop_common` only those that some tree lacks."""
        cdef size_t feature, n = self.packed.n_trees, k
        cdef int32_t least, most, count
        cdef const int32_t* counts
        for feature in range(self.features.size()):
            counts = self.feature_counts.data() + feature * n
            least = most = counts[0]
            for k in range(1, n):
                least, most = min(least, counts[k]), max(most, counts[k])
            for count in range(least + 1 if drop_common else 1, min(most, self.max_counts[feature]) + 1):
                found.push_back(IndicatorC(extended(self.features[feature], number(count)), <int32_t>feature, count))
        return 0

    cdef tuple _by_tree(self, vector[IndicatorC]* found, bint as_columns):
        """Return where the values of each tree begin, and the values."""
        cdef vector[int64_t] starts
        cdef vector[int32_t] columns
        cdef vector[uint64_t] keys
        cdef size_t k, n = self.packed.n_trees, i
        starts.push_back(0)
        sort(found.begin(), found.end(), _is_before)
        for k in range(n):
            for i in range(found.size()):
                if self.feature_counts[found[0][i].feature * n + k] >= found[0][i].count:
                    if as_columns:
                        columns.push_back(<int32_t>found[0][i].value)
                    else:
                        keys.push_back(found[0][i].value)
            starts.push_back(columns.size() if as_columns else keys.size())
        values = _array(columns.data(), columns.size() * 4, "i4") if as_columns else \
            _array(keys.data(), keys.size() * 8, "u8")
        return _array(starts.data(), starts.size() * 8, "i8"), values


cdef FamilyC _function_of(bytes name) except NULL:
    """Return the function of a family that is not lexicalized."""
    cdef vector[NamedFamilyC] table
    cdef size_t k
    add_collins_families(&table)
    add_charniak_johnson_families(&table)
    for k in range(table.size()):
        if table[k].name == name:
            return table[k].extract
    raise KeyError(name)


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
    return 0
