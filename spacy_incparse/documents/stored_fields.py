"""The fields stored with a sentence's tree: the head rules and, on request, further analyses.

    h=en|m=5f0c21d9|t=57.3|n=3012.5 (TOP (S ...))|n=3009.1 (TOP (NP ...))|p=0.731

`h` is the head table, or the heads of this tree. `m` is the id of the component and the model that made the tree. `t`
is the model's temperature, if it has one. `p` is the probability of the tree, if a reranker chose it. Each `n` is an
analysis: its score; if its `h` depends on the tree, a semicolon and `h`; and its nodes as written by trees/codec.py.
The sentence's own tree is the first analysis and is not repeated. Unknown fields are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import inf
from typing import NamedTuple

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.codec_strings import scan_nodes, spell_nodes
from spacy_incparse.trees.heads import NAMES, HeadRules, head_children, head_words
from spacy_incparse.trees.tree import Tree

TEMPERATURE, ANALYSIS, PROBABILITY, MAKER = "t=", "n=", "p=", "m="  # prefixes of the fields


# A head table of the package is stored by its name. For any other table, the heads of this tree are stored.

HEADS = "h="  # prefix of the field


NAMED_HEADS = tuple(HEADS + name for name in NAMES)  # these are the same for all trees of a parser


class StoredAnalysis(NamedTuple):
    """An analysis of a sentence other than the first, and the field with its heads."""

    tree: Tree
    score: float
    heads: str


def maker_field(maker: str) -> list[str]:
    """Return a list with the field for the id of what made a tree; [] if it has none."""
    return [MAKER + maker] if maker else []


def stored_maker(fields: Sequence[str]) -> str:
    """Return the id of the component and the model that made a tree; "" if it has none."""
    return next((field.removeprefix(MAKER) for field in fields if field.startswith(MAKER)), "")


def temperature_field(temperature: float | None) -> list[str]:
    """Return a list with the field for a model's temperature; [] if it has none."""
    return [] if temperature is None else [f"{TEMPERATURE}{temperature:.6g}"]


def analysis_field(tree: Tree, score: float, heads: str) -> str:
    """Return the field for an analysis other than the first, given the field for its heads."""
    shown = "" if heads in NAMED_HEADS else f";{heads}"
    return f"{ANALYSIS}{score:.6g}{shown} {spell_nodes(tree.arrays.labels, tree.arrays.sizes)}"


def probability_field(probability: float) -> str:
    """Return the field for the probability of a sentence's own tree."""
    return f"{PROBABILITY}{probability:.6g}"


def stored_probability(fields: Sequence[str]) -> float | None:
    """Return the stored probability, or None. Raises IncparseError if the field is damaged."""
    stored = next((field.removeprefix(PROBABILITY) for field in fields if field.startswith(PROBABILITY)), None)
    if stored is None:
        return None
    with suppress(ValueError):
        probability = float(stored)
        if 0 <= probability <= 1:
            return probability
    raise IncparseError(f"the stored probability is damaged: it is {stored!r}, not a number from 0 to 1")


def stored_temperature(fields: Sequence[str]) -> float | None:
    """Return the stored temperature, or None. Raises IncparseError if the field is damaged."""
    stored = next((field.removeprefix(TEMPERATURE) for field in fields if field.startswith(TEMPERATURE)), None)
    if stored is None:
        return None
    with suppress(ValueError):
        temperature = float(stored)
        if 0 < temperature < inf:
            return temperature
    raise IncparseError(f"the stored temperature is damaged: it is {stored!r}, not a number above 0")


def stored_analyses(fields: Sequence[str], words: tuple[str, ...]) -> list[StoredAnalysis]:
    """Return the stored analyses other than the first, best first; [] if there are none.

    Raises IncparseError if a field is damaged.
    """
    heads = next((field for field in fields if field.startswith(HEADS)), "")
    try:
        return [_analysis(field, words, heads) for field in fields if field.startswith(ANALYSIS)]
    except (ValueError, OverflowError) as error:
        raise IncparseError(f"a stored analysis is damaged: {error}") from None


def _analysis(field: str, words: tuple[str, ...], heads: str) -> StoredAnalysis:
    head, _, nodes = field.removeprefix(ANALYSIS).partition(" ")
    score, _, own_heads = head.partition(";")
    labels, starts, ends, sizes = scan_nodes(nodes)
    if ends[0] != len(words):
        raise ValueError("the numbers of leaves and words differ")
    return StoredAnalysis(Tree(TreeArrays(labels, starts, ends, sizes, words)), float(score), own_heads or heads)


def heads_field(rules: HeadRules) -> Callable[[TreeArrays], str]:
    """Return a function that returns a tree's field for these rules, such as "h=en" or "h=1,0,2"."""
    for name in NAMES:
        if rules == named_rules(name):
            field = HEADS + name
            return lambda arrays: field
    return lambda arrays: HEADS + ",".join(map(str, head_children(arrays, rules)))


def stored_head_words(arrays: TreeArrays, fields: Sequence[str], language: str) -> tuple[int, ...]:
    """Return the lexical head of each node of a tree; if it has no such field, use the rules for the language.

    Raises ValueError if the field is damaged.
    """
    given = next((field.removeprefix(HEADS) for field in fields if field.startswith(HEADS)), default_name(language))
    if given in NAMES:
        return head_words(arrays, head_children(arrays, named_rules(given)))
    return head_words(arrays, map(int, given.split(",") if given else ()))


def default_name(language: str) -> str:
    """Return the name of the head rules for a language."""
    return "en" if language == "en" else "any"


@lru_cache(maxsize=len(NAMES))
def named_rules(name: str) -> HeadRules:
    """Return a head table of the package; each table is only read once."""
    return HeadRules.from_name(name)
