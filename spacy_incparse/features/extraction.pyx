"""Feature extraction, generated from template tables: see extraction.pxd for what the search calls."""

from spacy_incparse.features.templates import KindTable


cdef class Templates:
    """The compiled templates of one kind."""

    def __init__(self, table: KindTable):
        self.structure_begin.push_back(0)
        self.position_begin.push_back(0)
        for bias, structure, position, reads_tag in zip(
            table.biases, table.structure, table.position, table.reads_tag, strict=True
        ):
            self.bias.push_back(bias)
            self.reads_tag.push_back(reads_tag)
            for field, coefficient in structure:
                self.structure_field.push_back(field)
                self.structure_coefficient.push_back(coefficient)
            for field, coefficient in position:
                self.position_field.push_back(field)
                self.position_coefficient.push_back(coefficient)
            self.structure_begin.push_back(self.structure_field.size())
            self.position_begin.push_back(self.position_field.size())
        self.c.n = self.bias.size()
        self.c.bias = self.bias.data()
        self.c.structure_begin = self.structure_begin.data()
        self.c.structure_field = self.structure_field.data()
        self.c.structure_coefficient = self.structure_coefficient.data()
        self.c.position_begin = self.position_begin.data()
        self.c.position_field = self.position_field.data()
        self.c.position_coefficient = self.position_coefficient.data()
        self.c.reads_tag = self.reads_tag.data()

    def __len__(self):
        return self.c.n
