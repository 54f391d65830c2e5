"""The tagger's features as data: each template is a conjunction of atoms like `suffix3[0]` or `tag[-1]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.tagging.words import CLUSTER_PREFIXES, FIELDS

WINDOW = 2  # the largest offset of an atom to either side
MAX_ATOMS = 8
TAG = "tag"  # the only atom that is not a property of a word: a previous tag

# Collins (2002), after Ratnaparkhi (1996): the word, its affixes and shape, the words around it, one or two previous
# tags. Additional: properties of neighbors (ambiguity class, suffix, shape), conjunctions with the previous tag.
TEMPLATES = (
    "word[0]", "lower[0]", "prefix1[0]", "prefix2[0]", "prefix3[0]", "prefix4[0]", "suffix1[0]", "suffix2[0]",
    "suffix3[0]", "suffix4[0]", "suffix5[0]", "shape[0]", "kind[0]", "known[0]", "folded[0]", "lower[-1]", "lower[1]",
    "lower[-2]", "lower[2]", "suffix3[-1]", "suffix3[1]", "shape[-1]", "shape[1]", "known[-1]", "known[1]",
    "lower[-1] lower[0]", "lower[0] lower[1]", "lower[-1] lower[1]", "known[0] known[1]", "known[-1] known[0]",
    "shape[-1] shape[0] shape[1]", "edge[-1] shape[0]", "edge[-1] folded[0]", "tag[-1]", "tag[-2] tag[-1]",
    "tag[-1] lower[0]", "tag[-1] known[0]", "tag[-1] suffix3[0]", "tag[-1] lower[1]", "tag[-1] known[1]",
    "tag[-2] tag[-1] lower[0]", "tag[-2] tag[-1] known[0]", "tag[-1] known[0] known[1]", "tag[-2] lower[-1]",
    "tag[-1] lower[-1]",
)  # fmt: skip

# The classes of a word and its neighbors, for taggers with word clusters (after Koo et al. 2008): the prefixes of a
# path are coarse classes, the whole path is a fine one.
CLUSTER_TEMPLATES = (
    *(f"{name}[{offset}]" for name in CLUSTER_PREFIXES for offset in (0, -1, 1)),
    *(f"tag[-1] {name}[0]" for name in CLUSTER_PREFIXES),
    "cluster6[0] shape[0]",
    "cluster[0] shape[0]",
    "cluster6[-1] cluster6[0]",
    "cluster6[0] cluster6[1]",
    "cluster[-1] cluster[0]",
    "cluster[0] cluster[1]",
)

_ATOM = re.compile(r"(\w+)\[([+-]?\d)\]")


@dataclass(frozen=True)
class Atom:
    """A field of the word `offset` places to the right (`offset` > 0) or left, or that word's tag."""

    field: str
    offset: int


def parse_template(text: str) -> tuple[Atom, ...]:
    """Return the atoms of a template such as `"tag[-1] suffix3[0]"`. Raises ConfigError for an unknown atom."""
    atoms = tuple(_parse_atom(part, text) for part in text.split())
    if not 1 <= len(atoms) <= MAX_ATOMS:
        raise ConfigError(f"tagger template {text!r} has {len(atoms)} atoms; write between 1 and {MAX_ATOMS}")
    return atoms


def _parse_atom(part: str, template: str) -> Atom:
    match = _ATOM.fullmatch(part)
    atom = Atom(match[1], int(match[2])) if match else None
    if atom and (atom.offset in (-1, -2) if atom.field == TAG else atom.field in FIELDS and abs(atom.offset) <= WINDOW):
        return atom
    raise ConfigError(
        f"tagger template {template!r}: {part!r} is not an atom; write FIELD[OFFSET] with a field of "
        f"{', '.join(FIELDS)} and an offset from -{WINDOW} to {WINDOW}, or tag[-1], tag[-2]"
    )
