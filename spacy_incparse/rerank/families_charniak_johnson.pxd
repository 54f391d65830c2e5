from libcpp.vector cimport vector

from spacy_incparse.rerank.family_functions cimport NamedFamilyC

cdef int add_charniak_johnson_families(vector[NamedFamilyC]* table) except -1
