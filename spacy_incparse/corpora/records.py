"""What is read, and what becomes of it: documents, shards of documents, and the folder with the annotated corpus."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import srsly

from spacy_incparse.documents.rows import MANIFEST
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import lock, named
from spacy_incparse.workers import batches

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


def split(items: Iterable[tuple[Item, int]], shard_chars: int) -> Iterator[Shard]:
    """Yield shards that end with the document with which they have `shard_chars` characters.

    items: the documents, each with how many bytes of the input have been read with it.
    """
    first = read_before = 0
    groups = batches(items, shard_chars, lambda one: len(one[0].text) if isinstance(one[0], Document) else 0)
    for number, group in enumerate(groups):
        shard, (_, read) = tuple(item for item, _ in group), group[-1]
        yield Shard(number, first, shard, read - read_before)
        first, read_before = first + len(shard), read


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


SHARDS, FAILED, TOTALS = "shards", "failed", "totals.json"
_TMP = ".tmp"
_OWN_FILE = re.compile(r"(\.?(manifest|totals)\.json|[a-z]+/\.?part-\d{6,}\.[a-z]+)(\.\d+\.tmp)?")


@dataclass(frozen=True)
class OutputFolder:
    """The folder, for the process that runs an annotation and for those that write its shards.

        manifest.json                what the corpus is made from; written first
        sentences/part-000000.*      and other folders that the writer names
        failed/part-000000.jsonl     documents that were put aside, if any
        shards/part-000000.json      the record of a shard; written when all its files are
        totals.json                  written last; removed when a shard has to be done again

    Each file appears complete or not at all, so that the folder is right at any moment.
    """

    path: Path

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Create the folder, and keep other runs from it. Raises IncparseError if one is writing to it already."""
        if self.path.exists() and not self.path.is_dir():
            raise self._foreign()
        with named(self.path):
            self.path.resolve().mkdir(parents=True, exist_ok=True)
        with lock(self.path) as is_mine:
            if not is_mine:
                raise IncparseError(
                    f"another run of `annotate` is writing to {self.path}: wait until it ends, or name another folder"
                )
            yield

    def begin(self, manifest: Mapping[str, Any], *, overwrite: bool = False) -> bool:
        """Write the manifest, or go on in a folder that has the same manifest; return whether the annotation is new.

        overwrite: remove an annotation with another manifest, or a damaged one, instead of refusing to mix two. Raises
        IncparseError if the folder belongs to something else, or has other files that would be lost.
        """
        if obstacle := self._obstacle(manifest):
            if not overwrite:
                raise IncparseError(f"{obstacle}: name another folder, or replace it with --overwrite")
            if foreign := self._foreign_file():
                raise IncparseError(
                    f"{obstacle}, and {foreign} is no file of an annotation: move it, or name another folder"
                )
            # Remove everything in the folder, and not the folder, which other runs may find locked.
            for path in self.path.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        self._remove_unfinished()
        if is_new := not (self.path / MANIFEST).exists():
            self._write_json(MANIFEST, manifest)
        return is_new

    def withdraw(self) -> None:
        """Remove the folder if no shard is finished: nothing is lost, and a run with other settings is not refused."""
        if not any((self.path / SHARDS).glob("*.json")):
            shutil.rmtree(self.path.resolve(), ignore_errors=True)

    def finished(self, shard: Shard) -> ShardRecord | None:
        """Return the record of a shard if all its files are there, with the bytes that were written; otherwise None.

        To check the bytes takes a small part of the time that it takes to read the shard's documents again.
        """
        try:
            data = srsly.read_json(self.path / SHARDS / f"{shard.name}.json")
            counts = Counts(**{name: data[name] for name in asdict(Counts())})
            record = ShardRecord(data["number"], counts, dict(data["files"]))
            is_whole = all(file_hash(self.path / name) == sha256 for name, sha256 in record.files.items())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if is_whole else None

    def write_shard(self, shard: Shard, counts: Counts, files: Mapping[str, bytes]) -> ShardRecord:
        """Write the files of a shard, and then its record."""
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        for name, data in files.items():
            self._write(name, data)
        self._write_json(f"{SHARDS}/{shard.name}.json", {"number": shard.number, **asdict(counts), "files": hashes})
        return ShardRecord(shard.number, counts, hashes)

    def write_totals(self, n_shards: int, counts: Counts) -> None:
        """Write the file that says that all shards are finished."""
        self._remove_unfinished()  # of workers that were killed while they were writing
        self._write_json(TOTALS, {"shards": n_shards, **asdict(counts)})

    def _remove_unfinished(self) -> None:
        for path in filter(_is_unfinished, self.path.rglob(f".*{_TMP}")):
            path.unlink(missing_ok=True)

    def _obstacle(self, manifest: Mapping[str, Any]) -> str:
        """Return what keeps this annotation from going on with a manifest, or "". Raises IncparseError as `begin`."""
        path = self.path / MANIFEST
        if not path.is_file():
            if any(not _is_unfinished(path) for path in self.path.iterdir()):  # a run may be killed as it begins
                raise self._foreign()
            return ""
        try:
            known = dict(srsly.read_json(path))
            if "format" not in known:
                raise ValueError("it names no format")
        except (ValueError, TypeError) as error:
            if self._foreign_file():  # the manifest of another program, perhaps
                raise self._foreign() from None
            return f"{path} is damaged ({error})"
        names = [name for name in {**known, **manifest} if known.get(name) != manifest.get(name)]
        return f"{self.path} was begun with other {', '.join(names).replace('_', ' ')}" if names else ""

    def _foreign(self) -> IncparseError:
        return IncparseError(f"{self.path} exists, and is no annotated corpus: name a new folder")

    def _foreign_file(self) -> Path | None:
        """Return a file in the folder that is not of an annotation; None if there is none."""
        files = (path for path in sorted(self.path.rglob("*")) if path.is_file())
        return next((file for file in files if not _OWN_FILE.fullmatch(file.relative_to(self.path).as_posix())), None)

    def _write(self, name: str, data: bytes) -> None:
        path = self.path / name
        # The process has a part in the name: one that was left alone may still be writing the same shard.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}{_TMP}")
        with named(path):
            path.parent.mkdir(exist_ok=True)
            try:
                with unfinished.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)

    def _write_json(self, name: str, content: Mapping[str, Any]) -> None:
        self._write(name, (srsly.json_dumps(dict(content), indent=2) + "\n").encode())


def _is_unfinished(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_TMP)
