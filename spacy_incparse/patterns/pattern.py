"""Tree patterns with the meaning of Tregex, compiled once and matched on arrays; docs/search.md is the reference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError, PatternError, check_type
from spacy_incparse.patterns.bounded_regex import bounded_regex
from spacy_incparse.patterns.compile import compile_program
from spacy_incparse.patterns.forest_matcher import Matcher
from spacy_incparse.patterns.pattern_parser import parse_pattern
from spacy_incparse.patterns.syntax import Atom, Description
from spacy_incparse.settings import check_range
from spacy_incparse.trees.empties import printed
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import TRACE_TAG, bare_label, is_common, label_problem, looks_like_label
from spacy_incparse.trees.tree import Tree

_TREES_AT_ONCE = 500  # few, so that the first matches come immediately
_MANY_SYMBOLS = 1 << 20  # texts have no end


class Match(NamedTuple):
    """A node that matches, and the nodes that the pattern names.

    Words are not nodes of a Tree: if a word matches, `node` is its POS node and `is_word` is set. Likewise `groups` has
    the POS node of a word. `number` is the number of the tree in the forest or the given trees. For an empty category
    beside a tree (`tree.empties`), both have the phrase that it is in.
    """

    node: Tree
    groups: dict[str, Tree]
    is_word: bool = False
    number: int = 0

    def __str__(self) -> str:
        return self.node.words[0] if self.is_word else str(self.node)


_new_match = tuple.__new__


_Given = list[tuple[Tree, Sequence[int] | None]]
"""Trees and, where functions and empties were written into one to search it, its nodes by those that were searched."""


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
        check_type("pattern", pattern, str, "a string, such as 'NP < PP'")
        check_type("heads", heads, (str, HeadRules), "'en', 'any' or HeadRules")
        try:
            program = compile_program(parse_pattern(pattern))
        except PatternError:
            raise
        except ValueError as error:
            raise PatternError(pattern, 1, str(error)) from None
        check_range("timeout", timeout, 0, inf, may_be_none=True)
        self.pattern, self.raw_labels, self.timeout = pattern, raw_labels, timeout
        self.heads = _head_rules(heads) if isinstance(heads, str) else heads
        self.names, self._symbols = program.names, Symbols()  # of trees outside forests
        atoms = [test.atoms for test in program.tests]
        self._lists = [[one.text for one in some if not (one.is_regex or one.ignores_case)] for some in atoms]
        self.regexes = {one for some in atoms for one in some if one.is_regex}
        self.doubtful = set(chain(*self._lists))  # literals to warn of, if they are unknown labels
        self._tests = LabelTests(program.tests, raw_labels=raw_labels, timeout=timeout)
        self.asks_for_tokens = any(test.attributes for test in program.tests)
        self._matcher = Matcher(program, self._tests, self.heads, raw_labels=raw_labels)

    def count(self, trees: Tree | Forest | Iterable[Tree]) -> int:
        """Return the number of nodes that match."""
        return sum(
            self._matcher.count(forest, *self._of_tokens(forest, given, 0, len(forest)))
            for forest, given in self._forests(trees)
        )

    def search(self, trees: Tree | Forest | Iterable[Tree], *, every: bool = False) -> Iterator[Match]:
        """Yield the nodes that match, tree by tree in pre-order.

        A node is yielded once, with the leftmost nodes for the pattern's names; with `every`, once for each way to
        assign the names to nodes. A given node is treated as a root: the nodes above it are ignored. The functions and
        empty categories of trees count as if they stood in the tree (`Tree.with_empties`), except in a Forest.
        """
        n_before = 0
        for forest, given in self._forests(trees):
            for first in range(0, len(forest), _TREES_AT_ONCE):
                behind = min(first + _TREES_AT_ONCE, len(forest))
                of_tokens = self._of_tokens(forest, given, first, behind)
                for number, nodes, named in self._matcher.find(forest, first, behind, every, *of_tokens):
                    tree, homes = given[number] if given else (forest.tree(number), None)
                    yield from self._matches(tree, n_before + number, nodes, named, homes)
            n_before += len(forest)

    def _of_tokens(self, forest: Forest, given: _Given, first: int, behind: int) -> tuple[list[int], ...]:
        """Return the masks of the words of trees, as the last argument of the matcher; () if nothing asks for them."""
        if not self.asks_for_tokens:
            return ()
        masks = list[int]()
        for number in range(first, behind):
            whole = forest.tree(number)
            of_words = iter(self._tests.token_masks(given[number][0] if given else whole))
            if given and given[number][1]:  # a trace has no token
                masks += [self._tests.no_token if tag == TRACE_TAG else next(of_words) for tag in whole.tags]
            else:
                masks += of_words
        return (masks,)

    def _forests(self, trees: Tree | Forest | Iterable[Tree]) -> Iterator[tuple[Forest, _Given]]:
        """Yield trees as forests, which share their symbols as long as nothing fails, such as a test in time.

        With each comes what was given, if these were trees.
        """
        check_type("trees", trees, (Forest, Iterable), "a tree, or an iterable of trees, such as doc._.trees")
        given: Iterator[Any] = iter((trees,) if isinstance(trees, Tree | Forest) else trees)
        while group := list(islice(given, _TREES_AT_ONCE)):
            for one in group:
                if not isinstance(one, Tree | Forest):
                    what = f"patterns are searched in trees, such as those of doc._.trees; {one!r} is not a tree"
                    raise IncparseError(what)
            symbols, self._symbols = self._symbols, Symbols()
            known, searched = _Given(), list[Tree]()
            for one in () if isinstance(trees, Forest) else group:
                homes = None
                if one.arrays.annotation:
                    whole, homes = printed(one.own_arrays)
                searched.append(Tree(whole) if homes else one)
                known.append((one, homes))
            forest = trees if isinstance(trees, Forest) else Forest(searched, symbols=symbols)
            self._check_labels(forest.symbols)
            yield forest, known
            if len(symbols) < _MANY_SYMBOLS:
                self._symbols = symbols

    def absent(self, labels: Collection[str], words: Collection[str]) -> set[str]:
        """Return what looks like a label in the pattern, and is none of these labels and words.

        Common labels are left out in lists with others, such as S|SINV, of which one is there.
        """
        found: set[str] = set()
        for texts in self._lists:
            lacking = [text for text in texts if text not in labels and text not in words]
            likely = filter(looks_like_label, lacking)
            found.update(text for text in likely if len(lacking) == len(texts) or not is_common(text))
        return found

    def _check_labels(self, symbols: Symbols) -> None:
        """Warn, once, about each label of the pattern that no tree of the kind of those seen until now has."""
        if self.doubtful and symbols.words:
            absent = self.absent(symbols.label_numbers, symbols.word_numbers)
            self.doubtful = {label for label in self.doubtful & absent if not is_common(label)}
            for label in sorted(self.doubtful):
                problem = label_problem(label, symbols.labels)
                if problem is not None:
                    self.doubtful.remove(label)
                    warnings.warn(f"the pattern {self.pattern!r}: {problem}", UserWarning, stacklevel=3)

    def _matches(
        self, tree: Tree, number: int, nodes: list[int], named: list[tuple[int, ...]], homes: Sequence[int] | None
    ) -> Iterator[Match]:
        """Convert the matcher's results in a tree to matches, without duplicates."""
        at, first = tree._at, tree.index
        if homes is not None:
            leaves = tree.arrays.sizes
            nodes = [2 * homes[k >> 1] + (k & 1 and leaves[first + homes[k >> 1]] == 1) for k in nodes]
            named = [tuple(i if i < 0 else 2 * homes[i >> 1] for i in bound) for bound in named]
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
        rebuild = partial(Pattern, raw_labels=self.raw_labels, heads=self.heads, timeout=self.timeout)
        return rebuild, (self.pattern,)


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


