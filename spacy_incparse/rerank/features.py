"""The features that a reranker can use: their families, with an example and the source of each, and their columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.sparse_rows import ColumnTable
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

LEXICALIZED = "lexicalized-"
MAX_LENGTH = 100  # of the right branch, in phrases

EXAMPLE_TREE = (
    "(TOP (S (NP (PRP She)) (VP (VP (VBD fed) (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (DT the) (NN baker)))))"
    " (CC and) (VP (VBD sold) (NP (DT the) (NN shop)))) (. .)))"
)
EXAMPLE_CLOSED_TAGS = ("CC", "DT", "IN", "PRP")


@dataclass(frozen=True)
class Family:
    """A family of features.

    meaning: where it fires and on what. example: a feature of the tree EXAMPLE_TREE. source: paper and place.
    scope: what it looks at: a "phrase" with its children and what is around, a "word" likewise, or a whole "subtree".

    A feature is a tuple: the family's name and fields; its key is a hash of the tuple (rerank/families.pxd). Texts are
    labels, tags and words in lowercase; None stands where there is nothing: beyond the first and last child, before the
    first and after the last word, above the root. A rule is a tuple of a label and the labels of the children.
    """

    name: str
    meaning: str
    example: tuple[Any, ...]
    source: str
    scope: str = "phrase"


_VP_RULE = ("VP", "VP", "CC", "VP")
_S_RULE = ("S", "NP", "VP", ".")
_C2000 = "Collins (2000), section 3"
_CJ = "Charniak & Johnson (2005), section 4"

COLLINS = (
    Family("rules", "the rule of a phrase", (_S_RULE,), f"{_C2000}, Rules; Huang (2008), Rule"),
    Family(
        "bigrams", "two neighbouring children on one side of the head, from the head outwards; behind the last: None",
        ("right", "S", ".", None), f"{_C2000}, Bigrams; Huang (2008), Bigram",
    ),
    Family(
        "grandparent-rules", "a rule and the label above it", ("S", _VP_RULE),
        f"{_C2000}, Grandparent Rules; Huang (2008), ParentRule",
    ),
    Family(
        "grandparent-bigrams", "a bigram and the label above its phrase", ("S", "right", "VP", "CC", "VP"),
        f"{_C2000}, Grandparent Bigrams",
    ),
    Family(
        "lexical-bigrams", "a bigram with the head words of its two children", ("left", "S", "NP", None, "she", None),
        f"{_C2000}, Lexical Bigrams",
    ),
    Family("two-level-rules", "a rule and the whole rule above it", (_S_RULE, _VP_RULE), f"{_C2000}, Two-level Rules"),
    Family(
        "two-level-bigrams", "a bigram and the whole rule above its phrase",
        (("TOP", "S"), "right", "S", ".", None), f"{_C2000}, Two-level Bigrams",
    ),
    Family(
        "trigrams", "three neighbouring children, the head marked; before the first and behind the last: None",
        ("S", "NP", ("VP", "!"), "."), f"{_C2000}, Trigrams; Huang (2008), Trigram",
    ),
    Family(
        "head-modifiers", "the side of a modifier, label, head child and modifier; and with the label above in front",
        ("S", "right", "VP", "VP", "CC"), f"{_C2000}, Head-Modifiers; Huang (2008), HeadMod",
    ),
    Family(
        "prepositional-phrases",
        "label, head child, prepositional phrase and the argument in it, with their head words; without the first word",
        ("NP", "NP", "PP", "NP", "cat", "of", "baker"), f"{_C2000}, PPs",
    ),
    Family(
        "distance-head-modifiers",
        "label, head child, modifier and the number of words between their head words (10: more than 9); "
        "and that it is <= x, >= x, for x to 9",
        ("PP", "IN", "NP", ">=", 1), f"{_C2000}, Distance Head-Modifiers; Huang (2008), DistMod",
    ),
)  # fmt: skip

# The second pass of section 3, over all families but the last three.
_LEXICALIZED_EXAMPLES = {
    "rules": (("S", ("NP", "she"), "VP", "."),),
    "bigrams": ("left", "S", ("NP", "she"), None),
    "grandparent-rules": ("NP", (("PP", "of"), ("IN", "of"), "NP")),
    "grandparent-bigrams": ("NP", "right", ("PP", "of"), "NP", None),
    "lexical-bigrams": ("left", "S", ("NP", "she"), None, "she", None),
    "two-level-rules": (("NP", "NP", ("PP", "of")), ("NP", ("DT", "the"), "NN")),
    "two-level-bigrams": (("NP", "NP", ("PP", "of")), "left", "NP", ("DT", "the"), None),
    "trigrams": ("NP", ("NP", "!"), ("PP", "of"), None),
}
LEXICALIZED_COLLINS = tuple(
    Family(
        LEXICALIZED + family.name,
        f"`{family.name}`, labels with their head words of closed classes; only where a label has one",
        _LEXICALIZED_EXAMPLES[family.name],
        f"{_C2000}, Further Lexicalization",
    )
    for family in COLLINS
    if family.name in _LEXICALIZED_EXAMPLES
)

CHARNIAK_JOHNSON = (
    Family(
        "right-branch", "whether a phrase contains the last word that is not punctuation; counted up to 100", (1,),
        f"{_CJ}, RightBranch",
    ),
    Family(
        "heavy", "label and length of a phrase, whether only punctuation follows, and whether any does",
        ("NP", 2, 1, 1), f"{_CJ}, Heavy",
    ),
    Family(
        "neighbours", "label and length of a phrase, one or two tags before it and the tag behind it",
        ("PP", 3, "NN", "CC"), f"{_CJ}, Neighbours",
    ),
    Family(
        "edges", "label and length of a phrase, the words, or tags, on both sides of its left or right end",
        ("PP", "left", 3, "words", "cat", "of"), "the software of Charniak & Johnson (2005), Edges and WordEdges",
    ),
    Family(
        "word", "a word with its tag, the label above, and the one above that", ("sold", "VBD", "VP", "VP"),
        f"{_CJ}, Word", "word",
    ),
    Family(
        "word-projections",
        "a word's tag with the labels of its maximal projection and of that of its governor; with the word; "
        "with the word and the first label",
        ("she", "PRP", "NP", "TOP"), f"{_CJ}, WProj", "word",
    ),
    Family(
        "heads",
        "a phrase with the tags of its head and of a dependent; with the first, the second or both words; "
        "with the tag of the head's governor",
        ("VP", "VBD", "NN", "fed", "cat"), f"{_CJ}, Heads",
    ),
    Family(
        "ngram-rules", "two or three neighbouring children of a phrase, with its label and the one above",
        ("VP", "VP", "VBD", "NP"), f"{_CJ}, NGram",
    ),
    Family(
        "annotated-rules", "a rule with the tag of its head; with the head's word; with the two labels above",
        (("NP", "DT", "NN"), "NN", "shop"), f"{_CJ}, Rule",
    ),
    Family(
        "coordination-parallelism", "whether two conjuncts have the same labels and shape down to level 1, 2, 3, 4",
        (2, 1), f"{_CJ}, CoPar", "subtree",
    ),
    Family(
        "coordination-length", "by how many words a conjunct is longer than the one before; whether it is the last one",
        (-3, 1), f"{_CJ}, CoLenPar",
    ),
    Family(
        "ngram-trees",
        "the part of a tree above two or three neighbouring words: the lowest label above all, then for each word the "
        "labels from its tag upwards (for three, then how many of these the first two share, and the last two); "
        "with the words",
        ("VP", ("VBD",), ("DT", "NP"), "sold", "the"), f"{_CJ}, NGramTree; Huang (2008), figure 2", "subtree",
    ),
    Family(
        "head-trees",
        "a maximal projection down to its head: the rules on the way, each with the number of its head child, then the "
        "tag; with the word",
        (("NP", "NP", "PP"), 0, ("NP", "DT", "NN"), 1, "NN", "cat"), f"{_CJ}, HeadTree", "subtree",
    ),
)  # fmt: skip

HUANG_OWN = (
    Family(
        "word-edges", "label and exact length of a phrase, the word before it and the word behind it",
        ("NP", 2, "sold", "."), "Huang (2008), figure 2, WordEdges",
    ),
)  # fmt: skip

FAMILIES = {f.name: f for f in (*COLLINS, *LEXICALIZED_COLLINS, *CHARNIAK_JOHNSON, *HUANG_OWN)}

GROUPS: dict[str, tuple[str, ...]] = {
    "all": tuple(FAMILIES),
    "collins": tuple(family.name for family in (*COLLINS, *LEXICALIZED_COLLINS)),
    "charniak-johnson": ("rules", *(family.name for family in CHARNIAK_JOHNSON)),
    "huang": (
        "rules", "word", "word-edges", "coordination-length", "bigrams", "trigrams", "head-modifiers",
        "distance-head-modifiers", "grandparent-rules", "word-projections", "heads", "head-trees", "heavy",
        "ngram-trees", "right-branch",
    ),
}  # fmt: skip
DEFAULT = ("all",)


def check_families(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of families in a choice of families and groups, each once, in the order of FAMILIES.

    Raises ConfigError for an unknown name, for what is no names, or if nothing is chosen.
    """
    if not isinstance(names, Iterable):
        raise ConfigError(f"families is {names!r}: it must be a list of names of families and groups")
    given = [names] if isinstance(names, str) else list(names)
    chosen, choice = {family for name in given for family in GROUPS.get(name, (name,))}, ", ".join((*GROUPS, *FAMILIES))
    for name in given:
        if name not in FAMILIES and name not in GROUPS:
            raise ConfigError(f"unknown family of features {name!r}; choose from {choice}")
    if not chosen:
        raise ConfigError(f"no families of features are chosen; choose from {choice}")
    return tuple(name for name in FAMILIES if name in chosen)


