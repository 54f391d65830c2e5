"""Reading trees from Penn-style bracket files in all their variants.

Files are read by the compiled scanner; a file that it does not understand is read again by the parser that has a
message for each mistake. Labels are interpreted in normalize.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spacy_incparse.treebanks.bracket_texts import parse_bracketed, trees_of_file
from spacy_incparse.treebanks.forest_normalizing import normalized
from spacy_incparse.treebanks.forest_reader import scanned
from spacy_incparse.treebanks.normalize import Step, normalize
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.treebanks.treebank_files import read_text, treebank_files
from spacy_incparse.trees.forest import Symbols
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
