"""Constraints from span groups: phrases that the trees of a Doc must or must not contain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Doc

from spacy_incparse.documents.mirror_group import span_places
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.parsers.constraints import Constraint


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
    with_constraints = [
        replace(sentence, constraints=tuple(here)) if here else sentence
        for sentence, here in zip(sentences, found, strict=True)
    ]
    return with_constraints, outside


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
