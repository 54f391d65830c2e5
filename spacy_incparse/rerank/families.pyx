"""The families of features, listed in rerank/features.py: each function emits what one has at a node.

First those of Collins (2000), section 3, then those of Charniak & Johnson (2005), section 4, and Huang (2008), table 2.
A node is a phrase, for those with "word" in their name a POS node.
"""

cdef enum:
    MAX_DISTANCE = 9    # the largest x of dist <= x of Collins (2000); here of dist >= x as well, and of dist itself
    MAX_DEPTH = 4       # levels of two conjuncts that are compared
    MAX_DIFFERENCE = 5  # of their lengths, in words

cdef uint64_t LEFT = text_value("left"), RIGHT = text_value("right"), HEAD = text_value("!")
cdef uint64_t AT_MOST = text_value("<="), AT_LEAST = text_value(">=")
cdef uint64_t TAGS = text_value("tags"), WORDS = text_value("words")


cdef FamilyC family_function(int number) except NULL:
    """Return the function of a family, given its number in rerank/features.py among those that are not lexicalized."""
    cdef FamilyC[25] functions = [
        rules, bigrams, grandparent_rules, grandparent_bigrams, lexical_bigrams, two_level_rules, two_level_bigrams,
        trigrams, head_modifiers, prepositional_phrases, distance_head_modifiers, right_branch, heavy, neighbours,
        edges, word, word_projections, heads, ngram_rules, annotated_rules, coordination_parallelism,
        coordination_length, ngram_trees, head_trees, word_edges,
    ]
    return functions[number]


cdef int rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule)"""
    keys.push_back(extended(family, tree.rules[node]))


cdef int grandparent_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, rule)"""
    if tree.parents[node] >= 0:
        keys.push_back(plus2(family, label_above(tree, node), tree.rules[node]))


cdef int two_level_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule above, rule)"""
    if tree.parents[node] >= 0:
        keys.push_back(plus2(family, tree.rules[tree.parents[node]], tree.rules[node]))


cdef int bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, child, next child on the way from the head)"""
    _bigrams(tree, node, family, keys, False)


cdef int lexical_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, child, next child, head word of the child, head word of the next child)"""
    _bigrams(tree, node, family, keys, True)


cdef int grandparent_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, side, label, child, next child)"""
    if tree.parents[node] >= 0:
        _bigrams(tree, node, extended(family, label_above(tree, node)), keys, False)


cdef int two_level_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule above, side, label, child, next child)"""
    if tree.parents[node] >= 0:
        _bigrams(tree, node, extended(family, tree.rules[tree.parents[node]]), keys, False)


cdef int _bigrams(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys, bint with_words
) except -1 nogil:
    cdef uint64_t left = plus2(family, LEFT, tree.labels[node]), right = plus2(family, RIGHT, tree.labels[node])
    cdef int32_t head = tree.heads[node], child = node + 1, behind = node + tree.sizes[node], following
    if child < head:
        keys.push_back(_bigram(tree, left, child, -1, with_words))
    while child < behind:
        following = child + tree.sizes[child]
        if following < head:
            keys.push_back(_bigram(tree, left, following, child, with_words))
        elif child > head:
            keys.push_back(_bigram(tree, right, child, following if following < behind else -1, with_words))
        child = following


cdef inline uint64_t _bigram(
    const TreeC* tree, uint64_t key, int32_t child, int32_t following, bint with_words
) noexcept nogil:
    key = plus2(key, tree.labels[child], tree.labels[following] if following >= 0 else <uint64_t>NONE)
    if with_words:
        key = plus2(key, head_word(tree, child), head_word(tree, following) if following >= 0 else <uint64_t>NONE)
    return key


cdef int trigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, three children in a row, the head marked; None beyond the first and last)"""
    cdef uint64_t key = extended(family, tree.labels[node]), first = NONE, second = NONE, third
    cdef int32_t child = node + 1, behind = node + tree.sizes[node]
    while child < behind:
        third = tree.labels[child]
        if child == tree.heads[node]:
            third = plus2(0, third, HEAD)
        if child > node + 1:
            keys.push_back(plus3(key, first, second, third))
        first, second = second, third
        child += tree.sizes[child]
    keys.push_back(plus3(key, first, second, NONE))


