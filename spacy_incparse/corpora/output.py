"""The folder of an annotated corpus: its manifest, the files of its shards, and which shards are finished.

    manifest.json                what the corpus is made from; written first
    sentences/part-000000.*      and other folders that the writer names
    failed/part-000000.jsonl     documents that were put aside, if any
    shards/part-000000.json      the record of a shard; written when all its files are
    totals.json                  written last; removed when a shard has to be done again

Each file appears complete or not at all, so that the folder is right at any moment.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.corpora.records import Counts, Shard, ShardRecord, file_hash
from spacy_incparse.documents.rows import MANIFEST
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import lock, named

SHARDS, FAILED, TOTALS = "shards", "failed", "totals.json"
_TMP = ".tmp"
_OWN_FILE = re.compile(r"(\.?(manifest|totals)\.json|[a-z]+/\.?part-\d{6,}\.[a-z]+)(\.\d+\.tmp)?")


class OutputFolder:
    """The folder, for the process that runs an annotation and for those that write its shards."""

    def __init__(self, path: Path):
        self.path = path

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
        obstacle = self._obstacle(manifest)
        if obstacle:
            if not overwrite:
                raise IncparseError(f"{obstacle}: name another folder, or replace it with --overwrite")
            foreign = self._foreign_file()
            if foreign:
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
        is_new = not (self.path / MANIFEST).exists()
        if is_new:
            self._write(MANIFEST, _json_bytes(manifest))
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
            record = ShardRecord.from_dict(srsly.read_json(self.path / SHARDS / f"{shard.name}.json"))
            is_whole = all(file_hash(self.path / name) == sha256 for name, sha256 in record.files.items())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if is_whole else None

    def write_shard(self, shard: Shard, counts: Counts, files: Mapping[str, bytes]) -> ShardRecord:
        """Write the files of a shard, and then its record."""
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        record = ShardRecord(shard.number, counts, hashes)
        for name, data in files.items():
            self._write(name, data)
        self._write(f"{SHARDS}/{shard.name}.json", _json_bytes(record.to_dict()))
        return record

    def first_failed(self) -> dict[str, Any]:
        """Return what is known of the first document that was put aside."""
        first = min((self.path / FAILED).glob("*.jsonl"))
        return dict(next(iter(srsly.read_jsonl(first))))

    def remove_totals(self) -> None:
        """Remove the file that says that all shards are finished, because one is not."""
        (self.path / TOTALS).unlink(missing_ok=True)

    def write_totals(self, n_shards: int, counts: Counts) -> None:
        """Write the file that says that all shards are finished."""
        self._remove_unfinished()  # of workers that were killed while they were writing
        self._write(TOTALS, _json_bytes({"shards": n_shards, **asdict(counts)}))

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


def _is_unfinished(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_TMP)


def _json_bytes(content: Mapping[str, Any]) -> bytes:
    return (srsly.json_dumps(dict(content), indent=2) + "\n").encode()
