"""The output formats of `search`, described in docs/output.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import srsly

from spacy_incparse.patterns import Match
from spacy_incparse.treebanks.normalize import TRACE_TAG
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.text_width import columns

_LEAST = 8  # characters of context, and of a match, however narrow the terminal is


class HitWriter(Protocol):
    """A function that formats a match in a file."""

    def __call__(self, path: Path, match: Match) -> str:
        """Return the text without a final newline."""


@dataclass(frozen=True)
class Kwic:
    """Keyword in context: a line with the number of the tree, the words before the match, the match, and the rest.

    width: the width of a line; with `n_words`, the context has this many words on either side, whatever the width.
    names: the number of characters for file names; 0: do not show them.
    """

    width: int
    n_words: int | None = None
    names: int = 0

    def __call__(self, path: Path, match: Match) -> str:
        """Return the line."""
        place = f"{path.name}:{match.number + 1}" if self.names else f"{match.number + 1}"
        place = f"{place:<{self.names + 6}}"
        before, middle, behind = _texts(match)
        if self.n_words is not None:
            left = before[max(len(before) - self.n_words, 0) :]
            return " ".join([place, *left, middle, *behind[: self.n_words]])
        room = max(self.width - len(place) - 3, 4 * _LEAST)
        before_width = room // 3
        middle = _shortened(middle, room - before_width - _LEAST)
        left_text = " ".join(_fitting(before[::-1], before_width)[::-1])
        right = _fitting(behind, room - before_width - columns(middle))
        return f"{place} {' ' * (before_width - columns(left_text))}{left_text} {middle} {' '.join(right)}".rstrip()


@dataclass(frozen=True)
class TreeHits:
    """The matched trees on indented lines, each after a comment with its position and the named nodes."""

    width: int

    def __call__(self, path: Path, match: Match) -> str:
        """Return the comment, the tree and an empty line."""
        named = "".join(f"  {name}={node}" for name, node in match.groups.items())
        return f"# {path.name}:{match.number + 1}{named}\n{match.node.to_string(width=self.width)}\n"


def write_json(path: Path, match: Match) -> str:
    """Return a match as a JSON object on one line."""
    content = {"file": str(path), "number": match.number + 1, **_described(match.node), "is_word": match.is_word}
    content["groups"] = {name: _described(node) for name, node in match.groups.items()}
    return srsly.json_dumps(content)


class LabelCounts:
    """Count the matches by label; words count under their own text."""

    def __init__(self, *, raw_labels: bool = False):
        self._raw_labels = raw_labels
        self._counts: Counter[str] = Counter()

    def add(self, match: Match) -> None:
        """Count a match."""
        label = match.node.label if self._raw_labels else bare_label(match.node.label)
        self._counts[match.node.words[0] if match.is_word else label] += 1

    def update(self, other: LabelCounts) -> None:
        """Add other counts to these."""
        self._counts.update(other._counts)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a table: labels, most frequent first, with numbers and percentages, and the total."""
        total = self._counts.total()
        width = max(map(len, ("total", *self._counts)))
        for label, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0])):
            yield f"{label:<{width}} {count:>10,} {100 * count / total:>6.2f} %"
        yield f"{'total':<{width}} {total:>10,}"


def _described(node: Tree) -> dict[str, object]:
    return {
        "label": node.label,
        "start": node.start,
        "end": node.end,
        "text": " ".join(_words(node, node.start, node.end)),
        "tree": str(node),
    }


def _texts(match: Match) -> tuple[list[str], str, list[str]]:
    """Return the words before the match, the match in brackets, and the words after it, without traces around it."""
    node = match.node
    inside = _words(node, node.start, node.end) or list(node.words)
    middle = " ".join(inside if match.is_word else [node.label, *inside])
    return _words(node, 0, node.start), f"[{middle}]", _words(node, node.end, len(node.arrays.words))


def _words(node: Tree, start: int, end: int) -> list[str]:
    """Return the words from `start` to `end` of the whole tree that are not traces."""
    arrays = node.arrays
    places = zip(arrays.words[start:end], arrays.leaves[start:end], strict=True)
    return [word for word, leaf in places if arrays.labels[leaf] != TRACE_TAG]


def _shortened(text: str, width: int) -> str:
    """Return the text shortened to this width, with dots in place of words in the middle."""
    if columns(text) <= width:
        return text
    half, words = (width - 5) // 2, text.split(" ")
    begin, end = " ".join(_fitting(words, half)), " ".join(_fitting(words[::-1], half)[::-1])
    return f"{begin or text[:half]} ... {end or text[-half:]}"


def _fitting(words: list[str], width: int) -> list[str]:
    """Return the longest prefix of the words that fits into a width when joined by spaces."""
    taken, length = [], -1
    for word in words:
        length += 1 + columns(word)
        if length > width:
            break
        taken.append(word)
    return taken
