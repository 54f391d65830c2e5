"""Classes of labels that the features need, in any treebank: prepositional phrases, tags of closed classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

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
    n_words: Counter[str] = Counter()
    n_single: Counter[str] = Counter()
    n_different: Counter[str] = Counter()
    for (tag, _), count in counts.items():
        n_words[tag] += count
        n_single[tag] += count == 1
        n_different[tag] += 1
    return tuple(
        tag
        for tag in sorted(n_words)
        if n_single[tag] <= max_productivity * n_words[tag] and n_different[tag] <= MAX_CLOSED_WORDS
    )
