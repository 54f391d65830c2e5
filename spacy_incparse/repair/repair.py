"""Applying rules to trees until none applies any more, with a record of every change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns.pattern import Pattern, compile
from spacy_incparse.tokens import escape_label
from spacy_incparse.trees.arrays import TreeArrays, children, lowest_common, replaced, rows_below
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

_MOST_CHANGES = 10  # changes per node: more of them never end


@dataclass(frozen=True)
class Change:
    """What a rule changed: the smallest subtree with all of the change, before and after it, and its words.

    `tree` is the number of the tree, from 0; `node` is the index in pre-order of the subtree's root, and `start` and
    `end` its words in the whole tree. `probability` is that of a parser's label; None for rules. `n_lost` is how many
    words, traces apart, the tree lost.
    """

    tree: int
    rule: str
    node: int
    start: int
    end: int
    before: str
    after: str
    probability: float | None = None
    n_lost: int = 0


def repair_trees(
    trees: Sequence[Tree], rules: Sequence[Rule], source: str = "trees"
) -> tuple[list[Tree], list[Change]]:
    """Return the trees after all changes, and the changes in the order in which they were made.

    Repaired trees have no place where a rule would change anything, so a second run makes no changes. Raises
    IncparseError, with the number of the tree in its source and the rule, if rules undo each other without end or an
    action is impossible.
    """
    repaired, changes, forest = list(trees), [], Forest(trees)
    for number in sorted({match.number for rule in rules for match in rule.pattern.search(forest)}):
        try:
            repaired[number], found = repair_tree(trees[number], rules, number)
        except IncparseError as error:
            raise IncparseError(f"{source}: tree {number + 1}: {error}") from None
        changes += found
    return repaired, changes


def repair_tree(tree: Tree, rules: Sequence[Rule], number: int = 0) -> tuple[Tree, list[Change]]:
    """Return one tree as `repair_trees` does; the first rule that applies anywhere always goes first."""
    changes: list[Change] = []
    most_changes = _MOST_CHANGES * tree.size  # of the given tree: rules may insert nodes without end
    while found := next(_possible_changes(tree, rules, number), None):
        tree, change = found
        changes.append(change)
        if len(changes) > most_changes:
            last = ", ".join(dict.fromkeys(change.rule for change in changes[-len(rules) :]))
            raise IncparseError(f"rules undo each other or themselves without end: {last}")
    return tree, changes


def is_repaired(tree: Tree, rules: Sequence[Rule]) -> bool:
    """Return whether no rule would change anything in a tree."""
    return next(_possible_changes(tree, rules, 0), None) is None


def recorded(tree: Tree, changed: Tree, edit: Edit, rule: str, number: int, probability: float | None = None) -> Change:
    """Return the record of an edit, given the tree before and after it."""
    before, after = tree._at(tree.index + edit.node), changed._at(edit.node)
    n_lost = len(_words(tree.own_arrays)) - len(_words(edit.arrays))
    return Change(number, rule, edit.node, after.start, after.end, str(before), str(after), probability, n_lost)


def _possible_changes(tree: Tree, rules: Sequence[Rule], number: int) -> Iterator[tuple[Tree, Change]]:
    for rule in rules:
        for match in rule.pattern.search(tree, every=True):
            places = {name: node.index - tree.index for name, node in match.groups.items()}
            try:
                edit = rule.action.edit(tree.own_arrays, places)
            except EditError as error:
                raise IncparseError(f"the rule {rule.name!r} cannot be applied to {match.node}: {error}") from None
            if edit is not None:
                changed = Tree(edit.arrays)
                yield changed, recorded(tree, changed, edit, rule.name, number)


COLUMNS = ("file", "tree", "rule", "start", "end", "before", "after", "probability")


@dataclass(frozen=True)
class FileChanges:
    """The changes in one file."""

    path: Path
    n_trees: int
    n_phrases: int
    changes: Sequence[Change]


def report_lines(files: Sequence[FileChanges]) -> Iterator[str]:
    """Yield a header and one line for each change, in the order in which they were made, with tab-separated values."""
    yield "\t".join(COLUMNS)
    for file in files:
        for change in file.changes:
            place = (file.path, change.tree + 1, change.rule, change.start, change.end)
            probability = "" if change.probability is None else f"{change.probability:.4f}"
            yield "\t".join([*map(str, place), change.before, change.after, probability])


def summary_lines(files: Sequence[FileChanges], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a table with the number of changes and of changed trees by rule, and the totals.

    reasons: that of each rule, by its name. The share is that of changes among the phrases that the files had.
    """
    changes: Counter[str] = Counter(change.rule for file in files for change in file.changes)
    pairs = {(number, change.tree, change.rule) for number, file in enumerate(files) for change in file.changes}
    trees: Counter[str] = Counter(rule for _, _, rule in pairs)
    n_phrases = sum(file.n_phrases for file in files)
    width = max(len("rule"), *map(len, reasons))
    yield f"{'rule':<{width}}  {'changes':>9}  {'trees':>9}  share of phrases  reason"
    for rule, reason in reasons.items():
        yield f"{_row(f'{rule:<{width}}', changes[rule], trees[rule], n_phrases)}  {reason}"
    n_changed = len({(number, tree) for number, tree, _ in pairs})
    yield _row(f"{'total':<{width}}", changes.total(), n_changed, n_phrases)
    if n_lost := sum(change.n_lost for file in files for change in file.changes):
        yield f"words that the trees lost: {n_lost:,}"


