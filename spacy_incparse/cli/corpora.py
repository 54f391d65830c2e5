"""Read corpora to search as forests, file by file: brackets, `.spacy` files, and Parquet and JSON lines of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy_incparse.documents.annotated_folders import annotated_format
from spacy_incparse.documents.parquet_rows import PARQUET, read_rows, sentence_files
from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import named_paths
from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.forest_reader import read_forests, scanned
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.treebanks.treebank_files import LOOKED_FOR, expanded, files_in, read_text
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.tree import Tree

DOCBIN, JSON_LINES = ".spacy", (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
_NO_TREES = "expected an object with trees, as `annotate --format jsonl` and `parse --format json` write them"
_DOCUMENTS = "documents"  # the folder of `annotate` with the files that have trees


def corpus_files(paths: Sequence[str]) -> list[Path]:
    """Return the bracket files, `.spacy` files, Parquet files and JSON lines for a list of files, folders and globs.

    A corpus that `annotate` has made may have none. Raises IncparseError if another path does not exist or contains no
    such files.
    """
    return [file for path in paths for file in _expand(path)]


def read_corpus(
    files: Sequence[Path], *, normalized: bool = False, skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[tuple[Path, Forest]]:
    """Yield each file with its trees: from bracket files, unchanged or `normalized`; from the others, as stored.

    tags: whether the brackets include parts of speech.
    """
    symbols = Symbols()
    for path in files:
        if path.suffix == DOCBIN:
            yield path, _stored_trees(path, symbols)
        elif path.suffix == PARQUET:
            yield path, _parquet_trees(path, symbols)
        elif path.name.endswith(JSON_LINES):
            yield path, _json_trees(path, symbols, skip_bad)
        else:
            yield from read_forests([path], symbols=symbols, normalized=normalized, skip_bad=skip_bad, tags=tags)


def _expand(path: str) -> list[Path]:
    named = named_paths(path)
    files = expanded(named, _files_in)
    if not files and not any(map(annotated_format, named)):
        others = f"{DOCBIN}, {PARQUET}, and the .jsonl files of `annotate`"
        raise IncparseError(f"{path}: no file with trees found; looked for {LOOKED_FOR}, {others}")
    return files


def _files_in(folder: Path) -> list[Path]:
    documents = (file for file in folder.rglob("*.jsonl") if _is_of_annotation(file))
    return sorted([*files_in(folder), *folder.rglob("*" + DOCBIN), *sentence_files(folder), *documents])


def _is_of_annotation(file: Path) -> bool:
    """Return whether a file of JSON lines has trees: in a folder, it may be anything, such as the input."""
    parent = file.absolute().parent
    return parent.name == _DOCUMENTS and annotated_format(parent.parent) == "jsonl"


def _parquet_trees(path: Path, symbols: Symbols) -> Forest:
    trees = "\n".join(row["brackets"] or "" for row in read_rows(path, ["brackets"]))
    forest = scanned(trees, path, symbols) if trees.strip() else Forest(symbols=symbols)
    if forest is None:
        raise IncparseError(f"{path}: the trees in the column 'brackets' are damaged")
    return forest


def _json_trees(path: Path, symbols: Symbols, skip_bad: SkipLog | None) -> Forest:
    """Return the trees of the documents of `annotate`, or of the sentences of `parse`."""
    forest, reader, places, number = Forest(symbols=symbols), BracketReader(symbols), list[int](), 0
    for line_number, line in enumerate(read_text(path).split("\n"), start=1):
        for brackets in _brackets(line) if line.strip() else ():
            what = _NO_TREES if brackets is None else _added(brackets, forest, reader)
            if not what:
                places.append(number)
            elif skip_bad is None:
                raise TreebankError(path, line_number, 1, what)
            else:
                skip_bad.add(TreebankError(path, line_number, 1, what), is_tree=True)
            number += 1
    forest.places = places
    return forest


def _brackets(line: str) -> Sequence[str | None]:
    """Return the trees of an object as brackets, None for what is no text; [None] for a line that is no such object."""
    try:
        row = json.loads(line)
        found = [row["tree"]] if "tree" in row else [sentence["brackets"] for sentence in row["sentences"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return [None]
    return [one if isinstance(one, str) else None for one in found]


def _added(brackets: str, forest: Forest, reader: BracketReader) -> str:
    """Add a tree to a forest; return what is wrong with it, or ""."""
    n_before = len(forest)
    if reader.read(brackets.encode(), forest) >= 0 and len(forest) == n_before + 1:
        return ""
    try:
        forest.add(Tree.from_string(brackets))  # it has a message for each mistake
    except TreebankError as error:
        return f"a tree of this line is damaged: {error.what}"
    return ""


def _stored_trees(path: Path, symbols: Symbols) -> Forest:
    # Imported here, so that searching bracket files does not need spaCy and starts quickly.
    from spacy.lang.xx import MultiLanguage
    from spacy.vocab import create_vocab

    from spacy_incparse.documents.tree_storage import anchored_trees
    from spacy_incparse.pipeline.readers import read_docbin

    forest = Forest(symbols=symbols)
    vocab = create_vocab("xx", MultiLanguage.Defaults)  # an empty one does not know what whitespace is
    for doc in read_docbin(path, vocab):
        for found in anchored_trees(doc):
            forest.add(found.tree)
    return forest
