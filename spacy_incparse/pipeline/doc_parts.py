"""Parts of Docs for spaCy's own layers of word vectors.

`Span.to_array` takes no names of attributes, as those layers give them, and `Span.as_doc` copies the whole Doc.
"""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab


class DocPart:
    """Consecutive tokens of a Doc, with all that spaCy's embedding layers read of a Doc."""

    def __init__(self, arrays: DocArrays, start: int, end: int):
        self._arrays, self.start, self.end = arrays, start, end

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def vocab(self) -> Vocab:
        """The vocabulary of the Doc, which has the static vectors."""
        return self._arrays.doc.vocab

    def to_array(self, attributes: int | list[int | str]) -> Any:
        """Return attributes of the tokens, as `Doc.to_array`."""
        return self._arrays.attributes(attributes)[self.start : self.end]

    def to_utf8_array(self, nr_char: int = -1) -> Any:
        """Return the first and last characters of the tokens, as `Doc.to_utf8_array`."""
        return self._arrays.characters(nr_char)[self.start : self.end]


class DocArrays:
    """The arrays of a Doc, each made once for all of its parts."""

    def __init__(self, doc: Doc):
        self.doc = doc
        self._attributes: dict[str, Any] = {}
        self._characters: dict[int, Any] = {}

    def attributes(self, attributes: int | list[int | str]) -> Any:
        """Return `Doc.to_array`."""
        key = str(attributes)
        if key not in self._attributes:
            self._attributes[key] = self.doc.to_array(attributes)
        return self._attributes[key]

    def characters(self, nr_char: int) -> Any:
        """Return `Doc.to_utf8_array`."""
        if nr_char not in self._characters:
            self._characters[nr_char] = self.doc.to_utf8_array(nr_char)
        return self._characters[nr_char]
