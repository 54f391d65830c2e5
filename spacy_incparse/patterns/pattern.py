"""Tree patterns with the meaning of Tregex, compiled once and matched on arrays; docs/search.md is the reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from math import inf
from typing import NamedTuple

from spacy_incparse.errors import IncparseError, PatternError
from spacy_incparse.patterns.compile import compile_program
from spacy_incparse.patterns.forest_matcher import Matcher
from spacy_incparse.patterns.label_tests import LabelTests
from spacy_incparse.patterns.pattern_parser import parse_pattern
from spacy_incparse.settings import check_range
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

_TREES_AT_ONCE = 500  # few, so that the first matches come immediately


class Match(NamedTuple):
    """A node that matches, and the nodes that the pattern names.

    Words are not nodes of a Tree: if a word matches, `node` is its POS node and `is_word` is set. Likewise `groups` has
    the POS node of a word. `number` is the number of the tree in the forest or the given trees.
    """

    node: Tree
    groups: dict[str, Tree]
    is_word: bool = False
    number: int = 0

    def __str__(self) -> str:
        return self.node.words[0] if self.is_word else str(self.node)


_new_match = tuple.__new__


class Pattern:
    """A compiled pattern, returned by `compile`. It can be pickled."""

    def __init__(
        self,
        pattern: str,
        *,
        raw_labels: bool = False,
        heads: HeadRules | str = "en",
        timeout: float | None = None,
    ):
        try:
            program = compile_program(parse_pattern(pattern))
        except PatternError:
            raise
        except ValueError as error:
            raise PatternError(pattern, 1, str(error)) from None
        check_range("timeout", timeout, 0, inf, may_be_none=True)
        self.pattern, self.raw_labels, self.timeout = pattern, raw_labels, timeout
        self.heads = _head_rules(heads) if isinstance(heads, str) else heads
        self.names = program.names
        tests = LabelTests(program.tests, raw_labels=raw_labels, timeout=timeout)
        self._matcher = Matcher(program, tests, self.heads, raw_labels=raw_labels)

    def count(self, trees: Tree | Forest | Iterable[Tree]) -> int:
        """Return the number of nodes that match."""
        if isinstance(trees, Forest):
            return self._matcher.count(trees)
        return self._matcher.count_trees([trees] if isinstance(trees, Tree) else map(_checked, trees))

    def search(self, trees: Tree | Forest | Iterable[Tree], *, every: bool = False) -> Iterator[Match]:
        """Yield the nodes that match, tree by tree in pre-order.

        A node is yielded once, with the leftmost nodes for the pattern's names; with `every`, once for each way to
        assign the names to nodes. A given node is treated as a root: the nodes above it are ignored.
        """
        if isinstance(trees, Forest):
            return self._search_forest(trees, every)
        return self._search_trees([trees] if isinstance(trees, Tree) else map(_checked, trees), every)

    def _search_forest(self, forest: Forest, every: bool) -> Iterator[Match]:
        for first in range(0, len(forest), _TREES_AT_ONCE):
            for number, nodes, named in self._matcher.find(forest, first, first + _TREES_AT_ONCE, every):
                yield from self._matches(forest.tree(number), number, nodes, named)

    def _search_trees(self, trees: Iterable[Tree], every: bool) -> Iterator[Match]:
        trees, first = iter(trees), 0
        while group := list(islice(trees, _TREES_AT_ONCE)):
            for number, nodes, named in self._matcher.find_in_trees(group, every):
                yield from self._matches(group[number], first + number, nodes, named)
            first += len(group)

    def _matches(self, tree: Tree, number: int, nodes: list[int], named: list[tuple[int, ...]]) -> Iterator[Match]:
        """Convert the matcher's results in a tree to matches, without duplicates."""
        at, first = tree._at, tree.index
        # Match(...) takes three times as long, and matches may be many.
        if not self.names:
            for k in dict.fromkeys(nodes):
                yield _new_match(Match, (at(first + (k >> 1)), {}, k & 1 == 1, number))
            return
        for k, bound in dict.fromkeys(zip(nodes, named, strict=True)):
            groups = {name: at(first + (i >> 1)) for name, i in zip(self.names, bound, strict=True) if i >= 0}
            yield _new_match(Match, (at(first + (k >> 1)), groups, k & 1 == 1, number))

    def __repr__(self) -> str:
        options = ", raw_labels=True" if self.raw_labels else ""
        return f"compile({self.pattern!r}{options})"

    def __reduce__(self):
        return _rebuild, (self.pattern, self.raw_labels, self.heads, self.timeout)


def compile(
    pattern: str, *, raw_labels: bool = False, heads: HeadRules | str = "en", timeout: float | None = None
) -> Pattern:
    """Return a compiled pattern. Raises PatternError with the column of a mistake.

    raw_labels: a bare label such as NP matches whole labels only; by default it also matches NP-SBJ.
    heads: the rules for the relations with `#`: "en", "any", or `HeadRules`.
    timeout: seconds that regular expressions may take for the words of a file, of a Forest, or of a group of trees;
        after that IncparseError is raised. None: no limit; the search may take long, but always ends.
    """
    return Pattern(pattern, raw_labels=raw_labels, heads=heads, timeout=timeout)


def _checked(tree: Tree) -> Tree:
    if not isinstance(tree, Tree):
        raise IncparseError(f"patterns are searched in trees, such as those of doc._.trees; {tree!r} is not a tree")
    return tree


@lru_cache(maxsize=8)
def _head_rules(name: str) -> HeadRules:
    return HeadRules.from_name(name)


def _rebuild(pattern: str, raw_labels: bool, heads: HeadRules, timeout: float | None) -> Pattern:
    return Pattern(pattern, raw_labels=raw_labels, heads=heads, timeout=timeout)
