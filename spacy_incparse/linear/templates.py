"""Feature templates as data: named sets, user-defined sets, and their compilation to tables for the extraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spacy_incparse.errors import ConfigError

KINDS = ("node", "word", "chain", "close")
"""A template is a conjunction of fields. Four kinds score different things:

- ``node``: each outcome of a context: a nonterminal, a POS node, or the end of the constituent;
- ``word``: the word under its POS node (its label is LK, its POS is LKP, L10 the POS node's parent);
- ``chain``: a whole left-child chain at its attachment site;
- ``close``: the end of a constituent, with its span.
"""
TemplateSet = Mapping[str, Sequence[str]]  # from kind to templates, which are field names separated by spaces

# Table 2 of Collins & Roark (2004). F0-F10 fire at nodes. At words the paper
# counts levels from the word: its L00 is LK, L10 is LKP, L20 is L10 here, L11 is L01 and L30 is L20; F0 of a word,
# which is the same in all analyses, is left out.
PAPER: TemplateSet = {
    "node": (
        "L10", "L10 LKP", "L10 LKP L01", "L10 LKP L01 L02", "L10 LKP L01 L02 L03", "L10 LKP L01 L02 L03 L20",
        "L10 LKP L01 L02 L03 L20 L11", "L10 LKP L01 L02 L03 L20 L11 L30", "L10 LKP L01 L02 L03 L20 L11 L30 L21",
        "L10 LKP L01 L02 L03 L20 L11 L30 L21 CL", "L10 LKP L01 L02 L03 L20 L11 L30 L21 CL LK",
    ),
    "word": (
        "LK LKP L10", "LK LKP L10 L01", "LK LKP L10 L01 L20", "LK LKP L10 L01 L20 CCP", "LK LKP L10 L01 L20 CCP CC",
    ),
}  # fmt: skip

# The three punctuation features of section 3.2.
PUNCTUATION: TemplateSet = {"node": ("L10 L01 QUESTION", "L10 L01 PUNCT1", "L10 L01 AFTERP")}

WINDOWS: TemplateSet = {
    "node": (
        "L10 LKP T1", "L10 L01 LKP T1", "L10 L01 LKP T1 T2", "L10 LKP T1 T2 T3", "L10 T-1 LKP", "L10 L01 T-2 T-1 LKP",
        "L10 T-1 LKP T1", "L10 LK", "L10 L01 LK", "L20 L10 L01 LK", "L10 L01 LK T1", "L10 LKP W1", "L10 W-1 LKP",
        "L10 L01 W-1 LK",
    ),
}  # fmt: skip

HEADS: TemplateSet = {
    "node": (
        "L10 CL LKP", "L10 L01 CL", "L10 CL LK", "L10 L01 CLP LKP T1", "L10 L01 S1 LKP", "L10 S1P LKP LK",
        "L10 S1 LK", "L10 GP CLP LKP", "L20 L10 G LKP", "L10 L01 G LK", "L10 L01 CC LKP",
    ),
}  # fmt: skip

COORDINATION: TemplateSet = {
    "node": ("L10 L01 CONJ LKP", "L10 CONJ LKP T1"),
    "close": ("L10 PAIR", "L10 PAIR LKP", "L10 PAIRF", "L10 PAIRL", "L20 L10 PAIR"),
}  # fmt: skip

CHAINS: TemplateSet = {
    "chain": (
        "L10 LKP", "L10 L01 LKP", "L10 L01 L02 LKP", "L20 L10 L01 LKP", "L10 L01 LKP T1", "L10 LKP T1 T2",
        "L10 L01 T-1 LKP", "L10 L01 LK", "LKP LK W1", "LKP W-1 LK", "LKP LK T1", "L10 LKP CL", "L10 L01 LKP S1",
    ),
}  # fmt: skip

CLOSINGS: TemplateSet = {
    "close": (
        "L10 FW W-1", "L10 FW LK", "L10 FT T-1 BT LKP", "L10 FT LKP", "L10 BT LKP", "L10 BW LKP", "L10 BT LK",
        "L10 W-1 LKP", "L10 T-1 LK", "L10 LEN LKP", "L10 LEN CLP", "L10 RULE", "L10 RULE LKP", "L20 L10 RULE",
        "L10 SHAPE", "L10 SHAPE LKP", "L10 CL LEN", "L20 L10 G CL",
    ),
}  # fmt: skip

# Trust in the tagger's score: LKP may be any of the tags that it leaves open.
TAG_RANKS: TemplateSet = {"word": ("TR", "TR LKP", "TR LKP T0", "TR LKP L10", "TR LKP T-1")}

RARE_WORDS: TemplateSet = {"node": ("L10 L01 C0", "L10 LKP C1"), "word": ("L10 LKP C0", "L10 L01 LKP C0")}


# Word clusters; added to a named set if the parser has clusters.
CLUSTERS: TemplateSet = {
    "node": (
        "L10 K0", "L10 L01 K0", "L20 L10 L01 K0", "L10 K-1 LKP", "L10 L01 K-1 K0", "L10 LKP K1", "L10 CLK LKP",
        "L10 L01 CLK", "L10 CLK K0", "L10 L01 S1K LKP", "L10 S1K K0", "L20 L10 GK LKP", "L10 L01 GK K0",
        "L10 L01 CCK LKP", "L10 L01 CLB LKP", "L10 L01 CLB B0", "L10 L01 S1B B0", "L10 L01 GB B0",
        "L10 L01 GB S1B LKP",
    ),
    "word": ("LKP K0", "L10 LKP K0", "L10 L01 LKP K0"),
    "chain": ("L10 L01 K0", "LKP K0 K1", "LKP K-1 K0", "L10 LKP CLK", "L10 L01 LKP S1K"),
    "close": ("L10 K-1 LKP", "L10 K0 T-1", "L10 CLK LEN", "L20 L10 GK CLK", "L20 L10 GB CLB"),
}  # fmt: skip


def combine(*sets: TemplateSet) -> dict[str, tuple[str, ...]]:
    """Return the union of template sets by kind, in order and without duplicates."""
    return {kind: tuple(dict.fromkeys(t for part in sets for t in part.get(kind, ()))) for kind in KINDS}


NAMED_SETS = {
    "paper": combine(PAPER),
    "paper+punct": combine(PAPER, PUNCTUATION),
    "rich": combine(PAPER, PUNCTUATION, WINDOWS, HEADS, COORDINATION, CHAINS, CLOSINGS, RARE_WORDS),
    "accurate": combine(PAPER, PUNCTUATION, WINDOWS, HEADS, COORDINATION, CHAINS, CLOSINGS, RARE_WORDS, TAG_RANKS),
}


@dataclass(frozen=True)
class Template:
    """A checked template: its kind and its fields."""

    kind: str
    fields: tuple[str, ...]


def resolve(features: str | TemplateSet, *, clusters: bool = False) -> tuple[Template, ...]:
    """Return the checked templates of a named or user-defined set, with kinds in the order of `KINDS`.

    With `clusters` a named set includes CLUSTERS. Raises ConfigError for an unknown set, kind or field, and for a
    field that the kind cannot use.
    """
    if isinstance(features, str):
        if features not in NAMED_SETS:
            raise ConfigError(f"unknown feature set {features!r}: choose one of {', '.join(NAMED_SETS)}")
        features = combine(NAMED_SETS[features], CLUSTERS) if clusters else NAMED_SETS[features]
    for kind in features:
        if kind not in KINDS:
            raise ConfigError(f"unknown kind of template {kind!r}: choose from {', '.join(KINDS)}")
    templates = []
    for kind in KINDS:
        for text in features.get(kind, ()):
            names = tuple(text.split())
            if not names:
                raise ConfigError(f"a template of the kind {kind!r} is empty: name at least one field")
            where = f"(in the {kind} template {text!r})"
            for name in names:
                if name not in FIELDS:
                    raise ConfigError(f"unknown field {name!r} {where}: see linear/templates.py")
                if FIELDS[name].needs_span and kind != "close":
                    raise ConfigError(f"the field {name} {where} belongs to templates of kind 'close'")
            templates.append(Template(kind, names))
    if not any(template.kind == "node" for template in templates):
        raise ConfigError("a feature set needs at least one template of the kind 'node'")
    return tuple(templates)


def look_ahead(templates: Sequence[Template]) -> int | None:
    """Return the number of words used beyond the one about to be absorbed; None: all, to the end of the sentence."""
    reach = [FIELDS[name].look_ahead for template in templates for name in template.fields]
    # Every kind except "close" scores an outcome that depends on the word about to be absorbed.
    least = -1 if all(template.kind == "close" for template in templates) else 0
    return None if None in reach else max([least, *(r for r in reach if r is not None)])


@dataclass(frozen=True)
class KindTable:
    """The templates of one kind as flat integers for the compiled extraction.

    A row's hash is ``bias + sum(coefficient * value)`` over its fields, modulo 2**64 (multilinear hashing,
    Dietzfelbinger 1996); the sum over position fields is computed once per word. `reads_tag`: LKP is in the
    conjunction, so the outcome of a POS node is SHIFT; otherwise it is the POS node's symbol.
    """

    biases: tuple[int, ...]
    structure: tuple[tuple[tuple[int, int], ...], ...]  # per template: (field number, coefficient)
    position: tuple[tuple[tuple[int, int], ...], ...]
    reads_tag: tuple[bool, ...]


def compile_kind(templates: Sequence[Template], kind: str, absent: Sequence[str] = ()) -> KindTable:
    """Return the table of a kind: its templates' numbered fields, with deterministic hash coefficients.

    absent: fields that are 0 in all contexts that the table is for; they change no hash.
    """
    chosen = [template for template in templates if template.kind == kind]
    keys = [f"{kind} {' '.join(template.fields)}" for template in chosen]

    def pairs(fields: Sequence[Field]) -> tuple[tuple[tuple[int, int], ...], ...]:
        numbers = {field.name: number for number, field in enumerate(fields)}
        return tuple(
            tuple(
                (numbers[name], hash_text(f"{key} {name}") | 1)
                for name in template.fields
                if name in numbers and name not in absent
            )
            for key, template in zip(keys, chosen, strict=True)
        )

    return KindTable(
        biases=tuple(hash_text(key) for key in keys),
        structure=pairs(STRUCTURE_FIELDS),
        position=pairs(POSITION_FIELDS),
        reads_tag=tuple("LKP" in template.fields for template in chosen),
    )


def split_by_label(templates: Sequence[Template]) -> tuple[list[Template], list[Template]]:
    """Divide templates into those that read only the label of a parent without children, and all others."""
    structure = {field.name for field in STRUCTURE_FIELDS} - {"L10", *CHILD_FIELDS}
    by_label = [template for template in templates if not structure & set(template.fields)]
    return by_label, [template for template in templates if template not in by_label]


def hash_text(key: str) -> int:
    """Return a pseudo-random 64-bit number for the key: SplitMix64's finalizer over FNV-1a."""
    mask = (1 << 64) - 1
    h = 0xCBF29CE484222325
    for byte in key.encode():
        h = ((h ^ byte) * 0x100000001B3) & mask
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & mask
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & mask
    return h ^ (h >> 31)


