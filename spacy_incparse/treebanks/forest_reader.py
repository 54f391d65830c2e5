"""Fast reading of bracket files as forests, one per file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.bracket_texts import trees_of_file
from spacy_incparse.treebanks.foreign_formats import refuse_discontinuous, refuse_other_formats
from spacy_incparse.treebanks.forest_normalizing import normalized as normalized_forest
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.treebanks.treebank_files import read_text
from spacy_incparse.trees.forest import Forest, Symbols


def read_forests(
    files: Iterable[Path],
    *,
    symbols: Symbols | None = None,
    skip_bad: SkipLog | None = None,
    normalized: bool = False,
    tags: bool = True,
) -> Iterator[tuple[Path, Forest]]:
    """Yield each bracket file with its trees, the same as from `read_trees`: as published, or normalized.

    All forests share their symbols. The other arguments and the errors are those of `read_trees`.
    """
    symbols = Symbols() if symbols is None else symbols
    reader = BracketReader(symbols)
    for path in files:
        text = read_text(path)
        forest = scanned(text, path, symbols, reader) if tags else None
        if forest is None:
            forest = _read_slowly(text, path, symbols, skip_bad, tags)
        yield path, normalized_forest(forest) if normalized else forest


def scanned(text: str, path: Path, symbols: Symbols, reader: BracketReader | None = None) -> Forest | None:
    """Return the trees of a file's text as published; None for unexpected text, which other readers can explain.

    reader: one with these symbols, to reuse its cache.
    """
    refuse_other_formats(text, path)
    forest = Forest(symbols=symbols)
    data = text.encode()
    first_end = (reader or BracketReader(symbols)).read(data, forest)
    if first_end < 0:
        return None
    refuse_discontinuous(forest.tree(0).words, data[first_end:].partition(b"\n")[0].decode(), path)
    words = (forest.tree(number).words for number in range(len(forest)))
    refuse_discontinuous(next((found for found in words if len(found) > 1), ()), "", path)
    return forest


def _read_slowly(text: str, path: Path, symbols: Symbols, skip_bad: SkipLog | None, tags: bool) -> Forest:
    """Read with the parser that has a message for each mistake and can skip malformed trees."""
    forest, places = Forest(symbols=symbols), []
    log = SkipLog() if skip_bad is None else skip_bad
    n_before = log.n_trees
    for number, (tree, _) in enumerate(trees_of_file(text, path, skip_bad=skip_bad, tags=tags)):
        forest.add(tree)
        places.append(number + log.n_trees - n_before)
    forest.places = places
    return forest
