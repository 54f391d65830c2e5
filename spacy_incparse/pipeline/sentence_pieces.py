"""Sentences that go through a transformer one by one, though its component reads whole Docs.

The layers of spacy-curated-transformers see a Doc as one text: a word's vector depends on the sentences around it, and
on where a window happens to begin. A parser that learned from single sentences is far less accurate on such vectors.
Here the encoder of pieces returns a list of sentences for each Doc, and the layer that cuts them into spans
(`sorted_spans.py`) joins their vectors again. Both only change what a layer computes: its name, its attributes and its
weights stay where loaders and saved pipelines expect them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from spacy.tokens import Doc, Token
from thinc.api import Model, Ragged, get_array_module

PREPROCESS = "preprocess"  # the attribute of wordpiece encoders that splits a token before it is cut into pieces
MAX_PART, MAX_TOKEN = 100, 1000  # longer parts of a token, as in BERT's tokenizer, and longer tokens are unknown
UNKNOWN = "\0"  # no piece has this character

Pieces = Any
"""A Ragged: the pieces of tokens or their vectors, with the markers of the beginning and the end around them."""


def create_sentence_pieces(pieces: Model) -> Model:
    """Return an encoder of pieces by sentence, for `@architectures = "spacy_incparse.SentencePieces.v1"`.

    A component before the transformer has to set the sentence boundaries, such as the sentencizer, also in training
    (`annotating_components`); a Doc without boundaries is encoded as one sentence. Needs `WithSortedSpans.v1`.

    pieces: the encoder, such as `spacy-curated-transformers.BertWordpieceEncoder.v1`.
    """
    pieces._func = partial(_encode, pieces._func)
    if PREPROCESS in pieces.attrs:
        pieces.attrs[PREPROCESS] = partial(_split_token, pieces.attrs[PREPROCESS])
    return pieces


def join_sentences(with_spans: Model) -> Model:
    """Make the layer that cuts Docs into spans also take lists of sentences; it returns one output for each Doc."""
    with_spans._func = partial(_join, with_spans._func)
    return with_spans


def _encode(
    encode: Callable, model: Model, docs: Sequence[Doc], is_train: bool
) -> tuple[list[list[Pieces]], Callable[[Any], list]]:
    groups = [_sentences(doc) for doc in docs]
    found, _ = encode(model, [sentence for group in groups for sentence in group], is_train)
    return list(_grouped(found, groups)), lambda gradient: []  # pieces have no gradient


def _split_token(split: Callable[[str], list[str]], token: str) -> list[str]:
    """Split a token at its punctuation. Parts that are too long are unknown: to cut them into pieces is slow."""
    if len(token) > MAX_TOKEN:
        return [UNKNOWN]
    return [part if len(part) <= MAX_PART else UNKNOWN for part in split(token)]


def _sentences(doc: Doc | Sequence[Token]) -> Sequence[Any]:
    """Return the sentences of a Doc; if it has no tokens or boundaries, or is a list of tokens, all of it."""
    return list(doc.sents) if isinstance(doc, Doc) and len(doc) and doc.has_annotation("SENT_START") else [doc]


def _join(
    cut: Callable, model: Model, given: list[Pieces] | list[list[Pieces]], is_train: bool
) -> tuple[Any, Callable[[list[list[Pieces]]], list]]:
    if not given or not isinstance(given[0], list):
        return cut(model, given, is_train)
    output, from_output = cut(model, [sentence for group in given for sentence in group], is_train)
    outputs = _grouped(output.all_outputs, given)
    output.all_outputs = [[_joined(layer) for layer in zip(*group, strict=True)] for group in outputs]

    def backprop(gradient: list[list[Pieces]]) -> list:
        parts = (
            zip(*(_parted(layer, group) for layer in layers), strict=True)
            for layers, group in zip(gradient, given, strict=True)
        )
        return from_output([list(layers) for sentences in parts for layers in sentences])

    return output, backprop


def _grouped(items: Sequence[Any], groups: Sequence[Sequence]) -> Iterator[list[Any]]:
    """Yield as many items as each group has members."""
    for first, last in pairwise(accumulate(map(len, groups), initial=0)):
        yield list(items[first:last])


def _joined(sentences: Sequence[Pieces]) -> Pieces:
    """Return the vectors of a Doc, without the markers between its sentences."""
    if len(sentences) == 1:
        return sentences[0]
    last = len(sentences) - 1
    kept = [part[i > 0 : len(part.lengths) - (i < last)] for i, part in enumerate(sentences)]
    xp = get_array_module(kept[0].dataXd)
    return Ragged(xp.concatenate([part.dataXd for part in kept]), xp.concatenate([part.lengths for part in kept]))


def _parted(joined: Pieces, sentences: Sequence[Pieces]) -> list[Pieces]:
    """Return the gradient of each sentence, given that of the Doc: 0 for the markers between sentences."""
    if len(sentences) == 1:
        return [joined]
    xp = get_array_module(joined.dataXd)
    nothing = xp.zeros((1, *joined.dataXd.shape[1:]), joined.dataXd.dtype)
    found, first, last = [], 0, len(sentences) - 1
    for i, sentence in enumerate(sentences):
        n_rows = len(sentence.dataXd) - (i > 0) - (i < last)
        rows = joined.dataXd[first : first + n_rows]
        found.append(Ragged(xp.concatenate([nothing] * (i > 0) + [rows] + [nothing] * (i < last)), sentence.lengths))
        first += n_rows
    return found