_PENDING = 4_000_000  # keys that are counted at a time, 32 MB


class FeatureColumns:
    """Columns of features, numbered in the order of their keys.

    keys: (n,) uint64, distinct, ascending: keys of `FeatureExtractor.keys`.
    """

    def __init__(self, keys: np.ndarray):
        self.keys = np.ascontiguousarray(keys, dtype=np.uint64)

    @classmethod
    def select(cls, keys_by_list: Iterable[tuple[np.ndarray, np.ndarray]], min_lists: int = 5) -> FeatureColumns:
        """Return the features that at least `min_lists` lists have on some tree, and some list not on all of its trees.

        keys_by_list: the results of `FeatureExtractor.keys` for many lists; a cut-off of 5 is that of Collins (2000),
        section 3. If keys were extracted with `drop_common`, which takes a fraction of the time and memory, lists in
        which all trees have a feature do not count.
        """
        # Keys with the numbers of their lists, and whether they vary in any; most wait in parts, since merging sorts.
        parts = [(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, bool))]
        n_pending = 0
        for starts, keys in keys_by_list:
            distinct, n = np.unique(keys, return_counts=True)
            parts.append((distinct, np.ones(len(distinct), np.int32), n < len(starts) - 1))
            n_pending += len(distinct)
            if n_pending > max(_PENDING, len(parts[0][0]) // 2):
                parts, n_pending = [_merged(parts)], 0
        keys, n_lists, varies = _merged(parts)
        return cls(keys[(n_lists >= min_lists) & varies])

    @cached_property
    def table(self) -> ColumnTable:
        """The columns by key, for compiled code."""
        return ColumnTable(self.keys.tobytes())

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, columns: np.ndarray) -> FeatureColumns:
        """Return some of the columns, given by number in ascending order, renumbered: those with a weight, say."""
        return FeatureColumns(self.keys[columns])