@lru_cache(maxsize=8)
def _head_rules(name: str) -> HeadRules:
    return HeadRules.from_name(name)


Test = Callable[[str], object]


class LabelTests:
    """The descriptions of one pattern, tested on many labels or words at once.

    A literal fits a label with or without its functions; with `raw_labels` only the whole label. Words have none.
    timeout: seconds that regular expressions may take for the labels or words of one call; None: no limit.
    """

    def __init__(self, descriptions: Sequence[Description], *, raw_labels: bool = False, timeout: float | None = None):
        self.descriptions = tuple(descriptions)
        self._raw_labels, self._timeout = raw_labels, timeout
        negated = (one.attributes and one.is_negated for one in self.descriptions)
        self.no_token = sum(1 << bit for bit, fits in enumerate(negated) if fits)  # the mask of a word without a token
        atoms = [atom for description in self.descriptions for atom in description.atoms]
        # If all descriptions are literals, a word's mask is one of these, or that of any word not mentioned.
        self.known_words: dict[str, int] = {}
        self.other_words: int | None = None  # None: each word must be tested
        if not any(atom.is_regex or atom.ignores_case for atom in atoms):
            literals = sorted({atom.text for atom in atoms})
            self.known_words = dict(zip(literals, self.word_masks(literals), strict=True))
            unknown = next(text for k in range(len(literals) + 1) if (text := str(k)) not in self.known_words)
            self.other_words = self.word_masks([unknown])[0]

    def label_masks(self, labels: Sequence[str]) -> list[int]:
        """Return the mask of each label."""
        categories = [bare_label(label) for label in labels]
        deadline = _Deadline(self._timeout)
        found = [self._fitting_labels(description, labels, categories, deadline) for description in self.descriptions]
        return _masks(len(labels), found)

    def word_masks(self, words: Sequence[str]) -> list[int]:
        """Return the mask of each word."""
        deadline, none = _Deadline(self._timeout), [False] * len(words)
        found = [none if one.attributes else _fitting(one, words, deadline) for one in self.descriptions]
        return _masks(len(words), found)

    def token_masks(self, tree: Tree) -> list[int]:
        """Return the mask of each word by its token. Raises IncparseError if the tree is not one on a Doc."""
        deadline, found = _Deadline(self._timeout), list[Iterable[object]]()
        for one in self.descriptions:
            columns = [_fitting(value, tree.token_texts(name), deadline) for name, value in one.attributes]
            rows = zip(*columns, strict=True) if columns else ()
            found.append([all(row) != one.is_negated for row in rows] or [False] * len(tree.words))
        return _masks(len(tree.words), found)

    def captured(self, description: Description, group: int, texts: Sequence[str], *, words: bool) -> list[str | None]:
        """Return the match of a group of the description's last regular expression in each label or word."""
        atom = description.atoms[-1]
        regex = bounded_regex(atom.text, atom.ignores_case)
        plain = texts if words or not description.by_category else [bare_label(text) for text in texts]
        return regex.groups(group, plain)

    def _fitting_labels(
        self, description: Description, labels: Sequence[str], categories: Sequence[str], deadline: _Deadline
    ) -> Iterable[object]:
        if description.is_leaf:
            return [description.is_negated] * len(labels)
        if description.by_category:
            return _fitting(description, categories, deadline)
        if self._raw_labels:
            return _fitting(description, labels, deadline)
        tests = [_test(atom, labels, deadline) for atom in description.atoms]
        literals = [test for test, atom in zip(tests, description.atoms, strict=True) if not atom.is_regex]
        negated = description.is_negated
        return [
            (any(test(label) for test in tests) or any(test(category) for test in literals) or not tests) != negated
            for label, category in zip(labels, categories, strict=True)
        ]


