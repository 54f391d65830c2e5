"""Head rules as data: they find the head child of a phrase from left to right.

A table is a JSON file (schema in docs/formats.md); `en` follows Collins (1999), Appendix A, `any` fits any language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.arrays import TreeArrays, children

FORMAT = "spacy-incparse head rules 1"
NAMES = ("en", "any")
MAX_PASSES = 100  # ranks must fit into a byte of the search's tables

LEFTMOST, RIGHTMOST = 1, -1
_DIRECTIONS = {"left": LEFTMOST, "right": RIGHTMOST, "left-any": LEFTMOST, "right-any": RIGHTMOST}
_SLASH = re.compile(r"(.+)/\1", re.DOTALL)  # the labels A/A of the left-corner transform

Pass = tuple[str, tuple[str, ...]]  # direction and label patterns, as in the JSON file


@dataclass(frozen=True)
class HeadRules:
    """A head table: for each parent label, a list of passes over the children, tried in order.

    A pattern is a label, a prefix with `*`, `=` (the parent's own label), `=1` (a label with the parent's first letter)
    or `*` (any child except punctuation). If no pass finds a head, the leftmost child that is neither punctuation nor
    a slash label A/A is taken, then the leftmost punctuation, then the leftmost slash label.
    """

    name: str
    rules: dict[str, tuple[Pass, ...]]  # by parent label, or prefix with `*`; the longest match wins
    default: tuple[Pass, ...]
    punctuation: tuple[str, ...] = ()
    source: str = ""
    _found: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def find(cls, name_or_path: str | Path) -> HeadRules:
        """Return a built-in table by its name, or read one from a JSON file."""
        path = Path(name_or_path)
        is_file = str(name_or_path) not in NAMES and (path.suffix == ".json" or path.exists())
        return cls.from_file(path) if is_file else cls.from_name(str(name_or_path))

    @classmethod
    def from_name(cls, name: str) -> HeadRules:
        """Return a built-in table: "en" or "any"."""
        if name not in NAMES:
            raise ConfigError(f"unknown head table {name!r}: choose from {', '.join(NAMES)}, or give a JSON file")
        return cls.from_file(Path(__file__).parent / "head_tables" / f"{name}.json")

    @classmethod
    def from_file(cls, path: Path | str) -> HeadRules:
        """Read a table from a JSON file. Raises ConfigError with the file and the entry that is wrong."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ConfigError(f"{path}: the head table cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: the head table is not UTF-8: {error.reason} at byte {error.start}") from None
        except json.JSONDecodeError as error:
            raise ConfigError(f"{path}:{error.lineno}:{error.colno}: invalid JSON in head table: {error.msg}") from None
        return cls.from_dict(data, where=str(path))

    @classmethod
    def from_dict(cls, data: Any, *, where: str = "head table") -> HeadRules:
        """Return the table in a dict from `to_dict` or JSON; the message of a ConfigError begins with `where`."""
        _check(isinstance(data, dict), where, "expected an object with 'default' and 'rules'")
        unknown = sorted(set(data) - {"format", "name", "source", "punctuation", "default", "rules"})
        _check(not unknown, where, f"unknown entries {', '.join(map(repr, unknown))}")
        _check(data.get("format", FORMAT) == FORMAT, where, f"'format' is {data.get('format')!r}; expected {FORMAT!r}")
        rules = data.get("rules")
        _check(isinstance(rules, dict), where, "'rules' is missing or not an object; expected labels with passes")
        punctuation = data.get("punctuation", [])
        _check(_are_labels(punctuation), where, "'punctuation' is not a list of labels")
        return cls(
            name=str(data.get("name", where)),
            rules={label: _read_passes(passes, f"{where}: rules[{label!r}]") for label, passes in rules.items()},
            default=_read_passes(data.get("default", [["left", ["=", "*"]]]), f"{where}: default"),
            punctuation=tuple(punctuation),
            source=str(data.get("source", "")),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a JSON-serializable dict."""
        return {
            "format": FORMAT,
            "name": self.name,
            "source": self.source,
            "punctuation": list(self.punctuation),
            "default": [[direction, list(labels)] for direction, labels in self.default],
            "rules": {
                label: [[direction, list(labels)] for direction, labels in passes]
                for label, passes in self.rules.items()
            },
        }

    def passes(self, parent_label: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the passes for a parent label, as ("left" or "right", label patterns of equal rank)."""
        expanded: list[tuple[str, tuple[str, ...]]] = []
        parent = _without_slash(parent_label)
        prefixes = [key for key in self.rules if key == parent or (key.endswith("*") and parent.startswith(key[:-1]))]
        longest = max(prefixes, key=lambda key: (key == parent, len(key)), default=None)
        for direction, labels in self.default if longest is None else self.rules[longest]:
            side = direction.removesuffix("-any")
            expanded += [(side, labels)] if side != direction else [(side, (label,)) for label in labels]
        return expanded

    def priority(self, parent_label: str, child_label: str) -> tuple[int, int]:
        """Return (rank, direction) of a child, so that a head can be found as the children arrive one by one.

        The lowest rank wins; among equal ranks the first child wins if direction is 1, the last if it is -1.
        """
        key = parent_label, child_label
        if key not in self._found:
            self._found[key] = self._priority(_without_slash(parent_label), child_label)
        return self._found[key]

    def head_index(self, parent_label: str, child_labels: Sequence[str]) -> int:
        """Return the index of the head among one or more children."""
        if not child_labels:
            raise IncparseError(f"the phrase {parent_label!r} has no children")
        head, best = 0, self.priority(parent_label, child_labels[0])[0]
        for i, label in enumerate(child_labels[1:], start=1):
            rank, direction = self.priority(parent_label, label)
            if rank < best or (rank == best and direction == RIGHTMOST):
                head, best = i, rank
        return head

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": {}}

    def _priority(self, parent: str, child: str) -> tuple[int, int]:
        passes = self.passes(parent)
        if _SLASH.fullmatch(child):
            return len(passes) + 2, LEFTMOST
        is_punctuation = child in self.punctuation
        for rank, (direction, patterns) in enumerate(passes):
            if any(_matches(pattern, parent, child, is_punctuation) for pattern in patterns):
                return rank, _DIRECTIONS[direction]
        return len(passes) + is_punctuation, LEFTMOST


def _matches(pattern: str, parent: str, child: str, is_punctuation: bool) -> bool:
    if pattern == child:
        return True
    if is_punctuation:  # matches only patterns that name it
        return False
    if pattern == "=":
        return child == parent
    if pattern == "=1":
        return child[:1] == parent[:1]
    return pattern.endswith("*") and child.startswith(pattern[:-1])


def _without_slash(label: str) -> str:
    match = _SLASH.fullmatch(label)
    return match.group(1) if match else label


def _read_passes(data: Any, where: str) -> tuple[Pass, ...]:
    _check(
        isinstance(data, list | tuple) and len(data) > 0, where, 'expected a list of passes such as ["left", ["NN"]]'
    )
    passes: list[Pass] = []
    for i, entry in enumerate(data):
        here, is_pair = f"{where}[{i}]", isinstance(entry, list | tuple) and len(entry) == 2
        _check(is_pair, here, 'expected a direction and a list of labels, such as ["left", ["NN", "NNS"]]')
        direction, labels = entry
        known = isinstance(direction, str) and direction in _DIRECTIONS
        _check(known, here, f"the direction is {direction!r}; expected one of {', '.join(_DIRECTIONS)}")
        _check(_are_labels(labels) and len(labels) > 0, here, f"the labels are {labels!r}; expected a list of strings")
        passes.append((direction, tuple(labels)))
    n_labels = sum(len(labels) for _, labels in passes)
    _check(n_labels <= MAX_PASSES, where, f"{n_labels} labels; at most {MAX_PASSES} are possible for one parent")
    return tuple(passes)


def _are_labels(data: Any) -> bool:
    return isinstance(data, list | tuple) and all(isinstance(label, str) and label for label in data)


def _check(is_right: bool, where: str, what: str) -> None:
    if not is_right:
        raise ConfigError(f"{where}: {what}")


def head_children(arrays: TreeArrays, rules: HeadRules) -> Iterator[int]:
    """Yield the index of the head child of each phrase with more than one child, in pre-order."""
    for node, size in enumerate(arrays.sizes):
        labels = [arrays.labels[child] for child in children(arrays, node)] if size > 1 else ()
        if len(labels) > 1:
            yield rules.head_index(arrays.labels[node], labels)


def head_words(arrays: TreeArrays, heads: Iterable[int]) -> tuple[int, ...]:
    """Return the lexical head of each node, given the values that `head_children` yields, in linear time.

    Raises IncparseError if the heads are those of another tree.
    """
    given = iter(heads)
    head_child = [-1] * len(arrays.sizes)  # the node itself for a POS node
    for node, size in enumerate(arrays.sizes):
        if size == 1:
            head_child[node] = node
            continue
        nodes = list(children(arrays, node))
        number = next(given, -1) if len(nodes) > 1 else 0
        if not 0 <= number < len(nodes):
            raise IncparseError("these heads belong to another tree")
        head_child[node] = nodes[number]
    words = list(arrays.starts)
    for node in range(len(words) - 1, -1, -1):  # children come after their parents
        words[node] = words[head_child[node]]
    return tuple(words)
