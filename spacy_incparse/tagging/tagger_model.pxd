# The tagger's model as plain structs, and the keys of contexts; header-only, shared by search and training.
#
# Words are represented by type ids: `fields` holds the hashed fields of each type, one row per type. A sentence is an
# array of type ids with WINDOW boundary types on either side, so that offsets never leave it. Type 0 comes before a
# sentence, type 1 after it.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.tagging.tagger_weights cimport WeightsC

cdef enum:
    WINDOW = 2


cdef struct AtomC:
    int32_t field
    int32_t offset
    uint64_t multiplier


cdef struct TemplateC:
    uint64_t base
    int32_t first_atom
    int32_t n_atoms
    uint64_t tag_multiplier  # of the previous tag; 0 if the template does not read it
    uint64_t tag2_multiplier  # of the tag before that one


cdef struct ModelC:
    int32_t n_tags
    int32_t n_fields
    int32_t beam_size
    vector[AtomC] atoms
    vector[TemplateC] word_templates[5]  # read one word, at offset -WINDOW .. WINDOW
    vector[TemplateC] window_templates  # read several words and no tag
    vector[TemplateC] bigram_templates  # read the previous tag
    vector[TemplateC] trigram_templates  # read the tag before that one
    vector[uint32_t] fields
    vector[int32_t] only_tags  # the dictionary's tag for a type; -1: none
    WeightsC weights


cdef inline uint64_t word_part(const ModelC* model, const TemplateC* template, const int32_t* types) noexcept nogil:
    """Return base + sum of multiplier * field over the word atoms: multilinear hashing (Lemire & Kaser 2014)."""
    cdef uint64_t total = template.base
    cdef const AtomC* atom = model.atoms.data() + template.first_atom
    cdef int32_t i
    for i in range(template.n_atoms):
        total += atom[i].multiplier * model.fields[types[atom[i].offset] * model.n_fields + atom[i].field]
    return total


cdef inline uint32_t context_key(uint64_t total) noexcept nogil:
    """Return the high half of the sum, where multilinear hashing is universal; never 0 (`check_weights` refuses it)."""
    cdef uint32_t key = <uint32_t>(total >> 32)
    return key if key else 1


cdef inline uint32_t history_key(const TemplateC* template, uint64_t total, int32_t tag, int32_t tag2) noexcept nogil:
    """Return the key of the word part with the previous two tags added (-1: before the sentence)."""
    total += template.tag_multiplier * <uint64_t>(tag + 1)
    total += template.tag2_multiplier * <uint64_t>(tag2 + 1)
    return context_key(total)