cdef int head_modifiers(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, head, modifier), and (label above, side, label, head, modifier)"""
    cdef int32_t head = tree.heads[node], child = node + 1
    cdef uint64_t above = extended(family, label_above(tree, node))
    while child < node + tree.sizes[node]:
        if child != head:
            side = LEFT if child < head else RIGHT
            keys.push_back(plus4(family, side, tree.labels[node], tree.labels[head], tree.labels[child]))
            keys.push_back(plus4(above, side, tree.labels[node], tree.labels[head], tree.labels[child]))
        child += tree.sizes[child]


cdef int prepositional_phrases(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(label, head, PP, argument of the preposition, the lexical heads of the last three), also without the first"""
    cdef int32_t head = tree.heads[node], child = node + 1, within
    while child < node + tree.sizes[node]:
        if child != head and tree.marks[child] & PREPOSITIONAL and tree.sizes[child] > 1:
            within = argument(tree, child)
            if within >= 0:
                key = plus4(family, tree.labels[node], tree.labels[head], tree.labels[child], tree.labels[within])
                keys.push_back(plus3(key, head_word(tree, head), head_word(tree, child), head_word(tree, within)))
                keys.push_back(plus2(key, head_word(tree, child), head_word(tree, within)))
        child += tree.sizes[child]


