"""How a Doc stores the tree of a sentence: as a compact, versioned, JSON-safe string. `decode` inverts `encode`.

    1|b|-41.25|(TOP (S (NP DT NN) (VP VBD)) .)|.3,3,4.1

The fields are: format version, source of the parse (first letter; empty if the tree was given, not parsed), its score
(may be empty), the nodes in pre-order, the characters of the leaves. A phrase opens with a bracket, a POS node has
none. Each leaf is stored as the gap before it and its length: `.3` follows the last leaf directly, `,3` after one
character, `+2.3` after two. Offsets are counted from the first character of the sentence, so that the string stays
valid if a Doc is cut, merged or retokenized. The words are read from the text. Fields after the fifth are kept
unchanged (`StoredTree.more`), for other data about a tree.

The two long fields are written and read in codec_strings.pyx.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.codec_strings import cut, scan_leaves, scan_nodes, spell_leaves, spell_nodes
from spacy_incparse.trees.tree import Tree, TreeArrays

VERSION = "1"
SOURCES = {"b": "beam", "c": "chart", "r": "relaxed", "f": "flat", "": ""}


@dataclass(frozen=True)
class StoredTree:
    """A decoded tree without its words, which the text has: leaf i is text[char_starts[i] : char_ends[i]]."""

    labels: tuple[str, ...]  # of the nodes in pre-order; these four fields are as in `TreeArrays`
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    sizes: tuple[int, ...]
    char_starts: tuple[int, ...]  # one per leaf, from the first character of the sentence
    char_ends: tuple[int, ...]
    score: float | None = None
    source: str = ""  # "beam", "chart", "relaxed", "flat"; "" if the tree was not parsed but given
    more: tuple[str, ...] = field(default=(), compare=False)  # fields after the fifth

    def tree(self, text: str) -> Tree:
        """Return the Tree with its words, taken from the sentence's `text`."""
        words = cut(text, self.char_starts, self.char_ends)
        return Tree(TreeArrays(self.labels, self.starts, self.ends, self.sizes, words))


def encode(
    tree: Tree,
    char_starts: Sequence[int],
    char_ends: Sequence[int],
    *,
    origin: int = 0,
    score: float | None = None,
    source: str = "",
    more: Sequence[str] = (),
) -> str:
    """Return the string for a whole tree whose leaf i covers the characters char_starts[i] to char_ends[i].

    `origin` is the offset of the sentence's first character. `source` is a value of `SOURCES`. `more` are further
    fields, strings without "|".
    """
    arrays = tree.root.arrays
    if not len(arrays.words) == len(char_starts) == len(char_ends):
        raise ValueError(f"{len(arrays.words)} leaves, but offsets of {len(char_starts)} and {len(char_ends)}")
    nodes = spell_nodes(arrays.labels, arrays.sizes)
    leaves = spell_leaves(char_starts, char_ends, origin)
    fields = (VERSION, source[:1], "" if score is None else f"{score:.6g}", nodes, leaves, *more)
    return "|".join(fields)


def decode(value: str) -> StoredTree:
    """Return the tree in a string from `encode`. Raises IncparseError if it has another version or is damaged."""
    version, *fields = value.split("|")
    if version != VERSION:
        raise IncparseError(f"the stored tree has format {version[:20]!r}, but this version reads format {VERSION!r}")
    try:
        source, score, nodes, leaves, *more = fields
        labels, starts, ends, sizes = scan_nodes(nodes)
        char_starts, char_ends = scan_leaves(leaves)
        if ends[0] != len(char_starts):
            raise ValueError("not one leaf for each POS node")
        number = float(score) if score else None
        return StoredTree(labels, starts, ends, sizes, char_starts, char_ends, number, SOURCES[source], tuple(more))
    except (ValueError, KeyError, OverflowError):
        raise IncparseError(f"the stored tree is damaged: {value[:60]!r}") from None