def _row(name: str, n_changes: int, n_trees: int, n_phrases: int) -> str:
    return f"{name}  {n_changes:>9,}  {n_trees:>9,}  {n_changes / max(n_phrases, 1):>16.3%}"


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
    "delete": "delete NODE",
    "prune": "prune NODE",
    "raise": "raise NODE",
    "move": "move NODE RELATION NODE with the relation $+, $-, >N or >-N, such as >1",
}
"""The actions and their arguments; nodes are given by their names in the pattern."""
_RELATION = re.compile(r"\$[+-]|>-?[1-9]\d{0,5}")


@dataclass(frozen=True)
class Action:
    """An action: its verb, the names of the nodes that it is about, and a label or the relation of `move`."""

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
    return Edit(replaced(arrays, parent, node, 1, []), parent)


def prune(arrays: TreeArrays, node: int) -> Edit:
    """Remove a node with its words, and the phrases above that are then empty. Raises EditError if nothing is left."""
    top = emptied(arrays, node)
    if top == 0:
        raise EditError("nothing would be left of the tree")
    parent = arrays.parents[top]
    return Edit(replaced(arrays, parent, top, arrays.sizes[top], []), parent)


def delete(arrays: TreeArrays, node: int) -> Edit:
    """Remove a node that has no words but traces, as `prune` does. Raises EditError if it has words."""
    if words := _words(arrays.subtree(node)):
        what = f"the tree would lose {' '.join(words)!r:.60}: delete is for traces and phrases of traces"
        raise EditError(f"{what}; prune removes words, and excise keeps what is in a phrase")
    return prune(arrays, node)


def move(arrays: TreeArrays, node: int, relation: str, other: int) -> Edit:
    """Move a node to where it has a relation of patterns to another one; phrases that are then empty go.

    relation: "$+", "$-": the sister immediately before or after the other node; ">N", ">-N": its child number N, from
    the left or from the right. Raises EditError if there is no such place, and if words, traces apart, would come in
    another order.
    """
    is_sister = relation[0] == "$"
    parent, behind = (arrays.parents[other] if is_sister else other), other + arrays.sizes[other]
    top = emptied(arrays, node, parent)
    if parent < 0 or (behind == other + 1 and not is_sister):
        raise EditError("the root has no sisters, and a POS node has no children")
    if top <= other < top + arrays.sizes[top] or node == 0:
        raise EditError("a node can neither be moved to itself, nor to a node in it, nor leave the other one empty")
    places = [other, behind]
    if not is_sister:
        places = [*(child for child in children(arrays, other) if child != top), behind]
    number = {"$+": 0, "$-": 1}[relation] if is_sister else int(relation[1:])
    if not is_sister:
        number += len(places) if number < 0 else -1
    if not 0 <= number < len(places):
        raise EditError(f"{arrays.labels[other]} would need more children for {relation}")
    at, rows = places[number], rows_below(arrays, node)
    grown = replaced(arrays, parent, at, 0, rows)
    old = top + len(rows) * (at <= top)  # where it is now
    found = replaced(grown, grown.parents[old], old, arrays.sizes[top], [])
    if _words(found) != _words(arrays):
        raise EditError("the words would come in another order")
    return Edit(found, lowest_common(arrays, arrays.parents[top], parent))


def insert(arrays: TreeArrays, first: int, last: int, label: str) -> Edit:
    """Put a new phrase over a node, or over it and its sisters up to `last`.

    Raises EditError if these are no sisters, and at the root.
    """
    parents = arrays.parents
    if parents[first] != parents[last] or last < first or first == 0:
        raise EditError("a phrase can only be inserted over a node, or over one and a later sister")
    n_nodes = last + arrays.sizes[last] - first
    return Edit(replaced(arrays, parents[first], first, 0, [(label, n_nodes + 1, "")]), parents[first])


def raise_node(arrays: TreeArrays, node: int) -> Edit:
    """Make the first or last child of a phrase the sister before or after it.

    Raises EditError for any other node, for an only child and below the root.
    """
    parent = arrays.parents[node]
    end, parent_end = node + arrays.sizes[node], parent + arrays.sizes[parent]
    is_first, is_last = node == parent + 1, end == parent_end
    if parent <= 0 or is_first == is_last:
        raise EditError("only the first or last of several children can be raised, and not above the root")
    return move(arrays, node, "$+" if is_first else "$-", parent)


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
    "delete": lambda arrays, nodes, label: delete(arrays, nodes[0]),
    "prune": lambda arrays, nodes, label: prune(arrays, nodes[0]),
    "raise": lambda arrays, nodes, label: raise_node(arrays, nodes[0]),
    "move": lambda arrays, nodes, relation: move(arrays, nodes[0], relation, nodes[1]),
}


def parse_action(text: str, names: Sequence[str]) -> Action:
    """Return the action in a string; `names` are those of the rule's pattern. Raises IncparseError if it is wrong."""
    verb, *arguments = text.split() or [""]
    if verb not in USAGE:
        raise IncparseError(f"the action {text!r} is none of: {'; '.join(USAGE.values())}")
    place = {"relabel": 1, "insert": 0, "move": 1}.get(verb)  # of the label or relation among the arguments
    label = "" if place is None or len(arguments) < 2 else arguments.pop(place)
    is_right = 1 + (verb == "move") <= len(arguments) <= 1 + (verb in ("insert", "move"))
    if not is_right or (place is not None) != bool(label) or (verb == "move" and not _RELATION.fullmatch(label)):
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


def _words(arrays: TreeArrays) -> list[str]:
    """Return the words that are not traces."""
    return [arrays.words[i] for i in arrays.overt]


def emptied(arrays: TreeArrays, node: int, kept: int = -1) -> int:
    """Return the highest node that has nothing but this one, below the node that is kept."""
    parent = arrays.parents[node]
    while parent not in (-1, kept) and arrays.sizes[parent] == arrays.sizes[node] + 1:
        node, parent = parent, arrays.parents[parent]
    return node