def _masks(n_texts: int, fitting: Sequence[Iterable[object]]) -> list[int]:
    """Return the masks of texts, given which texts fit each description."""
    masks = [0] * n_texts
    for bit, found in enumerate(fitting):
        value = 1 << bit
        masks = [mask | value if fits else mask for mask, fits in zip(masks, found, strict=True)]
    return masks


def _fitting(description: Description, texts: Sequence[str], deadline: _Deadline) -> Iterable[object]:
    """Return for each text whether it fits unchanged."""
    if not description.atoms:
        return [not description.is_negated] * len(texts)
    found: Iterable[object] = map(_test(description.atoms[0], texts, deadline), texts)
    if len(description.atoms) > 1:
        tests = [_test(atom, texts, deadline) for atom in description.atoms]
        found = (any(test(text) for test in tests) for text in texts)
    return (not fits for fits in found) if description.is_negated else found


def _test(atom: Atom, texts: Sequence[str], deadline: _Deadline) -> Test:
    if atom.is_regex:
        search = bounded_regex(atom.text, atom.ignores_case).test_for(texts)
        return deadline.guarded(search, atom.text)
    if atom.ignores_case:
        lowered = atom.text.casefold()
        return lambda text: text.casefold() == lowered
    return atom.text.__eq__


class _Deadline:
    """A time after which no more labels or words are tested, or none."""

    def __init__(self, seconds: float | None):
        self._seconds, self._start = seconds, monotonic()

    def guarded(self, test: Test, regex: str) -> Test:
        """Return the test of a regular expression such that it raises IncparseError after the deadline."""
        seconds = self._seconds
        if seconds is None:
            return test

        def guarded_test(text: str) -> object:
            if monotonic() > self._start + seconds:
                raise IncparseError(
                    f"the regular expressions took more than {seconds:g} seconds, and got as far as /{regex}/ on "
                    f"{text[:40]!r}: write them with fewer repetitions, or raise --timeout (in Python: timeout=)"
                )
            return test(text)

        return guarded_test
