"""`ConstituentMatcher`: match patterns in trees on Docs, as spaCy's Matcher does, and in Parquet files of sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.documents.rows import annotated_format, read_rows, row_tree, sentence_files
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.patterns import Match, Pattern, compile
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.arrays import NESTED, without_nested
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import run_in_order

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


class FileGroup(NamedTuple):
    """A named node of a match, by its characters in the document."""

    label: str
    start_char: int
    end_char: int
    text: str


class FileMatch(NamedTuple):
    """A match in a file: the rule, the document with the number of its sentence, the matched node, and named nodes."""

    key: str
    id: str
    sentence: int
    label: str
    start_char: int
    end_char: int
    text: str
    groups: dict[str, FileGroup]


@dataclass(frozen=True)
class _Rule:
    patterns: list[Pattern]
    on_match: Callback | None
    nested: str
    every: bool


class ConstituentMatcher:
    """Match phrases by patterns. The Docs must have trees, from the component `incparse` or from a treebank.

    vocab: the vocab of the Docs. raw_labels, heads, timeout: as in `patterns.compile`.

    Raises ConfigError for another vocab.
    """

    def __init__(
        self, vocab: Vocab, *, raw_labels: bool = False, heads: HeadRules | str = "en", timeout: float | None = None
    ):
        if not isinstance(vocab, Vocab):
            raise ConfigError(f"vocab is {vocab!r}; expected the vocab of the Docs, such as nlp.vocab")
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
        check_choice("nested", nested, NESTED)
        are_several = not isinstance(patterns, str | Pattern) and isinstance(patterns, Iterable | None)
        given: list[Any] = list(patterns or ()) if are_several else [patterns]  # type: ignore[arg-type]
        if not all(isinstance(pattern, str | Pattern) for pattern in given):
            raise ConfigError(f"the patterns of {key!r} must be strings, such as 'NP < PP', or compiled patterns")
        options: dict[str, Any] = {"raw_labels": self._raw_labels, "heads": self._heads, "timeout": self._timeout}
        compiled = [one if isinstance(one, Pattern) else compile(one, **options) for one in given]
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
        if n_process < 1 and n_process != -1:
            raise IncparseError(f"n_process is {n_process}: it must be 1 or more, or -1 for all processors")
        files: list[Path] = []
        for path in [paths] if isinstance(paths, str | Path) else paths:
            found = sentence_files(path)
            if not found and annotated_format(path) != "parquet":
                raise IncparseError(f"{path}: no Parquet file with sentences was found")
            files += found
        # Callbacks stay here, since not every function can be sent to another process.
        rules = [(self.vocab.strings[name], replace(rule, on_match=None)) for name, rule in self._rules.items()]
        n_workers = min(n_process if n_process > 0 else os.cpu_count() or 1, max(len(files), 1))
        results = run_in_order(partial(partial, _search_file, rules), files, n_workers)
        return chain.from_iterable(matches for _, matches in results)

    def _matches(self, doc: Doc, doclike: Doc | Span) -> Iterator[ConstituentMatch]:
        first, behind = (0, len(doc)) if isinstance(doclike, Doc) else (doclike.start, doclike.end)
        trees = doc_trees(doc)
        if not trees and any(not token.is_space for token in doc):
            raise IncparseError(
                "the Doc has no trees to search: run a pipeline with the component 'incparse' on it first"
            )
        for tree in trees:
            for name, rule in self._rules.items():
                for match in find(tree, rule.patterns, nested=rule.nested, every=rule.every):
                    node = cast("DocTree", match.node)
                    span = node.span
                    if span is not None and first <= span.start and span.end <= behind:
                        yield ConstituentMatch(name, span.start - first, span.end - first, node, group_spans(match))

    def _id(self, key: str | int) -> int:
        return self.vocab.strings.add(key) if isinstance(key, str) else key


def group_spans(match: Match) -> dict[str, Span]:
    """Return the named nodes as Spans, skipping those that begin or end inside a merged token."""
    spans = {name: cast("DocTree", node).span for name, node in match.groups.items()}
    return {name: span for name, span in spans.items() if span is not None}


_COLUMNS = ("id", "sentence", "start", "text", "brackets", "tokens", "spans")


def _search_file(rules: Sequence[tuple[str, _Rule]], path: Path) -> list[FileMatch]:
    found: list[FileMatch] = []
    for row in read_rows(path, _COLUMNS):
        if row["tokens"] is None:  # a document without trees, in a table of `spacy_incparse.ray.Annotate`
            continue
        tree = row_tree(row)
        for key, rule in rules:
            for match in find(tree, rule.patterns, nested=rule.nested, every=rule.every):
                groups = {name: _group(row, node) for name, node in match.groups.items()}
                found.append(FileMatch(key, row["id"], row["sentence"], *_group(row, match.node), groups))
    return found


def _group(row: dict[str, Any], node: Tree) -> FileGroup:
    start, end = row["tokens"][node.start]["start"], row["tokens"][node.end - 1]["end"]
    return FileGroup(node.label, start, end, row["text"][start - row["start"] : end - row["start"]])


def find(tree: Tree, patterns: Iterable[Pattern], *, nested: str = "all", every: bool = False) -> list[Match]:
    """Return the matches of the patterns in pre-order; a node that several patterns match belongs to the first.

    With `every`, return a node once for each way to assign names to nodes.
    """
    found: dict[tuple[int, bool], list[Match]] = {}
    for pattern in patterns:
        known = () if every else frozenset(found)
        for match in pattern.search(tree, every=every):
            node = match.node.index, match.is_word
            if node not in known:
                found.setdefault(node, []).append(match)
    indices = sorted({index for index, _ in found})
    kept = set(without_nested(tree.arrays, indices, nested))
    return [match for node in sorted(found) if node[0] in kept for match in found[node]]
