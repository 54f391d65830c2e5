"""Templates of the features of edges as data: named sets, user-defined sets, and their checks; those of pruners."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Rule
from spacy_incparse.errors import ConfigError
from spacy_incparse.transforms.binarize import CHAIN, label_parts

ARROW = "->"
BORDERS = {"rule": "", "span": "ij", "split": "ijk", "unary": "ij", "bare": "ij", "word": "i"}  # by kind
EdgeTemplateSet = Mapping[str, Sequence[str]]  # from kind to templates

# Hall, Durrett & Klein (2014): anchored surface features with the rule, its parent, and the parent's category.
SPAN: EdgeTemplateSet = {
    "rule": ("-> rule",),
    "span": (
        "W[i] -> rule state", "W[j-1] -> rule state", "W[i-1] -> rule state", "W[j] -> rule state",
        "T[i] -> rule state", "T[j-1] -> rule state", "T[i-1] -> rule state", "T[j] -> rule state", "C[i] -> state",
        "C[j-1] -> state", "T[i-1] T[i] -> rule state", "T[j-1] T[j] -> rule state", "T[i] T[j-1] -> rule state",
        "T[i-1] T[j] -> rule state", "T[i-1] T[i] T[j-1] T[j] -> state base", "W[i-1] W[i] -> state base",
        "W[j-1] W[j] -> state base", "W[i] W[j-1] -> state base", "W[i] T[j-1] -> state base",
        "T[i] W[j-1] -> state base", "W[i-1] T[j] -> state base", "T[i-1] W[j] -> state base",
        "T[i] T[j] LEN -> state", "LEN -> rule state", "SHAPE -> rule state", "TAGS -> state base",
        "T[i-2] T[i-1] T[i] -> state", "T[j-1] T[j] T[j+1] -> state", "T[i] T[i+1] -> state",
        "T[j-2] T[j-1] -> state", "W[j] W[j+1] -> state", "L[i] -> rule", "L[j-1] -> rule", "U[i-1] -> state",
        "U[j] -> state",
    ),
    "split": (
        "W[k-1] -> rule state", "W[k] -> rule state", "T[k-1] -> rule", "T[k] -> rule", "T[k-1] T[k] -> rule state",
        "W[i] W[k] -> state", "T[i] T[k] T[j] -> state", "LEFT -> rule", "RIGHT -> rule",
    ),
    "bare": (
        "T[i] -> state", "T[j-1] -> state", "T[i-1] -> state", "T[j] -> state", "W[i] -> state", "W[j-1] -> state",
        "T[i-1] T[j] -> state", "T[i] T[j-1] -> state", "LEN -> state",
    ),
    "word": (
        "W[i] -> rule tag", "L[i] -> rule", "U[i] -> rule", "W[i-1] -> rule", "W[i+1] -> rule", "T[i-1] T[i] -> rule",
        "T[i] T[i+1] -> rule", "T[i-1] T[i] T[i+1] -> rule", "RANK -> rule tag any", "RANK T[i] -> tag",
        "RANK W[i] -> tag",
    ),
}  # fmt: skip

# Word clusters; added to the named set if there are some.
SPAN_CLUSTERS: EdgeTemplateSet = {
    "span": (
        "K[i] -> state", "K[j-1] -> state", "K[i-1] K[i] -> state base", "K[j-1] K[j] -> state base",
        "G[i] G[j-1] -> state base", "G[i-1] G[j] -> state base",
    ),
    "split": ("K[k] -> rule", "K[k-1] K[k] -> state", "G[k-1] G[k] -> rule"),
    "word": ("K[i] -> rule tag", "K[i-1] -> rule", "K[i+1] -> rule"),
}  # fmt: skip


def combine(*sets: EdgeTemplateSet) -> dict[str, tuple[str, ...]]:
    """Return the union of template sets by kind, in order and without duplicates."""
    return {kind: tuple(dict.fromkeys(t for part in sets for t in part.get(kind, ()))) for kind in BORDERS}


# By name: the set, and what word clusters add to it.
NAMED_SETS: Mapping[str, tuple[EdgeTemplateSet, EdgeTemplateSet]] = {"span": (SPAN, SPAN_CLUSTERS)}


@dataclass(frozen=True)
class EdgeTemplate:
    """A checked template with one outcome.

    A template is a conjunction of fields and a list of outcomes, written as ``W[i] T[j] -> rule state``; with each
    outcome it is a feature of its own. Kinds fire at different edges:

    - ``rule``: at all, also where no unary rule is applied;
    - ``span``: at binary and unary rules, with the borders i and j;
    - ``split``: at binary rules, with the borders i, j and k;
    - ``unary``: at unary rules, with the borders i and j;
    - ``bare``: where no unary rule is applied to a state that could have one, with the borders i and j;
    - ``word``: at lexical rules, with the border i.
    """

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


def resolve(
    features: str | EdgeTemplateSet,
    *,
    clusters: bool = False,
    named: Mapping[str, tuple[EdgeTemplateSet, EdgeTemplateSet]] = NAMED_SETS,
) -> tuple[EdgeTemplate, ...]:
    """Return the templates of a user-defined set or one of the named ones, each with each of its outcomes.

    With `clusters`, a named set includes those that read them. Raises ConfigError for an unknown set, kind, field or
    outcome, and for a field that the kind cannot use.
    """
    if isinstance(features, str):
        if features not in named:
            raise ConfigError(f"unknown feature set {features!r}: choose one of {', '.join(named)}")
        features, added = named[features]
        features = combine(features, added) if clusters else features
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


# A span reaches from border i to border j, and the children of a binary rule meet at border k. Word number b is the
# one behind border b, so `W[i]` is the first word, `W[i-1]` the one before it, `W[j-1]` the last one, and `W[j]` the
# one after it.

MAX_OFFSET = 3  # from a border, to either side

# What a field such as W[i-1] can tell of a word. Sentences are arrays of these values in this order.
WORD_VALUES = {
    "W": "the word; rare ones by their shape and suffix",
    "L": "the word in lower case",
    "C": "shape and suffix of a rare word",
    "U": "shape and suffix of any word",
    "S": "the kind of the word: its first character, and whether it is all capitals",
    "T": "the tag, or the best one of several",
    "K": "the word's cluster",
    "G": "the cluster's group: a short prefix of its path",
}

# Fields that are not about one word, with the borders that they depend on.
SPAN_FIELDS = {
    "LEN": ("ij", "length of the span in words, in buckets"),
    "LEFT": ("ik", "length of the left child, in buckets"),
    "RIGHT": ("kj", "length of the right child, in buckets"),
    "SHAPE": ("ij", "the kinds of all words of the span and of its neighbours"),
    "TAGS": ("ij", "the tags of all words of the span"),
    "SHORT": ("ij", "length of a span of up to 3 words; all longer ones are equal"),
    "MIDDLE": ("ij", "the second word of a span of 3 words"),
    "RANK": ("i", "how the lexical rule's tag stands to the tagger's choice, if a word has several tags"),
}

_WORD_FIELD = re.compile(rf"([{''.join(WORD_VALUES)}])\[([ijk])([+-][1-{MAX_OFFSET}])?\]")


class EdgeField(NamedTuple):
    """A field: a value of a word at an offset from a border, or a field of the span, whose border is "".

    borders: those that the value depends on.
    """

    value: str
    border: str
    offset: int
    borders: str


def parse_field(text: str) -> EdgeField:
    """Return the field with a name such as ``W[i-1]`` or ``LEN``. Raises ConfigError for any other text."""
    if text in SPAN_FIELDS:
        return EdgeField(text, "", 0, SPAN_FIELDS[text][0])
    match = _WORD_FIELD.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"unknown field {text!r}: choose from {', '.join(SPAN_FIELDS)}, or name a word, as in W[i-1]: one of "
            f"{', '.join(WORD_VALUES)} at the border i, j or k, and up to {MAX_OFFSET} words from it"
        )
    return EdgeField(match[1], match[2], int(match[3] or 0), match[2])


# An outcome gives each rule a column, or none: then a template with this outcome says nothing about the rule.

VERB = "V"  # begins the tags of verbs
PREPOSITIONAL = "PP"


def base_category(state: str) -> str:
    """Return a state without ancestors, head tag and siblings; an active state is one with its phrase's."""
    return (TAG_MARK if state.startswith(TAG_MARK) else "") + CHAIN.join(_categories(state))


