"""`ConstituentMatcher`: match patterns in the trees of Docs, with an interface like that of spaCy's Matcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.documents.file_search import find
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.patterns import Match, Pattern, compile
from spacy_incparse.trees.arrays import NESTED
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy_incparse.documents.file_search import FileMatch

Callback = Callable[["ConstituentMatcher", Doc, int, "list[ConstituentMatch]"], object]


class ConstituentMatch(tuple[int, int, int]):
    """A match: (match_id, start, end) as in spaCy's Matcher, with additional attributes.

    span: the matched tokens, with the rule's name as label. node: the matched node of the tree.
    groups: the nodes named in the pattern, as Spans with their own labels.
    """

    span: Span
    node: DocTree
    groups: dict[str, Span]

    def __new__(cls, match_id: int, start: int, end: int, node: DocTree, groups: dict[str, Span]) -> ConstituentMatch:
        """Create a match; `start` and `end` are token indices in the Doc or Span passed to the matcher."""
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
    """Match phrases by patterns. The Docs must have trees, from the component `incparse` or from a treebank.

    vocab: the vocab of the Docs. raw_labels, heads, timeout: as in `patterns.compile`.
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
        """Add patterns to a rule; existing patterns of the rule are kept. Raises PatternError for an invalid pattern.

        on_match: a callback that receives the matcher, the Doc, the index of the match and all matches.
        nested: which of several nested matches to return: "all", "outermost" or "innermost".
        every: return a node once for each way to assign the pattern's names to nodes, instead of only once.
        """
        if nested not in NESTED:
            raise ConfigError(f"nested is {nested!r}; expected one of {', '.join(NESTED)}")
        are_several = not isinstance(patterns, str | Pattern) and isinstance(patterns, Iterable | None)
        given: list[Any] = list(patterns or ()) if are_several else [patterns]  # type: ignore[arg-type]
        if not all(isinstance(pattern, str | Pattern) for pattern in given):
            raise ConfigError(f"the patterns of {key!r} must be strings, such as 'NP < PP', or compiled patterns")
        compiled = [self._compiled(pattern) for pattern in given]
        if not compiled:
            raise ConfigError(f"no pattern is given for {key!r}")
        name = self._id(key)
        known = self._rules[name].patterns if name in self._rules else []
        self._rules[name] = _Rule([*known, *compiled], on_match, nested, every)

    def remove(self, key: str | int) -> None:
        """Remove a rule. Raises IncparseError if it does not exist."""
        if self._rules.pop(self._id(key), None) is None:
            raise IncparseError(f"the matcher has no rule {key!r}")

    def get(self, key: str | int, default: Any = None) -> tuple[Callback | None, list[str]] | Any:
        """Return (on_match, patterns) of a rule, or `default`."""
        rule = self._rules.get(self._id(key))
        return default if rule is None else (rule.on_match, [pattern.pattern for pattern in rule.patterns])

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, key: str | int) -> bool:
        return self._id(key) in self._rules

    def __call__(self, doclike: Doc | Span, *, as_spans: bool = False) -> list[ConstituentMatch] | list[Span]:
        """Return the matches in text order; among matches with the same first token, outer ones come first.

        In a Span, only nodes inside the Span match, and `start` and `end` count from its first token. With `as_spans`,
        return unique Spans with the rule names as labels. Nodes that begin or end inside a merged token are skipped.
        Raises IncparseError if the Doc has not been parsed, or the argument is no Doc or Span.
        """
        if not isinstance(doclike, Doc | Span):
            raise IncparseError(f"a matcher searches a parsed Doc or Span, not {doclike!r}: call nlp(text) first")
        doc = doclike if isinstance(doclike, Doc) else doclike.doc
        matches = sorted(self._matches(doc, doclike), key=lambda match: (match[1], -match[2], match.node.index))
        for number, match in enumerate(matches):
            on_match = self._rules[match[0]].on_match
            if on_match is not None:
                on_match(self, doc, number, matches)
        if as_spans:
            spans = {(match.span.start, match.span.end, match[0]): match.span for match in matches}
            return list(spans.values())
        return matches

    def search_files(self, paths: str | Path | Iterable[str | Path], *, n_process: int = 1) -> Iterator[FileMatch]:
        """Return the matches in the Parquet files that `spacy-incparse annotate` has written.

        paths: files, folders and globs. n_process: how many processes search, each a file at a time; the order of the
        matches is the same: by file, sentence, rule and node. Callbacks are not called. Raises IncparseError if there
        are no such files, or pyarrow is not installed.
        """
        from spacy_incparse.documents.file_search import Rule, search_files

        rules = [
            Rule(self.vocab.strings[name], rule.patterns, rule.nested, rule.every) for name, rule in self._rules.items()
        ]
        return search_files(rules, [paths] if isinstance(paths, str | Path) else paths, n_process)

    def __reduce__(self):
        return _rebuild, (self.vocab, self._raw_labels, self._heads, self._rules, self._timeout)

    def _matches(self, doc: Doc, doclike: Doc | Span) -> Iterator[ConstituentMatch]:
        first, behind = (0, len(doc)) if isinstance(doclike, Doc) else (doclike.start, doclike.end)
        for tree in parsed_trees(doc):
            for name, rule in self._rules.items():
                for match in find(tree, rule.patterns, nested=rule.nested, every=rule.every):
                    node = cast("DocTree", match.node)
                    span = node.span
                    if span is not None and first <= span.start and span.end <= behind:
                        yield ConstituentMatch(name, span.start - first, span.end - first, node, group_spans(match))

    def _compiled(self, pattern: str | Pattern) -> Pattern:
        if isinstance(pattern, Pattern):
            return pattern
        return compile(pattern, raw_labels=self._raw_labels, heads=self._heads, timeout=self._timeout)

    def _id(self, key: str | int) -> int:
        return self.vocab.strings.add(key) if isinstance(key, str) else key


def parsed_trees(doc: Doc) -> tuple[DocTree, ...]:
    """Return the trees of a Doc. Raises IncparseError if the Doc has words but has not been parsed."""
    trees = doc_trees(doc)
    if not trees and any(not token.is_space for token in doc):
        raise IncparseError("the Doc has no trees to search: run a pipeline with the component 'incparse' on it first")
    return trees


def group_spans(match: Match) -> dict[str, Span]:
    """Return the named nodes as Spans, skipping those that begin or end inside a merged token."""
    spans = {name: cast("DocTree", node).span for name, node in match.groups.items()}
    return {name: span for name, span in spans.items() if span is not None}


def _rebuild(
    vocab: Vocab, raw_labels: bool, heads: HeadRules | str, rules: dict[int, _Rule], timeout: float | None = None
) -> ConstituentMatcher:
    matcher = ConstituentMatcher(vocab, raw_labels=raw_labels, heads=heads, timeout=timeout)
    matcher._rules.update(rules)
    return matcher
