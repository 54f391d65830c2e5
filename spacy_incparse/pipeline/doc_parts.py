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
        return self._arrays.made("to_array", attributes)[self.start : self.end]

    def to_utf8_array(self, nr_char: int = -1) -> Any:
        """Return the first and last characters of the tokens, as `Doc.to_utf8_array`."""
        return self._arrays.made("to_utf8_array", nr_char)[self.start : self.end]


class DocArrays:
    """The arrays of a Doc, each made once for all of its parts."""

    def __init__(self, doc: Doc):
        self.doc = doc
        self._made: dict[tuple[str, str], Any] = {}

    def made(self, method: str, argument: Any) -> Any:
        """Return the array that a method of the Doc makes."""
        key = (method, str(argument))
        if key not in self._made:
            self._made[key] = getattr(self.doc, method)(argument)
        return self._made[key]
