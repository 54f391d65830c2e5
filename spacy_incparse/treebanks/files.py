"""Finding treebank files and reading their text."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import gunzip, most_unpacked, named_paths, unix_lines
from spacy_incparse.trees.brackets import Places

SUFFIXES = (".mrg", ".ptb", ".prd", ".psd", ".txt", ".bracket", ".brackets", ".tree", ".trees", ".parse", ".penn")
LOOKED_FOR = f"{' '.join(SUFFIXES)}, each also with .gz"
GZIP_MAGIC = b"\x1f\x8b"


def treebank_files(paths: Path | str | Sequence[Path | str]) -> list[Path]:
    """Return the files for a path, a folder, a glob, or several of them.

    A folder means the treebank files in it and below it, sorted; other files, hidden files and READMEs are left out.
    Raises IncparseError if a path does not exist or a folder or glob has no treebank file.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise IncparseError("no treebank file is given")
    return [file for path in given for file in _expand(path)]


def read_text(path: Path) -> str:
    """Return the text of a file, plain or gzipped, without a byte order mark, and with "\\n" at the end of each line.

    Raises TreebankError if it is not text.
    Encodings other than UTF-8 are rejected with the place of the first wrong byte.
    """
    try:
        data = path.read_bytes()
        if data.startswith(GZIP_MAGIC):
            data = _unzipped(path, data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(path, 1, 1, f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise IncparseError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _encoding_error(path, data, error) from None
    return unix_lines(text)


def _unzipped(path: Path, data: bytes) -> bytes:
    """Unpack a gzipped file, but not one that grows as no text does: a small file can claim gigabytes."""
    most = most_unpacked(len(data))
    text = gunzip(data, most)
    if len(text) > most:
        what = f"{len(data):,} gzipped bytes hold more than {most:,}, as no text does: if it is right, unpack it first"
        raise TreebankError(path, 1, 1, what)
    return text


def files_in(folder: Path) -> list[Path]:
    """Return the treebank files in a folder and below it, sorted."""
    return sorted(file for file in folder.rglob("*") if _is_treebank_file(file))


def expanded(named: Sequence[Path], files_in_folder: Callable[[Path], list[Path]]) -> list[Path]:
    """Return the files of paths, in their order and each once: `**` finds folders and the files in them."""
    files = (file for path in named for file in (files_in_folder(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(files))


def _expand(path: Path | str) -> list[Path]:
    files = expanded(named_paths(path), files_in)
    if not files:
        raise IncparseError(f"{path}: no treebank file found; looked for {LOOKED_FOR}")
    return files


def _is_treebank_file(path: Path) -> bool:
    name = path.name.lower()
    if name.startswith((".", "readme", "license", "licence")) or not path.is_file():
        return False
    return name.removesuffix(".gz").endswith(SUFFIXES)


def _encoding_error(path: Path, data: bytes, error: UnicodeDecodeError) -> TreebankError:
    before = data[: error.start].decode("utf-8", errors="replace")
    what = f"byte 0x{data[error.start]:02x} is not UTF-8: convert the file to UTF-8 first, for example with iconv"
    if path.suffix == ".spacy":
        what = "a file of spaCy's Docs, for `search` and the configs of `spacy train`; expected trees in brackets"
    return TreebankError(path, *Places(before).line_and_column(len(before)), what)


_BEGINNING = 5_000  # number of characters that are checked for the format
_NEGRA = re.compile(r"^(?:#FORMAT\s|#BO[ST]\s|%%\s*word\s)", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(r"\s*<(?:\?xml|!|\w+[\s>])")
_JSON = re.compile(r'\s*\{\s*"')
_TIGER = re.compile(r"<(?:corpus|subcorpus|s|graph|terminals)[\s>]")
_INDEXED_WORD = re.compile(r"(\d+)=.+", re.DOTALL)
_ADVICE = "is not supported yet; convert it to Penn bracketing (continuous trees) first"


def refuse_other_formats(text: str, path: Path | str) -> None:
    """Raise TreebankError if a text is in the NEGRA export format, in TIGER XML, in other XML or in JSON."""
    beginning = text[:_BEGINNING]
    if _NEGRA.search(beginning):
        raise TreebankError(path, 1, 1, f"this file is in the NEGRA export format, which {_ADVICE}")
    if _JSON.match(beginning):
        what = "`search` reads JSON lines from files whose names end in .jsonl or .json"
        raise TreebankError(path, 1, 1, f"this file is JSON, and trees in brackets are expected; {what}")
    if _XML.match(beginning):
        name = "TIGER XML" if _TIGER.search(beginning) else "XML"
        raise TreebankError(path, 1, 1, f"this file is in {name}, which {_ADVICE}")


def refuse_discontinuous(words: Sequence[str], rest_of_line: str, path: Path | str) -> None:
    """Raise TreebankError if the words of a tree are indices, as in discontinuous brackets.

    Two spellings exist: words like `0=Rain`, and bare indices with the sentence after the tree, on the same line. A
    single word like `0=Rain` proves nothing: the tree to check is the first one with two.
    """
    matches = [_INDEXED_WORD.fullmatch(word) for word in words]
    if len(matches) > 1 and all(matches):
        indices = [match.group(1) for match in matches if match]
    elif rest_of_line.strip() and "(" not in rest_of_line:
        indices = list(words)
    else:
        return
    if sorted(indices) == sorted(map(str, range(len(indices)))):
        raise TreebankError(path, 1, 1, f"this file has discontinuous brackets (words by index), which {_ADVICE}")


@dataclass
class SkipLog:
    """The malformed places that a reader skipped, in the order of the files."""

    entries: list[TreebankError] = field(default_factory=list)  # each with path, line, column and message
    n_trees: int = 0  # skipped trees; the other entries are text outside trees, or files without trees

    def add(self, error: TreebankError, *, is_tree: bool = False) -> None:
        """Add a skipped place; `is_tree` says whether a tree was skipped there."""
        self.entries.append(error)
        self.n_trees += is_tree

    def update(self, other: SkipLog) -> None:
        """Add the places of another log behind these."""
        self.entries += other.entries
        self.n_trees += other.n_trees

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TreebankError]:
        return iter(self.entries)

    def __str__(self) -> str:
        count = f"{len(self)} malformed tree{'' if len(self) == 1 else 's'} skipped"
        return "\n  ".join([count + (":" if self.entries else ""), *map(str, self.entries)])
