"""Annotations as protocol buffers: the message `edu.stanford.nlp.pipeline.Document` of CoreNLP, behind its length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spacy_incparse.trees.tree import Tree

GRAPHS = ("basicDependencies", "enhancedDependencies", "enhancedPlusPlusDependencies")
# The numbers of the fields in CoreNLP.proto.
_DOCUMENT, _SENTENCE, _TOKEN, _TREE, _GRAPH, _NODE, _EDGE = (
    {name: int(number) for name, _, number in (field.partition("=") for field in fields.split())}
    for fields in (
        "text=1 sentence=2|token=1 tokenOffsetBegin=2 tokenOffsetEnd=3 sentenceIndex=4 characterOffsetBegin=5 "
        "characterOffsetEnd=6 parseTree=7 basicDependencies=8 text=12 enhancedDependencies=17 "
        "enhancedPlusPlusDependencies=18|word=1 pos=2 value=3 before=5 after=6 originalText=7 lemma=10 "
        "characterOffsetBegin=11 characterOffsetEnd=12 tokenBeginIndex=17 tokenEndIndex=18 codepointOffsetBegin=74 "
        "codepointOffsetEnd=75 index=79|child=1 value=2 yieldBeginIndex=3 yieldEndIndex=4|node=1 edge=2 root=3"
        "|sentenceIndex=1 index=2|governor=1 dependent=2 dep=3"
    ).split("|")
)


def document(text: str, sentences: Sequence[Mapping[str, Any]], trees: Sequence[Tree | None]) -> bytes:
    """Return a Document behind its length, as Java's `writeDelimitedTo` writes it.

    sentences: as in the JSON of CoreNLP, with their texts. trees: those to be written for them.
    """
    found, behind = list[bytes](), 0
    for sentence, tree in zip(sentences, trees, strict=True):
        tokens, before = sentence["tokens"], behind
        behind += len(tokens)
        written = [
            _message(_TOKEN, {**token, "value": token["word"], "tokenBeginIndex": i, "tokenEndIndex": i + 1})
            for i, token in enumerate(tokens, start=before)
        ]
        place = {"tokenOffsetBegin": before, "tokenOffsetEnd": behind, "sentenceIndex": sentence["index"]}
        ends = {"characterOffsetEnd": tokens[-1]["characterOffsetEnd"], "text": sentence["text"]}
        fields = {**tokens[0], **place, **ends, "token": written, "parseTree": [_tree(tree)] if tree else []}
        nodes = [_message(_NODE, {"sentenceIndex": sentence["index"], "index": i + 1}) for i in range(len(tokens))]
        for name in filter(sentence.__contains__, GRAPHS):
            edges = [_message(_EDGE, edge) for edge in sentence[name] if edge["governor"]]
            roots = [edge["dependent"] for edge in sentence[name] if not edge["governor"]]
            fields[name] = _message(_GRAPH, {"node": nodes, "edge": edges, "root": roots})
        found.append(_message(_SENTENCE, fields))
    whole = _message(_DOCUMENT, {"text": text, "sentence": found})
    return _varint(len(whole)) + whole


def _tree(tree: Tree) -> bytes:
    """Return a ParseTree; its leaves are the words. Children are written before their parents: trees may be deep."""
    arrays, children = tree.arrays, dict[int, list[bytes]]()
    for node in reversed(range(len(arrays.sizes))):
        start, end, below = arrays.starts[node], arrays.ends[node], children.pop(node, [])[::-1]
        if arrays.sizes[node] == 1:
            below = [_message(_TREE, {"value": arrays.words[start]})]
        fields = {"child": below, "value": arrays.labels[node], "yieldBeginIndex": start, "yieldEndIndex": end}
        children.setdefault(arrays.parents[node], []).append(_message(_TREE, fields))
    return children[-1][0]


def _message(numbers: Mapping[str, int], fields: Mapping[str, Any]) -> bytes:
    """Return fields that have numbers, with their values: integers, texts and messages, or lists of these."""
    pieces = list[bytes]()
    for name, number in numbers.items():
        values = fields.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, int):
                pieces += [_varint(number << 3), _varint(value)]
            else:
                content = value.encode() if isinstance(value, str) else value
                pieces += [_varint(number << 3 | 2), _varint(len(content)), content]
    return b"".join(pieces)


def _varint(value: int) -> bytes:
    """Return a number with seven bits in each byte, the lowest first; all bytes but the last have the eighth bit."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
