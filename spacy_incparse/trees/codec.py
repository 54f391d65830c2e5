"""How a Doc stores the tree of a sentence: as a compact, versioned, JSON-safe string. `decode` inverts `encode`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf

from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import raw_word
from spacy_incparse.trees.codec_strings import cut, scan_leaves, scan_nodes, spell_leaves, spell_nodes
from spacy_incparse.trees.empties import Empty, annotated
from spacy_incparse.trees.heads import NAMES, HeadRules, head_children, head_words
from spacy_incparse.trees.tree import Tree, TreeArrays

VERSION = "1"
PENN_WORDS = "w=penn"  # a further field: the text has words in the spelling of the Penn Treebank, the tree raw ones
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
        if PENN_WORDS in self.more:
            tags = (label for label, size in zip(self.labels, self.sizes, strict=True) if size == 1)
            words = tuple(map(raw_word, words, tags))
        return Tree(_with_stored(TreeArrays(self.labels, self.starts, self.ends, self.sizes, words), self.more))


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

        1|b|-41.25|(TOP (S (NP DT NN) (VP VBD)) .)|.3,3,4.1

    The fields are: format version, source of the parse (first letter; empty if the tree was given, not parsed), its
    score (may be empty), the nodes in pre-order, the characters of the leaves. A phrase opens with a bracket, a POS
    node has none. Each leaf is stored as the gap before it and its length: `.3` follows the last leaf directly, `,3`
    after one character, `+2.3` after two. Offsets are counted from the first character of the sentence, so that the
    string stays valid if a Doc is cut, merged or retokenized. The words are read from the text. The two long fields are
    written and read in codec_strings.pyx. Further fields (`StoredTree.more`) hold other data about the tree:

        h=en|m=5f0c21d9|t=57.3|n=3012.5 (TOP (S ...))|n=3009.1 (TOP (NP ...))|p=0.731

    `h` is the head table, if it is one of the package, or the heads of this tree. `m` is the id of the component and
    the model that made the tree. `t` is the model's temperature, if it has one. `p` is the probability of the tree, if
    a reranker chose it. `w=penn` says that the text is in Penn spelling, while the tree has raw words. Each `n` is an
    analysis other than the tree: its score; if its `h` depends on the tree, a semicolon and `h`; and its nodes. `f` has
    the functions of nodes, as in `f=2 SBJ~7 LOC-PRD`; `e` the empty categories, such as `e=3.0.2 (NP-SBJ (-NONE- *))`,
    each with the numbers of its parent, place, antecedent and layer (`Empty`), of which the last may be missing; an
    antecedent that is an empty category is `e` and its number. Unknown fields are ignored.
    """
    arrays = tree.arrays
    if not len(arrays.words) == len(char_starts) == len(char_ends):
        raise ValueError(f"{len(arrays.words)} leaves, but offsets of {len(char_starts)} and {len(char_ends)}")
    nodes = spell_nodes(arrays.labels, arrays.sizes)
    leaves = spell_leaves(char_starts, char_ends, origin)
    annotation = annotation_fields(arrays)
    fields = (VERSION, source[:1], "" if score is None else f"{score:.6g}", nodes, leaves, *more, *annotation)
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


HEADS, MAKER, TEMPERATURE, ANALYSIS, PROBABILITY = "h=", "m=", "t=", "n=", "p="  # prefixes of further fields
FUNCTIONS, EMPTIES = "f=", "e="
_NAMED_HEADS = tuple(HEADS + name for name in NAMES)  # these are the same for all trees of a parser


def stored_field(fields: Sequence[str], prefix: str) -> str | None:
    """Return what follows the prefix in the first further field that has it; None if there is none."""
    return next((field.removeprefix(prefix) for field in fields if field.startswith(prefix)), None)


def stored_number(fields: Sequence[str], prefix: str) -> float | None:
    """Return the stored TEMPERATURE or PROBABILITY, or None. Raises IncparseError if the field is damaged."""
    stored = stored_field(fields, prefix)
    if stored is None:
        return None
    is_temperature = prefix == TEMPERATURE
    with suppress(ValueError):
        number = float(stored)
        if 0 < number < inf if is_temperature else 0 <= number <= 1:
            return number
    name, expected = ("temperature", "above 0") if is_temperature else ("probability", "from 0 to 1")
    raise IncparseError(f"the stored {name} is damaged: it is {stored!r}, not a number {expected}")


def analysis_field(tree: Tree, score: float, heads: str) -> str:
    """Return the field for an analysis other than the first, given the field for its heads."""
    shown = "" if heads in _NAMED_HEADS else f";{heads}"
    return f"{ANALYSIS}{score:.6g}{shown} {spell_nodes(tree.arrays.labels, tree.arrays.sizes)}"


