"""Reading word clusters from spaCy's lookups package or from a file in Percy Liang's format."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path

import srsly

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.lexicon.clusters import MAX_WORDS, Clusters

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
        raise ConfigError(f'clusters "{lang}" need another package: pip install "spacy-incparse[clusters]"')
    table = tables[lang].load().get(_TABLE) if lang in tables else None
    if table is None:
        have = sorted(name for name in tables if _TABLE in tables[name].load())
        raise ConfigError(f'the lookups package has no clusters for the language "{lang}", only for {", ".join(have)}')
    ids: dict[str, int] = _read_table(Path(table))
    length = max(ids.values(), default=0).bit_length()
    paths = {number: f"{number:b}"[::-1].ljust(length, "0") for number in set(ids.values())}
    return ((word, paths[number]) for word, number in ids.items() if number)


def _read_table(path: Path) -> dict[str, int]:
    zipped = path.with_name(path.name + ".gz")
    return srsly.read_gzip_json(zipped) if zipped.exists() else srsly.read_json(path)


def _from_file(path: Path) -> Iterator[tuple[str, str]]:
    """Yield words and paths, the most frequent first, ties in the order of the file."""
    lines = [_parse(path, number, line) for number, line in enumerate(_read_text(path).split("\n"), 1) if line.strip()]
    if not lines:
        raise IncparseError(f"{path}: the file has no clusters")
    lines.sort(key=lambda line: -line[2])
    return ((word, bits) for bits, word, _ in lines)


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path}: the clusters cannot be read ({error}); give a language's code or a file") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise IncparseError(f"{path}:{line}: byte {data[error.start]:#04x} is not UTF-8: convert the file") from error


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
    if not (count.isascii() and count.isdigit()):
        raise IncparseError(f"{path}:{number}: the count {count!r} is not a whole number")
    return bits, word, int(count)
