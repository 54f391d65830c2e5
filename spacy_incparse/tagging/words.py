"""The tagger's features of single words: affixes, shape, and statistics of the training data."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.words import Clusters, word_shape

CLUSTER_FIELDS = ("cluster4", "cluster6", "cluster10", "cluster")  # so many bits of the path, and all of it
FIELDS = (
    "word", "lower", "prefix1", "prefix2", "prefix3", "prefix4", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5",
    "shape", "kind", "known", "folded", "edge", *CLUSTER_FIELDS,
)  # fmt: skip
_AFFIXES = [(n, slice(n)) for n in range(1, 5)] + [(n, slice(-n, None)) for n in range(1, 6)]
BOUNDARIES = ("<before>",) * len(FIELDS), ("<after>",) * len(FIELDS)  # the values outside of a sentence: like no word's
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
    affixes = [lower[part] if len(lower) >= n else "" for n, part in _AFFIXES]
    kind, classes = word_kind(word), dictionary.classes
    unknown = f"?{kind}{lower[-2:]}"
    known, folded = classes.get(word, unknown), classes.get(lower, unknown)
    path = clusters.path(word) if clusters else ""
    return word, lower, *affixes, word_shape(word), kind, known, folded, "", path[:4], path[:6], path[:10], path


def word_kind(word: str) -> str:
    """Return a letter for each property of rare words in Ratnaparkhi (1996): digit, hyphen, capitals."""
    if word.isalpha() and word.islower():
        return ""
    kind = ("d" if any(map(str.isdigit, word)) else "") + ("-" if "-" in word else "")
    if word[:1].isupper():
        return kind + ("C" if word.isupper() and len(word) > 1 else "c")
    return kind + ("u" if any(map(str.isupper, word)) else "")


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
    *(f"{name}[{offset}]" for name in CLUSTER_FIELDS for offset in (0, -1, 1)),
    *(f"tag[-1] {name}[0]" for name in CLUSTER_FIELDS),
    "cluster6[0] shape[0]", "cluster[0] shape[0]", "cluster6[-1] cluster6[0]", "cluster6[0] cluster6[1]",
    "cluster[-1] cluster[0]", "cluster[0] cluster[1]",
)  # fmt: skip


def outcomes(tags: Sequence[str], separators: str) -> list[list[int]]:
    """Return what each tag has weights of: itself, by its number, and its parts, which have the numbers behind.

    Tags without a separator, and parts that only one tag has, are no parts.
    """
    split = [re.split(f"[{re.escape(separators)}]", tag) if separators else [tag] for tag in tags]
    counts = Counter(part for parts in split for part in set(parts))
    shared = {part: number for number, part in enumerate(sorted(p for p in counts if counts[p] > 1), start=len(tags))}
    return [[k, *sorted({shared[part] for part in parts if part in shared})] for k, parts in enumerate(split)]


_ATOM = re.compile(r"(\w+)\[([+-]?\d)\]")


class Atom(NamedTuple):
    """A field of the word `offset` places to the right (`offset` > 0) or left, or that word's tag."""

    field: str
    offset: int


def parse_template(text: str) -> list[Atom]:
    """Return the atoms of a template such as `"tag[-1] suffix3[0]"`. Raises ConfigError for an unknown atom."""
    atoms = []
    for part in text.split():
        match = _ATOM.fullmatch(part)
        name, offset = (match[1], int(match[2])) if match else ("", 0)
        if not (offset in (-1, -2) if name == TAG else name in FIELDS and abs(offset) <= WINDOW):
            raise ConfigError(
                f"tagger template {text!r}: {part!r} is not an atom; write FIELD[OFFSET] with a field of "
                f"{', '.join(FIELDS)} and an offset from -{WINDOW} to {WINDOW}, or tag[-1], tag[-2]"
            )
        atoms.append(Atom(name, offset))
    if not 1 <= len(atoms) <= MAX_ATOMS:
        raise ConfigError(f"tagger template {text!r} has {len(atoms)} atoms; write between 1 and {MAX_ATOMS}")
    return atoms