def stored_analyses(fields: Sequence[str], words: tuple[str, ...]) -> list[tuple[Tree, float, str]]:
    """Return tree, score and heads field of the stored analyses other than the first, best first; [] without any.

    Raises IncparseError if a field is damaged.
    """
    heads = next((field for field in fields if field.startswith(HEADS)), "")
    found = []
    try:
        for one in fields:
            if one.startswith(ANALYSIS):
                head, _, nodes = one.removeprefix(ANALYSIS).partition(" ")
                score, _, own_heads = head.partition(";")
                labels, starts, ends, sizes = scan_nodes(nodes)
                if ends[0] != len(words):
                    raise ValueError("the numbers of leaves and words differ")
                tree = Tree(TreeArrays(labels, starts, ends, sizes, words))
                found.append((tree, float(score), own_heads or heads))
    except (ValueError, OverflowError) as error:
        raise IncparseError(f"a stored analysis is damaged: {error}") from None
    return found


def named_heads(rules: HeadRules) -> str:
    """Return the field for rules of the package, such as "h=en", which is the same for all trees; "" for others."""
    return next((HEADS + name for name in NAMES if rules == _named_rules(name)), "")


def heads_field(arrays: TreeArrays, rules: HeadRules) -> str:
    """Return the field with the heads of a tree by any rules, such as "h=1,0,2"."""
    return HEADS + ",".join(map(str, head_children(arrays, rules)))


def stored_head_words(arrays: TreeArrays, fields: Sequence[str], language: str) -> tuple[int, ...]:
    """Return the lexical head of each node of a tree; if it has no such field, use the rules for the language.

    Raises IncparseError if the field is damaged.
    """
    given = stored_field(fields, HEADS)
    if given is None:
        given = "en" if language == "en" else "any"
    if given in NAMES:
        return head_words(arrays, head_children(arrays, _named_rules(given)))
    try:
        return head_words(arrays, map(int, given.split(",") if given else ()))
    except ValueError as error:
        raise IncparseError(f"the stored heads are damaged: {error}") from None


@lru_cache(maxsize=len(NAMES))
def _named_rules(name: str) -> HeadRules:
    return HeadRules.from_name(name)


_BREAKS_ENTRY = re.compile("[%|~]")
_ESCAPE = re.compile("%([0-9A-F]+);")


def annotation_fields(arrays: TreeArrays) -> list[str]:
    """Return the fields for the functions and empty categories beside a tree; [] if there are none."""
    annotation, fields = arrays.annotation, []
    if annotation and annotation.functions:
        tags = ((node, "-".join(functions)) for node, functions in enumerate(annotation.functions) if functions)
        fields.append(FUNCTIONS + "~".join(f"{node} {_escape(joined)}" for node, joined in tags))
    if annotation and annotation.empties:
        fields.append(EMPTIES + "~".join(map(_spelled_empty, annotation.empties)))
    return fields


def reannotated(value: str, arrays: TreeArrays, *, full_labels: bool = False) -> str:
    """Return the string of a tree with the functions and empty categories of `arrays` in place of its own.

    full_labels: whether the functions become parts of the labels. All other fields stay.
    """
    version, source, score, nodes, leaves, *more = value.split("|")
    kept = [one for one in more if not one.startswith((FUNCTIONS, EMPTIES))]
    if full_labels and arrays.annotation:
        nodes = spell_nodes(tuple(map(arrays.full_label, range(len(arrays.sizes)))), arrays.sizes)
        arrays = replace(arrays, annotation=replace(arrays.annotation, functions=()))
    return "|".join((version, source, score, nodes, leaves, *kept, *annotation_fields(arrays)))


def _spelled_empty(one: Empty) -> str:
    antecedent = one.antecedent if one.chain is None else f"e{one.chain}"
    numbers = (one.parent, one.position, "" if antecedent is None else antecedent, one.layer or "")
    return f"{'.'.join(map(str, numbers)).rstrip('.')} {_escape(one.fragment)}"


def _with_stored(arrays: TreeArrays, fields: Sequence[str]) -> TreeArrays:
    """Return the tree with the functions and empty categories in its fields. Raises IncparseError if damaged."""
    functions, empties = stored_field(fields, FUNCTIONS), stored_field(fields, EMPTIES)
    if functions is None and not empties:
        return arrays
    try:
        tags: list[tuple[str, ...]] = [()] * len(arrays.sizes)
        for entry in functions.split("~") if functions else ():
            node, joined = entry.split(" ", 1)
            tags[range(len(tags))[int(node)]] = tuple(_unescape(joined).split("-"))
        read = [_read_empty(entry) for entry in empties.split("~")] if empties else []
        return annotated(arrays, () if functions is None else tags, read)
    except (ValueError, IndexError, IncparseError) as error:
        raise IncparseError(f"the stored functions or empty categories are damaged: {error}") from None


def _read_empty(entry: str) -> Empty:
    numbers, fragment = entry.split(" ", 1)
    parent, position, antecedent, layer = (numbers + "...").split(".")[:4]
    is_chain = antecedent.startswith("e")
    return Empty(
        int(parent),
        int(position),
        _unescape(fragment),
        int(antecedent) if antecedent and not is_chain else None,
        int(antecedent[1:]) if is_chain else None,
        int(layer or 0),
    )


def _escape(text: str) -> str:
    return _BREAKS_ENTRY.sub(lambda match: f"%{ord(match.group()):X};", text)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
