"""Rules for repairing a treebank, and the JSON files that hold them; docs/training.md describes the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns.pattern import Pattern, compile
from spacy_incparse.tokens import escape_label
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import bare_label

FOLDER = Path(__file__).parent / "rules"
_KEYS = ("name", "reason", "pattern", "action")


@dataclass(frozen=True)
class Rule:
    """A rule: where its pattern matches, its action mends the tree, for this reason."""

    name: str
    reason: str
    pattern: Pattern
    action: Action


def find_rules(name: str) -> list[Rule]:
    """Return the rules of a JSON file, given its path, or the name of one in the package, such as "english".

    Raises IncparseError with the file, the rule and what is wrong.
    """
    included = {path.stem: path for path in FOLDER.glob("*.json")}
    path = included.get(name, Path(name))
    if not path.is_file():
        own = ", ".join(sorted(included))
        raise IncparseError(f"{name}: no such file of rules, and not the name of one in the package ({own})")
    try:
        content = srsly.read_json(path)
    except (ValueError, OSError) as error:
        raise IncparseError(f"{path}: not a JSON file of rules: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("rules"), list):
        raise IncparseError(f'{path}: expected an object with a list of rules, {{"rules": [...]}}')
    return make_rules(content["rules"], str(path))


def make_rules(entries: Sequence[Mapping[str, Any]], source: str = "rules") -> list[Rule]:
    """Return rules, given as dicts with name, reason, pattern and action; `source` begins the messages of errors."""
    if not isinstance(entries, list | tuple) or not entries:
        raise IncparseError(f"{source}: expected a list with at least one rule, found {entries!r:.80}")
    rules: list[Rule] = []
    for number, entry in enumerate(entries, start=1):
        place = f"{source}: rule {number}"
        if not isinstance(entry, dict) or sorted(entry) != sorted(_KEYS):
            raise IncparseError(f"{place}: expected an object with the keys {', '.join(_KEYS)}, found {entry!r:.80}")
        for key in _KEYS:
            if not isinstance(entry[key], str) or not entry[key].strip() or "\t" in entry[key]:
                raise IncparseError(f"{place}: {key} must be a text without tabs, found {entry[key]!r:.80}")
        name, reason, pattern, action = (entry[key] for key in _KEYS)
        if any(name == other.name for other in rules):
            raise IncparseError(f"{place}: the name {name!r} was given to another rule before")
        try:
            compiled = compile(pattern)
            rules.append(Rule(name, reason, compiled, parse_action(action, compiled.names)))
        except IncparseError as error:
            raise IncparseError(f"{place} ({name}): {error}") from None
    return rules


# The words and most meanings are those of Tsurgeon (Levy & Andrew 2006).

USAGE = {
    "relabel": "relabel NODE LABEL",
    "insert": "insert LABEL NODE or insert LABEL FIRST LAST",
    "excise": "excise NODE",
    "raise": "raise NODE",
}
"""The actions and their arguments; nodes are given by their names in the pattern."""


@dataclass(frozen=True)
class Action:
    """An action: its verb, the names of the nodes that it is about, and a label."""

    verb: str
    nodes: tuple[str, ...]
    label: str = ""

    def edit(self, arrays: TreeArrays, places: Mapping[str, int]) -> Edit | None:
        """Return the changed tree, or None if this would change nothing; `places` has the index of each named node.

        An optional node that the match lacks, too, means no change. Raises EditError if the edit is impossible.
        """
        if any(name not in places for name in self.nodes):
            return None
        edit = _EDITS[self.verb](arrays, [places[name] for name in self.nodes], self.label)
        return None if edit.arrays == arrays else edit


class Edit(NamedTuple):
    """A changed tree, and the index of the lowest node with all that was changed: the same before and after."""

    arrays: TreeArrays
    node: int


def excise(arrays: TreeArrays, node: int) -> Edit:
    """Remove a phrase; its children take its place. Raises EditError at the root and at POS nodes."""
    if node == 0 or arrays.sizes[node] == 1:
        raise EditError("only a phrase below the root can be excised")
    parent = arrays.parents[node]
    sizes = _grown(arrays, parent, -1)
    del sizes[node]
    return Edit(TreeArrays.of((*arrays.labels[:node], *arrays.labels[node + 1 :]), sizes, arrays.words), parent)


def insert(arrays: TreeArrays, first: int, last: int, label: str) -> Edit:
    """Put a new phrase over a node, or over it and its sisters up to `last`.

    Raises EditError if these are no sisters, and at the root.
    """
    parents = arrays.parents
    if parents[first] != parents[last] or last < first or first == 0:
        raise EditError("a phrase can only be inserted over a node, or over one and a later sister")
    end = last + arrays.sizes[last]
    labels = (*arrays.labels[:first], label, *arrays.labels[first:])
    sizes = _grown(arrays, parents[first], 1)
    sizes.insert(first, end - first + 1)
    return Edit(TreeArrays.of(labels, sizes, arrays.words), parents[first])


def raise_node(arrays: TreeArrays, node: int) -> Edit:
    """Make the first or last child of a phrase the sister before or after it.

    Raises EditError for any other node, for an only child and below the root.
    """
    parent = arrays.parents[node]
    end, parent_end = node + arrays.sizes[node], parent + arrays.sizes[parent]
    is_first, is_last = node == parent + 1, end == parent_end
    if parent <= 0 or is_first == is_last:
        raise EditError("only the first or last of several children can be raised, and not above the root")
    labels, sizes = list(arrays.labels), list(arrays.sizes)
    sizes[parent] -= end - node
    if is_first:  # the parent moves behind its first child
        labels.insert(end - 1, labels.pop(parent))
        sizes.insert(end - 1, sizes.pop(parent))
    return Edit(TreeArrays.of(labels, sizes, arrays.words), arrays.parents[parent])


def relabel(arrays: TreeArrays, node: int, label: str) -> Edit:
    """Change the category of a node; its function tags and indices stay, so that NP-SBJ becomes WHNP-SBJ."""
    old = arrays.labels[node]
    labels = list(arrays.labels)
    labels[node] = label + old[len(bare_label(old)) :]
    return Edit(TreeArrays.of(labels, arrays.sizes, arrays.words), node)


_EDITS: dict[str, Callable[[TreeArrays, Sequence[int], str], Edit]] = {
    "relabel": lambda arrays, nodes, label: relabel(arrays, nodes[0], label),
    "insert": lambda arrays, nodes, label: insert(arrays, nodes[0], nodes[-1], label),
    "excise": lambda arrays, nodes, label: excise(arrays, nodes[0]),
    "raise": lambda arrays, nodes, label: raise_node(arrays, nodes[0]),
}


def parse_action(text: str, names: Sequence[str]) -> Action:
    """Return the action in a string; `names` are those of the rule's pattern. Raises IncparseError if it is wrong."""
    verb, *arguments = text.split() or [""]
    if verb not in USAGE:
        raise IncparseError(f"the action {text!r} is none of: {'; '.join(USAGE.values())}")
    place = {"relabel": 1, "insert": 0}.get(verb)  # of the label among the arguments
    label = "" if place is None or len(arguments) < 2 else arguments.pop(place)
    if not 1 <= len(arguments) <= 1 + (verb == "insert") or (place is not None) != bool(label):
        raise IncparseError(f"the action {text!r} is not of the form: {USAGE[verb]}")
    if label != escape_label(label):
        raise IncparseError(f"the action {text!r}: a label has no brackets")
    for name in arguments:
        if name not in names:
            known = ", ".join(names) or "none"
            raise IncparseError(f"the action {text!r}: the pattern has no node {name!r} (names in it: {known})")
    return Action(verb, tuple(arguments), label)


class EditError(ValueError):
    """An edit that is impossible at its place."""


def _grown(arrays: TreeArrays, node: int, n_nodes: int) -> list[int]:
    """Return the sizes after a node and all above it have grown."""
    sizes = list(arrays.sizes)
    while node >= 0:
        sizes[node] += n_nodes
        node = arrays.parents[node]
    return sizes
