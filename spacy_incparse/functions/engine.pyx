"""Decisions on a tree, top down and from left to right: functions, then empty categories, then antecedents.

Training makes the same decisions as they are in gold trees and keeps their features.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.algorithm cimport reverse, sort
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.linear.extraction cimport Templates, TemplatesC, position_sums
from spacy_incparse.linear.hash_map cimport HashMapC, map_find, map_init, map_insert
from spacy_incparse.rerank.families cimport (
    TreeC, argument, extended, length_bin, number, plus2, plus3, text_value,
)
from spacy_incparse.rerank.tree_reader cimport TreeReader
from spacy_incparse.tagging.tagger_model cimport WeightsC, add_all_scores, fill_weights

from spacy_incparse.functions.templates import FIELDS, table
from spacy_incparse.linear.words import GROUP_LENGTH, word_class_of

cdef enum:
    FUNCTIONS = 0  # the kinds of decisions
    EMPTIES = 1
    ANTECEDENTS = 2
    MOST_FIELDS = 64
    MOST_WORDS = 1 << 18  # then the table of words is cleared
    NONE_CLASS = 0  # no function, no empty category
    UNKNOWN = -1  # of a decision in training: it is not learnt
    LOST = -(1 << 30)  # likewise of an antecedent
    NO_SIDE = 0  # the sides of candidates
    LEFT = 2
    RIGHT = 3
    INSIDE = 4  # of a phrase on the right

# The fields of templates.py, in its order.
cdef enum:
    L, P, G, F, FP, HW, HT, PW, PT, GW, VW, VT, UW, UT, YW, FW, FT, RULE, N_PHRASE_FIELDS
    F_HC = 18, F_OC, F_HK, F_HB, F_OK, F_OB, F_UK, F_UB, F_L1, F_L2, F_R1, F_R2, F_LH, F_RH, F_D, F_OW, F_OT, F_EW
    F_ET, F_BW, F_BT, F_AW, F_AT, F_RP, F_LEN, F_FL, F_FA, F_C1, F_CN
    E_A = 18, E_A2, E_B, E_B2, E_FA, E_FB, E_AW, E_BW, E_FS, E_FPS, E_LW, E_LT, E_NW, E_NT, E_D, E_WH, E_WW, E_WF
    E_WP, E_WD, E_I, E_IP, E_QUOTED, E_VK, E_UK, E_YK
    A_E = 18, A_C, A_CF, A_CW, A_CT, A_UP, A_SIDE, A_NTH, A_A, A_AV, A_DOWN, A_CLAUSES, A_MARK, A_FG, A_CK, A_YK

# A phrase that waits for its gap.
cdef struct FillerC:
    uint64_t label
    uint64_t word
    int32_t node      # the phrase, or the one that has it, if it is itself empty
    int32_t place     # of an empty one between the children; -1: it has words
    bint is_filled
    int32_t margin    # of the best slot for a gap: how much less it scores than no empty category
    int32_t best_node
    int32_t best_place
    int32_t best_class


# A place between the children of a phrase that has an empty category.
cdef struct SlotC:
    int32_t node
    int32_t place
    int32_t number    # of the class
    int32_t filler    # whose gap it is; -1: of none


# An empty category of a class; classes may have several.
cdef struct ElementC:
    uint64_t value     # of its text
    uint64_t label     # category of the phrase; 0: it is no phrase, and no antecedent
    uint64_t functions
    bint refers        # may have an antecedent
    bint is_gap
    bint looks_down    # its antecedent may be inside of the phrase after it


cdef struct EmptyC:
    int32_t slot
    ElementC element


cdef struct CandidateC:
    int32_t node       # -1: an empty category
    int32_t empty
    int32_t above      # its parent
    int32_t up
    int32_t side
    int32_t clauses
    uint64_t label
    uint64_t down


# What one kind of decision has learnt, or learns.
cdef struct DecisionC:
    WeightsC weights
    int32_t n_classes
    HashMapC rows                   # hash of a situation -> its row
    vector[int32_t] first_classes   # of each row, and the end of the last one
    vector[int32_t] possible        # the classes of all rows
    vector[uint32_t] keys           # of the decision at hand
    vector[int32_t] scores
    vector[uint32_t] all_keys       # of all examples
    vector[int32_t] targets
    vector[int32_t] example_rows


cdef class Engine:
    """Makes decisions with `set_decision` and `set_empties`, or collects examples for learning them.

    heads: the head table.
    """
    cdef TreeReader reader
    cdef object heads
    cdef dict word_numbers
    cdef vector[uint64_t] word_values, shape_values, cluster_values, group_values  # by number
    cdef object clusters
    cdef DecisionC decisions[3]
    cdef list templates
    cdef const TemplatesC* tables[3]
    cdef vector[uint64_t] sums
    cdef bint is_learning
    # of classes
    cdef vector[uint64_t] function_values
    cdef vector[ElementC] elements
    cdef vector[int32_t] first_elements
    cdef HashMapC fillers_known   # categories that may wait for a gap
    cdef HashMapC gaps            # (category of a filler, class)
    cdef HashMapC pairs           # (empty category, category of an antecedent)
    cdef int32_t patience
    # of the tree at hand
    cdef TreeC tree
    cdef vector[uint64_t] functions, all_functions, paths, inserted
    cdef vector[int32_t] numbers, verbs, chosen, open_fillers, filler_depths
    cdef vector[FillerC] fillers
    cdef vector[SlotC] slots
    cdef vector[EmptyC] empties
    cdef vector[CandidateC] candidates
    cdef vector[int32_t] antecedents
    cdef uint32_t values[MOST_FIELDS]
    cdef uint64_t quoted

    def __init__(self, heads, clusters=None, is_learning=False):
        self.heads, self.clusters, self.is_learning = heads, clusters, is_learning
        self.reader = TreeReader(heads, ())
        self.word_numbers = {}
        self.templates = [Templates(table(name)) for name in FIELDS]
        cdef int kind
        for kind in range(3):
            self.tables[kind] = &(<Templates>self.templates[kind]).c
            self.decisions[kind].keys.resize(self.tables[kind].n)
            self.sums.resize(max(<int>self.sums.size(), self.tables[kind].n))
            map_init(&self.decisions[kind].rows)
            map_init(&self.decisions[kind].weights.runs)
        map_init(&self.fillers_known)
        map_init(&self.gaps)
        map_init(&self.pairs)
        self.quoted = text_value("TPC")

    def set_rows(self, int kind, int n_classes, rows):
        """Set which classes are possible where: pairs of a situation, which is a tuple of categories, and classes."""
        cdef DecisionC* decision = &self.decisions[kind]
        cdef uint64_t key
        map_init(&decision.rows)
        decision.first_classes.clear()
        decision.possible.clear()
        decision.n_classes = n_classes
        decision.scores.resize(max(n_classes, 1))
        for categories, classes in rows:
            key = 0
            for category in categories:
                key = extended(key, text_value(category) if category else 0)
            map_insert(&decision.rows, key, <int32_t>decision.first_classes.size())
            decision.first_classes.push_back(<int32_t>decision.possible.size())
            for number_of in classes:
                decision.possible.push_back(number_of)
        decision.first_classes.push_back(<int32_t>decision.possible.size())

    def set_weights(self, int kind, bytes keys, bytes lengths, bytes tags, bytes values):
        """Set the weights: the bytes of the arrays of `tagging.tagger.SparseWeights`."""
        fill_weights(&self.decisions[kind].weights, keys, lengths, tags, values, len(keys) // sizeof(uint32_t))

    def set_functions(self, texts):
        """Set the classes of functions: "SBJ", "LOC-PRD"; the first is ""."""
        self.function_values = [text_value(text) if text else 0 for text in texts]

    def set_empties(self, classes, fillers, gaps, pairs, int patience):
        """Set the classes of empty categories: for each its elements.

        An element: (text, category or "", functions, is_gap, refers, looks_down). fillers: categories. gaps: pairs of a
        filler's category and a class. pairs: of the text of an element and the category of an antecedent. patience: by
        how much a gap may score less than none, if a filler has no other.
        """
        self.elements.clear()
        self.first_elements.clear()
        for elements in classes:
            self.first_elements.push_back(<int32_t>self.elements.size())
            for text, category, tags, is_gap, refers, looks_down in elements:
                self.elements.push_back(ElementC(
                    text_value(text), text_value(category) if category else 0, text_value(tags) if tags else 0, refers,
                    is_gap, looks_down,
                ))
        self.first_elements.push_back(<int32_t>self.elements.size())
        self.patience = patience
        map_init(&self.fillers_known)
        map_init(&self.gaps)
        map_init(&self.pairs)
        for category in fillers:
            map_insert(&self.fillers_known, text_value(category), 1)
        for category, number_of in gaps:
            map_insert(&self.gaps, plus2(0, text_value(category), number(number_of)), 1)
        for text, category in pairs:
            map_insert(&self.pairs, plus2(0, text_value(text), text_value(category)), 1)

    def examples(self, int kind):
        """Return the examples collected: keys (n, templates) uint32, classes (n,) int32 and rows (n,) int32.

        An example of an antecedent is a candidate: the row is the number of the empty category, the class whether the
        candidate is the antecedent.
        """
        cdef DecisionC* decision = &self.decisions[kind]
        cdef size_t n = decision.targets.size()
        keys = np.frombuffer(_bytes(decision.all_keys.data(), n * decision.keys.size() * 4), np.uint32)
        targets = np.frombuffer(_bytes(decision.targets.data(), n * 4), np.int32)
        rows = np.frombuffer(_bytes(decision.example_rows.data(), n * 4), np.int32)
        decision.all_keys = vector[uint32_t]()
        decision.targets.clear()
        decision.example_rows.clear()
        return keys.reshape(n, decision.keys.size()), targets, rows

    def read(self, arrays):
        """Read a tree: what follows is about it. Its nodes have no functions yet."""
        cdef int32_t found
        cdef TreeC* tree = &self.tree
        if len(self.word_numbers) > MOST_WORDS:
            self.word_numbers = {}
            self.word_values.clear()
            self.shape_values.clear()
            self.cluster_values.clear()
            self.group_values.clear()
        tree.words.clear()
        self.numbers.clear()
        for word in arrays.words:
            known = self.word_numbers.get(word)
            found = self._new_word(word) if known is None else known
            tree.words.push_back(self.word_values[found])
            self.numbers.push_back(found)
        self.reader.read(arrays, tree)
        self.functions.assign(tree.n_nodes, 0)
        self.chosen.assign(tree.n_nodes, NONE_CLASS)
        with nogil:
            self._find_verbs()

    cdef int32_t _new_word(self, word) except -1:
        cdef int32_t found = <int32_t>self.word_values.size()
        self.word_numbers[word] = found
        self.word_values.push_back(text_value(word.lower()))
        self.shape_values.push_back(text_value(word_class_of(word)))
        path = self.clusters.path(word) if self.clusters else ""
        self.cluster_values.push_back(text_value(path) if path else 0)
        self.group_values.push_back(text_value(path[:GROUP_LENGTH]) if path else 0)
        return found

    cdef int _find_verbs(self) except -1 nogil:
        """Find the lexical head of each node: through the first child of the same category, or else the head child."""
        cdef const TreeC* tree = &self.tree
        cdef int32_t node, child
        self.verbs.resize(tree.n_nodes)
        for node in range(tree.n_nodes - 1, -1, -1):
            self.verbs[node] = tree.starts[node] if tree.sizes[node] == 1 else self.verbs[tree.heads[node]]
            child = node + 1
            while child < node + tree.sizes[node]:
                if tree.labels[child] == tree.labels[node] and tree.sizes[child] > 1:
                    self.verbs[node] = self.verbs[child]
                    break
                child += tree.sizes[child]

    # Functions

    def find_functions(self):
        """Decide on the functions; return their classes by node."""
        with nogil:
            self._walk_functions(NULL)
        return list(self.chosen)

    def set_gold_functions(self, classes):
        """Give each node its function, by class; when learning, keep examples. UNKNOWN: none is known."""
        cdef vector[int32_t] gold = classes
        with nogil:
            self._walk_functions(gold.data())

    cdef int _walk_functions(self, const int32_t* gold) except -1 nogil:
        cdef const TreeC* tree = &self.tree
        cdef DecisionC* decision = &self.decisions[FUNCTIONS]
        cdef int32_t node, child, before, before2, place, row
        cdef uint64_t last, all_before
        for node in range(tree.n_nodes):
            child, before, before2, place, last, all_before = node + 1, -1, -1, 0, 0, 0
            while child < node + tree.sizes[node]:
                if tree.sizes[child] > 1:
                    row = map_find(&decision.rows, extended(0, tree.labels[child]))
                    if gold != NULL:
                        self.chosen[child] = gold[child]
                    if row >= 0 and (gold == NULL or (self.is_learning and gold[child] >= 0)):
                        self._phrase_fields(child)
                        self._function_fields(child, before, before2, place, last, all_before)
                        self._make_keys(FUNCTIONS)
                        if gold == NULL:
                            self._score(decision)
                            self.chosen[child] = best_class(decision, row)
                        else:
                            keep_example(decision, gold[child], row)
                    if self.chosen[child] > 0:
                        self.functions[child] = last = self.function_values[self.chosen[child]]
                        all_before = extended(all_before, last)
                before2, before = before, child
                place += 1
                child += tree.sizes[child]
        self.all_functions.assign(tree.n_nodes, 0)
        for node in range(1, tree.n_nodes):
            if self.functions[node]:
                self.all_functions[tree.parents[node]] = extended(
                    self.all_functions[tree.parents[node]], self.functions[node]
                )

    cdef void _phrase_fields(self, int32_t node) noexcept nogil:
        cdef const TreeC* tree = &self.tree
        cdef uint32_t* v = self.values
        cdef int32_t above = tree.parents[node], top = tree.parents[above] if above >= 0 else -1
        v[L], v[F], v[RULE] = low(tree.labels[node]), low(self.functions[node]), low(tree.rules[node])
        v[HW], v[HT] = self._word(tree.head_words[node]), self._tag(tree.head_words[node])
        v[VW], v[VT] = self._word(self.verbs[node]), self._tag(self.verbs[node])
        v[FW], v[FT] = self._word(tree.starts[node]), self._tag(tree.starts[node])
        v[P] = v[FP] = v[PW] = v[PT] = v[UW] = v[UT] = v[G] = v[GW] = v[YW] = 0
        if above >= 0:
            v[P], v[FP] = low(tree.labels[above]), low(self.functions[above])
            v[PW], v[PT] = self._word(tree.head_words[above]), self._tag(tree.head_words[above])
            v[UW], v[UT] = self._word(self.verbs[above]), self._tag(self.verbs[above])
        if top >= 0:
            v[G], v[GW], v[YW] = low(tree.labels[top]), self._word(tree.head_words[top]), self._word(self.verbs[top])

    cdef void _function_fields(self, int32_t node, int32_t before, int32_t before2, int32_t place, uint64_t last,
                               uint64_t all_before) noexcept nogil:
        cdef const TreeC* tree = &self.tree
        cdef uint32_t* v = self.values
        cdef int32_t above = tree.parents[node], behind = above + tree.sizes[above], child = node + 1
        cdef int32_t after = node + tree.sizes[node], after2, inner = argument(tree, node)
        after = after if after < behind else -1
        after2 = after + tree.sizes[after] if after >= 0 else behind
        after2 = after2 if after2 < behind else -1
        cdef int32_t head = self.numbers[tree.head_words[node]], verb = self.numbers[self.verbs[above]], object_ = -1
        v[F_HC], v[F_HK], v[F_HB] = (
            low(self.shape_values[head]), low(self.cluster_values[head]), low(self.group_values[head])
        )
        v[F_UK], v[F_UB] = low(self.cluster_values[verb]), low(self.group_values[verb])
        v[F_OC] = v[F_OK] = v[F_OB] = 0
        if inner >= 0:
            object_ = self.numbers[self.verbs[inner]]
            v[F_OC], v[F_OK], v[F_OB] = (
                low(self.shape_values[object_]), low(self.cluster_values[object_]), low(self.group_values[object_])
            )
        v[F_OW] = self._word(self.verbs[inner]) if inner >= 0 else 0
        v[F_OT] = self._tag(tree.head_words[inner]) if inner >= 0 else 0
        v[F_L1], v[F_L2], v[F_R1], v[F_R2] = (
            self._label(before), self._label(before2), self._label(after), self._label(after2)
        )
        v[F_LH] = self._word(tree.head_words[before]) if before >= 0 else 0
        v[F_RH] = self._word(tree.head_words[after]) if after >= 0 else 0
        v[F_D] = beside(place - tree.head_numbers[above])
        v[F_EW], v[F_ET] = self._word(tree.ends[node] - 1), self._tag(tree.ends[node] - 1)
        v[F_BW], v[F_BT] = self._word(tree.starts[node] - 1), self._tag(tree.starts[node] - 1)
        v[F_AW], v[F_AT] = self._word(tree.ends[node]), self._tag(tree.ends[node])
        v[F_RP] = low(tree.rules[above])
        v[F_LEN] = <uint32_t>length_bin(tree.ends[node] - tree.starts[node])
        v[F_FL], v[F_FA] = low(last), low(all_before)
        v[F_C1] = self._label(child)
        while child + tree.sizes[child] < node + tree.sizes[node]:
            child += tree.sizes[child]
        v[F_CN] = self._label(child)

    # Empty categories

    def find_empties(self):
        """Decide on empty categories and their antecedents.

        Return (node, place, class) of each slot that has some, in order, and for each element of these classes the
        antecedent: a node, or -2 - k for the element k, or -1 for none.
        """
        with nogil:
            self._walk_empties(NULL, 0)
            self._fill_gaps()
            self._list_empties()
            self._walk_antecedents(NULL)
        return [(slot.node, slot.place, slot.number) for slot in self.slots], list(self.antecedents)

    def set_gold_empties(self, slots, antecedents, unknown):
        """Keep examples of empty categories; slots and antecedents are as `find_empties` returns them.

        unknown: nodes about whose places nothing is known.
        """
        cdef vector[SlotC] gold
        cdef vector[int32_t] gold_antecedents = antecedents
        for node, place, number_of in slots:
            gold.push_back(SlotC(node, place, number_of, -1))
        gold.push_back(SlotC(self.tree.n_nodes, 0, 0, -1))
        for node in unknown:
            self.chosen[node] = UNKNOWN
        with nogil:
            self._walk_empties(gold.data(), gold.size() - 1)
            self._list_empties()
            self._walk_antecedents(gold_antecedents.data())

    cdef int _walk_empties(self, const SlotC* gold, size_t n_gold) except -1 nogil:
        """Decide on each slot. `gold` ends with one behind the last node."""
        cdef const TreeC* tree = &self.tree
        cdef int32_t node, child, before, before2, place, behind, number_of, filler
        cdef bint is_known, is_new
        self.slots.clear()
        self.fillers.clear()
        self.open_fillers.assign(tree.n_nodes, -1)
        self.filler_depths.assign(tree.n_nodes, 0)
        self.paths.assign(tree.n_nodes, 0)
        self.inserted.assign(tree.n_nodes, 0)
        for node in range(tree.n_nodes):
            if tree.sizes[node] == 1:
                continue
            self._phrase_fields(node)
            child, before, before2, place, behind = node + 1, -1, -1, 0, node + tree.sizes[node]
            filler, is_known = self.open_fillers[node], gold == NULL or self.chosen[node] != UNKNOWN
            while True:
                number_of = NONE_CLASS
                if gold != NULL and gold.node == node and gold.place == place:
                    number_of = gold.number
                    gold += 1
                if is_known:
                    number_of = self._decide_slot(
                        node, place, child if child < behind else -1, before, before2, filler, gold != NULL, number_of
                    )
                if number_of > 0:
                    filler = self._insert(node, place, number_of, filler)
                if child >= behind:
                    break
                if map_find(&self.fillers_known, tree.labels[child]) >= 0 and tree.sizes[child] > 1:
                    self.fillers.push_back(FillerC(
                        tree.labels[child], tree.words[tree.head_words[child]], child, -1, False, -(1 << 30), -1, -1, 0
                    ))
                    filler = <int32_t>self.fillers.size() - 1
                else:
                    self.open_fillers[child] = filler
                    if filler >= 0:
                        is_new = filler != self.open_fillers[node]
                        self.paths[child] = extended(0 if is_new else self.paths[node], tree.labels[child])
                        self.filler_depths[child] = 1 if is_new else self.filler_depths[node] + 1
                before2, before = before, child
                child += tree.sizes[child]
                place += 1

    cdef int32_t _decide_slot(self, int32_t node, int32_t place, int32_t after, int32_t before, int32_t before2,
                              int32_t filler, bint is_gold, int32_t number_of) except -2 nogil:
        """Return the class of a slot: the given one, with an example of it, or the best one."""
        cdef const TreeC* tree = &self.tree
        cdef DecisionC* decision = &self.decisions[EMPTIES]
        cdef uint64_t situation = plus3(
            0, tree.labels[node], tree.labels[before] if before >= 0 else 0, tree.labels[after] if after >= 0 else 0
        )
        cdef int32_t row = map_find(&decision.rows, situation), k, margin
        cdef FillerC* waiting
        if row < 0 or (is_gold and not self.is_learning):
            return number_of
        self._slot_fields(node, place, after, before, before2, filler)
        self._make_keys(EMPTIES)
        if is_gold:
            keep_example(decision, number_of, row)
            return number_of
        self._score(decision)
        number_of = best_class(decision, row)
        if filler >= 0 and number_of == NONE_CLASS and not self.fillers[filler].is_filled:
            waiting = &self.fillers[filler]
            for k in range(decision.first_classes[row], decision.first_classes[row + 1]):
                margin = decision.scores[decision.possible[k]] - decision.scores[NONE_CLASS]
                if margin > waiting.margin and self._is_gap(waiting.label, decision.possible[k]):
                    waiting.margin, waiting.best_class = margin, decision.possible[k]
                    waiting.best_node, waiting.best_place = node, place
        return number_of

    cdef bint _is_gap(self, uint64_t label, int32_t number_of) noexcept nogil:
        return map_find(&self.gaps, plus2(0, label, number(number_of))) >= 0

    cdef int32_t _insert(self, int32_t node, int32_t place, int32_t number_of, int32_t filler) except -2 nogil:
        """Put a class into a slot. Return the filler that is open behind it."""
        cdef int32_t k, of_gap = -1
        self.inserted[node] = extended(self.inserted[node], number(number_of))
        if filler >= 0 and not self.fillers[filler].is_filled and self._is_gap(self.fillers[filler].label, number_of):
            self.fillers[filler].is_filled = True
            of_gap = filler
        self.slots.push_back(SlotC(node, place, number_of, of_gap))
        for k in range(self.first_elements[number_of], self.first_elements[number_of + 1]):
            if self.elements[k].label and map_find(&self.fillers_known, self.elements[k].label) >= 0:
                self.fillers.push_back(FillerC(
                    self.elements[k].label, 0, node, place, False, -(1 << 30), -1, -1, 0
                ))
                return <int32_t>self.fillers.size() - 1
        return filler

    cdef int _fill_gaps(self) except -1 nogil:
        """Give each filler without a gap the best slot, if that does not score too badly."""
        cdef size_t k
        cdef const FillerC* filler
        for k in range(self.fillers.size()):
            filler = &self.fillers[k]
            if not filler.is_filled and filler.best_node >= 0 and filler.margin >= -self.patience:
                self.slots.push_back(SlotC(filler.best_node, filler.best_place, filler.best_class, <int32_t>k))

    cdef void _slot_fields(self, int32_t node, int32_t place, int32_t after, int32_t before, int32_t before2,
                           int32_t filler) noexcept nogil:
        cdef const TreeC* tree = &self.tree
        cdef uint32_t* v = self.values
        cdef int32_t above = tree.parents[node], next_word, after2 = -1
        if after >= 0:
            after2 = after + tree.sizes[after]
            after2 = after2 if after2 < node + tree.sizes[node] else -1
        next_word = tree.starts[after] if after >= 0 else tree.ends[node]
        v[E_A], v[E_A2], v[E_B], v[E_B2] = (
            self._label(before), self._label(before2), self._label(after), self._label(after2)
        )
        v[E_FA] = low(self.functions[before]) if before >= 0 else 0
        v[E_FB] = low(self.functions[after]) if after >= 0 else 0
        v[E_AW] = self._word(self.verbs[before]) if before >= 0 else 0
        v[E_BW] = self._word(self.verbs[after]) if after >= 0 else 0
        v[E_FS], v[E_FPS] = low(self.all_functions[node]), low(self.all_functions[above]) if above >= 0 else 0
        v[E_LW], v[E_LT] = self._word(next_word - 1), self._tag(next_word - 1)
        v[E_NW], v[E_NT] = self._word(next_word), self._tag(next_word)
        v[E_D] = beside(place - tree.head_numbers[node])
        v[E_WH] = v[E_WW] = v[E_WF] = v[E_WP] = v[E_WD] = 0
        if filler >= 0:
            v[E_WH], v[E_WW] = low(self.fillers[filler].label), low(self.fillers[filler].word)
            v[E_WF] = 1 + self.fillers[filler].is_filled
            if filler == self.open_fillers[node]:
                v[E_WP], v[E_WD] = low(self.paths[node]), self.filler_depths[node]
        v[E_I] = low(self.inserted[node])
        v[E_IP] = low(self.inserted[above]) if above >= 0 else 0
        v[E_QUOTED] = self._has_topic(above)
        v[E_VK], v[E_UK], v[E_YK] = self._group(self.verbs[node]), 0, 0
        if above >= 0:
            v[E_UK] = self._group(self.verbs[above])
            v[E_YK] = self._group(self.verbs[tree.parents[above]]) if tree.parents[above] >= 0 else 0

    cdef uint32_t _has_topic(self, int32_t node) noexcept nogil:
        cdef int32_t child = node + 1
        if node < 0 or not self.all_functions[node]:
            return 0
        while child < node + self.tree.sizes[node]:
            if self.functions[child] == self.quoted:
                return 1
            child += self.tree.sizes[child]
        return 0

    # Antecedents

    cdef int _list_empties(self) except -1 nogil:
        """List the elements of all slots."""
        cdef size_t i
        cdef int32_t k
        sort(self.slots.begin(), self.slots.end(), is_before)
        self.empties.clear()
        for i in range(self.slots.size()):
            for k in range(self.first_elements[self.slots[i].number], self.first_elements[self.slots[i].number + 1]):
                self.empties.push_back(EmptyC(<int32_t>i, self.elements[k]))

    cdef int _walk_antecedents(self, const int32_t* gold) except -1 nogil:
        cdef DecisionC* decision = &self.decisions[ANTECEDENTS]
        cdef size_t k, i
        cdef int32_t best, score, found, group, target
        cdef const SlotC* slot
        self.antecedents.assign(self.empties.size(), -1)
        for k in range(self.empties.size()):
            if not self.empties[k].element.refers:
                continue
            slot = &self.slots[self.empties[k].slot]
            if slot.filler >= 0 and self.empties[k].element.is_gap:
                self.antecedents[k] = self._filler_of(&self.fillers[slot.filler])
                continue
            if gold != NULL and gold[k] == LOST:
                continue
            self._find_candidates(<int32_t>k)
            self._phrase_fields(slot.node)
            if gold != NULL:
                found = -1
                for i in range(self.candidates.size()):
                    target = self._name_of(&self.candidates[i])
                    if target == gold[k]:
                        found = <int32_t>i
                if not self.is_learning or found < 0:
                    continue
                group = 0 if decision.example_rows.empty() else decision.example_rows.back() + 1
            best = 0
            for i in range(self.candidates.size()):
                self._antecedent_fields(<int32_t>k, &self.candidates[i], <int32_t>i)
                self._make_keys(ANTECEDENTS)
                if gold != NULL:
                    keep_example(decision, <int32_t>i == found, group)
                    continue
                self._score(decision)
                score = decision.scores[0]
                if i == 0 or score > best:
                    best = score
                    self.antecedents[k] = self._name_of(&self.candidates[i])

    cdef int32_t _filler_of(self, const FillerC* filler) noexcept nogil:
        cdef size_t k
        cdef const SlotC* slot
        if filler.place < 0:
            return filler.node
        for k in range(self.empties.size()):
            slot = &self.slots[self.empties[k].slot]
            if (slot.node == filler.node and slot.place == filler.place
                    and self.empties[k].element.label == filler.label):
                return -2 - <int32_t>k
        return -1

    cdef int32_t _name_of(self, const CandidateC* candidate) noexcept nogil:
        if candidate.node >= 0:
            return candidate.node
        return -2 - candidate.empty if candidate.empty >= 0 else -1

    cdef int _find_candidates(self, int32_t number_of) except -1 nogil:
        """List no candidate at all, then phrases that c-command an empty category, the nearest first."""
        cdef const TreeC* tree = &self.tree
        cdef const EmptyC* one = &self.empties[number_of]
        cdef int32_t node = self.slots[one.slot].node, below = -1, child, up = 0, clauses = 0, place, own_place
        cdef int32_t side
        cdef size_t k, first
        cdef uint64_t down = 0
        cdef CandidateC found
        cdef const SlotC* slot
        self.candidates.clear()
        self.candidates.push_back(CandidateC(-1, -1, node, 0, NO_SIDE, 0, 0, 0))
        while node >= 0:
            first = self.candidates.size()
            child, place = node + 1, 0
            own_place = self.slots[one.slot].place if below < 0 else -1
            while child < node + tree.sizes[node]:
                if child == below:
                    own_place = place
                elif tree.sizes[child] > 1:
                    side = LEFT if own_place < 0 or place < own_place else RIGHT
                    found = CandidateC(child, -1, node, up, side, clauses, tree.labels[child], down)
                    self._add_candidate(one, &found)
                    if one.element.looks_down and side == RIGHT:
                        self._look_down(one, &found)
                child += tree.sizes[child]
                place += 1
            for k in range(self.empties.size()):
                slot = &self.slots[self.empties[k].slot]
                if <int32_t>k != number_of and slot.node == node and self.empties[k].element.label:
                    side = LEFT if slot.place <= own_place else RIGHT
                    found = CandidateC(-1, <int32_t>k, node, up, side, clauses, self.empties[k].element.label, down)
                    self._add_candidate(one, &found)
            self._reverse_left(first)
            down = extended(down, tree.labels[node])
            below, node = node, tree.parents[node]
            up += 1
            clauses += node >= 0 and self.verbs[node] != self.verbs[below]

    cdef int _look_down(self, const EmptyC* one, const CandidateC* top) except -1 nogil:
        """Add what stands behind the heads inside of a phrase."""
        cdef const TreeC* tree = &self.tree
        cdef int32_t node = top.node, child, inner
        cdef CandidateC found
        while tree.sizes[node] > 1:
            inner, child = tree.heads[node], node + 1
            while child < node + tree.sizes[node]:
                if tree.labels[child] == tree.labels[node]:
                    inner = child
                elif child > inner and tree.sizes[child] > 1:
                    found = CandidateC(
                        child, -1, node, top.up, INSIDE, top.clauses, tree.labels[child], extended(0, tree.labels[node])
                    )
                    self._add_candidate(one, &found)
                child += tree.sizes[child]
            node = inner

    cdef int _add_candidate(self, const EmptyC* one, const CandidateC* found) except -1 nogil:
        if map_find(&self.pairs, plus2(0, one.element.value, found.label)) >= 0:
            self.candidates.push_back(found[0])

    cdef void _reverse_left(self, size_t first) noexcept nogil:
        """Put the nearest phrase first, among those to the left in the candidates from the first one on."""
        cdef size_t behind = first
        while behind < self.candidates.size() and self.candidates[behind].side == LEFT:
            if self.candidates[behind].node < 0:
                break
            behind += 1
        reverse(self.candidates.begin() + first, self.candidates.begin() + behind)

    cdef void _antecedent_fields(self, int32_t number_of, const CandidateC* candidate, int32_t place) noexcept nogil:
        cdef const TreeC* tree = &self.tree
        cdef uint32_t* v = self.values
        cdef int32_t k, nth = 1, node = self.slots[self.empties[number_of].slot].node, above = tree.parents[node]
        cdef const ElementC* other
        v[A_E], v[A_C] = low(self.empties[number_of].element.value), low(candidate.label)
        v[A_UP], v[A_SIDE], v[A_CLAUSES] = 1 + min(candidate.up, 6), candidate.side, 1 + min(candidate.clauses, 4)
        v[A_A], v[A_AV] = self._label(candidate.above), self._word(self.verbs[candidate.above])
        v[A_DOWN], v[A_MARK] = low(candidate.down), 0
        for k in range(1, place):
            nth += self.candidates[k].label == candidate.label
        v[A_NTH] = min(nth, 5)
        v[A_FG] = v[A_YK] = 0
        if above >= 0 and tree.parents[above] >= 0:
            v[A_FG] = low(self.functions[tree.parents[above]])
            v[A_YK] = self._group(self.verbs[tree.parents[above]])
        v[A_CF] = v[A_CW] = v[A_CT] = v[A_CK] = 0
        if candidate.node >= 0:
            v[A_CF], v[A_CW] = low(self.functions[candidate.node]), self._word(tree.head_words[candidate.node])
            v[A_CT], v[A_CK] = self._tag(tree.head_words[candidate.node]), self._group(tree.head_words[candidate.node])
        elif candidate.empty >= 0:
            other = &self.empties[candidate.empty].element
            v[A_CF], v[A_MARK] = low(other.functions), low(other.value)

    # Scores

    cdef void _make_keys(self, int kind) noexcept nogil:
        cdef DecisionC* decision = &self.decisions[kind]
        cdef size_t k
        position_sums(self.tables[kind], self.values, self.sums.data())
        for k in range(decision.keys.size()):
            decision.keys[k] = max(<uint32_t>(self.sums[k] >> 32), 1)

    cdef void _score(self, DecisionC* decision) noexcept nogil:
        decision.scores.assign(decision.scores.size(), 0)
        add_all_scores(&decision.weights, decision.keys.data(), decision.keys.size(), decision.scores.data())

    cdef inline uint32_t _word(self, int32_t position) noexcept nogil:
        return low(self.tree.words[position]) if 0 <= position < self.tree.n_words else 0

    cdef inline uint32_t _tag(self, int32_t position) noexcept nogil:
        return low(self.tree.tags[position]) if 0 <= position < self.tree.n_words else 0

    cdef inline uint32_t _group(self, int32_t position) noexcept nogil:
        return low(self.group_values[self.numbers[position]])

    cdef inline uint32_t _label(self, int32_t node) noexcept nogil:
        return low(self.tree.labels[node]) if node >= 0 else 0


cdef inline uint32_t low(uint64_t value) noexcept nogil:
    """Return a field's value, 32 bits of a hash."""
    return <uint32_t>(value >> 32)


cdef inline uint32_t beside(int32_t distance) noexcept nogil:
    """Return the number of children from the head to a place, at most 3 on either side, as a field's value."""
    return <uint32_t>(4 + (3 if distance > 3 else -3 if distance < -3 else distance))


cdef int32_t best_class(const DecisionC* decision, int32_t row) noexcept nogil:
    """Return the class with the highest score among those of a row, the first of equals."""
    cdef int32_t k, best = decision.possible[decision.first_classes[row]]
    for k in range(decision.first_classes[row] + 1, decision.first_classes[row + 1]):
        if decision.scores[decision.possible[k]] > decision.scores[best]:
            best = decision.possible[k]
    return best


cdef int keep_example(DecisionC* decision, int32_t target, int32_t row) except -1 nogil:
    decision.all_keys.insert(decision.all_keys.end(), decision.keys.begin(), decision.keys.end())
    decision.targets.push_back(target)
    decision.example_rows.push_back(row)
    return 0


cdef bint is_before(const SlotC& left, const SlotC& right) noexcept nogil:
    return left.node < right.node or (left.node == right.node and left.place < right.place)


cdef bytes _bytes(const void* memory, size_t n):
    return PyBytes_FromStringAndSize(<const char*>memory, n)
