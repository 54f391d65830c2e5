from libcpp.vector cimport vector

from spacy_incparse.rerank.family_functions cimport NamedFamilyC

cdef int add_collins_families(vector[NamedFamilyC]* table) except -1
