"""`ConstituentMatcher`: patterns over the trees of Docs, with the habits of spaCy's Matcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.patterns import Match, Pattern, compile
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.walks import NESTED, without_nested

Callback = Callable[["ConstituentMatcher", Doc, int, "list[ConstituentMatch]"], object]


class ConstituentMatch(tuple[int, int, int]):
    """A match: (match_id, start, end) as spaCy's Matcher gives them, and more as attributes.

    span: the matched tokens, with the rule's name as label. node: the matched node of the tree.
    groups: the nodes that the pattern has names for, as Spans with their own labels.
    """

    span: Span
    node: DocTree
    groups: dict[str, Span]

    def __new__(cls, match_id: int, start: int, end: int, node: DocTree, groups: dict[str, Span]) -> ConstituentMatch:
        """Make a match; `start` and `end` are tokens of the Doc or Span that was given to the matcher."""
        match = super().__new__(cls, (match_id, start, end))
        span = node.span
        assert span is not None
        match.span = Span(node.doc, span.start, span.end, label=match_id)
        match.node, match.groups = node, groups
        return match


@dataclass(frozen=True)
class _Rule:
    patterns: list[Pattern]
    on_match: Callback | None
    nested: str
    every: bool


class ConstituentMatcher:
    """Finds phrases by patterns. The Docs must have trees, from the component `incparse` or from a treebank.

    vocab: that of the Docs. raw_labels, heads, timeout: as for `patterns.compile`.
    """

    def __init__(
        self,
        vocab: Vocab,
        *,
        raw_labels: bool = False,
        heads: HeadRules | str = "en",
        timeout: float | None = None,
    ):
        self.vocab, self._raw_labels, self._heads, self._timeout = vocab, raw_labels, heads, timeout
        self._rules: dict[int, _Rule] = {}

    def add(
        self,
        key: str | int,
        patterns: str | Pattern | Iterable[str | Pattern],
        *,
        on_match: Callback | None = None,
        nested: str = "all",
        every: bool = False,
    ) -> None:
        """Add patterns under a name; those that it has already stay. Raises PatternError at a wrong one.

        on_match: called with the matcher, the Doc, the number of the match and all matches.
        nested: "all" matches; "outermost" or "innermost": of matches inside of one another only these.
        every: a node comes once for each way to give the pattern's names to nodes, instead of once.
        """
        if nested not in NESTED:
            raise ConfigError(f"nested is {nested!r}; expected one of {', '.join(NESTED)}")
        given = [patterns] if isinstance(patterns, str | Pattern) else list(patterns)
        compiled = [self._compiled(pattern) for pattern in given]
        if not compiled:
            raise ConfigError(f"no pattern is given for {key!r}")
        name = self._id(key)
        known = self._rules[name].patterns if name in self._rules else []
        self._rules[name] = _Rule([*known, *compiled], on_match, nested, every)

    def remove(self, key: str | int) -> None:
        """Remove a name with its patterns. Raises ValueError where it is not there."""
        if self._rules.pop(self._id(key), None) is None:
            raise ValueError(f"the matcher has no rule {key!r}")

    def get(self, key: str | int, default: Any = None) -> tuple[Callback | None, list[str]] | Any:
        """Return (on_match, patterns) of a name, or `default`."""
        rule = self._rules.get(self._id(key))
        return default if rule is None else (rule.on_match, [pattern.pattern for pattern in rule.patterns])

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, key: str | int) -> bool:
        return self._id(key) in self._rules

    def __call__(self, doclike: Doc | Span, *, as_spans: bool = False) -> list[ConstituentMatch] | list[Span]:
        """Return the matches in the order of the text, those that begin at the same token from the outside inwards.

        In a Span only nodes that lie in it match, and `start` and `end` count from its first token. With `as_spans`
        there are Spans with the names as labels, each once. Nodes that begin or end inside of a merged token are left
        out. Raises IncparseError where the Doc has not been parsed.
        """
        doc = doclike if isinstance(doclike, Doc) else doclike.doc
        matches = sorted(self._matches(doc, doclike), key=_place)
        for number, match in enumerate(matches):
            on_match = self._rules[match[0]].on_match
            if on_match is not None:
                on_match(self, doc, number, matches)
        if as_spans:
            spans = {(match.span.start, match.span.end, match[0]): match.span for match in matches}
            return list(spans.values())
        return matches

    def __reduce__(self):
        return _rebuild, (self.vocab, self._raw_labels, self._heads, self._rules, self._timeout)

    def _matches(self, doc: Doc, doclike: Doc | Span) -> Iterator[ConstituentMatch]:
        first, behind = (0, len(doc)) if isinstance(doclike, Doc) else (doclike.start, doclike.end)
        for tree in parsed_trees(doc):
            for name, rule in self._rules.items():
                for match in find(tree, rule.patterns, nested=rule.nested, every=rule.every):
                    node = cast(DocTree, match.node)
                    span = node.span
                    if span is not None and first <= span.start and span.end <= behind:
                        groups = group_spans(match)
                        yield ConstituentMatch(name, span.start - first, span.end - first, node, groups)

    def _compiled(self, pattern: str | Pattern) -> Pattern:
        if isinstance(pattern, Pattern):
            return pattern
        return compile(pattern, raw_labels=self._raw_labels, heads=self._heads, timeout=self._timeout)

    def _id(self, key: str | int) -> int:
        return self.vocab.strings.add(key) if isinstance(key, str) else key


def parsed_trees(doc: Doc) -> tuple[DocTree, ...]:
    """Return the trees of a Doc. Raises IncparseError where it has words, but has not been parsed."""
    trees = doc_trees(doc)
    if not trees and any(not token.is_space for token in doc):
        raise IncparseError(
            "the Doc has no trees to search in: run a pipeline with the component 'incparse' on it first"
        )
    return trees


def find(tree: DocTree, patterns: Iterable[Pattern], *, nested: str = "all", every: bool = False) -> list[Match]:
    """Return the matches of any of the patterns in pre-order; a node that several match counts for the first one.

    With `every` it comes once for each way to give names to nodes.
    """
    found: dict[tuple[int, bool], list[Match]] = {}
    for pattern in patterns:
        by_node: dict[tuple[int, bool], list[Match]] = {}
        for match in pattern.search(tree, every=every):
            by_node.setdefault((match.node.index, match.is_word), []).append(match)
        for node, matches in by_node.items():
            if every:
                found.setdefault(node, []).extend(matches)
            else:
                found.setdefault(node, matches)
    indices = sorted({index for index, _ in found})
    kept = set(without_nested(tree.arrays, indices, nested))
    return [match for node in sorted(found) if node[0] in kept for match in found[node]]


def group_spans(match: Match) -> dict[str, Span]:
    """Return the nodes that have names as Spans; without those that begin or end inside of a merged token."""
    spans = {name: cast(DocTree, node).span for name, node in match.groups.items()}
    return {name: span for name, span in spans.items() if span is not None}


def _place(match: ConstituentMatch) -> tuple[int, int, int]:
    return match[1], -match[2], match.node.index


def _rebuild(
    vocab: Vocab, raw_labels: bool, heads: HeadRules | str, rules: dict[int, _Rule], timeout: float | None = None
) -> ConstituentMatcher:
    matcher = ConstituentMatcher(vocab, raw_labels=raw_labels, heads=heads, timeout=timeout)
    matcher._rules.update(rules)
    return matcher
