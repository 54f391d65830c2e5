"""The brackets of a sentence as EVALB sees them: words deleted, labels cut, spans matched and crossed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from pathlib import Path
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import penn_to_raw
from spacy_incparse.trees.labels import WRAPPERS
from spacy_incparse.trees.tree import Tree

Bracket = tuple[str, int, int]
"""Label, start and end (exclusive), counted in the words (or characters) left after deletion."""

_DELETED = "\0"  # no tag of a tree


class Rules:
    """The parameters in a form that is fast to apply; one object per scoring run."""

    def __init__(self, params: EvalbParams):
        self.params = params
        self.deleted_tags = frozenset([*params.delete_labels, _DELETED])
        self._deleted_words = frozenset(word for one in params.delete_words for word in (one, penn_to_raw(one)))
        self.not_in_length = frozenset(params.delete_labels_for_length)
        self.quote_tags = frozenset(params.quote_labels)
        self._equal_labels = _both_ways(params.eq_labels)
        raw_words = [(penn_to_raw(one), penn_to_raw(other)) for one, other in params.eq_words]
        self._equal_words = _both_ways([*params.eq_words, *raw_words])
        self._bracket_labels: dict[str, str | None] = {}

    def tags(self, tree: Tree) -> Sequence[str]:
        """Return the tags of a tree's words; those of words in DELETE_WORD are one that is deleted."""
        if not self._deleted_words:
            return tree.tags
        pairs = zip(tree.words, tree.tags, strict=True)
        gone = self._deleted_words
        return [_DELETED if word in gone and tag not in self.deleted_tags else tag for word, tag in pairs]

    def same_label(self, a: str, b: str) -> bool:
        """Return whether two labels or tags are equal, given EQ_LABEL (which is not transitive)."""
        return a == b or (a, b) in self._equal_labels

    def same_word(self, a: str, b: str) -> bool:
        """Return whether two words are equal, given EQ_WORD."""
        return a == b or (a, b) in self._equal_words

    def bracket_label(self, label: str) -> str | None:
        """Return a phrase's label, cut at `-` or `=`, or None if the parameters delete it.

        A label that begins with `-` becomes empty, as in EVALB. Tags of words are never cut.
        """
        if label not in self._bracket_labels:
            cut = label.partition("-")[0].partition("=")[0]
            deleted = any(self.same_label(cut, other) for other in self.params.delete_labels)
            self._bracket_labels[label] = None if deleted else cut
        return self._bracket_labels[label]

    def length(self, tags: Iterable[str]) -> int:
        """Return the sentence length in words, except those with a tag in DELETE_LABEL_FOR_LENGTH."""
        return sum(tag not in self.not_in_length for tag in tags)


@dataclass(slots=True)
class DeletedSide:
    """One tree after deletion: the words and tags left, and all phrases.

    `brackets` holds every phrase in pre-order, even if it is empty, with its label as in the tree.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]


def delete_words(tree: Tree, tags: Sequence[str], deleted_tags: frozenset[str]) -> DeletedSide:
    """Delete the words of `tree` that have a deleted tag; `tags` may differ from the tree's tags."""
    kept = [tag not in deleted_tags for tag in tags]
    position = [0, *accumulate(kept)]
    offset = tree.start
    brackets = [(label, position[start - offset], position[end - offset]) for label, start, end in tree.spans()]
    return DeletedSide(list(compress(tree.words, kept)), list(compress(tags, kept)), brackets)


def counted_brackets(brackets: Iterable[Bracket], rules: Rules) -> list[Bracket]:
    """Return the brackets that count, in order: they are not empty, and their label is cut and not deleted."""
    counted = []
    for label, start, end in brackets:
        cut = rules.bracket_label(label)
        if start < end and cut is not None:
            counted.append((cut, start, end))
    return counted


def without_wrapper(brackets: list[Bracket]) -> list[Bracket]:
    """Rename the first bracket, the root's, to TOP if it is a treebank's wrapper."""
    if brackets and brackets[0][0] in WRAPPERS:
        return [("TOP", *brackets[0][1:]), *brackets[1:]]
    return brackets