def _merged(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keys, n_lists, varies = map(np.concatenate, zip(*parts, strict=True))
    keys, places = np.unique(keys, return_inverse=True)
    return keys, np.bincount(places, n_lists).astype(np.int32), np.bincount(places, varies) > 0


MAX_PRODUCTIVITY = 0.02
MAX_CLOSED_WORDS = 200  # in a large corpus or a narrow field, verbs and nouns are seldom new either, but they are many


def is_prepositional(label: str) -> bool:
    """Return whether a category is that of prepositional phrases: PP, or WHPP and its like; sp in AnCora."""
    upper = label.upper()
    return upper.endswith("PP") or upper in ("SP", "PREP")


def closed_class_tags(trees: Iterable[Tree], max_productivity: float = MAX_PRODUCTIVITY) -> tuple[str, ...]:
    """Return the tags whose words belong to a closed class, in alphabetical order.

    The productivity of a tag is the share of its words that occur only once with it: the probability that its next word
    is a new one (Good 1953; Baayen & Lieber 1991). It is low for determiners, prepositions, pronouns and conjunctions,
    and high for nouns, in any language. A tag with more than 200 different words is not closed.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        arrays = tree.own_arrays
        tags = (bare_label(arrays.labels[leaf]) for leaf in arrays.leaves)
        counts.update((tag, word.lower()) for tag, word in zip(tags, arrays.words, strict=True))
    by_tag: dict[str, list[int]] = defaultdict(list)
    for (tag, _), count in counts.items():
        by_tag[tag].append(count)
    return tuple(
        tag
        for tag, found in sorted(by_tag.items())
        if found.count(1) <= max_productivity * sum(found) and len(found) <= MAX_CLOSED_WORDS
    )
