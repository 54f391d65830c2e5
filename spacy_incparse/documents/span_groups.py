"""A span group that stays aligned with the text when tokens are merged or split."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import srsly
from spacy.attrs import IDX
from spacy.tokens import Doc, Span, SpanGroup

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.parsing.parse import Constraint

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
            moved = []
            for *ids, _, _, start_char, end_char in map(_SPAN.unpack, group["spans"]):
                span = self.doc.char_span(start_char, end_char)
                if span is not None:
                    moved.append(_SPAN.pack(*ids, span.start, span.end, start_char, end_char))
            group["spans"] = moved
            super().from_bytes(srsly.msgpack_dumps(group))
            self.attrs, self._tokens = attrs, tokens
        return super()


def span_places(group: SpanGroup) -> Iterator[tuple[str, int, int]]:
    """Yield label, first character and character after the last of each span, whatever has become of its tokens."""
    for packed in srsly.msgpack_loads(group.to_bytes())["spans"]:
        _, _, label, _, _, start_char, end_char = _SPAN.unpack(packed)
        yield group.doc.vocab.strings[label], start_char, end_char


def constrained(
    doc: Doc, sentences: Sequence[Sentence], required_key: str | None, forbidden_key: str | None
) -> tuple[list[Sentence], list[str]]:
    """Return sentences of a Doc with the constraints from its groups, and the texts that are no words of a sentence.

    A span's label is the label of the phrase; an empty label stands for any. White space at a span's edges is ignored.
    Spans are aligned with words by characters, because tokens may have been merged in the meantime.
    """
    starts = {char: (k, i) for k, s in enumerate(sentences) for i, char in enumerate(s.char_starts)}
    ends = {char: (k, i) for k, s in enumerate(sentences) for i, char in enumerate(s.char_ends)}
    found: list[list[Constraint]] = [[] for _ in sentences]
    outside = []
    for key, is_required in ((required_key, True), (forbidden_key, False)):
        for label, text, start in _spans(doc, key):
            first, last = starts.get(start), ends.get(start + len(text))
            if first is None or last is None or first[0] != last[0]:
                outside.append(text)
            else:
                found[first[0]].append(Constraint(first[1], last[1] + 1, label or None, is_required))
    pairs = zip(sentences, found, strict=True)
    return [replace(one, constraints=tuple(here)) if here else one for one, here in pairs], outside


def shown(constraints: Iterable[Constraint], words: Sequence[str]) -> str:
    """Return a description of constraints for a message: the label and words of each."""
    return ", ".join(
        f"{'' if is_required else 'no '}{label or 'phrase'} over {' '.join(words[start:end])!r}"
        for start, end, label, is_required in constraints
    )


def _spans(doc: Doc, key: str | None) -> Iterator[tuple[str, str, int]]:
    """Yield label, text without white space at its edges, and first character of each span in a group."""
    if key is None or key not in doc.spans:
        return
    whole = doc.text
    for label, start, end in span_places(doc.spans[key]):
        text = whole[start:end]
        yield label, text.strip(), start + len(text) - len(text.lstrip())
