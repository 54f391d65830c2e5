"""The conditioning of the generative model as data: nested sets of fields, each adding one field to the set before.

The fields are those of linear/templates.py. They must not include anything about the word that is generated next: a
look-ahead that is generated afterwards would be paid for twice (label bias).
"""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.templates import POSITION_FIELDS, STRUCTURE_FIELDS


@dataclass(frozen=True)
class NestedSets:
    """The fields that decide a node's label (or the end of its parent), and those that decide the word under a tag.

    `node` starts with L10, the parent. `word` starts with the tag itself, which is not listed; L10 is its parent, L01
    its left sibling. Contexts are looked up from the left, as far as training has seen them.
    """

    node: tuple[str, ...]
    word: tuple[str, ...]


NAMED_SETS = {
    # Table 2 of Collins & Roark (2004) without LK and LKP: F0, F2-F9 for nodes; F0, F11-F15 for words. There the levels
    # of a word's sets count from the word, so its L20, L11 and L30 are L10, L01 and L20 here.
    "paper": NestedSets(
        node=("L10", "L01", "L02", "L03", "L20", "L11", "L30", "L21", "CL"),
        word=("L10", "L01", "L20", "CCP", "CC"),
    ),
}


def nested_sets(name: str) -> NestedSets:
    """Return a named choice of sets. Raises ConfigError for an unknown name."""
    if name not in NAMED_SETS:
        raise ConfigError(f"there are no generative sets {name!r}: choose one of {', '.join(NAMED_SETS)}")
    return NAMED_SETS[name]


def field_numbers(names: tuple[str, ...]) -> list[int]:
    """Return the places of fields in the extraction's array. Raises ConfigError for fields that the model cannot use.

    A generative model cannot use fields of the surrounding words, fields that depend on where constituents begin, and
    some that would separate analyses that are otherwise the same for everything that may follow.
    """
    places = {field.name: number for number, field in enumerate(STRUCTURE_FIELDS)}
    hidden = {field.name for field in POSITION_FIELDS}
    for name in names:
        if name in hidden or name not in places or STRUCTURE_FIELDS[places[name]].needs_span or name in _HIDDEN:
            raise ConfigError(f"a generative model cannot be conditioned on the field {name!r}")
    return [places[name] for name in names]


# The first two read tags by position, where the search may have several; the others are not in the search's merge key.
_HIDDEN = ("AFTERP", "CONJ", "FIRST", "N", "S1", "S1P")
