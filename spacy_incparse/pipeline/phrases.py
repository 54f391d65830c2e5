"""The component `incparse_phrases`, which writes phrases of the trees to span groups of the Doc."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees, register_extensions
from spacy_incparse.documents.relations import token_relations
from spacy_incparse.errors import ConfigError
from spacy_incparse.functions.relations import AGENT, INDIRECT_OBJECT, OBJECT, PREDICATE, SUBJECT
from spacy_incparse.patterns import Pattern, compile
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.arrays import NESTED
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy_incparse.patterns import Match


register_extensions()

DEFAULT_CONFIG: dict[str, Any] = {
    "noun_phrases": "outermost",
    "clauses": "all",
    "verb_phrases": "all",
    "patterns": {},
    "labels": {},
    "heads": "en",
}


@Language.factory("incparse_phrases", assigns=["doc.spans"], requires=["doc._.trees"], default_config=DEFAULT_CONFIG)
def make_incparse_phrases(
    nlp: Language,
    name: str,
    noun_phrases: str | None,
    clauses: str | None,
    verb_phrases: str | None,
    patterns: dict[str, Any],
    labels: dict[str, str],
    heads: str,
) -> PhraseFinder:
    """Create the component. It must come after `incparse`.

    noun_phrases, clauses, verb_phrases: which of several nested phrases to write to the group of this name: "all",
        "outermost" or "innermost"; None: do not create the group.
    patterns: your own groups: name -> a pattern, a list of patterns, or a dict with "patterns", "nested" ("all",
        "outermost", "innermost") and "label" (the label of the spans; None: the label of each node).
    labels: the labels of phrases in treebanks other than Penn's, such as {"noun_phrase": "NP|CNP"}; see
        `phrase_rules.LABELS`. "": the treebank has no such phrases.
    heads: head rules for patterns with `#`, "en" or "any".
    """
    groups = {
        "noun_phrases": (NOUN_PHRASES, noun_phrases),
        "clauses": (CLAUSES, clauses),
        "verb_phrases": (VERB_PHRASES, verb_phrases),
    }
    return PhraseFinder(phrase_rules(groups, patterns, labels, heads), name)


class PhraseFinder:
    """Write the phrases found by rules to `doc.spans`. See `make_incparse_phrases` for all settings.

    The phrases of a group are in text order. If a pattern has names, the named nodes follow their phrase, with the name
    as label. All spans of a phrase have the same `id_`, which is unique in the group.
    """

    def __init__(self, rules: Iterable[PhraseRule], name: str = "incparse_phrases"):
        self.rules, self.name = list(rules), name
        self._has_warned = False

    def __call__(self, doc: Doc) -> Doc:
        """Fill the groups; if the Doc has no trees, they are empty, and a warning is shown once."""
        trees = doc_trees(doc)
        if not trees and not self._has_warned and any(not token.is_space for token in doc):
            self._has_warned = True
            warnings.warn(
                f"{self.name}: a Doc has no trees: add the component 'incparse' before this one (this warning is "
                f"shown once)",
                stacklevel=2,
            )
        for rule in self.rules:
            doc.spans[rule.key] = list(_spans(doc, trees, rule))
        return doc


def _spans(doc: Doc, trees: Iterable[DocTree], rule: PhraseRule) -> Iterator[Span]:
    # Imported here because every spaCy pipeline imports this module: load compiled modules only when needed.
    from spacy_incparse.documents.matcher import find, group_spans

    has_names = any(pattern.names for pattern in rule.patterns)
    n_phrases = 0
    for tree in trees:
        matches: dict[tuple[int, bool], list[Match]] = {}
        for match in find(tree, rule.patterns, nested=rule.nested, every=has_names):
            matches.setdefault((match.node.index, match.is_word), []).append(match)
        for same_node in matches.values():
            node = cast("DocTree", same_node[0].node)
            span = node.span
            if span is None:  # tokens were merged
                continue
            n_phrases += 1
            span_id = str(n_phrases)
            yield Span(doc, span.start, span.end, label=rule.label or node.category, span_id=span_id)
            named = ((name, one) for match in same_node for name, one in group_spans(match).items())
            names = {(name, one.start, one.end) for name, one in named}
            found = tree.arrays.annotation
            if rule.key == "verb_phrases" and found and (found.empties or any(found.functions)):
                names = set(_with_relations(doc, names))
            for name, start, end in sorted(names, key=lambda named: named[1:]):
                yield Span(doc, start, end, label=name, span_id=span_id)


_ARGUMENTS = (SUBJECT, OBJECT, INDIRECT_OBJECT, AGENT, PREDICATE)


def _with_relations(doc: Doc, names: set[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield the named nodes of a verb phrase, with the arguments of the verb that its relations say."""
    for name, start, end in names:
        if name not in _ARGUMENTS:
            yield name, start, end
        for one in token_relations(doc[start]) if name == "verb" else ():
            if one.relation in _ARGUMENTS and one.span is not None:
                yield one.relation, one.span.start, one.span.end


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
    check_choice(f"{key}: nested", nested, NESTED)
    compiled = [compile(pattern, heads=heads) for text in given for pattern in _filled(text, labels)]
    return PhraseRule(key, tuple(compiled), nested, label)


def _filled(pattern: str, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the pattern with labels in place of `{name}`; nothing if the treebank has no such label."""
    names = [name for name in _PLACEHOLDER.findall(pattern) if name in labels]
    if all(labels[name] for name in names):
        yield _PLACEHOLDER.sub(lambda match: labels.get(match[1], match[0]), pattern)
