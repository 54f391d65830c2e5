"""Applying rules to trees until none applies any more, with a record of every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.rules import Edit, EditError, Rule
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.tree import Tree

_MOST_CHANGES = 10  # changes per node: more of them never end


@dataclass(frozen=True)
class Change:
    """What a rule changed: the smallest subtree with all of the change, before and after it, and its words.

    `tree` is the number of the tree, from 0; `node` is the index in pre-order of the subtree's root, and `start` and
    `end` its words in the whole tree. `probability` is that of a parser's label; None for rules.
    """

    tree: int
    rule: str
    node: int
    start: int
    end: int
    before: str
    after: str
    probability: float | None = None


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
    return Change(number, rule, edit.node, after.start, after.end, str(before), str(after), probability)


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


def _row(name: str, n_changes: int, n_trees: int, n_phrases: int) -> str:
    return f"{name}  {n_changes:>9,}  {n_trees:>9,}  {n_changes / max(n_phrases, 1):>16.3%}"
