"""The words of sentences as the generative search reads them, each with the tags that it may have."""

from spacy_incparse.incremental.state cimport PAD


cdef class Lattice:
    """Nodes, each a word's number with a tag's id."""

    def __init__(self):
        self.words.assign(2 * PAD, 0)
        self.tags.assign(2 * PAD, 0)
        self._point()

    def __len__(self):
        return self.c.n

    def push(self, word, tags):
        """Append a word's nodes and give the first of them."""
        first = self.c.n
        for tag in tags:
            self.words.insert(self.words.end() - PAD, <uint32_t>word)
            self.tags.insert(self.tags.end() - PAD, <uint16_t>tag)
        self._point()
        return first

    def _point(self):
        self.c.n = self.words.size() - 2 * PAD
        self.c.words = self.words.data() + PAD
        self.c.classes = self.c.words
        self.c.tags = self.tags.data() + PAD
        self.c.ends_in_question = False
        self.c.is_lattice = True
