"""The tagger's features of single words: affixes, shape, and statistics of the training data."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import Clusters

AFFIX_FIELDS = tuple(f"prefix{n}" for n in range(1, 5)) + tuple(f"suffix{n}" for n in range(1, 6))
CLUSTER_PREFIXES = {"cluster4": 4, "cluster6": 6, "cluster10": 10, "cluster": None}  # None: the whole path
FIELDS = ("word", "lower", *AFFIX_FIELDS, "shape", "kind", "known", "folded", "edge", *CLUSTER_PREFIXES)
MAX_LENGTH = 100  # of a longer word only the two ends are used
_QUOTES = {'"', "``", "''", "“", "”", "„"}


@dataclass(frozen=True)
class TagDictionary:
    """The tags of frequent words in training, and the only tag of those that are (nearly) unambiguous."""

    classes: dict[str, str] = field(default_factory=dict)  # word -> its tags, most frequent first, joined by "|"
    only_tags: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_corpus(
        cls,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        class_min_count: int = 3,
        class_min_share: float = 0.02,
        only_min_count: int = 20,
        only_min_share: float = 0.995,
    ) -> TagDictionary:
        """Return the dictionary of a corpus; words with fewer occurrences than the minimum counts are left out."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words, word_tags in zip(sentences, tags, strict=True):
            for word, tag in zip(orient_quotes(words), word_tags, strict=True):
                counts[shorten(word)][tag] += 1
        classes, only_tags = {}, {}
        for word in sorted(counts):
            n_seen = counts[word].total()
            ranked = sorted(counts[word].items(), key=lambda item: (-item[1], item[0]))
            if n_seen >= class_min_count:
                classes[word] = "|".join(tag for tag, count in ranked if count >= class_min_share * n_seen)
            if n_seen >= only_min_count and ranked[0][1] >= only_min_share * n_seen:
                only_tags[word] = ranked[0][0]
        return cls(classes, only_tags)


def orient_quotes(words: Sequence[str]) -> list[str]:
    """Return the words with straight double quotes replaced by opening and closing ones: every second one closes."""
    if '"' not in words:
        return list(words)
    oriented, n_quotes = [], 0
    for word in words:
        if word == '"':
            word = "”" if n_quotes % 2 else "“"
            n_quotes += 1
        oriented.append(word)
    return oriented


def shorten(word: str) -> str:
    """Return the word, or the two ends of a very long word, so that memory does not grow with its length."""
    return word if len(word) <= MAX_LENGTH else word[: MAX_LENGTH // 2] + word[-MAX_LENGTH // 2 :]


def word_fields(word: str, dictionary: TagDictionary, clusters: Clusters | None = None) -> tuple[str, ...]:
    """Return the values of FIELDS for a word, given the dictionary and the clusters."""
    lower = '"' if word in _QUOTES else word.lower()
    prefixes = [lower[:n] if len(lower) >= n else "" for n in range(1, 5)]
    suffixes = [lower[-n:] if len(lower) >= n else "" for n in range(1, 6)]
    kind = word_kind(word)
    unknown = f"?{kind}{lower[-2:]}"
    known = dictionary.classes.get(word, unknown)
    folded = dictionary.classes.get(lower, unknown)
    path = clusters.path(word) if clusters else ""
    cluster_fields = [path[:length] for length in CLUSTER_PREFIXES.values()]
    return (word, lower, *prefixes, *suffixes, word_shape(word), kind, known, folded, "", *cluster_fields)


def boundary_fields() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values of FIELDS before and after a sentence; they differ from those of every word."""
    return ("<before>",) * len(FIELDS), ("<after>",) * len(FIELDS)


def word_shape(word: str) -> str:
    """Return the word with runs of capitals, other letters and digits as one X, x or d: "Xx-dx" for "Mid-1990s"."""
    shape = ""
    for letter in word:
        symbol = "d" if letter.isdigit() else "X" if letter.isupper() else "x" if letter.isalpha() else letter
        if not shape.endswith(symbol):
            shape += symbol
    return shape


def word_kind(word: str) -> str:
    """Return a letter for each property of rare words in Ratnaparkhi (1996): digit, hyphen, capitals."""
    kind = "d" if any(letter.isdigit() for letter in word) else ""
    kind += "-" if "-" in word else ""
    if word[:1].isupper():
        kind += "C" if word.isupper() and len(word) > 1 else "c"
    elif any(letter.isupper() for letter in word):
        kind += "u"
    return kind


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