cdef int distance_head_modifiers(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(label, head, modifier, words between their lexical heads), and that the distance is <= x, >= x"""
    cdef int32_t head = tree.heads[node], child = node + 1, distance, x
    while child < node + tree.sizes[node]:
        if child != head:
            key = plus3(family, tree.labels[node], tree.labels[head], tree.labels[child])
            distance = tree.head_words[child] - tree.head_words[head]
            distance = min(<int32_t>MAX_DISTANCE + 1, (distance if distance > 0 else -distance) - 1)
            keys.push_back(extended(key, number(distance)))
            for x in range(distance, MAX_DISTANCE + 1):
                keys.push_back(plus2(key, AT_MOST, number(x)))
            for x in range(1, min(distance, <int32_t>MAX_DISTANCE) + 1):
                keys.push_back(plus2(key, AT_LEAST, number(x)))
        child += tree.sizes[child]


cdef int right_branch(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(whether the phrase contains the last word that is not punctuation)"""
    keys.push_back(extended(family, number(tree.starts[node] <= tree.last_content < tree.ends[node])))


cdef int heavy(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, length, whether only punctuation follows in the sentence, whether punctuation follows)"""
    cdef int32_t end = tree.ends[node]
    cdef bint before_mark = end < tree.n_words and tree.marks[tree.leaves[end]] & PUNCTUATION
    cdef uint64_t key = plus2(family, tree.labels[node], length_bin(end - tree.starts[node]))
    keys.push_back(plus2(key, number(end > tree.last_content), number(before_mark)))


cdef int neighbours(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, length, tag before, tag behind), and with two tags before"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus2(family, tree.labels[node], length_bin(end - start))
    keys.push_back(plus2(key, tag_at(tree, start - 1), tag_at(tree, end)))
    keys.push_back(plus3(key, tag_at(tree, start - 2), tag_at(tree, start - 1), tag_at(tree, end)))


cdef int edges(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, side, length, the words before and after this end), and the same with tags"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t left = plus3(family, tree.labels[node], LEFT, length_bin(end - start))
    cdef uint64_t right = plus3(family, tree.labels[node], RIGHT, length_bin(end - start))
    keys.push_back(plus3(left, WORDS, word_at(tree, start - 1), word_at(tree, start)))
    keys.push_back(plus3(right, WORDS, word_at(tree, end - 1), word_at(tree, end)))
    keys.push_back(plus3(left, TAGS, tag_at(tree, start - 1), tag_at(tree, start)))
    keys.push_back(plus3(right, TAGS, tag_at(tree, end - 1), tag_at(tree, end)))


cdef int word_edges(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, exact length, the word before, the word behind)"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus2(family, tree.labels[node], number(end - start))
    keys.push_back(plus2(key, word_at(tree, start - 1), word_at(tree, end)))


cdef int word(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(word, tag), (word, tag, label above), and with two labels above"""
    cdef int32_t _
    cdef uint64_t key = extended(family, tree.words[tree.starts[node]])
    for _ in range(3):
        key = extended(key, tree.labels[node])
        keys.push_back(key)
        node = tree.parents[node]
        if node < 0:
            break


cdef int word_projections(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(tag, label of the maximal projection, that of its governor), with the word, and with the word and one label"""
    cdef int32_t word = tree.starts[node], governing = governor(tree, word)
    cdef uint64_t projection = tree.labels[tree.tops[word]], above = NONE
    if governing >= 0:
        above = tree.labels[tree.tops[governing]]
    keys.push_back(plus3(family, tree.tags[word], projection, above))
    keys.push_back(plus3(family, tree.words[word], tree.tags[word], projection))
    keys.push_back(plus4(family, tree.words[word], tree.tags[word], projection, above))


cdef int heads(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, tag of the head, tag of the dependent) with none, one and both of the words; and three tags in a chain"""
    cdef int32_t child = node + 1, governing = governor(tree, tree.head_words[node])
    cdef uint64_t tag = head_tag(tree, node), word = head_word(tree, node), key
    cdef uint64_t tag_above = tree.tags[governing] if governing >= 0 else <uint64_t>NONE
    while child < node + tree.sizes[node]:
        if child != tree.heads[node]:
            key = plus3(family, tree.labels[node], tag, head_tag(tree, child))
            keys.push_back(key)
            keys.push_back(plus2(key, word, NONE))
            keys.push_back(plus2(key, NONE, head_word(tree, child)))
            keys.push_back(plus2(key, word, head_word(tree, child)))
            keys.push_back(extended(key, tag_above))
        child += tree.sizes[child]


cdef int ngram_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, label, two children in a row), and three; None beyond the first and last"""
    cdef uint64_t key = plus2(family, label_above(tree, node), tree.labels[node])
    cdef uint64_t first = NONE, second = NONE, third
    cdef int32_t child = node + 1, behind = node + tree.sizes[node]
    while child <= behind:
        third = tree.labels[child] if child < behind else <uint64_t>NONE
        keys.push_back(plus2(key, second, third))
        if child > node + 1:
            keys.push_back(plus3(key, first, second, third))
        first, second = second, third
        child += tree.sizes[child] if child < behind else 1


cdef int annotated_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule, tag of the head), with the head, and (rule, label above, the one above that)"""
    cdef uint64_t key = extended(family, tree.rules[node]), above = NONE
    keys.push_back(extended(key, head_tag(tree, node)))
    keys.push_back(plus2(key, head_tag(tree, node), head_word(tree, node)))
    if tree.parents[node] >= 0:
        above = label_above(tree, tree.parents[node])
        keys.push_back(plus3(key, NONE, label_above(tree, node), above))


# A phrase is a co-ordination if one of its children, not the first, is a conjunction. Its conjuncts are the children
# that stand next to one another but for conjunctions or punctuation between them; adjacent ones are compared.
cdef int coordination_parallelism(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(levels, whether two conjuncts are the same down to this level), the labels of conjuncts being the first level"""
    cdef int32_t first = -1, second = node, depth
    if not _is_coordination(tree, node):
        return 0
    while _next_pair(tree, node, &first, &second):
        for depth in range(1, MAX_DEPTH + 1):
            keys.push_back(plus2(family, number(depth), number(_are_parallel(tree, first, second, depth))))


cdef int coordination_length(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(by how many words the second of two conjuncts is longer, from -5 to 5; whether they are the last two)"""
    cdef int32_t first = -1, second = node, difference, last
    if not _is_coordination(tree, node):
        return 0
    last = _last_conjunct(tree, node)
    while _next_pair(tree, node, &first, &second):
        difference = (tree.ends[second] - tree.starts[second]) - (tree.ends[first] - tree.starts[first])
        difference = max(-<int32_t>MAX_DIFFERENCE, min(<int32_t>MAX_DIFFERENCE, difference))
        keys.push_back(plus2(family, number(difference), number(second == last)))


cdef bint _is_coordination(const TreeC* tree, int32_t node) noexcept nogil:
    """Return whether a child that is not the first is a conjunction."""
    cdef int32_t child = node + 1
    child += tree.sizes[child]
    while child < node + tree.sizes[node]:
        if tree.marks[child] & CONJUNCTION:
            return True
        child += tree.sizes[child]
    return False


cdef bint _next_pair(const TreeC* tree, int32_t node, int32_t* first, int32_t* second) noexcept nogil:
    """Find the next two conjuncts; `second` is the last child of the pair before, or the node itself at the start."""
    cdef int32_t behind = node + tree.sizes[node], child
    cdef bint is_separated = False
    first[0] = second[0] if second[0] > node else -1
    child = node + 1 if first[0] < 0 else first[0] + tree.sizes[first[0]]
    while child < behind:
        if tree.marks[child] & (CONJUNCTION | PUNCTUATION):
            is_separated = True
        elif first[0] >= 0 and is_separated:
            second[0] = child
            return True
        else:
            first[0], is_separated = child, False
        child += tree.sizes[child]
    return False


cdef int32_t _last_conjunct(const TreeC* tree, int32_t node) noexcept nogil:
    """Return the last child that is neither punctuation nor a conjunction; -1 if there is none."""
    cdef int32_t child = node + 1, found = -1
    while child < node + tree.sizes[node]:
        if not tree.marks[child] & (CONJUNCTION | PUNCTUATION):
            found = child
        child += tree.sizes[child]
    return found


cdef bint _are_parallel(const TreeC* tree, int32_t a, int32_t b, int32_t n_levels) noexcept nogil:
    """Return whether two subtrees have the same labels and shape on their highest levels; words are not compared.

    The two are walked at the same time. `depth` is that of both places; it is kept by going up where a subtree ends.
    """
    cdef int32_t depth = 1, above_a, above_b
    while True:
        if tree.labels[a] != tree.labels[b]:
            return False
        if depth < n_levels and tree.sizes[a] > 1 and tree.sizes[b] > 1:
            a, b, depth = a + 1, b + 1, depth + 1
            continue
        if depth < n_levels and (tree.sizes[a] > 1) != (tree.sizes[b] > 1):
            return False
        above_a, above_b = a, b
        a, b = a + tree.sizes[a], b + tree.sizes[b]
        # Go up from subtrees that end here; both have to end at the same time.
        while depth > 1:
            above_a, above_b = tree.parents[above_a], tree.parents[above_b]
            if (a < above_a + tree.sizes[above_a]) != (b < above_b + tree.sizes[above_b]):
                return False
            if a < above_a + tree.sizes[above_a]:
                break
            depth -= 1
        if depth == 1:
            return True


# The nodes on the way from a phrase to the first or last words of its children are read once for each phrase where the
# way begins, so that the time is linear in the size of a tree, however deep it is.
cdef int ngram_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, the labels from each of two or three adjacent words up to it), where the phrase is the lowest above them

    The labels are a tuple for each word, its tag first. For three words two numbers follow: how many labels the first
    two words share, and the last two. The same with the words.
    """
    cdef int32_t child = node + 1, boundary, last = -1
    child += tree.sizes[child]
    while child < node + tree.sizes[node]:
        boundary = tree.starts[child]  # the words around it are in different children
        _ngram_tree(tree, node, boundary - 1, 2, family, keys)
        if boundary - 2 >= tree.starts[node] and last != boundary - 1:  # else it has been added
            _ngram_tree(tree, node, boundary - 2, 3, family, keys)
        if boundary + 2 <= tree.ends[node]:
            _ngram_tree(tree, node, boundary - 1, 3, family, keys)
        last = boundary
        child += tree.sizes[child]


cdef int _ngram_tree(
    const TreeC* tree, int32_t node, int32_t start, int32_t n, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """Add the fragment above n words, with and without them."""
    cdef uint64_t key = extended(family, tree.labels[node])
    cdef int32_t word
    for word in range(start, start + n):
        key = extended(key, _way_up(tree, node, word))
    if n == 3:
        key = plus2(key, number(_n_shared(tree, node, start)), number(_n_shared(tree, node, start + 1)))
    keys.push_back(key)
    for word in range(start, start + n):
        key = extended(key, tree.words[word])
    keys.push_back(key)


cdef inline uint64_t _way_up(const TreeC* tree, int32_t top, int32_t word) noexcept nogil:
    """Hash the labels from the POS node of a word up to the child of `top`."""
    cdef uint64_t key = 0
    cdef int32_t node = tree.leaves[word]
    while node != top:
        key = extended(key, tree.labels[node])
        node = tree.parents[node]
    return key


cdef inline int32_t _n_shared(const TreeC* tree, int32_t top, int32_t word) noexcept nogil:
    """Return the number of nodes below `top` that are above both a word and the next one."""
    cdef int32_t node = tree.leaves[word], n = 0
    while node != top:
        n += tree.ends[node] > word + 1
        node = tree.parents[node]
    return n


cdef int head_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule, number of its head child, the rule of that child, ..., tag), and with the word, at maximal projections"""
    cdef uint64_t key = family
    cdef int32_t word = tree.head_words[node]
    if not is_top(tree, node):
        return 0
    while tree.sizes[node] > 1:
        key = plus2(key, tree.rules[node], number(tree.head_numbers[node]))
        node = tree.heads[node]
    key = extended(key, tree.tags[word])
    keys.push_back(key)
    keys.push_back(extended(key, tree.words[word]))
