"""The base of training and decoding, which compiles templates to structs and converts words to type ids."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport map_init
from spacy_incparse.linear.hashing cimport hash_bytes, mix64
from spacy_incparse.tagging.tagger_model cimport WINDOW, AtomC, TemplateC

from spacy_incparse.tagging.words import MAX_LENGTH as _MAX_LENGTH
from spacy_incparse.tagging.words import shorten

cdef Py_ssize_t MAX_LENGTH = _MAX_LENGTH


cdef class Engine:
    """Templates, weights and word types of one tagger.

    `templates` are parsed templates; `field_ids` maps a field's name to its index in `read_fields(word)`.
    """

    def __init__(self, *, int n_tags, templates, dict field_ids, read_fields, dict only_tags, boundaries,
                 int beam_size):
        self.model.n_tags, self.model.beam_size, self.model.n_fields = n_tags, beam_size, len(field_ids)
        self.read_fields, self.only_tags = read_fields, only_tags
        for number, template in enumerate(templates):
            self._add_template(number, template, field_ids)
        map_init(&self.model.weights.runs)
        for values in boundaries:
            self.add_type(values, -1)
        self.type_ids = {}

    def _add_template(self, int number, template, dict field_ids):
        cdef TemplateC made
        made.base = _multiplier(number, 0)
        made.first_atom = <int32_t>self.model.atoms.size()
        made.tag_multiplier = made.tag2_multiplier = 0
        words = [atom for atom in template if atom.field in field_ids]
        for place, atom in enumerate(words):
            self.model.atoms.push_back(AtomC(field_ids[atom.field], atom.offset, _multiplier(number, 3 + place)))
        made.n_atoms = len(words)
        offsets = sorted({atom.offset for atom in words})
        tags = {atom.offset for atom in template if atom.field not in field_ids}
        if -1 in tags:
            made.tag_multiplier = _multiplier(number, 1)
        if -2 in tags:
            made.tag2_multiplier = _multiplier(number, 2)
            self.model.trigram_templates.push_back(made)
        elif tags:
            self.model.bigram_templates.push_back(made)
        elif len(offsets) > 1:
            self.model.window_templates.push_back(made)
        else:
            self.model.word_templates[<int>offsets[0] + WINDOW].push_back(made)

    cdef int32_t add_type(self, tuple values, int32_t only_tag) except -1:
        for value in values:
            text = value.encode("utf-8", "surrogatepass")
            self.model.fields.push_back(<uint32_t>(hash_bytes(text, len(text), 0) >> 32))
        self.model.only_tags.push_back(only_tag)
        return <int32_t>self.model.only_tags.size() - 1

    cdef int32_t type_of(self, str word) except -1:
        if len(word) > MAX_LENGTH:
            word = shorten(word)
        found = self.type_ids.get(word)
        if found is None:
            found = self.add_type(self.read_fields(word), self.only_tags.get(word, -1))
            self.type_ids[word] = found
        return found

    cdef int add_sentence(self, list words, vector[int32_t]& types) except -1:
        """Append the types of the words, between boundary types."""
        for _ in range(WINDOW):
            types.push_back(0)
        for word in words:
            types.push_back(self.type_of(word))
        for _ in range(WINDOW):
            types.push_back(1)
        return 0

    cdef void clear_types(self):
        self.type_ids.clear()
        self.model.only_tags.resize(N_BOUNDARIES)
        self.model.fields.resize(N_BOUNDARIES * self.model.n_fields)


cdef uint64_t _multiplier(int template, int place):
    """Return a fixed pseudo-random odd number for each place of each template."""
    return mix64(<uint64_t>(64 * template + place + 1)) | 1