def match_brackets(gold: Iterable[Bracket], parsed: Iterable[Bracket], rules: Rules) -> list[tuple[str, str]]:
    """Match each gold bracket with the first free parsed one of equal span and label.

    Spans with the same label are a multiset. Returns the (gold label, parsed label) pairs of the matches; these labels
    differ if EQ_LABEL or LABELED 0 made them equal.
    """
    free: dict[tuple[int, int], list[str]] = {}
    for label, start, end in parsed:
        free.setdefault((start, end), []).append(label)
    matches = []
    for label, start, end in gold:
        candidates = free.get((start, end), ())
        for k, candidate in enumerate(candidates):
            if not rules.params.labeled or rules.same_label(label, candidate):
                matches.append((label, candidate))
                del free[start, end][k]
                break
    return matches


def crossing_test(gold: Sequence[Bracket]) -> Callable[[int, int], bool]:
    """Return a constant-time test for whether a span crosses one of the nested `gold` brackets (in pre-order).

    A span (i, j) is crossed from the left by a bracket (a, b) with a < i < b < j. Of all brackets with i inside, the
    innermost has the smallest b, so it is enough to check that one; the right side is symmetric.
    """
    n_positions = 1 + max((end for _, _, end in gold), default=0)
    inner_start, inner_end = [-1] * n_positions, [sys.maxsize] * n_positions  # outside all brackets: no crossing
    for _, start, end in gold:
        inner_start[start + 1 : end] = [start] * (end - start - 1)
        inner_end[start + 1 : end] = [end] * (end - start - 1)

    def crosses(start: int, end: int) -> bool:
        return (start < n_positions and inner_end[start] < end) or (end < n_positions and inner_start[end] > start)

    return crosses


def _both_ways(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pair for a, b in pairs for pair in ((a, b), (b, a)))


@dataclass(frozen=True)
class EvalbParams:
    """What to count and what to treat as equal; field names follow the keys of a ``.prm`` file.

    ``max_error``: with ``as_evalb`` scoring stops after more than ``max_error + 1`` errors, as in the program; None
    never stops. ``debug`` is read so that existing files work, and has no effect.
    ``quote_labels``: tags that EVALB (version of 2006) may restore if the two trees differ in length.
    """

    delete_labels: tuple[str, ...] = ()
    delete_labels_for_length: tuple[str, ...] = ()
    eq_labels: tuple[tuple[str, str], ...] = ()
    eq_words: tuple[tuple[str, str], ...] = ()
    delete_words: tuple[str, ...] = ()
    quote_labels: tuple[str, ...] = ()
    labeled: bool = True
    cutoff_len: int = 40
    max_error: int | None = None
    debug: int = 0


COLLINS = EvalbParams(
    delete_labels=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_labels_for_length=("-NONE-",),
    eq_labels=(("ADVP", "PRT"),),
)
"""COLLINS.prm, the parameters used in papers on the Penn Treebank (Collins 1997), without a limit on errors."""


def read_params(path: str | Path) -> EvalbParams:
    """Read a ``.prm`` file. Raises IncparseError naming the file and, if a line is wrong, the line."""
    try:
        text = Path(path).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise IncparseError(f"{path}: cannot read the parameter file ({error})") from error
    return parse_params(text, path=path)


def parse_params(text: str, *, path: str | Path = "<string>") -> EvalbParams:
    """Parse the text of a ``.prm`` file: a key and its value per line; lines that begin with ``#`` are comments.

    Keys: DEBUG, MAX_ERROR, CUTOFF_LEN, LABELED, DELETE_LABEL, DELETE_LABEL_FOR_LENGTH, QUOTE_LABEL, EQ_LABEL, EQ_WORD,
    DELETE_WORD, and with the value 0 those of `_OTHER_MEASURES`. Of repeated keys with one number the last counts; the
    others add up. Missing keys have EVALB's defaults: nothing deleted, nothing equal, labeled, cut-off 40, at most 10
    errors. Raises IncparseError with file and line for an unknown key or an invalid value.
    """
    lists: dict[str, list] = {key: [] for key in _LISTS}
    numbers = {"MAX_ERROR": 10, "CUTOFF_LEN": 40, "LABELED": 1, "DEBUG": 0, **dict.fromkeys(_OTHER_MEASURES, 0)}
    for line_number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        key, *values = line.split()
        value, is_pair, wrong = " ".join(values), key.startswith("EQ_"), ""
        if key in lists:
            if len(values) != 1 + is_pair:
                wrong = f"expected {'two values that count as equal' if is_pair else 'one label'}, found {value!r}"
            lists[key].append(tuple(values) if is_pair else value)
        elif key not in numbers:
            wrong = f"unknown parameter {key!r}; choose from {', '.join(sorted([*numbers, *_LISTS]))}"
        else:
            try:
                numbers[key] = int(value.partition("#")[0])
            except ValueError:
                wrong = f"{key} needs a whole number, not {value!r}"
        if numbers.get(key) and key in _OTHER_MEASURES:
            wrong = f"{key} {numbers[key]} asks for {_OTHER_MEASURES[key]}, which is not computed here; remove it"
        if wrong:
            raise IncparseError(f"{path}:{line_number}: {wrong}")
    tuples: dict[str, Any] = {_LISTS[key]: tuple(values) for key, values in lists.items()}
    return EvalbParams(
        **tuples, labeled=bool(numbers["LABELED"]), cutoff_len=numbers["CUTOFF_LEN"], max_error=numbers["MAX_ERROR"],
        debug=numbers["DEBUG"],
    )  # fmt: skip


