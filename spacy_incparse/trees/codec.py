"""What a Doc stores of a sentence's tree: one compact, versioned, JSON-safe string. `decode` inverts `encode`.

    1|b|-41.25|(TOP (S (NP DT NN) (VP VBD)) .)|.3,3,4.1

The fields are: format version, source of the parse (first letter; empty: not parsed, but given), its score (may be
empty), the nodes in pre-order, the characters of the leaves. A phrase opens with a bracket, a POS node stands bare. Of
each leaf the gap before it and its length are stored: `.3` stands next to the leaf before, `,3` one character behind
it, `+2.3` two characters. Everything counts from the first character of the sentence, so that the string stays right
where a Doc is cut, merged or retokenised. The words are those of the text. Fields behind the fifth are for later
versions: they are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree, TreeArrays

VERSION = "1"
SOURCES = {"b": "beam", "r": "relaxed", "f": "flat", "": ""}

_LEAF = re.compile(r"(?:\+(\d+))?([.,])(\d+)")
_BREAKS_FIELD = re.compile(r"[%()|\s]")
_ESCAPE = re.compile(r"%([0-9A-F]+);")
_EMPTY = "%"


@dataclass(frozen=True)
class StoredTree:
    """A decoded tree without its words, which are in the text: leaf i is text[char_starts[i] : char_ends[i]]."""

    labels: tuple[str, ...]
    sizes: tuple[int, ...]  # nodes in the subtree, in pre-order as the labels
    char_starts: tuple[int, ...]  # one per leaf, from the first character of the sentence
    char_ends: tuple[int, ...]
    score: float | None = None
    source: str = ""  # "beam", "relaxed", "flat"; "" where the tree was not parsed but given

    def tree(self, text: str) -> Tree:
        """Return the Tree with its words, cut from the sentence's `text`."""
        words = [text[start:end] for start, end in zip(self.char_starts, self.char_ends, strict=True)]
        return Tree(TreeArrays.of(self.labels, self.sizes, words))


def encode(
    tree: Tree,
    char_starts: Sequence[int],
    char_ends: Sequence[int],
    *,
    origin: int = 0,
    score: float | None = None,
    source: str = "",
) -> str:
    """Return the string for a whole tree whose i-th leaf has the characters char_starts[i] to char_ends[i].

    `origin` is the first character of the sentence in the same count. `source` is a value of `SOURCES`.
    """
    arrays = tree.root.arrays
    if not len(arrays.words) == len(char_starts) == len(char_ends):
        raise ValueError(f"{len(arrays.words)} leaves, but offsets of {len(char_starts)} and {len(char_ends)}")
    nodes = _encode_nodes(arrays.labels, arrays.sizes)
    leaves = _encode_leaves(char_starts, char_ends, origin)
    return f"{VERSION}|{source[:1]}|{'' if score is None else f'{score:.6g}'}|{nodes}|{leaves}"


def decode(value: str) -> StoredTree:
    """Return what `encode` was given. Raises IncparseError for a string of another version or a damaged one."""
    version, *fields = value.split("|")
    if version != VERSION:
        raise IncparseError(f"a tree in format {version[:20]!r} is stored here, this version reads format {VERSION!r}")
    try:
        source, score, nodes, leaves = fields[:4]
        labels, sizes = _decode_nodes(nodes)
        starts, ends = _decode_leaves(leaves)
        if sizes.count(1) != len(starts):
            raise ValueError
        return StoredTree(labels, sizes, starts, ends, float(score) if score else None, SOURCES[source])
    except (ValueError, KeyError, IndexError):
        raise IncparseError(f"the stored tree is damaged: {value[:60]!r}") from None


class _Escapes(dict):
    """Label -> its spelling in the string, remembered: labels are few."""

    def __missing__(self, label: str) -> str:
        if len(self) > 10_000:  # labels from some other source, such as one tag per word: do not keep them all
            self.clear()
        spelled = _BREAKS_FIELD.sub(lambda match: f"%{ord(match.group()):X};", label) or _EMPTY
        self[label] = spelled
        return spelled


class _LeafPieces(dict):
    """(gap, length) -> its spelling."""

    def __missing__(self, key: tuple[int, int]) -> str:
        gap, length = key
        if gap < 0 or length < 0:
            raise ValueError(f"the leaves must stand in the order of the text: gap {gap}, length {length}")
        piece = f"{'.,'[gap]}{length}" if gap < 2 else f"+{gap}.{length}"
        if gap < 4 and length < 100:
            self[key] = piece
        return piece


_escaped = _Escapes()
_leaf_pieces = _LeafPieces()


def _encode_nodes(labels: Sequence[str], sizes: Sequence[int]) -> str:
    n_closed = [0] * len(sizes)  # phrases that end with this node, which is then a leaf
    for i, size in enumerate(sizes):
        if size != 1:
            n_closed[i + size - 1] += 1
    spelled = [_escaped[label] for label in labels]
    nodes = zip(spelled, sizes, n_closed, strict=True)
    return " ".join([label + ")" * n if size == 1 else "(" + label for label, size, n in nodes])


def _encode_leaves(starts: Sequence[int], ends: Sequence[int], origin: int) -> str:
    pieces = _leaf_pieces
    befores = [origin, *ends[:-1]]
    return "".join([pieces[s - before, e - s] for before, s, e in zip(befores, starts, ends, strict=True)])


def _decode_nodes(nodes: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    labels: list[str] = []
    sizes: list[int] = []
    path: list[int] = []  # the open phrases
    for i, node in enumerate(nodes.split(" ")):
        if node[0] == "(":
            path.append(i)
            labels.append(node[1:])
            sizes.append(0)
            continue
        label = node.rstrip(")")
        labels.append(label)
        sizes.append(1)
        for _ in range(len(node) - len(label)):
            phrase = path.pop()
            sizes[phrase] = i + 1 - phrase
    if path:
        raise ValueError
    if "%" in nodes:
        labels = ["" if label == _EMPTY else _ESCAPE.sub(_unescape, label) for label in labels]
    return tuple(labels), tuple(sizes)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match.group(1), 16))


def _decode_leaves(leaves: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    starts, ends, end = [], [], 0
    for gap, separator, length in _LEAF.findall(leaves):
        start = end + (int(gap) if gap else separator == ",")
        end = start + int(length)
        starts.append(start)
        ends.append(end)
    return tuple(starts), tuple(ends)