# Notation of Collins & Roark (2004), section 3.2: L_ij is the label i levels above the node that is about to be built
# and j nodes to the left, so L10 is its parent and L01 its left sibling.


@dataclass(frozen=True)
class Field:
    """One value of a context; `look_ahead` counts the words it needs beyond the one about to be absorbed.

    Fields of one `meaning` are described together.
    `look_ahead` is -1 if the word about to be absorbed is not used, None if all words must be known.
    `needs_span`: the value depends on where constituents begin, so only closing templates may use it.
    """

    name: str
    meaning: str
    look_ahead: int | None = -1
    needs_span: bool = False


# The compiled extraction numbers the fields in this order (incremental/left_context.pxd); a test compares the two.
STRUCTURE_FIELDS = (
    Field("L10", "label of the parent: the constituent in which the node is built, or that is closed"),
    Field("L20", "labels of its parent, and of the next two above"),
    Field("L30", "labels of its parent, and of the next two above"),
    Field("L40", "labels of its parent, and of the next two above"),
    Field("L01", "label of the left sibling: the last child built so far"),
    Field("L02", "labels of the two children before that"),
    Field("L03", "labels of the two children before that"),
    Field("L11", "labels of the parent's left sibling, and of the one before that"),
    Field("L12", "labels of the parent's left sibling, and of the one before that"),
    Field("L21", "label of the left sibling of the parent's parent"),
    Field("FIRST", "label of the parent's first child"),
    Field("N", "number of children so far, at most 4"),
    Field("CL", "lexical head of the parent so far"),
    Field("CLP", "tags of these heads"),
    Field("CC", "c-commanding lexical head: the nearest head to the left, the parent's own if it has one"),
    Field("CCP", "tags of these heads"),
    Field("S1", "lexical head of the left sibling"),
    Field("S1P", "tags of these heads"),
    Field("G", "lexical head, so far, of the parent's parent: the governor"),
    Field("GP", "tags of these heads"),
    Field("CONJ", "after a conjunction: label and first tag of the conjunct before it"),
    Field("AFTERP", "if the left sibling directly follows punctuation: whether the next word is punctuation", 0),
    Field("CLK", "clusters of these heads"),
    Field("CLB", "groups of these clusters: short prefixes of their paths"),
    Field("CCK", "clusters of these heads"),
    Field("CCB", "groups of these clusters: short prefixes of their paths"),
    Field("S1K", "clusters of these heads"),
    Field("S1B", "groups of these clusters: short prefixes of their paths"),
    Field("GK", "clusters of these heads"),
    Field("GB", "groups of these clusters: short prefixes of their paths"),
    Field("FW", "first word of the parent", -1, True),
    Field("FT", "tags of these words", -1, True),
    Field("BW", "word before the parent", -1, True),
    Field("BT", "tags of these words", -1, True),
    Field("LEN", "length of the parent in words, in buckets", -1, True),
    Field("RULE", "labels of all children of the parent", -1, True),
    Field("SHAPE", "tags of the words in the parent, up to 6 and the length beyond", -1, True),
    Field("PAIR", "if the parent follows a conjunction: whether both labels are equal, and both lengths", -1, True),
    Field("PAIRF", "the same with the conjuncts' first tags, and with their last tags", -1, True),
    Field("PAIRL", "the same with the conjuncts' first tags, and with their last tags", -1, True),
)  # fmt: skip

