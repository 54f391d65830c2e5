"""A sentence as the numbers that features read, and whole numbers that stay in compiled memory."""

from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.state cimport PAD


cdef enum:
    BEFORE = 1  # the word before the first
    BEHIND = 2  # the word after the last


cdef class Sentence:
    """Word numbers, class numbers and tag ids of a sentence, padded on both sides with a tag id of `n_tags`.

    alternatives: {position: [(tag id, rank), ...]} for words that may be absorbed under several tags; the first of them
    is the word's in `tags`. A rank says how the tag stands to the tagger's choice (0 for a word's only tag).
    clusters: two lists, the numbers of the words' clusters and of their groups; None: without clusters.
    generative_words, generative_model: the words' numbers in the vocabulary of a generative model, and which of several
    models it is.
    """

    def __init__(self, words, classes, tags, int n_tags, bint ends_in_question, alternatives=None,
                 clusters=None, generative_words=None, int generative_model=0):
        cdef Py_ssize_t n = len(words), k
        self.words.assign(n + 2 * PAD, BEHIND)
        self.classes.assign(n + 2 * PAD, 0)
        self.tags.assign(n + 2 * PAD, n_tags)
        for k in range(PAD):
            self.words[k] = BEFORE
        for k in range(n):
            self.words[PAD + k] = words[k]
            self.classes[PAD + k] = classes[k]
            self.tags[PAD + k] = tags[k]
        for k in range(n + 1):
            self.first_alternative.push_back(self.alternative_tags.size())
            for tag, rank in (alternatives or {}).get(k, ((self.tags[PAD + k], 0),)):
                self.alternative_tags.push_back(tag)
                self.tag_ranks.push_back(rank)
        self.first_alternative.push_back(self.alternative_tags.size())
        self.c.clusters = self.c.groups = NULL
        if clusters is not None:
            _pad(&self.clusters, clusters[0])
            _pad(&self.groups, clusters[1])
            self.c.clusters, self.c.groups = self.clusters.data() + PAD, self.groups.data() + PAD
        self.generative_model = generative_model
        if generative_words is not None:
            _pad(&self.generative_words, generative_words)
        self.c.n = n
        self.c.words = self.words.data() + PAD
        self.c.classes = self.classes.data() + PAD
        self.c.tags = self.tags.data() + PAD
        self.c.first_alternative = self.first_alternative.data()
        self.c.alternative_tags = self.alternative_tags.data()
        self.c.tag_ranks = self.tag_ranks.data()
        self.c.ends_in_question = ends_in_question
        self.c.is_lattice = False

    def __len__(self):
        return self.c.n

    def to_tuple(self):
        """Return the arguments that make the same sentence again."""
        cdef int k
        words = [self.c.words[k] for k in range(self.c.n)]
        classes = [self.c.classes[k] for k in range(self.c.n)]
        tags = [self.c.tags[k] for k in range(self.c.n)]
        alternatives = {}
        for k in range(self.c.n):
            first, behind = self.c.first_alternative[k], self.c.first_alternative[k + 1]
            if behind - first > 1 or self.c.tag_ranks[first]:
                alternatives[k] = [(self.c.alternative_tags[i], self.c.tag_ranks[i]) for i in range(first, behind)]
        clusters = None
        if self.c.clusters != NULL:
            clusters = [list(self.clusters)[PAD:-PAD], list(self.groups)[PAD:-PAD]]
        generative_words = list(self.generative_words)[PAD:-PAD] if not self.generative_words.empty() else None
        return (
            words, classes, tags, self.c.tags[self.c.n], bool(self.c.ends_in_question), alternatives, clusters,
            generative_words, self.generative_model,
        )


cdef int _pad(vector[uint32_t]* padded, numbers) except -1:
    """Put the numbers of words between zeros, which stand for the words before and after the sentence."""
    cdef Py_ssize_t k
    padded.assign(len(numbers) + 2 * PAD, 0)
    for k in range(len(numbers)):
        padded[0][PAD + k] = numbers[k]
    return 0


cdef class IntVector:
    """The numbers of a `vector[int32_t]`. It is equal to any sequence of the same numbers."""

    def __len__(self):
        return <Py_ssize_t>self.values.size()

    def __getitem__(self, Py_ssize_t index):
        cdef Py_ssize_t n = self.values.size()
        if not -n <= index < n:
            raise IndexError(f"there is no number {index} among {n}")
        return self.values[index + n if index < 0 else index]

    def __eq__(self, other):
        return list(self) == list(other)

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return repr(list(self))


cdef IntVector taken(vector[int32_t]* values):
    """Return an IntVector with the numbers of a vector, which is empty afterwards."""
    cdef IntVector found = IntVector()
    found.values.swap(values[0])
    return found


cdef int copy_ints(object source, vector[int32_t]* target) except -1:
    """Copy the numbers of an IntVector, or of any sequence."""
    if isinstance(source, IntVector):
        target[0] = (<IntVector>source).values
    else:
        target[0] = source
    return 0