def _categories(state: str) -> tuple[str, ...]:
    return label_parts(state.removeprefix(TAG_MARK)).categories


def _without(place: int) -> Callable[[Rule], Hashable]:
    """Return the outcome of rules with a verb's tag as that child: all but this child (Finkel et al., table 1)."""

    def outcome(rule: Rule) -> Hashable:
        if len(rule.right) != 2 or not rule.right[place].startswith(TAG_MARK + VERB):
            return None
        return rule.parent, rule.right[1 - place]

    return outcome


OUTCOMES: dict[str, tuple[str, Callable[[Rule], Hashable]]] = {
    "rule": ("the rule", lambda rule: rule),
    "state": ("its parent", lambda rule: rule.parent),
    "base": ("the parent's category, without its context", lambda rule: base_category(rule.parent)),
    "base_rule": (
        "the rule with all states as their categories",
        lambda rule: (base_category(rule.parent), *(tuple(map(base_category, states)) for states in rule[1:])),
    ),
    "tag": ("a lexical rule's tag", lambda rule: None if rule.right else _categories(rule.parent)[-1]),
    "phrase": (
        "the same for all rules but lexical ones that make no phrase",
        lambda rule: "" if rule.right or len(_categories(rule.parent)) > 1 else None,
    ),
    "any": ("nothing: the same for all rules", lambda rule: ""),
    "left_verb": ("a binary rule without its left child, if this is a verb's tag", _without(0)),
    "right_verb": ("a binary rule without its right child, if this is a verb's tag", _without(1)),
    "right_pp": (
        "a binary rule, if its right child is a prepositional phrase",
        lambda rule: rule if len(rule.right) == 2 and base_category(rule.right[1]) == PREPOSITIONAL else None,
    ),
}


