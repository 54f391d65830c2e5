"""Reading brackets directly into a forest: the fast counterpart of treebanks/reader.py, for well-formed text.

One scan over the bytes builds no Tree objects and decodes each distinct spelling once. Text that the scan does not
expect is left to the other reader, which has a message for each mistake.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.tokens import penn_to_raw
from spacy_incparse.trees.labels import ROOT, TRACE_TAG, WRAPPERS, is_penn_tag

from spacy_incparse.trees.forest cimport Forest, Symbols, find_parents

WRAPPER_LABELS = frozenset([label.encode() for label in WRAPPERS])

cdef enum:
    ATOM, BLANK, OPEN, CLOSE, END   # kinds of characters


# The position of the scan in the text.
cdef struct TextC:
    const unsigned char* text
    Py_ssize_t place
    Py_ssize_t length


cdef class BracketReader:
    """Reads texts into forests with these symbols; caches the spelling of labels and words."""

    cdef readonly Symbols symbols
    cdef dict labels, words   # bytes -> symbol
    cdef object tag           # of the current word

    def __init__(self, Symbols symbols):
        self.symbols = symbols
        self.labels, self.words = {}, {}

    def read(self, bytes text, Forest forest):
        """Add all trees of a UTF-8 text and return the end of the first one.

        Return -1 and leave the forest unchanged if the text has no trees or anything unexpected.
        """
        if forest.symbols is not self.symbols:
            raise ValueError("the forest and its reader have different symbols")
        cdef TextC at
        cdef size_t n_trees = forest.firsts.size() - 1, n_nodes = forest.nodes.sizes.size()
        cdef Py_ssize_t first_end = -1
        at.text, at.place, at.length = text, 0, len(text)
        while True:
            _skip_between(&at)
            if at.place == at.length:
                return first_end
            if not self._tree(&at, forest):
                break
            if first_end < 0:
                first_end = at.place
        forest.firsts.resize(n_trees + 1)
        forest.nodes.symbols.resize(n_nodes)
        forest.nodes.sizes.resize(n_nodes)
        forest.nodes.parents.resize(n_nodes)
        del forest.trees[n_trees:]
        return -1

    cdef bint _tree(self, TextC* at, Forest forest) except -1:
        cdef size_t begin = forest.nodes.sizes.size(), node
        cdef vector[size_t] path      # the open phrases
        cdef vector[bint] has_label   # and whether they have labels
        cdef bint is_empty = False    # whether the phrase opened last is still empty
        cdef bint begins_line
        cdef bytes root = b""
        cdef int kind
        while True:
            kind = _skip_blanks(at)
            if kind == CLOSE:
                if is_empty or path.empty():
                    return False
                at.place += 1
                node = path.back()
                forest.nodes.sizes[node] = <int32_t>(forest.nodes.sizes.size() - node)
                path.pop_back()
                has_label.pop_back()
                is_empty = False
            elif kind == OPEN:
                begins_line = at.place > 0 and at.text[at.place - 1] == c"\n"
                at.place += 1
                kind = self._opened(at, forest)
                if kind == END:
                    return False
                if path.empty():
                    root = self.tag
                elif begins_line and not is_empty and kind == OPEN and self.tag == root and root in WRAPPER_LABELS:
                    return False   # a tree that begins inside another
                is_empty = kind == OPEN
                if is_empty:
                    path.push_back(forest.nodes.sizes.size() - 1)
                    has_label.push_back(self.tag != b"")
                    if path.size() > 1 and has_label[path.size() - 2] and not has_label.back():
                        return False
            else:
                return False
            if path.empty():
                break
        forest.nodes.parents.resize(forest.nodes.sizes.size())
        find_parents(
            forest.nodes.sizes.data() + begin,
            forest.nodes.parents.data() + begin,
            <int32_t>(forest.nodes.sizes.size() - begin),
        )
        forest.trees.append(None)
        forest.close_tree()
        return True

    cdef int _opened(self, TextC* at, Forest forest) except -1:
        """Read the text after a bracket: a label, or a tag with a word and its closing bracket.

        Return OPEN for a phrase, CLOSE for a POS node, END for anything else.
        """
        cdef int kind = _skip_blanks(at)
        self.tag = _atom(at) if kind == ATOM else b""
        forest.nodes.symbols.push_back(self._label(self.tag))
        forest.nodes.sizes.push_back(0)
        if kind != ATOM:
            return OPEN
        kind = _skip_blanks(at)
        if kind != ATOM:
            return OPEN
        word = _atom(at)
        kind = _skip_blanks(at)
        if kind == ATOM and not is_penn_tag((<bytes>self.tag).decode("utf8")):
            return END   # a word with blanks in it, or a phrase whose words have no tags
        while kind == ATOM:
            word = word + b" " + _atom(at)
            kind = _skip_blanks(at)
        if kind != CLOSE:
            return END
        at.place += 1
        forest.nodes.symbols.push_back(self._word(word))
        forest.nodes.sizes[forest.nodes.sizes.size() - 1] = 2
        forest.nodes.sizes.push_back(1)
        return CLOSE

    cdef int32_t _label(self, bytes spelled) except -1:
        found = self.labels.get(spelled)
        if found is None:
            found = self.labels[spelled] = self.symbols.label(spelled.decode("utf8"))
        return found

    cdef int32_t _word(self, bytes spelled) except -1:
        # The tag matters only for a backquote, which is a single quote if the tag says so.
        found = None if spelled == b"`" else self.words.get(spelled)
        if found is None:
            text = penn_to_raw(spelled.decode("utf8"), (<bytes>self.tag).decode("utf8"))
            found = self.words[spelled] = self.symbols.word(text)
        return found


cdef inline int _kind(unsigned char character) noexcept nogil:
    if character == c"(":
        return OPEN
    if character == c")":
        return CLOSE
    if character == c" " or 9 <= character <= 13:   # tab, line feed, vertical tab, form feed, carriage return
        return BLANK
    return ATOM


cdef inline int _skip_blanks(TextC* at) noexcept nogil:
    """Move to the next character that is not a blank, and return its kind."""
    cdef int kind
    while at.place < at.length:
        kind = _kind(at.text[at.place])
        if kind != BLANK:
            return kind
        at.place += 1
    return END


cdef bytes _atom(TextC* at):
    """Move past a label or word, and return it."""
    cdef Py_ssize_t begin = at.place
    while at.place < at.length and _kind(at.text[at.place]) == ATOM:
        at.place += 1
    return PyBytes_FromStringAndSize(<const char*>at.text + begin, at.place - begin)


cdef void _skip_between(TextC* at) noexcept nogil:
    """Move past blanks and, at the beginning of a line, past comments."""
    cdef Py_ssize_t last
    while _skip_blanks(at) == ATOM:
        if at.place > 0 and at.text[at.place - 1] != c"\n":
            return
        last = at.length - at.place
        if at.text[at.place] != c"#" and not (
            last > 2 and at.text[at.place] == c"*" and at.text[at.place + 1] == c"x" and at.text[at.place + 2] == c"*"
        ):
            return
        while at.place < at.length and at.text[at.place] != c"\n":
            at.place += 1

# The normalization steps described in treebanks/reader.py, for whole forests.

DROP_EMPTIES, STRIP_FUNCTIONS, ONE_TOP, MERGE_DOUBLED = 1, 2, 4, 8   # the steps, in their order

cdef enum:
    IS_TRACE = 1      # the properties of a label
    IS_WRAPPER = 2
    IS_TOP = 4        # empty or TOP: dropped wherever it occurs


# A tree being edited. A POS node is a node whose first child is a word; words have odd symbols.
cdef struct DraftC:
    vector[int32_t] symbols
    vector[int32_t] sizes
    vector[bint] is_kept
    vector[int32_t] n_kept    # before each node, and after the last one


def normalized(Forest source, int steps=15):
    """Return a forest of the trees after the given steps, by default all; trees that become empty are dropped."""
    cdef Forest target = Forest(symbols=source.symbols)
    cdef int32_t top = source.symbols.label(ROOT)
    cdef vector[int32_t] kinds = _kinds(source.symbols.labels)
    cdef int32_t* symbols = source.nodes.symbols.data()
    cdef int32_t* sizes = source.nodes.sizes.data()
    cdef DraftC draft
    cdef vector[size_t] kept
    cdef size_t k, node
    with nogil:
        for k in range(source.firsts.size() - 1):
            draft.symbols.assign(symbols + source.firsts[k], symbols + source.firsts[k + 1])
            draft.sizes.assign(sizes + source.firsts[k], sizes + source.firsts[k + 1])
            if steps & 1 and not _drop_empties(&draft, &kinds):
                continue
            if steps & 2:
                for node in range(draft.sizes.size()):
                    if not _is_word(&draft, node):
                        draft.symbols[node] = source.symbols.categories[draft.symbols[node] >> 1]
            if steps & 4:
                _one_top(&draft, &kinds, top)
            if steps & 8:
                _merge_doubled(&draft)
            _append(&draft, target)
            kept.push_back(k)
    target.trees = [None] * kept.size()
    if source.places is not None or kept.size() < len(source):
        target.places = [source.place(number) for number in kept]
    return target


cdef vector[int32_t] _kinds(labels):
    """Return the properties of each label, by its number."""
    return [
        IS_TRACE * (label == TRACE_TAG) + IS_WRAPPER * (label in WRAPPERS) + IS_TOP * (label in ("", ROOT))
        for label in labels
    ]


cdef inline bint _is_word(const DraftC* draft, size_t k) noexcept nogil:
    return draft.symbols[k] & 1


cdef inline bint _is_phrase(const DraftC* draft, size_t k) noexcept nogil:
    return not _is_word(draft, k) and not _is_word(draft, k + 1)


cdef bint _drop_empties(DraftC* draft, const vector[int32_t]* kinds) noexcept nogil:
    """Drop traces and the phrases that have no other words; return whether anything is left."""
    cdef size_t k
    cdef int32_t n_words = 0
    draft.n_kept.clear()             # kept words before each node
    for k in range(draft.sizes.size()):
        draft.n_kept.push_back(n_words)
        n_words += _is_word(draft, k) and not kinds[0][draft.symbols[k - 1] >> 1] & IS_TRACE
    draft.n_kept.push_back(n_words)
    draft.is_kept.clear()
    for k in range(draft.sizes.size()):
        draft.is_kept.push_back(draft.n_kept[k + draft.sizes[k]] > draft.n_kept[k])
    _compress(draft)
    return n_words > 0


cdef void _one_top(DraftC* draft, const vector[int32_t]* kinds, int32_t top) noexcept nogil:
    """Drop the wrappers above the first branching, and below it the phrases without a label or labeled TOP."""
    cdef size_t n_wrappers = 0, n = draft.sizes.size(), k
    cdef bint is_kept
    while (
        kinds[0][draft.symbols[n_wrappers] >> 1] & IS_WRAPPER
        and _is_phrase(draft, n_wrappers)
        and n_wrappers + draft.sizes[n_wrappers] == n
    ):
        n_wrappers += 1
    draft.is_kept.clear()
    for k in range(n):
        is_kept = not _is_phrase(draft, k) or not kinds[0][draft.symbols[k] >> 1] & IS_TOP
        is_kept = is_kept and k >= n_wrappers
        draft.is_kept.push_back(is_kept)
    _compress(draft)
    draft.symbols.insert(draft.symbols.begin(), top)
    draft.sizes.insert(draft.sizes.begin(), <int32_t>draft.sizes.size() + 1)


cdef void _merge_doubled(DraftC* draft) noexcept nogil:
    """Merge a phrase with its only child if that is a phrase with the same label."""
    cdef size_t k
    cdef bint is_doubled, is_kept
    draft.is_kept.assign(1, True)
    for k in range(1, draft.sizes.size()):
        is_doubled = draft.sizes[k - 1] == draft.sizes[k] + 1 and draft.symbols[k - 1] == draft.symbols[k]
        is_kept = not is_doubled or not _is_phrase(draft, k)
        draft.is_kept.push_back(is_kept)
    _compress(draft)


cdef void _compress(DraftC* draft) noexcept nogil:
    """Drop nodes; their children move up to their parents."""
    cdef size_t k, last = 0
    cdef int32_t n = 0
    draft.n_kept.clear()
    for k in range(draft.sizes.size()):
        draft.n_kept.push_back(n)
        n += draft.is_kept[k]
    draft.n_kept.push_back(n)
    for k in range(draft.sizes.size()):
        if draft.is_kept[k]:
            draft.symbols[last] = draft.symbols[k]
            draft.sizes[last] = draft.n_kept[k + draft.sizes[k]] - draft.n_kept[k]
            last += 1
    draft.symbols.resize(last)
    draft.sizes.resize(last)


cdef void _append(const DraftC* draft, Forest target) noexcept nogil:
    cdef size_t begin = target.nodes.sizes.size()
    target.nodes.symbols.insert(target.nodes.symbols.end(), draft.symbols.begin(), draft.symbols.end())
    target.nodes.sizes.insert(target.nodes.sizes.end(), draft.sizes.begin(), draft.sizes.end())
    target.nodes.parents.resize(target.nodes.sizes.size())
    find_parents(
        target.nodes.sizes.data() + begin, target.nodes.parents.data() + begin, <int32_t>draft.sizes.size()
    )
    target.firsts.push_back(target.nodes.sizes.size())
