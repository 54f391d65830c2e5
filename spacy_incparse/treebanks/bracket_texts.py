"""Reading bracketed texts tree by tree, with a message for each mistake.

A line may hold several trees, and a tree may span many lines, with or without a wrapper around each tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_incparse.errors import TreebankError
from spacy_incparse.treebanks.foreign_formats import refuse_discontinuous, refuse_other_formats
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.trees.bracket_parser import (
    MalformedError,
    TreeParser,
    blamed,
    located,
    next_line_start,
    skip_blank,
)
from spacy_incparse.trees.text_places import Places
from spacy_incparse.trees.tree import Tree


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
