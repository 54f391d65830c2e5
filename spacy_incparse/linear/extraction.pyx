"""Feature extraction, generated from template tables; the search calls the functions in extraction.pxd."""

from spacy_incparse.linear.templates import KindTable


cdef class Templates:
    """The compiled templates of one kind; their order is free, since weights belong to hashes, not positions."""

    def __init__(self, table: KindTable):
        order = sorted(range(len(table.biases)), key=lambda k: -len(table.structure[k]))
        self.position_begin.push_back(0)
        for k in order:
            self.bias.push_back(table.biases[k])
            self.reads_tag.push_back(table.reads_tag[k])
            for field, coefficient in table.position[k]:
                self.position_field.push_back(field)
                self.position_coefficient.push_back(coefficient)
            self.position_begin.push_back(self.position_field.size())
        self._add_rounds([table.structure[k] for k in order])
        self.c.n = self.bias.size()
        self.c.bias = self.bias.data()
        self.c.position_begin = self.position_begin.data()
        self.c.position_field = self.position_field.data()
        self.c.position_coefficient = self.position_coefficient.data()
        self.c.n_rounds = self.round_begin.size() - 1
        self.c.round_begin = self.round_begin.data()
        self.c.structure_field = self.structure_field.data()
        self.c.structure_coefficient = self.structure_coefficient.data()
        self.c.reads_tag = self.reads_tag.data()

    def _add_rounds(self, templates):
        """Lay out the structure fields by round; templates with more fields come first."""
        self.round_begin.push_back(0)
        for number in range(max(map(len, templates), default=0)):
            for field, coefficient in [pairs[number] for pairs in templates if number < len(pairs)]:
                self.structure_field.push_back(field)
                self.structure_coefficient.push_back(coefficient)
            self.round_begin.push_back(self.structure_field.size())

    def __len__(self):
        return self.c.n
