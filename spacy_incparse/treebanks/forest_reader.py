"""Bracket files as forests, file by file, as fast as they can be scanned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.foreign_formats import refuse_discontinuous, refuse_other_formats
from spacy_incparse.treebanks.forest_normalizing import normalized as normalized_forest
from spacy_incparse.treebanks.penn_reader import SkipLog, read_numbered_trees
from spacy_incparse.treebanks.treebank_files import read_text
from spacy_incparse.trees.forest import Forest, Symbols


def read_forests(
    files: Iterable[Path], *, symbols: Symbols | None = None, skip_bad: SkipLog | None = None, normalized: bool = False
) -> Iterator[tuple[Path, Forest]]:
    """Yield each bracket file with its trees, which are those of `read_trees`: as published, or normalised.

    All forests share their symbols. `skip_bad` and errors are those of `read_trees`.
    """
    symbols = Symbols() if symbols is None else symbols
    reader = BracketReader(symbols)
    for path in files:
        forest = _read(path, reader, skip_bad)
        yield path, normalized_forest(forest) if normalized else forest


def _read(path: Path, reader: BracketReader, skip_bad: SkipLog | None) -> Forest:
    text = read_text(path)
    refuse_other_formats(text, path)
    forest = Forest(symbols=reader.symbols)
    data = text.encode()
    first_end = reader.read(data, forest)
    if first_end < 0:
        return _read_slowly(path, reader.symbols, skip_bad)
    refuse_discontinuous(forest.tree(0), data[first_end:].partition(b"\n")[0].decode(), path)
    return forest


def _read_slowly(path: Path, symbols: Symbols, skip_bad: SkipLog | None) -> Forest:
    """Read with the reader that has a message for each mistake, and can skip malformed trees."""
    forest, places = Forest(symbols=symbols), []
    for number, tree in read_numbered_trees(path, skip_bad=skip_bad):
        forest.add(tree)
        places.append(number - 1)
    forest.places = places
    return forest
