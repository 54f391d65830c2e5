"""A group of spans that follows its characters where tokens are merged or split."""

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

    spaCy's own groups keep the token indices that their spans had at first, so that after a merge they cover other
    tokens, or raise IndexError. Here the spans are found anew by their characters; those that begin or end inside of
    a token are dropped.
    """

    def __init__(self, doc: Doc, *, name: str = "", attrs: dict[str, Any] | None = None, spans: Any = ()):
        super().__init__(doc, name=name, attrs=attrs or {}, spans=list(spans))
        self._tokens: np.ndarray | None = doc.to_array(IDX)  # for which the indices are right

    @classmethod
    def of(cls, group: SpanGroup) -> MirrorGroup:
        """Return a copy of a group; its spans may have been left behind by a merge already."""
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
        """Return the group as bytes, from which spaCy makes a group of its own."""
        return self._fitted().to_bytes()

    def from_bytes(self, data: bytes) -> MirrorGroup:
        """Take over the spans of another group."""
        super().from_bytes(data)
        self._tokens = None
        return self

    def copy(self, doc: Doc | None = None) -> MirrorGroup:
        """Return a copy, also on another Doc of the same text."""
        return MirrorGroup.of(self._fitted().copy(doc))

    def _fitted(self) -> Any:
        """Return the methods of SpanGroup for this group, after its spans were found in the tokens that there are."""
        tokens = self.doc.to_array(IDX)
        if self._tokens is None or not np.array_equal(tokens, self._tokens):
            attrs = self.attrs
            group = srsly.msgpack_loads(super().to_bytes())
            group["spans"] = list(_moved(self.doc, group["spans"]))
            super().from_bytes(srsly.msgpack_dumps(group))
            self.attrs, self._tokens = attrs, tokens
        return super()


def _moved(doc: Doc, spans: list[bytes]) -> Iterator[bytes]:
    for packed in spans:
        *ids, _, _, start_char, end_char = _SPAN.unpack(packed)
        span = doc.char_span(start_char, end_char)
        if span is not None:
            yield _SPAN.pack(*ids, span.start, span.end, start_char, end_char)
