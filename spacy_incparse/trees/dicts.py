"""A tree as JSON: flat, so that JSON readers need no recursion. docs/output.md describes the keys.

    {"text": "It rains", "tokens": [{"text": "It", "start": 0, "end": 2, "tag": "PRP"}, ...],
     "spans": [{"label": "S", "start": 0, "end": 2}, ...]}

`parse --format json` prints the same keys, so `from_dict` reads its output, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import Phrase, TreeArrays
from spacy_incparse.trees.arrays_builder import arrays_of_phrases
from spacy_incparse.trees.node import TreeNode


def to_dict(tree: TreeNode) -> dict[str, Any]:
    """Return text, tokens and phrases of a node; offsets are relative to its first character and token."""
    first_char, first = tree.start_char, tree.start
    tokens = [
        {"text": word, "start": leaf.start_char - first_char, "end": leaf.end_char - first_char, "tag": leaf.label}
        for leaf, word in zip(tree.preterminals(), tree.words, strict=True)
    ]
    spans = [{"label": label, "start": start - first, "end": end - first} for label, start, end in tree.spans()]
    return {"text": tree.text, "tokens": tokens, "spans": spans}


def from_dict(data: Mapping[str, Any]) -> TreeArrays:
    """Return the tree of "tokens" ("text" and "tag" of each) and "spans"; other keys are ignored.

    The spans are in pre-order, a phrase before the phrases in it, and the first one covers all tokens; without spans
    the one token is a POS node. Raises IncparseError naming the entry that is missing or does not fit.
    """
    tokens = _entries(data, "tokens", {"text": str, "tag": str})
    spans = _entries(data, "spans", {"label": str, "start": int, "end": int})
    words, tags = [word for word, _ in tokens], [tag for _, tag in tokens]
    return arrays_of_phrases(checked_spans(spans, len(tokens)), words, tags)


def _entries(data: Mapping[str, Any], key: str, fields: Mapping[str, type]) -> list[tuple[Any, ...]]:
    if not isinstance(data, Mapping) or not isinstance(data.get(key), Sequence) or isinstance(data[key], str):
        raise IncparseError(f"a tree as JSON needs a list {key!r}")
    rows = []
    for i, entry in enumerate(data[key]):
        for name, kind in fields.items():
            if not isinstance(entry, Mapping) or type(entry.get(name)) is not kind:
                raise IncparseError(f"{key}[{i}] needs {name!r}, which is a {kind.__name__}; it is {entry!r}")
        rows.append(tuple(entry[name] for name in fields))
    return rows


def checked_spans(spans: Sequence[Phrase], n_tokens: int) -> Iterator[Phrase]:
    """Yield the spans. Raises IncparseError unless they are the spans of one tree, in pre-order."""
    if not n_tokens:
        raise IncparseError("a tree has at least one token; 'tokens' is empty")
    if not spans and n_tokens > 1:
        raise IncparseError(f"'spans' is empty; expected one that covers all {n_tokens} tokens")
    path: list[Phrase] = []
    last_start = 0
    for i, (label, start, end) in enumerate(spans):
        where = f"spans[{i}] ({label} {start}-{end})"
        while path and path[-1][2] <= start:
            path.pop()
        if not 0 <= start < end <= n_tokens:
            raise IncparseError(f"{where} is not within the {n_tokens} tokens")
        if start < last_start:
            raise IncparseError(f"{where} comes after one that starts later; expected pre-order")
        if i == 0 and (start, end) != (0, n_tokens):
            raise IncparseError(f"{where} is the first; expected one that covers all {n_tokens} tokens")
        if path and end > path[-1][2]:
            above, above_start, above_end = path[-1]
            raise IncparseError(f"{where} crosses the end of {above} {above_start}-{above_end}; expected nested spans")
        path.append((label, start, end))
        last_start = start
        yield label, start, end
