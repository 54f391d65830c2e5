"""A span group that stays aligned with the text when tokens are merged or split."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import srsly
from spacy.attrs import IDX
from spacy.tokens import Doc, Span, SpanGroup

_SPAN = struct.Struct(">QQQllll")  # as spaCy stores a span: id, kb_id, label, tokens, characters


class MirrorGroup(SpanGroup):
    """A SpanGroup that survives `doc.retokenize()`.

    spaCy's own groups keep the original token indices of their spans, so that after a merge they cover other tokens or
    raise IndexError. This class realigns the spans by their characters and drops those that begin or end inside a
    token.
    """

    def __init__(self, doc: Doc, *, name: str = "", attrs: dict[str, Any] | None = None, spans: Any = ()):
        super().__init__(doc, name=name, attrs=attrs or {}, spans=list(spans))
        self._tokens: np.ndarray | None = doc.to_array(IDX)  # the tokens that the indices refer to

    @classmethod
    def of(cls, group: SpanGroup) -> MirrorGroup:
        """Return a copy of a group, whose token indices may already be outdated by a merge."""
        copy = cls(group.doc).from_bytes(SpanGroup.to_bytes(group))
        copy.attrs = dict(group.attrs)
        return copy

    def __len__(self) -> int:
        return self._fitted().__len__()

    def __getitem__(self, index: int) -> Span:
        return self._fitted().__getitem__(index)

    def __iter__(self) -> Iterator[Span]:
        group = self._fitted()
        return (group.__getitem__(i) for i in range(group.__len__()))

    def __setitem__(self, index: int, span: Span) -> None:
        self._fitted().__setitem__(index, span)

    def to_bytes(self) -> bytes:
        """Return the group as bytes, which spaCy loads as a plain SpanGroup."""
        return self._fitted().to_bytes()

    def from_bytes(self, data: bytes) -> MirrorGroup:
        """Load the spans of another group."""
        super().from_bytes(data)
        self._tokens = None
        return self

    def copy(self, doc: Doc | None = None) -> MirrorGroup:
        """Return a copy, optionally on another Doc with the same text."""
        return MirrorGroup.of(self._fitted().copy(doc))

    def _fitted(self) -> Any:
        """Realign the spans with the current tokens, and return the SpanGroup methods of this group."""
        tokens = self.doc.to_array(IDX)
        if self._tokens is None or not np.array_equal(tokens, self._tokens):
            attrs = self.attrs
            group = srsly.msgpack_loads(super().to_bytes())
            group["spans"] = list(_moved(self.doc, group["spans"]))
            super().from_bytes(srsly.msgpack_dumps(group))
            self.attrs, self._tokens = attrs, tokens
        return super()


def span_places(group: SpanGroup) -> Iterator[tuple[str, int, int]]:
    """Yield label, first character and character after the last of each span, whatever has become of its tokens."""
    for packed in srsly.msgpack_loads(group.to_bytes())["spans"]:
        _, _, label, _, _, start_char, end_char = _SPAN.unpack(packed)
        yield group.doc.vocab.strings[label], start_char, end_char


def _moved(doc: Doc, spans: list[bytes]) -> Iterator[bytes]:
    for packed in spans:
        *ids, _, _, start_char, end_char = _SPAN.unpack(packed)
        span = doc.char_span(start_char, end_char)
        if span is not None:
            yield _SPAN.pack(*ids, span.start, span.end, start_char, end_char)
