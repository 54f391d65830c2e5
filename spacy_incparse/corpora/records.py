"""What is read, and what becomes of it: documents, shards of documents, and the record of a finished shard."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

SHARD_CHARS = 300_000  # about 60,000 words of English: three seconds' work of `en`, so that workers end together


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its id; with `words`, it is already tokenised."""

    id: str
    file: str
    text: str
    words: tuple[str, ...] = ()
    spaces: tuple[bool, ...] = ()  # whether each word is followed by a space
    sent_starts: tuple[bool, ...] = ()
    meta: str = "{}"  # the other fields of the input, as JSON


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that should have been a document."""

    id: str
    file: str
    reason: str


Item: TypeAlias = Document | Unreadable


@dataclass(frozen=True, slots=True)
class Shard:
    """Consecutive documents that are annotated and written together."""

    number: int
    first: int  # the number of its first document in the corpus
    items: tuple[Item, ...]
    n_bytes: int  # of the input files, to measure progress

    @property
    def name(self) -> str:
        """The name that its files have in common."""
        return f"part-{self.number:06d}"

    def __str__(self) -> str:
        return f"shard {self.number} ({self.items[0].id} to {self.items[-1].id})"


@dataclass
class Counts:
    """What a shard, or a whole corpus, consists of."""

    documents: int = 0  # with trees; those put aside are not among them
    failed: int = 0
    sentences: int = 0
    words: int = 0
    flat: int = 0  # sentences whose words all hang from the root, because the parser failed

    def add(self, other: Counts) -> None:
        """Add other counts to these."""
        for name, number in asdict(other).items():
            setattr(self, name, getattr(self, name) + number)


@dataclass
class ShardRecord:
    """What is written when all files of a shard are."""

    number: int
    counts: Counts = field(default_factory=Counts)
    files: dict[str, str] = field(default_factory=dict)  # name in the output folder -> SHA-256

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a JSON-serializable dict."""
        return {"number": self.number, **asdict(self.counts), "files": self.files}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ShardRecord:
        """Return the record in a dict from `to_dict`. Raises KeyError if an entry is missing."""
        return cls(data["number"], Counts(**{name: data[name] for name in asdict(Counts())}), dict(data["files"]))


def split(items: Iterable[tuple[Item, int]], shard_chars: int) -> Iterator[Shard]:
    """Yield shards that end with the document with which they have `shard_chars` characters.

    items: the documents, each with how many bytes of the input have been read with it.
    """
    number = first = n_chars = read_before = position = 0
    collected: list[Item] = []
    for item, position in items:
        collected.append(item)
        n_chars += len(item.text) if isinstance(item, Document) else 0
        if n_chars >= shard_chars:
            yield Shard(number, first, tuple(collected), position - read_before)
            number, first, n_chars, read_before = number + 1, first + len(collected), 0, position
            collected = []
    if collected:
        yield Shard(number, first, tuple(collected), position - read_before)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a folder, except Python's caches."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(folder).as_posix()}\n{file_hash(path)}\n".encode())
    return digest.hexdigest()
