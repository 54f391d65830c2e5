"""What a rule does where its pattern matches, such as `relabel x WHNP`; the names are those of the pattern.

The words and most meanings are those of Tsurgeon (Levy & Andrew 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.surgery import Edit, excise, insert, raise_node, relabel
from spacy_incparse.tokens import escape_label
from spacy_incparse.trees.arrays import TreeArrays

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
    nodes, label = arguments, ""
    if verb == "relabel":
        nodes, label = arguments[:1], " ".join(arguments[1:])
    elif verb == "insert":
        nodes, label = arguments[1:], " ".join(arguments[:1])
    has_label = verb in ("relabel", "insert")
    if not 1 <= len(nodes) <= (2 if verb == "insert" else 1) or has_label != bool(label) or " " in label:
        raise IncparseError(f"the action {text!r} is not of the form: {USAGE[verb]}")
    if label != escape_label(label):
        raise IncparseError(f"the action {text!r}: a label has no brackets")
    for name in nodes:
        if name not in names:
            known = ", ".join(names) or "none"
            raise IncparseError(f"the action {text!r}: the pattern has no node {name!r} (names in it: {known})")
    return Action(verb, tuple(nodes), label)
