"""A sentence as the numbers that features read."""

from spacy_incparse.search.state cimport PAD

cdef enum:
    BEFORE = 1  # the word before the first
    BEHIND = 2  # the word after the last


cdef class Sentence:
    """Word numbers, class numbers and tag ids of a sentence, padded on both sides with a tag id of `n_tags`."""

    def __init__(self, words, classes, tags, int n_tags, bint ends_in_question):
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
        self.c.n = n
        self.c.words = self.words.data() + PAD
        self.c.classes = self.classes.data() + PAD
        self.c.tags = self.tags.data() + PAD
        self.c.ends_in_question = ends_in_question

    def __len__(self):
        return self.c.n

    def to_tuple(self):
        """Give the arguments that make the same sentence again."""
        cdef int k
        words = [self.c.words[k] for k in range(self.c.n)]
        classes = [self.c.classes[k] for k in range(self.c.n)]
        tags = [self.c.tags[k] for k in range(self.c.n)]
        return words, classes, tags, self.c.tags[self.c.n], bool(self.c.ends_in_question)
