"""A transformer without PyTorch: its layers in NumPy, its word pieces in Python, its weights in 8 bits."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from spacy_incparse.errors import ModelError
from spacy_incparse.neural.encoder import MAX_PART, MAX_TOKEN, UNKNOWN, length_groups
from spacy_incparse.settings import MOST, check_number

TABLES = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"  # few of their rows are read
SCALE = ".scale"  # after the name of a matrix whose rows are in 8 bits
LEAST_FILL = 0.6  # of a group of sequences that share an attention matrix: the rest is padding
BLOCK_ROWS = 256  # whose widest layer fits into a processor's cache
MOST_WORDS = 200_000  # whose pieces are kept
FURTHEST = 128  # places apart, in an MPNet: all that are further have one bias
Rows = np.ndarray


def create_packed_encoder(width: int) -> Model:
    """Return a layer from Docs to vectors of tokens, for `@architectures = "spacy_incparse.PackedEncoder.v1"`.

    It is a pre-trained transformer as `spacy-incparse export` stores it, and stays as it is in training.

    width: that of its vectors.
    """
    check_number("width", width, 1, MOST)
    attrs: dict[str, Any] = {"weights": {}, "settings": {}, "pieces": []}
    return Model("packed_encoder", _Forward(), dims={"nO": width}, attrs=attrs)


def packed(weights: Mapping[str, Rows], *, in_8_bits: bool) -> dict[str, Rows]:
    """Return arrays as they are stored: each row of a matrix in 8 bits with a scale of its own, or all as they are."""
    found: dict[str, Rows] = {}
    for name, array in weights.items():
        if in_8_bits and array.ndim == 2:
            scale = np.maximum(np.abs(array).max(axis=1, keepdims=True), 1e-12).astype(np.float32) / 127
            found[name], found[name + SCALE] = np.rint(array / scale).astype(np.int8), scale
        else:
            found[name] = array.astype(np.float32)
    return found


def export_encoder(model: Model, *, in_8_bits: bool) -> Model:
    """Return the layer that computes what a transformer of spacy-curated-transformers computes, the last layer's means.

    Raises ModelError for other encoders than BERT and MPNet.
    """
    encoder = model.get_ref("transformer").shims[0]._model.curated_encoder
    pieces = model.get_ref("piece_encoder").attrs
    weights = {name.replace(".inner.", "."): array.numpy() for name, array in encoder.state_dict().items()}
    first_layer = encoder.layers[0]
    is_mpnet = "relative_attention_bias.weight" in weights
    if (
        "wordpiece_processor" not in pieces
        or type(first_layer.ffn.activation).__name__ != "GELU"
        or not (is_mpnet or type(encoder).__name__ == "BertEncoder")
    ):
        raise ModelError(f"an encoder of the type {type(encoder).__name__} cannot be exported: only BERT and MPNet can")
    types = weights.pop("embeddings.token_type_embeddings.weight")
    weights["embeddings.position_embeddings.weight"] = weights["embeddings.position_embeddings.weight"] + types[0]
    found = create_packed_encoder(encoder.layers[0].mha.output.weight.shape[0])
    found.attrs["weights"] = packed(weights, in_8_bits=in_8_bits)
    found.attrs["pieces"] = pieces["wordpiece_processor"].to_list()
    names = "lowercase", "strip_accents", "unk_piece", "bos_piece", "eos_piece"
    found.attrs["settings"] = {name: pieces[name] for name in names} | {
        "num_attention_heads": first_layer.mha.num_heads,
        "layer_norm_eps": first_layer.ffn_output_layernorm.eps,
        "first": encoder.padding_idx + 1 if is_mpnet else 0,
        **{
            name: next(node.attrs[name] for node in model.walk() if name in node.attrs) for name in ("window", "stride")
        },
    }
    return found


class Encoder:
    """The layers of a BERT (Devlin et al. 2019) or an MPNet (Song et al. 2020) in single precision.

    weights: as `packed` returns them, under the names of curated-transformers. settings: `num_attention_heads`,
    `layer_norm_eps`, `first`, the place of the first piece, and `window` and `stride`: sentences with more pieces are
    read in parts, whose vectors are averaged where they overlap.
    """

    def __init__(self, weights: Mapping[str, Rows], settings: Mapping[str, Any]):
        full = {
            name: array * weights[name + SCALE] if name + SCALE in weights else array
            for name, array in weights.items()
            if not name.endswith(SCALE) and name not in TABLES
        }
        self._tables = [
            (weights[name], weights.get(name + SCALE)) for name in TABLES
        ]  # in 8 bits if they are stored so
        # x @ w.T + b, with w.T as a matrix of its own: the product reads it row by row
        is_product = re.compile(r"layers\..*\.(input|output|intermediate)\.weight").fullmatch
        self._weights = {name: np.ascontiguousarray(w.T) if is_product(name) else w for name, w in full.items()}
        self._n_layers = 1 + max(int(name.split(".")[1]) for name in full if name.startswith("layers."))
        self._n_heads, self._eps = settings["num_attention_heads"], settings["layer_norm_eps"]
        self._first, self.window, self.stride = settings["first"], settings["window"], settings["stride"]

    def vectors(self, sequences: Sequence[np.ndarray]) -> list[Rows]:
        """Return the last layer's vectors of sequences of pieces, each of at most `window`: float32 (length, width)."""
        found: list[Any] = [None] * len(sequences)
        for group in length_groups([len(one) for one in sequences], MOST, LEAST_FILL):
            # All pieces of a group are the rows of one matrix; only attention needs them apart.
            lengths = [len(sequences[i]) for i in group]
            rows = self._group(np.concatenate([sequences[i] for i in group]), np.asarray(lengths))
            first = 0
            for i, length in zip(group.tolist(), lengths, strict=True):
                found[i] = rows[first : first + length]
                first += length
        return found

    def _group(self, ids: np.ndarray, lengths: np.ndarray) -> Rows:
        weights, longest = self._weights, int(lengths[0])
        places = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        of_pieces, of_places = (
            table.take(taken, axis=0) * (1 if scale is None else scale.take(taken, axis=0))
            for (table, scale), taken in zip(self._tables, (ids, places + self._first), strict=True)
        )
        x = self._normal(of_pieces + of_places, "embeddings.layer_norm")
        bias = np.where(np.arange(longest) < lengths[:, None], np.float32(0), np.float32(-1e30))[:, None, None]
        if "relative_attention_bias.weight" in weights:
            table = weights["relative_attention_bias.weight"]
            bias = bias + table[distance_buckets(longest, len(table))].transpose(2, 0, 1)
        for number in range(self._n_layers):
            layer = f"layers.{number}"
            x += self._attention(x, layer, rows, places, bias)
            x = self._normal(x, f"{layer}.attn_output_layernorm")
            for first in range(0, len(x), BLOCK_ROWS):
                block = x[first : first + BLOCK_ROWS]
                block += self._linear(gelu(self._linear(block, f"{layer}.ffn.intermediate")), f"{layer}.ffn.output")
            x = self._normal(x, f"{layer}.ffn_output_layernorm")
        return x

    def _attention(self, x: Rows, layer: str, rows: np.ndarray, places: np.ndarray, bias: Rows) -> Rows:
        n, longest, width = int(rows[-1]) + 1, bias.shape[-1], x.shape[1]
        mixed = self._linear(x, f"{layer}.mha.input")
        padded = np.zeros((n, longest, 3, self._n_heads, width // self._n_heads), np.float32)
        padded[rows, places] = mixed.reshape(len(x), 3, self._n_heads, -1)
        q, k, v = padded.transpose(2, 0, 3, 1, 4)
        scores = q @ k.transpose(0, 1, 3, 2)
        scores *= np.float32(1 / math.sqrt(q.shape[-1]))
        scores += bias
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        found = (scores @ v).transpose(0, 2, 1, 3)[rows, places].reshape(len(x), width)
        return self._linear(found, f"{layer}.mha.output")

    def _linear(self, x: Rows, name: str) -> Rows:
        found: Rows = x @ self._weights[f"{name}.weight"]
        found += self._weights[f"{name}.bias"]
        return found

    def _normal(self, x: Rows, name: str) -> Rows:
        x -= x.mean(axis=1, keepdims=True)
        scale = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
        x *= 1 / np.sqrt(scale + self._eps)
        x *= self._weights[f"{name}.weight"]
        x += self._weights[f"{name}.bias"]
        return x


def gelu(x: Rows) -> Rows:
    """Return x times the normal distribution's probability of less than x, in the place of x.

    The error function is that of Abramowitz & Stegun (1964), 7.1.26: it is right to 2e-7.
    """
    t = np.abs(x)
    t *= np.float32(0.3275911 / math.sqrt(2))
    t += np.float32(1)
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(factor)
        tail *= t
    np.multiply(x, x, out=t)
    t *= np.float32(-0.5)
    tail *= np.exp(t, out=t)
    tail *= np.float32(0.5)  # the probability of more than |x|
    np.subtract(np.float32(1), tail, out=tail, where=x > 0)
    x *= tail
    return x


@lru_cache(maxsize=128)
def distance_buckets(length: int, n_buckets: int) -> np.ndarray:
    """Return the row of an MPNet's table of biases for each pair of places (Raffel et al. 2020): (length, length).

    Half of the rows look ahead; of each half, half are for one distance, and the others for more and more of them.
    """
    back = np.arange(length)[:, None] - np.arange(length)[None, :]
    half = n_buckets // 2
    exact, distance = half // 2, np.abs(back)
    steps = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / np.float32(math.log(FURTHEST / exact))
    far = np.minimum(exact + (steps * np.float32(half - exact)).astype(np.int64), half - 1)
    return (back < 0) * half + np.where(distance < exact, distance, far)


class WordPieces:
    """Cuts words into the longest pieces there are, from left to right (Wu et al. 2016), as BERT does."""

    def __init__(self, pieces: Sequence[str], settings: Mapping[str, Any]):
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._strips, self.unknown = settings["strip_accents"], self._numbers[settings["unk_piece"]]
        self.around = self._numbers[settings["bos_piece"]], self._numbers[settings["eos_piece"]]
        self.attribute = "LOWER" if settings["lowercase"] else "ORTH"
        self._known: dict[int, list[int]] = {}

    def of_tokens(self, strings: Any, ids: Sequence[int]) -> list[list[int]]:
        """Return the pieces of tokens, given the strings of a vocabulary and the numbers of the tokens' texts there."""
        known = self._known
        if len(known) > MOST_WORDS:
            known.clear()
        for number in set(ids).difference(known):
            known[number] = self._cut(strings[number])
        return [known[number] for number in ids]

    def _cut(self, text: str) -> list[int]:
        if self._strips:
            text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        found: list[int] = []
        parts = [UNKNOWN] if len(text) > MAX_TOKEN else _parts(text)
        for part in parts:
            start, mark = 0, ""
            while start < len(part):
                ends = range(len(part), start, -1) if len(part) <= MAX_PART else ()
                numbers = ((self._numbers.get(mark + part[start:end]), end) for end in ends)
                number, start = next(((n, end) for n, end in numbers if n is not None), (self.unknown, len(part)))
                found.append(number)
                mark = "##"
        return found


def _parts(token: str) -> list[str]:
    """Return a token cut at its punctuation."""
    parts, in_word = [], False
    for char in token:
        is_mark = char.isascii() and not char.isalnum() and "!" <= char <= "~"
        if is_mark or unicodedata.category(char).startswith("P"):
            parts.append(char)
            in_word = False
        elif in_word:
            parts[-1] += char
        else:
            parts.append(char)
            in_word = True
    return parts


class _Forward:
    """The function of the layer, which keeps the weights in single precision; copies make their own."""

    def __init__(self) -> None:
        self._weights: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Forward, ()

    def __call__(self, model: Model, docs: Sequence[Doc], is_train: bool) -> tuple[list[Rows], Callable[[Any], list]]:
        weights, settings = model.attrs["weights"], model.attrs["settings"]
        if not weights:
            raise ModelError("the packed encoder has no weights: load a pipeline that `spacy-incparse export` made")
        if self._weights is not weights:
            self._encoder, self._pieces = Encoder(weights, settings), WordPieces(model.attrs["pieces"], settings)
            self._weights = weights
        return _vectors(self._encoder, self._pieces, docs), lambda gradient: []  # the layer stays as it is


def _vectors(encoder: Encoder, pieces: WordPieces, docs: Sequence[Doc]) -> list[Rows]:
    """Return the vectors of the tokens of Docs, or of parts of them, each of which is read alone."""
    first, last = pieces.around
    sequences, by_doc = [], []
    for doc in docs:
        ids, spaces = doc.to_array([pieces.attribute, "IS_SPACE"]).T if len(doc) else ((), ())
        cut = [[] if s else one for one, s in zip(pieces.of_tokens(doc.vocab.strings, ids), spaces, strict=True)]
        whole = np.asarray([first, *(piece for one in cut for piece in one), last])
        by_doc.append([len(one) for one in cut])
        sequences += [whole[start : start + encoder.window] for start in range(0, len(whole), encoder.stride)]
    vectors, found = iter(encoder.vectors(sequences)), []
    for lengths in by_doc:
        rows, total = next(vectors), sum(lengths) + 2
        if total > encoder.stride:
            rows = _overlaid(rows, vectors, total, encoder)
        found.append(_means(rows[1:-1], lengths))
    return found


def _overlaid(rows: Rows, more: Any, total: int, encoder: Encoder) -> Rows:
    """Return the vectors of a long sequence from those of its parts; where two overlap, their mean."""
    found = np.zeros((total, rows.shape[1]), np.float32)
    found[: len(rows)] = rows
    for start in range(encoder.stride, total, encoder.stride):
        part = next(more)
        n_common = min(encoder.window - encoder.stride, len(part))
        found[start : start + n_common] = (found[start : start + n_common] + part[:n_common]) / 2
        found[start + n_common : start + len(part)] = part[n_common:]
    return found


def _means(rows: Rows, lengths: Sequence[int]) -> Rows:
    """Return the mean vector of the pieces of each token; zeros for a token without pieces."""
    counts = np.asarray(lengths, np.int64)
    if (counts == 1).all():
        return rows
    found = np.zeros((len(counts), rows.shape[1]), np.float32)
    has = counts > 0
    if has.any():
        starts = (np.cumsum(counts) - counts)[has]
        found[has] = np.add.reduceat(rows, starts, axis=0) / counts[has][:, None].astype(np.float32)
    return found
