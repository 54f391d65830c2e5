"""Words: their numbers, known ones individually, rare ones by shape and suffix; their clusters (Brown et al. 1992)."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from spacy_incparse.errors import ConfigError, IncparseError, ModelError, damaged
from spacy_incparse.files import unzip
from spacy_incparse.integer_arrays import pack, pack_gaps, unpack, unpack_gaps

GROUP_LENGTH = 6  # bits of a cluster's path that form its group
CACHE_SIZE = 200_000  # words cached with their numbers


@dataclass(eq=False)
class Lexicon:
    """The words of a training treebank with their counts.

    Words seen at least `known_min_count` times are known; others share a number if their shape and suffix are equal.
    Words seen less than `common_min_count` times are rare: only these also have a class. Words in `clusters` have a
    cluster and a group of clusters.
    """

    counts: dict[str, int]
    known_min_count: int = 2
    common_min_count: int = 5
    clusters: Clusters | None = None
    _numbers: dict[str, tuple[int, int, int, int]] = field(default_factory=dict, init=False)

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], **settings: Any) -> Lexicon:
        """Return the lexicon of the words in sentences."""
        return cls(Counter(word for sentence in sentences for word in sentence), **settings)

    def __post_init__(self) -> None:
        least = min(self.known_min_count, self.common_min_count)
        self.counts = {word: self.counts[word] for word in sorted(self.counts) if self.counts[word] >= least}

    def extended(self, sentences: Iterable[Sequence[str]]) -> Lexicon:
        """Return a lexicon with the words of more sentences.

        Words that were known keep what features see of them; new ones are known as well, but none of them is common:
        nothing but their class has been learned so far.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        new = {word: min(count, self.common_min_count - 1) for word, count in counts.items() if word not in self.counts}
        return replace(self, counts=self.counts | new)

    def encode(self, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Return four rows of 32-bit numbers: of the words, of their classes, of their clusters and of their groups.

        The class of a common word is 0, as are cluster and group of a word that has none.
        """
        cache = self._numbers
        if len(cache) >= CACHE_SIZE:
            cache.clear()
        for word in words:
            if word not in cache:
                count, path = self.counts.get(word, 0), self.clusters.path(word) if self.clusters else ""
                word_class = _checksum("\ue000" + word_class_of(word))  # a private-use character: classes are no words
                cache[word] = (
                    _checksum(word) if count >= self.known_min_count else word_class,
                    word_class if count < self.common_min_count else 0,
                    _checksum(path) if path else 0,
                    _checksum(path[:GROUP_LENGTH]) if path else 0,
                )
        return tuple(zip(*map(cache.__getitem__, words), strict=True)) or ((), (), (), ())

    def to_dict(self) -> dict[str, Any]:
        """Return the lexicon as a dict for JSON or msgpack, without clusters and with capped counts."""
        cap = max(self.known_min_count, self.common_min_count)
        return {
            "known_min_count": self.known_min_count,
            "common_min_count": self.common_min_count,
            "words": list(self.counts),
            "counts": [min(count, cap) for count in self.counts.values()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], clusters: Clusters | None = None) -> Lexicon:
        """Return the lexicon in a dict from `to_dict`."""
        counts = dict(zip(data["words"], data["counts"], strict=True))
        return cls(counts, data["known_min_count"], data["common_min_count"], clusters)


def word_class_of(word: str) -> str:
    """Return the class of an unknown word: its shape with runs shortened, and its last three letters in lowercase."""
    suffix = word[-3:].lower() if word[-1:].isalpha() else ""
    return f"{word_shape(word[:40]).replace('d', '9')} {suffix}"


def word_shape(word: str) -> str:
    """Return the word with runs of capitals, other letters and digits as one X, x or d: "Xx-dx" for "Mid-1990s"."""
    if word.isalpha() and word.isascii():  # most words
        if word.islower():
            return "x"
        if word.isupper():
            return "X"
        if word[1:].islower():
            return "Xx"
    shape = ""
    for letter in word:
        symbol = "d" if letter.isdigit() else "X" if letter.isupper() else "x" if letter.isalpha() else letter
        if not shape.endswith(symbol):
            shape += symbol
    return shape


def _checksum(text: str) -> int:
    # Surrogates from broken input cannot be encoded otherwise.
    return zlib.crc32(text.encode("utf8", "surrogatepass")) or 1


MAX_WORDS = 100_000  # the most frequent words of a source to keep: a third of a megabyte in a model
_WHAT = "the word clusters of the model"


class Clusters:
    """Words with their paths, strings of "0" and "1": clusters that share a long prefix are similar.

    Words are stored only as 32-bit checksums, to keep the table small: of a million words that are not among its
    100,000, about 20 get another word's cluster. `checksums` are sorted; `places` are the words' indices in `paths`.
    """

    def __init__(self, checksums: array, places: array, paths: tuple[str, ...]):
        self.checksums, self.places, self.paths = checksums, places, paths

    @classmethod
    def from_paths(cls, words: Iterable[tuple[str, str]]) -> Clusters:
        """Return the table of (word, path) pairs; of words that are equal or share a checksum, the first counts."""
        found: dict[int, str] = {}
        for word, path in words:
            found.setdefault(_cluster_key(word), path)
        paths = sorted(set(found.values()))
        numbers = {path: number for number, path in enumerate(paths)}
        checksums = sorted(found)
        return cls(array("I", checksums), array("I", [numbers[found[c]] for c in checksums]), tuple(paths))

    def __len__(self) -> int:
        return len(self.checksums)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clusters) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((len(self.checksums), self.paths))

    def path(self, word: str) -> str:
        """Return the path of a word, or else of its lowercase form, or else ""."""
        return self._find(word) or ("" if word.islower() else self._find(word.lower()))

    def _find(self, word: str) -> str:
        checksum = _cluster_key(word)
        place = bisect_left(self.checksums, checksum)
        if place < len(self.checksums) and self.checksums[place] == checksum:
            return self.paths[self.places[place]]
        return ""

    def to_bytes(self) -> bytes:
        """Return the table as compressed bytes, about 3.5 per word; equal tables have equal bytes."""
        content = {
            "paths": zlib.compress(" ".join(self.paths).encode("ascii"), 9),
            "checksums": pack_gaps(np.array(self.checksums, np.uint32)),
            "places": pack(np.array(self.places, np.uint32)),
        }
        return srsly.msgpack_dumps(content)

    def checksum(self) -> str:
        """Return a checksum of the whole table, to tell tables apart."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Clusters:
        """Return the table in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        with damaged(f"{_WHAT} are damaged"):
            content = srsly.msgpack_loads(data)
            checksums = unpack_gaps(content["checksums"], "u4", _WHAT)
            places = unpack(content["places"], "u4", _WHAT, len(checksums))
            paths = tuple(unzip(content["paths"], f"{_WHAT} are").decode("ascii").split())
        if len(checksums) != len(places) or (len(places) and places.max() >= len(paths)):
            raise ModelError(f"{_WHAT} are damaged: {len(checksums)} words, {len(paths)} clusters")
        return cls(_array(checksums), _array(places), paths)


def stored_clusters(content: Mapping[str, Any], others: Clusters | None, *, are_needed: bool) -> Clusters | None:
    """Return the clusters of a stored parser: its own, or else those stored elsewhere in the model, if it needs any.

    Raises ModelError if there are none where they are needed.
    """
    if "clusters" in content:
        return Clusters.from_bytes(content["clusters"])
    if are_needed and not others:
        raise ModelError("the parser's word clusters are missing: copy the model again or train a new one")
    return others if are_needed else None


def _cluster_key(word: str) -> int:
    return zlib.crc32(word.encode("utf8", "surrogatepass"))


def _array(numbers: np.ndarray) -> array:
    made = array("I")
    made.frombytes(numbers.astype(f"u{made.itemsize}").tobytes())
    return made


MAX_DIGITS = 18  # of a count
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_PATH = re.compile(r"[01]+")
_GROUP, _TABLE = "spacy_lookups", "lexeme_cluster"
_GZIP = b"\x1f\x8b"


def read_clusters(source: str | Path, *, max_words: int = MAX_WORDS) -> Clusters:
    """Return the clusters of the `max_words` most frequent words that have one.

    `source` is the code of a language ("en", "de", "es") for spaCy's lookups package, or the path of a file, plain or
    gzipped, with lines "path TAB word TAB count" as Liang's `wcluster` writes them ("./en" is a file, not a language).
    If a word occurs twice, the more frequent entry counts. Raises ConfigError if the source does not exist,
    IncparseError naming file, line and value if it is malformed.
    """
    if max_words < 1:
        raise ConfigError(f"max_words is {max_words}: keep the clusters of at least 1 word")
    is_language = isinstance(source, str) and _LANGUAGE.fullmatch(source)
    words = _from_package(str(source)) if is_language else _from_file(Path(source))
    return Clusters.from_paths(islice(words, max_words))


def as_clusters(source: Clusters | str | Path | None) -> Clusters | None:
    """Return clusters, reading them from a source if needed; None stays None."""
    return source if source is None or isinstance(source, Clusters) else read_clusters(source)


def _from_package(lang: str) -> Iterator[tuple[str, str]]:
    """Yield words and paths, the most frequent first, as in the package's tables.

    A path consists of the id's bits from the lowest up. Zeros at its end are lost, so all paths are padded to the
    longest; id 0 means no cluster.
    """
    tables = {entry.name: entry for entry in entry_points(group=_GROUP)}
    if not tables:
        package = 'pip install "spacy-incparse[clusters]"'
        raise ConfigError(f'clusters "{lang}" need another package, {package} for en, de and es, or a file of your own')
    table = tables[lang].load().get(_TABLE) if lang in tables else None
    if table is None:
        have = sorted(name for name in tables if _TABLE in tables[name].load())
        raise ConfigError(f'the lookups package has no clusters for the language "{lang}", only for {", ".join(have)}')
    path = Path(table)
    zipped = path.with_name(path.name + ".gz")
    ids: dict[str, int] = srsly.read_gzip_json(zipped) if zipped.exists() else srsly.read_json(path)
    length = max(ids.values(), default=0).bit_length()
    paths = {number: f"{number:b}"[::-1].ljust(length, "0") for number in set(ids.values())}
    return ((word, paths[number]) for word, number in ids.items() if number)


def _from_file(path: Path) -> Iterator[tuple[str, str]]:
    """Yield words and paths, the most frequent first, ties in the order of the file."""
    lines = [
        _parse(path, number, line) for number, line in _lines(path, "clusters", "give a language's code or a file")
    ]
    lines.sort(key=lambda line: -line[2])
    return ((word, bits) for bits, word, _ in lines)


def read_word_list(path: str | Path) -> Counter[str]:
    """Return the counts in a file, plain or gzipped, with lines "word TAB count".

    Raises ConfigError if it cannot be read, IncparseError naming file, line and value if it is malformed.
    """
    counts: Counter[str] = Counter()
    for number, line in _lines(Path(path), "word counts", "give a file"):
        word, tab, count = line.rstrip("\r").partition("\t")
        if not word or word.split() != [word] or not tab:
            raise IncparseError(f"{path}:{number}: expected one word TAB its count: {line!r:.60}")
        counts[word] += _count(path, number, count)
    return counts


def _lines(path: Path, what: str, advice: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, with their numbers. Raises IncparseError if there are none."""
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path}: the {what} cannot be read ({error}); {advice}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise IncparseError(f"{path}:{line}: byte {data[error.start]:#04x} is not UTF-8: convert the file") from error
    if not text.strip():
        raise IncparseError(f"{path}: the file has no {what}")
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _parse(path: Path, number: int, line: str) -> tuple[str, str, int]:
    columns = line.rstrip("\r").split("\t")
    if len(columns) != 3:
        raise IncparseError(
            f"{path}:{number}: expected path TAB word TAB count, found {len(columns)} columns: {line!r}"
        )
    bits, word, count = columns
    if not _PATH.fullmatch(bits):
        raise IncparseError(f"{path}:{number}: the path {bits!r} is not made of 0 and 1")
    if not word:
        raise IncparseError(f"{path}:{number}: the word is missing: {line!r}")
    return bits, word, _count(path, number, count)


def _count(path: str | Path, number: int, digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < MAX_DIGITS):
        raise IncparseError(f"{path}:{number}: the count {digits!r} is not a whole number")
    return int(digits)
