"""Writing and reading the two long fields of a stored tree, nodes and leaves; codec.py describes them.

Reading checks everything, since a Doc may come from anywhere: any string that `spell_...` cannot write is a ValueError.
The readable twin is tests/reference/codec.py.
"""

from libcpp.string cimport string
from libcpp.vector cimport vector

import re

cdef enum:
    MAX_LABELS = 10_000      # with other labels, such as one per word, the cache must not grow without limit
    MAX_NUMBER = 100_000_000  # more characters than a text has

cdef object _BREAKS_FIELD = re.compile(r"[%()|\s]")
cdef object _ESCAPE = re.compile(r"%([0-9A-F]+);")
cdef str _EMPTY = "%"

# Labels are few, so their spelling is cached; this also makes each label one object in memory.
cdef dict _spelling_of = {}
cdef dict _label_of = {}


def spell_nodes(labels, sizes):
    """Return the nodes, given as labels and subtree sizes in pre-order, as the string that `scan_nodes` reads."""
    cdef Py_ssize_t i, size, n_nodes = len(sizes)
    cdef vector[Py_ssize_t] ends  # of the open phrases
    cdef Py_ssize_t n_closed
    cdef list pieces = []
    for i in range(n_nodes):
        size = sizes[i]
        if size != 1:
            ends.push_back(i + size)
            pieces.append(" (" if i else "(")
            pieces.append(_spelled(labels[i]))
            continue
        if i:
            pieces.append(" ")
        pieces.append(_spelled(labels[i]))
        n_closed = 0
        while not ends.empty() and ends.back() == i + 1:
            ends.pop_back()
            n_closed += 1
        if n_closed:
            pieces.append(")" * n_closed)
    return "".join(pieces)


def scan_nodes(str nodes not None):
    """Return the nodes' labels, starts, ends and sizes, as in `TreeArrays`. Raises ValueError for any other string."""
    cdef Py_ssize_t position = 0, begin, length = len(nodes)
    cdef Py_ssize_t i, n_words = 0
    cdef vector[Py_ssize_t] starts, ends, sizes, path
    cdef list labels = []
    while position <= length:
        i = len(labels)
        if i and path.empty():
            raise ValueError("unexpected text after the tree")
        starts.push_back(n_words)
        begin = position
        if position < length and nodes[position] == c"(":
            begin += 1
        position = begin
        while position < length and nodes[position] not in " ()":
            position += 1
        labels.append(_label(nodes[begin:position]))
        if begin and nodes[begin - 1] == c"(":
            path.push_back(i)
            sizes.push_back(0)
            ends.push_back(0)
        else:
            n_words += 1
            sizes.push_back(1)
            ends.push_back(n_words)
            while position < length and nodes[position] == c")":
                if path.empty():
                    raise ValueError("more brackets close than open")
                sizes[path.back()] = i + 1 - path.back()
                ends[path.back()] = n_words
                path.pop_back()
                position += 1
        if position < length and nodes[position] != c" ":
            raise ValueError("no blank between two nodes")
        position += 1
    if not path.empty():
        raise ValueError("a phrase is not closed")
    return tuple(labels), tuple(starts), tuple(ends), tuple(sizes)


def spell_leaves(starts, ends, Py_ssize_t origin):
    """Return the leaves' characters, counted from `origin`, as the string that `scan_leaves` reads."""
    cdef Py_ssize_t i, start, end, gap, before = origin
    cdef string spelled
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        gap = start - before
        if gap < 0 or end < start:
            raise ValueError(f"the leaves must be in text order: gap {gap}, length {end - start}")
        if gap < 2:
            spelled.push_back(c"," if gap else c".")
        else:
            spelled.push_back(c"+")
            _write_number(spelled, gap)
            spelled.push_back(c".")
        _write_number(spelled, end - start)
        before = end
    return spelled.decode("ascii")


def scan_leaves(str leaves not None):
    """Return the character starts and ends of the leaves. Raises ValueError for any other string."""
    cdef Py_ssize_t position = 0, length = len(leaves), at = 0
    cdef vector[Py_ssize_t] starts, ends
    cdef Py_UCS4 mark
    while position < length:
        mark = leaves[position]
        position += 1
        if mark == c"+":
            at += _read_number(leaves, &position, length)
            if position == length or leaves[position] != c".":
                raise ValueError("no '.' after a gap")
            position += 1
        elif mark == c",":
            at += 1
        elif mark != c".":
            raise ValueError("a leaf begins with '.', ',' or '+'")
        starts.push_back(at)
        at += _read_number(leaves, &position, length)
        ends.push_back(at)
    return tuple(starts), tuple(ends)


def cut(str text not None, starts, ends):
    """Return the pieces text[starts[i] : ends[i]]."""
    cdef Py_ssize_t i, start, end
    cdef list words = []
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        words.append(text[start:end])
    return tuple(words)


cdef str _spelled(label):
    found = _spelling_of.get(label)
    if found is None:
        if len(_spelling_of) > MAX_LABELS:
            _spelling_of.clear()
        found = _BREAKS_FIELD.sub(lambda match: f"%{ord(match.group()):X};", label) or _EMPTY
        _spelling_of[label] = found
    return <str>found


cdef str _label(str spelled):
    found = _label_of.get(spelled)
    if found is None:
        if not spelled:
            raise ValueError("a node without a label")
        if len(_label_of) > MAX_LABELS:
            _label_of.clear()
        found = "" if spelled == _EMPTY else _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), spelled)
        _label_of[spelled] = found
    return <str>found


cdef void _write_number(string& spelled, Py_ssize_t number) noexcept nogil:
    cdef Py_ssize_t power = 1
    while number // power >= 10:
        power *= 10
    while power:
        spelled.push_back(<char>(c"0" + number // power % 10))
        power //= 10


cdef Py_ssize_t _read_number(str leaves, Py_ssize_t* position, Py_ssize_t length) except -1:
    cdef Py_ssize_t number = 0, begin = position[0]
    cdef Py_UCS4 digit
    while position[0] < length and number < MAX_NUMBER:
        digit = leaves[position[0]]
        if not c"0" <= digit <= c"9":
            break
        number = 10 * number + <Py_ssize_t>digit - c"0"
        position[0] += 1
    if position[0] == begin:
        raise ValueError("a number is missing")
    return number
