"""Reading trees from Penn-style bracket files in all their variants.

Files are read by the compiled scanner; a file that it does not understand is read again by the parser that has a
message for each mistake. Labels are interpreted in normalize.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy_incparse.errors import TreebankError
from spacy_incparse.treebanks.bracket_scanner import BracketReader, normalized
from spacy_incparse.treebanks.bracket_scanner import normalized as normalized_forest
from spacy_incparse.treebanks.files import (
    SkipLog,
    read_text,
    refuse_discontinuous,
    refuse_other_formats,
    treebank_files,
)
from spacy_incparse.treebanks.normalize import Step, normalize
from spacy_incparse.trees.brackets import (
    MalformedError,
    Places,
    TreeParser,
    blamed,
    located,
    next_line_start,
    skip_blank,
)
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.tree import Tree

__all__ = ["SkipLog", "parse_bracketed", "read_numbered_trees", "read_treebank", "read_trees"]

Check = Callable[[Tree], "str | None"]


def read_treebank(
    paths: Path | str | Sequence[Path | str],
    *,
    skip_bad: SkipLog | None = None,
    steps: Sequence[Step] | None = None,
    check: Check | None = None,
    tags: bool = True,
) -> list[Tree]:
    """Return the normalized trees of bracket files; trees that become empty are dropped.

    Arguments and errors are those of `read_trees`; `steps` replaces the standard normalization. check: returns the
    problem of a normalized tree, which then counts as malformed, or None.
    """
    trees: list[Tree] = []
    for path in treebank_files(paths):
        text = read_text(path)
        found = _scanned_treebank(text, path, steps) if tags else None
        if found is None or (check and any(map(check, found))):
            found = list(_checked_trees(text, path, skip_bad, steps, check, tags))
        trees += found
    return trees


def read_trees(
    paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[Tree]:
    """Yield the trees of bracket files as published, with raw words; a wrapper without a label has label "".

    paths: a file, a folder, a glob, or several of them; see `treebank_files`.
    skip_bad: a log of malformed trees, which are then skipped; reading continues at the next tree that begins a line.
    tags: whether the brackets have parts of speech. If not, each word gets a POS node X.

    Raises TreebankError at a malformed tree, another format, a wrong encoding or a file without trees.
    """
    for path in treebank_files(paths):
        text = read_text(path)
        forest = scanned(text, path, Symbols()) if tags else None
        if forest is not None:
            yield from map(forest.tree, range(len(forest)))
        else:
            yield from (tree for tree, _ in trees_of_file(text, path, skip_bad=skip_bad, tags=tags))


def read_numbered_trees(
    paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of `read_trees`, each with its number in the input, from 1; skipped trees are counted."""
    log = SkipLog() if skip_bad is None else skip_bad
    n_before = log.n_trees
    for number, tree in enumerate(read_trees(paths, skip_bad=skip_bad, tags=tags), start=1):
        yield number + log.n_trees - n_before, tree


def _scanned_treebank(text: str, path: Path, steps: Sequence[Step] | None) -> list[Tree] | None:
    """Return the normalized trees of a file without mistakes; None for any other file."""
    forest = scanned(text, path, Symbols())
    if forest is None:
        return None
    if steps is None:
        return list(normalized(forest))
    return [tree for raw in forest if (tree := normalize(raw, steps)) is not None]


def _checked_trees(
    text: str, path: Path, skip_bad: SkipLog | None, steps: Sequence[Step] | None, check: Check | None, tags: bool
) -> Iterator[Tree]:
    """Yield the normalized trees of a file that may have mistakes."""
    for published, place in trees_of_file(text, path, skip_bad=skip_bad, tags=tags):
        tree = normalize(published, steps)
        if tree is None:
            continue
        what = check(tree) if check else None
        if what is None:
            yield tree
        elif skip_bad is None:
            raise place.error(what)
        else:
            skip_bad.add(place.error(what), is_tree=True)


# A line may hold several trees, and a tree may span many lines, with or without a wrapper around each tree.


class Place(NamedTuple):
    """The position where a tree begins."""

    path: Path | str
    places: Places
    position: int

    def error(self, what: str) -> TreebankError:
        """Return an error about the tree."""
        return TreebankError(self.path, *self.places.line_and_column(self.position), what)


def parse_bracketed(
    text: str, *, path: Path | str = "<string>", skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[Tree]:
    """Yield the trees in a bracketed text; `path` is for messages. The rest is as for `read_trees`."""
    return (tree for tree, _ in _placed_trees(text, path, skip_bad, tags))


def trees_of_file(
    text: str, path: Path, *, skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[tuple[Tree, Place]]:
    """Yield the trees in a file's text, each with its place. Also raises TreebankError if the file has no trees."""
    n_skipped, has_trees = len(skip_bad or ()), False
    for placed in _placed_trees(text, path, skip_bad, tags):
        has_trees = True
        yield placed
    if not has_trees and n_skipped == len(skip_bad or ()):
        error = TreebankError(path, 1, 1, "the file has no trees; expected '(' and a tree in Penn bracketing")
        if skip_bad is None:
            raise error
        skip_bad.add(error)


def _placed_trees(text: str, path: Path | str, skip_bad: SkipLog | None, tags: bool) -> Iterator[tuple[Tree, Place]]:
    """Yield the trees in a bracketed text, each with its place."""
    refuse_other_formats(text, path)
    places, position, is_checked = Places(text), skip_blank(text, 0), False
    parser = TreeParser(text, tags=tags)
    # A tree that begins before this place must end before the next line that begins with '('. A malformed tree was
    # already read up to here; without this limit, each of many unclosed trees would be read to the same place.
    tried = 0
    has_flat_lines = False  # whether lines inside trees begin with '('
    while position < len(text):
        behind = next_line_start(text, position) if position < tried else len(text)
        try:
            arrays, after = parser.read(position, behind)
        except MalformedError as bad:
            tried = max(tried, bad.end)
            if not has_flat_lines:
                bad = blamed(bad, parser, text, position)
            error = located(bad, places, path)
            if skip_bad is None:
                raise error from None
            skip_bad.add(error, is_tree=text[position] == "(")
            position = next_line_start(text, bad.position)
            continue
        if not is_checked:
            refuse_discontinuous(arrays.words, text[after:].partition("\n")[0], path)
            is_checked = len(arrays.words) > 1
        has_flat_lines = has_flat_lines or text.find("\n(", position, after) >= 0
        yield Tree(arrays), Place(path, places, position)
        position = skip_blank(text, after)


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
