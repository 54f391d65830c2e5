"""The component `incparse_phrases`, which writes phrases of the trees to span groups of the Doc."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees, register_extensions

if TYPE_CHECKING:
    from spacy_incparse.patterns import Match
    from spacy_incparse.pipeline.phrase_rules import PhraseRule

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
    # Imported here because every spaCy pipeline imports this module: load compiled modules only when needed.
    from spacy_incparse.pipeline.phrase_rules import CLAUSES, NOUN_PHRASES, VERB_PHRASES, phrase_rules

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
    from spacy_incparse.documents.tree_matches import find

    has_names = any(pattern.names for pattern in rule.patterns)
    n_phrases = 0
    for tree in trees:
        matches: dict[tuple[int, bool], list[Match]] = {}
        for match in find(tree, rule.patterns, nested=rule.nested, every=has_names):
            matches.setdefault((match.node.index, match.is_word), []).append(match)
        for same_node in matches.values():
            node = cast(DocTree, same_node[0].node)
            span = node.span
            if span is None:  # tokens were merged
                continue
            n_phrases += 1
            span_id = str(n_phrases)
            yield Span(doc, span.start, span.end, label=rule.label or node.category, span_id=span_id)
            for name, start, end in sorted(_named(same_node), key=lambda named: named[1:]):
                yield Span(doc, start, end, label=name, span_id=span_id)


def _named(matches: Iterable[Match]) -> set[tuple[str, int, int]]:
    """Return (name, start token, end token) of the named nodes in any of the matches."""
    from spacy_incparse.documents.constituent_matcher import group_spans

    return {(name, span.start, span.end) for match in matches for name, span in group_spans(match).items()}
