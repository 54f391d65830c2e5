"""Store the head rules with each tree, so that a Doc knows the heads without the parser.

A head table of the package is stored by its name. For any other table, the heads of this tree are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.head_words import head_children, head_words
from spacy_incparse.trees.heads import NAMES, HeadRules

HEADS = "h="  # prefix of the field


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
