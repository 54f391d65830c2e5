"""Templates of the features of edges as data: named sets, user-defined sets, and their checks.

A template is a conjunction of fields (edge_fields.py) and a list of outcomes (edge_outcomes.py), written as
``W[i] T[j] -> rule state``; with each outcome it is a feature of its own. Kinds fire at different edges:

- ``rule``: at all, also where no unary rule is applied;
- ``span``: at binary and unary rules, with the borders i and j;
- ``split``: at binary rules, with the borders i, j and k;
- ``unary``: at unary rules, with the borders i and j;
- ``bare``: where no unary rule is applied to a state that could have one, with the borders i and j;
- ``word``: at lexical rules, with the border i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spacy_incparse.chart.edge_fields import EdgeField, parse_field
from spacy_incparse.chart.edge_outcomes import OUTCOMES
from spacy_incparse.errors import ConfigError

ARROW = "->"
BORDERS = {"rule": "", "span": "ij", "split": "ijk", "unary": "ij", "bare": "ij", "word": "i"}  # by kind
EdgeTemplateSet = Mapping[str, Sequence[str]]  # from kind to templates

# Hall, Durrett & Klein (2014): anchored surface features with the rule, its parent, and the parent's category.
SPAN: EdgeTemplateSet = {
    "rule": ("-> rule",),
    "span": (
        "W[i] -> rule state",
        "W[j-1] -> rule state",
        "W[i-1] -> rule state",
        "W[j] -> rule state",
        "T[i] -> rule state",
        "T[j-1] -> rule state",
        "T[i-1] -> rule state",
        "T[j] -> rule state",
        "C[i] -> state",
        "C[j-1] -> state",
        "T[i-1] T[i] -> rule state",
        "T[j-1] T[j] -> rule state",
        "T[i] T[j-1] -> rule state",
        "T[i-1] T[j] -> rule state",
        "T[i-1] T[i] T[j-1] T[j] -> state base",
        "W[i-1] W[i] -> state base",
        "W[j-1] W[j] -> state base",
        "W[i] W[j-1] -> state base",
        "W[i] T[j-1] -> state base",
        "T[i] W[j-1] -> state base",
        "W[i-1] T[j] -> state base",
        "T[i-1] W[j] -> state base",
        "T[i] T[j] LEN -> state",
        "LEN -> rule state",
        "SHAPE -> rule state",
        "TAGS -> state base",
    ),
    "split": (
        "W[k-1] -> rule state",
        "W[k] -> rule state",
        "T[k-1] -> rule",
        "T[k] -> rule",
        "T[k-1] T[k] -> rule state",
        "W[i] W[k] -> state",
        "T[i] T[k] T[j] -> state",
        "LEFT -> rule",
        "RIGHT -> rule",
    ),
    "word": (
        "W[i] -> rule tag",
        "L[i] -> rule",
        "U[i] -> rule",
        "W[i-1] -> rule",
        "W[i+1] -> rule",
        "T[i-1] T[i] -> rule",
        "T[i] T[i+1] -> rule",
        "T[i-1] T[i] T[i+1] -> rule",
        "RANK -> rule tag any",
        "RANK T[i] -> tag",
        "RANK W[i] -> tag",
    ),
}

# What a context-free grammar has: weights of rules, and of words under their tags.
RULES: EdgeTemplateSet = {
    "rule": ("-> rule",),
    "word": ("W[i] -> rule tag", "L[i] -> rule tag", "U[i] -> rule tag", "K[i] -> rule tag", "RANK -> tag any"),
}

NAMED_SETS: dict[str, EdgeTemplateSet] = {"span": SPAN, "rules": RULES}


@dataclass(frozen=True)
class EdgeTemplate:
    """A checked template with one outcome."""

    kind: str
    fields: tuple[str, ...]
    outcome: str

    @property
    def key(self) -> str:
        """What its features are hashed with."""
        return " ".join((self.kind, *self.fields, ARROW, self.outcome))

    @property
    def parsed(self) -> tuple[EdgeField, ...]:
        """The fields."""
        return tuple(map(parse_field, self.fields))

    @property
    def borders(self) -> str:
        """The borders that the fields depend on, in alphabetical order."""
        return "".join(sorted({border for field in self.parsed for border in field.borders}))


def resolve(features: str | EdgeTemplateSet) -> tuple[EdgeTemplate, ...]:
    """Return the templates of a named or user-defined set, each with each of its outcomes.

    Raises ConfigError for an unknown set, kind, field or outcome, and for a field that the kind cannot use.
    """
    if isinstance(features, str):
        if features not in NAMED_SETS:
            raise ConfigError(f"unknown feature set {features!r}: choose one of {', '.join(NAMED_SETS)}")
        features = NAMED_SETS[features]
    for kind in features:
        if kind not in BORDERS:
            raise ConfigError(f"unknown kind of template {kind!r}: choose from {', '.join(BORDERS)}")
    found = [one for kind in BORDERS for text in features.get(kind, ()) for one in _parse(kind, text)]
    return tuple(dict.fromkeys(found))


def parse_key(key: str) -> EdgeTemplate:
    """Return the template with a key. Raises ConfigError for any other text."""
    kind, _, text = key.partition(" ")
    (template,) = resolve({kind: (text,)})
    return template


def _parse(kind: str, text: str) -> list[EdgeTemplate]:
    left, arrow, right = text.partition(ARROW)
    fields, outcomes = tuple(left.split()), right.split()
    if not arrow or not outcomes:
        raise ConfigError(f"the {kind} template {text!r} has no outcomes: write them behind {ARROW}")
    for name in outcomes:
        if name not in OUTCOMES:
            raise ConfigError(
                f"unknown outcome {name!r} (in the {kind} template {text!r}): choose from {', '.join(OUTCOMES)}"
            )
    for name in fields:
        is_rank = name == "RANK"
        if not set(parse_field(name).borders) <= set(BORDERS[kind]) or (is_rank and kind != "word"):
            raise ConfigError(
                f"the field {name} (in the {kind} template {text!r}) cannot be used at edges of this kind"
            )
    return [EdgeTemplate(kind, fields, name) for name in outcomes]
