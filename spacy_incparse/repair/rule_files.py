"""Rules for repairing a treebank, and the JSON files that hold them; docs/repair.md describes the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns.pattern import Pattern, compile
from spacy_incparse.repair.actions import Action, parse_action

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
    """Return the rules of a file, given its path, or the name of one that is part of the package, such as "english"."""
    included = {path.stem: path for path in FOLDER.glob("*.json")}
    path = included.get(name, Path(name))
    if not path.is_file():
        own = ", ".join(sorted(included))
        raise IncparseError(f"{name}: no such file of rules, and not the name of one in the package ({own})")
    return read_rules(path)


def read_rules(path: Path) -> list[Rule]:
    """Return the rules of a JSON file. Raises IncparseError with the file, the rule and what is wrong."""
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
        rule = _rule(entry, f"{source}: rule {number}")
        if any(rule.name == other.name for other in rules):
            raise IncparseError(f"{source}: rule {number}: the name {rule.name!r} was given to another rule before")
        rules.append(rule)
    return rules


def _rule(entry: Mapping[str, Any], place: str) -> Rule:
    if not isinstance(entry, dict) or sorted(entry) != sorted(_KEYS):
        raise IncparseError(f"{place}: expected an object with the keys {', '.join(_KEYS)}, found {entry!r:.80}")
    for key in _KEYS:
        if not isinstance(entry[key], str) or not entry[key].strip() or "\t" in entry[key]:
            raise IncparseError(f"{place}: {key} must be a text without tabs, found {entry[key]!r:.80}")
    try:
        pattern = compile(entry["pattern"])
        return Rule(entry["name"], entry["reason"], pattern, parse_action(entry["action"], pattern.names))
    except IncparseError as error:
        raise IncparseError(f"{place} ({entry['name']}): {error}") from None
