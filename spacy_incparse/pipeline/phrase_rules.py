"""The rules of `incparse_phrases`: groups of `doc.spans`, each with patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.patterns import Pattern, compile
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.walks import NESTED

# The labels in the patterns below, for Penn-style trees. For other treebanks, a setting of the component replaces them.
LABELS = {
    "noun_phrase": "NP",
    "verb_phrase": "VP",
    "prepositional_phrase": "PP",
    "adjective_phrase": "ADJP",
    "particle": "PRT",
    "clause": "S|SBAR|SBARQ|SINV|SQ",
    "complete_clause": "SBAR|SBARQ",  # with its conjunction or question word; the inner clause is not counted
    "verb": "/^(VB|MD)/",
    "copula": "i@/^(am|are|be|been|being|is|was|were|'m|'re|'s)$/",
}

_PHRASE = "< (__ < __)"  # a node that is neither a word nor a part of speech: words are nodes, too, and can be "S"
NOUN_PHRASES = (f"{{noun_phrase}} {_PHRASE}",)
CLAUSES = (f"{{clause}} {_PHRASE} !> {{complete_clause}}",)
# The lowest verb phrase of a verb and its auxiliaries, with its arguments.
_VERB_PHRASE = "{verb_phrase} !< {verb_phrase} < {verb}"
_OBJECT = f"{_VERB_PHRASE} !< ({{verb}} < {{copula}})"
VERB_PHRASES = (
    _VERB_PHRASE + "=verb",
    _VERB_PHRASE + " [$-- ({noun_phrase}=subject !$++ ({noun_phrase} $++ {verb_phrase})) | >+({verb_phrase}) "
    "({verb_phrase} $-- ({noun_phrase}=subject !$++ ({noun_phrase} $++ {verb_phrase})))]",
    _OBJECT + " < ({noun_phrase}=object !$++ {noun_phrase})",
    _OBJECT + " < ({noun_phrase}=indirect_object $++ {noun_phrase})",
    _VERB_PHRASE + " < ({verb} < {copula}) < {noun_phrase}|{adjective_phrase}=predicate",
    _VERB_PHRASE + " < {clause}=clause",
    _VERB_PHRASE + " < {prepositional_phrase}=prepositional_phrase",
    _VERB_PHRASE + " < {particle}=particle",
)

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class PhraseRule:
    """The rule for a group of `doc.spans`.

    label: the label of the spans; None: the label of each matched node, without functions.
    """

    key: str
    patterns: tuple[Pattern, ...]
    nested: str = "all"
    label: str | None = None


def phrase_rules(
    groups: Mapping[str, tuple[Iterable[str], str | None]],
    patterns: Mapping[str, Any],
    labels: Mapping[str, str],
    heads: HeadRules | str,
) -> list[PhraseRule]:
    """Return the rules of the component's own groups and of a user's patterns.

    groups: key -> patterns with placeholders, and which of several nested matches to use; None: skip the group.
    patterns: key -> a pattern, a list of patterns, or a dict with "patterns", "nested" and "label".
    labels: placeholder -> its text in patterns. Raises ConfigError or PatternError for invalid values.
    """
    unknown = sorted(set(labels) - set(LABELS))
    if unknown:
        raise ConfigError(f"unknown name {unknown[0]!r} in labels; the names are {', '.join(LABELS)}")
    known = LABELS | dict(labels)
    wanted = {key: {"patterns": list(given), "nested": nested} for key, (given, nested) in groups.items() if nested}
    return [_rule(key, setting, known, heads) for key, setting in (wanted | dict(patterns)).items()]


def _rule(key: str, setting: Any, labels: Mapping[str, str], heads: HeadRules | str) -> PhraseRule:
    setting = setting if isinstance(setting, Mapping) else {"patterns": setting}
    unknown = sorted(set(setting) - {"patterns", "nested", "label"})
    given, nested, label = setting.get("patterns", ()), setting.get("nested", "all"), setting.get("label")
    given = [given] if isinstance(given, str) else given
    is_right = isinstance(given, Sequence) and given and all(isinstance(pattern, str) for pattern in given)
    if unknown or not is_right:
        what = f"unknown {unknown[0]!r}" if unknown else "patterns are missing or not strings"
        raise ConfigError(f"patterns[{key!r}]: {what}; expected a pattern, a list, or a dict with 'patterns'")
    if nested not in NESTED:
        raise ConfigError(f"{key}: nested is {nested!r}; expected one of {', '.join(NESTED)}")
    compiled = [compile(pattern, heads=heads) for text in given for pattern in _filled(text, labels)]
    return PhraseRule(key, tuple(compiled), nested, label)


def _filled(pattern: str, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the pattern with labels in place of `{name}`; nothing if the treebank has no such label."""
    names = [name for name in _PLACEHOLDER.findall(pattern) if name in labels]
    if all(labels[name] for name in names):
        yield _PLACEHOLDER.sub(lambda match: labels.get(match[1], match[0]), pattern)