_LISTS = {
    "DELETE_LABEL": "delete_labels", "DELETE_LABEL_FOR_LENGTH": "delete_labels_for_length",
    "QUOTE_LABEL": "quote_labels", "EQ_LABEL": "eq_labels", "EQ_WORD": "eq_words",
    "DELETE_WORD": "delete_words",
}  # fmt: skip
"""The keys that may be repeated, and their fields."""
_OTHER_MEASURES = {
    "DISC_ONLY": "discontinuous constituents alone", "DELETE_ROOT_PRETERMS": "scores without the words below the root",
    "LA": "the leaf-ancestor measure", "TED": "the tree-edit distance", "DEP": "dependencies",
}  # fmt: skip
"""Keys of disco-dop, whose parameter files are otherwise EVALB's."""


# If the trees differ in length after deletion, a quote that only one tree deleted, such as `'` tagged POS in one and
# `''` in the other, is restored. This follows the program step by step, even for two adjacent quotes.

_QUOTES = frozenset(["'", '"', "/"])


@dataclass(slots=True)
class _Quote:
    word: str
    tag: str
    position: int  # among the remaining words
    n_opened: int  # phrases opened before the word
    around: set[int]  # numbers of the phrases around the word


def restore_quotes(gold: tuple[Tree, DeletedSide], parsed: tuple[Tree, DeletedSide], rules: Rules) -> None:
    """Restore the quotes that only one side deleted, in place."""
    gold_quotes, parsed_quotes = _quotes(gold[0], rules), _quotes(parsed[0], rules)
    for p, parsed_quote in enumerate(parsed_quotes):
        position = parsed_quote.position
        for g, gold_quote in enumerate(gold_quotes):
            if gold_quote.position != position or gold_quote.tag == parsed_quote.tag:
                continue
            gold_deleted, parsed_deleted = (q.tag in rules.deleted_tags for q in (gold_quote, parsed_quote))
            if gold_deleted and not parsed_deleted:
                _reinsert(gold_quotes, g, gold[1])
            elif parsed_deleted and not gold_deleted:
                _reinsert(parsed_quotes, p, parsed[1])


def _quotes(tree: Tree, rules: Rules) -> list[_Quote]:
    arrays, quotes, position, tags = tree.own_arrays, list[_Quote](), 0, rules.tags(tree)
    n_opened = [0, *accumulate(size > 1 for size in arrays.sizes)]  # phrases before each node
    for word, leaf, tag in zip(arrays.words, arrays.leaves, tags, strict=True):
        if tag in rules.quote_tags and word in _QUOTES:
            around, node = set(), arrays.parents[leaf]
            while node >= 0:
                around.add(n_opened[node])
                node = arrays.parents[node]
            quotes.append(_Quote(word, tag, position, n_opened[leaf], around))
        position += tag not in rules.deleted_tags
    return quotes


def _reinsert(quotes: Sequence[_Quote], which: int, side: DeletedSide) -> None:
    quote = quotes[which]
    side.words.insert(quote.position, quote.word)
    side.tags.insert(quote.position, quote.tag)
    for number, (label, start, end) in enumerate(side.brackets):
        behind = number >= quote.n_opened
        side.brackets[number] = label, start + behind, end + (behind or number in quote.around)
    for later in quotes[which:]:
        later.position += 1