def columns(grammar: Grammar, kind: str, outcome: str) -> np.ndarray:
    """Return the column of each rule under templates of a kind: int32 (n_rules + n_states,); -1: none.

    The numbers behind the rules stand for the states that could have a unary rule, but have none.
    """
    first, end = {
        "rule": (0, grammar.n_rules),
        "span": (0, grammar.first_lexical),
        "split": (0, grammar.first_unary),
        "unary": (grammar.first_unary, grammar.first_lexical),
        "word": (grammar.first_lexical, grammar.first_root),
        "bare": (0, 0),
    }[kind]
    rules = [*enumerate(grammar.rules[first:end], start=first)]
    if kind in ("rule", "bare"):
        rules += enumerate((Rule(state, (state,)) for state in grammar.states), start=grammar.n_rules)
    numbers: dict[Hashable, int] = {}
    found = np.full(grammar.n_rules + len(grammar.states), -1, np.int32)
    for place, rule in rules:
        key = OUTCOMES[outcome][1](rule)
        if key is not None:
            found[place] = numbers.setdefault(key, len(numbers))
    return found


# Span classifiers have templates of their own: atoms that are seen together. An atom is a place and what is seen there:
# "t" the tag, "w" the word. Places are counted from the two ends of a span: "lo1" is the word outside to the left of
# it, "li1" its first and "li2" its second word, "ri1" its last word, "ro1" the word outside to the right. "length" is
# the number of words, in steps that grow, and "shape" are the tags of all words, or of the first and last ones.

PRUNER_ATOMS = (
    *(f"{side}{k}.{what}" for side in ("lo", "li", "ri", "ro") for k in range(1, 4) for what in "tw"),
    "length",
    "shape",
)

_ONE_END = (
    "o1.t i1.t", "o1.t i1.t i2.t", "o2.t o1.t i1.t", "o2.t o1.t i1.t i2.t", "i1.t i2.t i3.t", "o3.t o2.t o1.t",
    "i1.w", "o1.w", "i1.w o1.t", "o1.w i1.t", "o1.w i1.w",
)  # fmt: skip
_GATE = (
    "", "length", "li1.t ri1.t", "lo1.t ro1.t", "li1.t ro1.t", "lo1.t ri1.t", "lo1.t li1.t ri1.t ro1.t",
    "length li1.t", "length ri1.t", "length lo1.t", "length ro1.t", "shape",
)  # fmt: skip
PRUNER_GROUPS = {
    "begin": tuple(" ".join(f"l{atom}" for atom in template.split()) for template in _ONE_END),
    "end": tuple(" ".join(f"r{atom}" for atom in template.split()) for template in _ONE_END),
    "gate": _GATE,
    "span": (
        *_GATE, "lo1.t li1.t ri1.t", "lo1.t li1.t ro1.t", "lo1.t ri1.t ro1.t", "li1.t ri1.t ro1.t",
        "li1.t li2.t ri1.t ro1.t", "lo1.t li1.t ro1.t ro2.t", "length li1.t ri1.t", "length lo1.t ro1.t",
        "shape lo1.t ro1.t", "lo1.w ro1.t", "lo1.t ro1.w", "lo1.w ri1.t", "lo1.t ri1.w", "li1.w ro1.t", "li1.t ro1.w",
        "li1.w ri1.t", "li1.t ri1.w", "lo1.w ro1.w", "li1.w ro1.w",
    ),
    "word": (
        "", "li1.t", "li1.w", "li1.w li1.t", "lo1.t li1.t", "li1.t ro1.t", "lo1.t li1.t ro1.t", "lo2.t lo1.t li1.t",
        "li1.t ro1.t ro2.t", "lo2.t lo1.t li1.t ro1.t", "lo1.t li1.t ro1.t ro2.t", "lo1.w li1.t", "li1.t ro1.w",
        "lo1.w li1.w", "li1.w ro1.w", "lo1.w li1.t ro1.t", "lo1.t li1.t ro1.w",
    ),
}  # fmt: skip
