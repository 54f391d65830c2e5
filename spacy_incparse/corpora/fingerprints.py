"""Hashes of files and folders: what an annotation was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

_CHUNK = 1 << 20


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a folder, except Python's caches."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(folder).as_posix()}\n{file_hash(path)}\n".encode())
    return digest.hexdigest()


def bytes_hash(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
