"""Feature extraction, generated from template tables; the search calls the functions in extraction.pxd."""

from collections import Counter
from itertools import zip_longest

from spacy_incparse.linear.templates import KindTable

cdef enum:
    LEAST_RUN = 8  # templates that read a field, for which a loop without indices pays


cdef class Templates:
    """The compiled templates of one kind; their order is free, since weights belong to hashes, not positions."""

    def __init__(self, table: KindTable):
        read = [_coefficients(pairs) for pairs in table.structure]
        in_runs = [f for f, n in Counter(f for fields in read for f in fields).most_common() if n >= LEAST_RUN]
        order = sorted(range(len(read)), key=lambda k: [field not in read[k] for field in in_runs])
        self.position_begin.push_back(0)
        for k in order:
            self.bias.push_back(table.biases[k])
            self.reads_tag.push_back(table.reads_tag[k])
            for field, coefficient in table.position[k]:
                self.position_field.push_back(field)
                self.position_coefficient.push_back(coefficient)
            self.position_begin.push_back(self.position_field.size())
        self._add_structure(in_runs, [read[k] for k in order])
        self.c.n = self.bias.size()
        self.c.bias = self.bias.data()
        self.c.position_begin = self.position_begin.data()
        self.c.position_field = self.position_field.data()
        self.c.position_coefficient = self.position_coefficient.data()
        self.c.n_runs = self.run_field.size()
        self.c.run_field = self.run_field.data()
        self.c.run_begin = self.run_begin.data()
        self.c.run_coefficient = self.run_coefficient.data()
        self.c.n_others = self.other_field.size()
        self.c.other_template = self.other_template.data()
        self.c.other_field = self.other_field.data()
        self.c.other_coefficient = self.other_coefficient.data()
        self.c.reads_tag = self.reads_tag.data()

    def _add_structure(self, in_runs, read):
        self.run_begin.push_back(0)
        for field in in_runs:
            n = 1 + max(k for k, fields in enumerate(read) if field in fields)
            for fields in read[:n]:
                self.run_coefficient.push_back(fields.get(field, 0))
            self.run_field.push_back(field)
            self.run_begin.push_back(self.run_coefficient.size())

        others = [[pair for pair in fields.items() if pair[0] not in in_runs] for fields in read]
        for pairs in zip_longest(*others):  # neighbours belong to different templates, so none waits for the other
            for template, pair in enumerate(pairs):
                if pair is not None:
                    self.other_template.push_back(template)
                    self.other_field.push_back(pair[0])
                    self.other_coefficient.push_back(pair[1])

    def __len__(self):
        return self.c.n


def _coefficients(pairs):
    """Return the coefficient of each field; a template may read one twice."""
    found = {}
    for field, coefficient in pairs:
        found[field] = (found.get(field, 0) + coefficient) & 0xFFFF_FFFF_FFFF_FFFF
    return found