# These are 0 where the parent has no child yet, as all constituents of a chain that is being opened.
CHILD_FIELDS = (
    "L01", "L02", "L03", "FIRST", "N", "CL", "CLP", "S1", "S1P", "CONJ", "AFTERP", "CLK", "CLB", "S1K", "S1B",
)  # fmt: skip

POSITION_FIELDS = (
    Field("W-2", "the last two absorbed words"),
    Field("W-1", "the last two absorbed words"),
    Field("LK", "look-ahead word: the word about to be absorbed", 0),
    Field("W1", "the two words after it", 1),
    Field("W2", "the two words after it", 2),
    Field("T-3", "tags of the last three absorbed words"),
    Field("T-2", "tags of the last three absorbed words"),
    Field("T-1", "tags of the last three absorbed words"),
    Field("LKP", "tag of the look-ahead word", 0),
    Field("T1", "tags of the three words after it", 1),
    Field("T2", "tags of the three words after it", 2),
    Field("T3", "tags of the three words after it", 3),
    Field("C0", "shape and suffix, if it is rare, of LK, of W-1, and of W1", 0),
    Field("C-1", "shape and suffix, if it is rare, of LK, of W-1, and of W1"),
    Field("C1", "shape and suffix, if it is rare, of LK, of W-1, and of W1", 1),
    Field("QUESTION", "whether the sentence ends in a question mark", None),
    Field("PUNCT1", "if the look-ahead is punctuation or a conjunction: the tag of the word after it", 1),
    Field("T0", "the tagger's choice for the look-ahead word; LKP may be another of its tags", 0),
    Field("TR", "LKP relative to the tagger's choice: 0 the only tag, else first or other, and the distance", 0),
    Field("K0", "clusters of LK, of W-1, and of W1", 0),
    Field("K-1", "clusters of LK, of W-1, and of W1"),
    Field("K1", "clusters of LK, of W-1, and of W1", 1),
    Field("B0", "groups of these clusters", 0),
    Field("B-1", "groups of these clusters"),
    Field("B1", "groups of these clusters", 1),
)

FIELDS = {field.name: field for field in (*STRUCTURE_FIELDS, *POSITION_FIELDS)}
