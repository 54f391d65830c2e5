"""The result of parsing a sentence: a tree, its score, and the way it was found."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite
from numbers import Integral
from typing import Any, NamedTuple

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

Tag = str | Sequence[tuple[str, float]] | None
"""A word's tag; or several tags, best first, each with its distance from the best; or None if no tag is given."""

Tags = Sequence[Tag]
"""One entry per word."""

Input = tuple[Any, ...]
"""A sentence as `Parser.parse` takes it: words, tags, constraints, and what some kinds of parsers need beyond these."""


@dataclass(frozen=True)
class Parse:
    """A tree over all words of a sentence.

    score: on the parser's own scale; higher is better. source: "beam", or "chart" for a chart parser's; "relaxed" if
    the search was repeated for some word without the grammar's triples, or a chart's phrases stand side by side under
    the root; "flat" if the search found nothing and all words are attached to the root.
    unmet: the constraints that were dropped because no tree satisfies them.
    """

    tree: Tree
    score: float
    source: str
    unmet: tuple[Constraint, ...] = ()


def flat_tree(words: Sequence[str], tags: Tags) -> Tree:
    """Return a tree in which all words are attached to the root."""
    return tree_of_phrases([(ROOT, 0, len(words))], words, map(best_tag, tags))


def best_tag(tag: Tag) -> str:
    """Return the only tag of a word, or the best of several."""
    if not tag:
        return UNKNOWN_TAG
    return tag if isinstance(tag, str) else tag[0][0]


def check_sentence(words: Sequence[str], tags: Tags | None, *, need_tags: bool = False) -> None:
    """Raise ValueError if a sentence has no words, or not one tag per word, which must not be None if it is needed."""
    if not words or (tags is not None and len(words) != len(tags)):
        n_tags = 0 if tags is None else len(tags)
        raise ValueError(f"a sentence needs words and one tag per word, not {len(words)} words and {n_tags} tags")
    if need_tags and tags and not all(tags) and any(not isinstance(tag, str) and not tag for tag in tags):
        raise ValueError("a word has no tag: each needs one, or several with their distance to the best")


class Constraint(NamedTuple):
    """A phrase over the words from `start` up to but not including `end` that the tree must or must not contain.

    label: the label of the phrase; None stands for any label. The root TOP is always in the tree, and it satisfies a
    required phrase.
    """

    start: int
    end: int
    label: str | None = None
    is_required: bool = True


Constraints = Iterable[Constraint | tuple]
"""Constraints, or plain tuples with the same fields."""


def checked_constraints(constraints: Constraints, n_words: int) -> list[Constraint]:
    """Return the constraints without duplicates. Raises ConfigError if one is malformed or outside the sentence."""
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise ConfigError(f"the constraints are {constraints!r}: they must be a list of Constraint")
    return list(dict.fromkeys(_checked(constraint, n_words) for constraint in constraints))


def may_be_met(constraint: Constraint, labels: Container[str], n_words: int) -> bool:
    """Return whether some tree with phrases of these labels may meet a constraint."""
    if constraint.label == ROOT:
        return (constraint[:2] == (0, n_words)) == constraint.is_required
    return not constraint.is_required or constraint.label is None or constraint.label in labels


def is_about_root(constraint: Constraint, n_words: int) -> bool:
    """Return whether a constraint depends only on the root, so that it limits no search."""
    if constraint.label is None:
        return constraint.is_required and constraint[:2] == (0, n_words)
    return constraint.label == ROOT


def required_spans(constraints: Iterable[Constraint], unmet: Collection[Constraint]) -> list[tuple[int, int]]:
    """Return the spans of the required phrases that a tree has: those of all constraints but the `unmet` ones."""
    return [(one.start, one.end) for one in constraints if one.is_required and one not in unmet]


def _checked(constraint: Any, n_words: int) -> Constraint:
    if not isinstance(constraint, tuple | list) or not 2 <= len(constraint) <= len(Constraint._fields):
        raise ConfigError(f"{constraint!r} is not a constraint: pass Constraint(start, end, label, is_required)")
    found = Constraint(*constraint)
    are_whole = all(isinstance(bound, Integral) and not isinstance(bound, bool) for bound in found[:2])
    if not (are_whole and isinstance(found.label, str | None) and isinstance(found.is_required, bool)):
        raise ConfigError(
            f"{found} is not a valid constraint: start and end must be whole numbers, label a string or None, and "
            f"is_required a bool"
        )
    if not 0 <= found.start < found.end <= n_words:
        raise ConfigError(f"{found} is outside the sentence, which has {n_words} words")
    return found


@dataclass(frozen=True)
class Posterior:
    """The distribution of a sentence's trees at a temperature T: p(tree) = exp(score(tree) / T - log_total).

    log_total: the log of the sum of exp(score / T) over all trees; 0 if scores are log probabilities and T is 1.
    phrases: the probability of each phrase that has at least some.
    """

    temperature: float
    log_total: float
    phrases: Mapping[Phrase, float]

    def of_score(self, score: float) -> float:
        """Return the probability of a tree with this score."""
        return min(exp(score / self.temperature - self.log_total), 1.0)


_BLANKS = " \t\n\r\v\f"  # separate words; other blanks, such as the no-break space, can be part of a word
MOST_ANALYSES = 2**31 - 1  # the compiled code has 32 bits for it
NO_WORDS = "the session has no words yet: push() returns a session with one more, as in session = session.push('The')"


def check_word(word: str, tag: Tag, known: Sequence[str]) -> None:
    """Raise IncparseError if `word` is not a word, or if the parser does not know the tag."""
    if not isinstance(word, str):
        raise IncparseError(f"a word has to be a string, not {word!r}: for a token, push token.text")
    if not word.strip() or any(blank in word for blank in _BLANKS):
        raise IncparseError(f"{word!r} is not one word: push the words one by one")
    if isinstance(tag, str):
        if tag and tag not in known:
            choice = ", ".join(sorted(known))
            raise IncparseError(f"the parser does not know the tag {tag!r} (for {word!r}): choose one of {choice}")
    elif tag is not None:  # a tagger's choices, which may include tags that the parser does not know
        is_fine = isinstance(tag, list | tuple) and len(tag) > 0 and all(
            isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
            and isinstance(pair[1], int | float) and isfinite(pair[1])
            for pair in tag
        )  # fmt: skip
        if not is_fine:
            what = "pass a string, or a list of pairs of a tag and its distance from the best"
            raise IncparseError(f"{tag!r} is not a tag (for {word!r}): {what}")


def check_n_analyses(k: int) -> None:
    """Raise IncparseError unless the number of analyses is a positive integer."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise IncparseError(f"the number of analyses has to be a whole number, not {k!r}")
    if k < 1:
        raise IncparseError(f"the number of analyses has to be 1 or more, not {k}")
    if k > MOST_ANALYSES:
        raise IncparseError(f"the number of analyses has to be at most {MOST_ANALYSES:,}, not {k}")


class Violation(NamedTuple):
    """The reason why the grammar does not allow a word's move or a rule. kind: "tag", "chain", "triple", "context", or
    "rule".

    tag: not seen in training; the most frequent tag is used instead. chain: an unseen chain of new constituents down
    to the tag. triple: an unseen triple of parent, left sibling and next constituent. context: parent, left sibling and
    the next word's tag were seen so often together that only what was seen there is allowed. rule: a chart parser's
    grammar lacks a rule.
    """

    kind: str
    what: str


@dataclass(frozen=True)
class ScoredMove:
    """The move that attaches a word or ends the sentence, with its score.

    word, tag: None at the end. closings: the labels of the constituents that end, lowest first. chain: the labels of
    the constituents that begin, highest first. A label A/A comes from the left-corner transform: it covers the
    material that follows the A to its left in a larger A. closing_score, chain_score: in the same unit as the total
    score; chain_score includes tag and word. Both are None from the first move whose chain the grammar does not have.
    violation: why the grammar does not allow the move; None if it does.
    """

    word: str | None
    tag: str | None
    closings: tuple[str, ...]
    chain: tuple[str, ...]
    closing_score: float | None
    chain_score: float | None
    violation: Violation | None = None

    @property
    def score(self) -> float | None:
        """The score of the whole move."""
        if self.closing_score is None or self.chain_score is None:
            return None
        return self.closing_score + self.chain_score


@dataclass(frozen=True)
class ScoredRule:
    """A rule of a chart parser's grammar over the words from `start` up to but not including `end`, with its score.

    rule: as text, such as "S -> NP VP"; its labels are those of the grammar. score: None if the tree has none.
    violation: why the grammar does not allow the rule; None if it does.
    """

    rule: str
    start: int
    end: int
    score: float | None
    violation: Violation | None = None


@dataclass(frozen=True)
class TreeScore:
    """The score that the parser assigns to a tree, with the derivation.

    tree: with the tags used for scoring. score: as in `Parse`; None if the grammar lacks the chain for some word, or a
    rule. moves: of an incremental parser, one for each word, and one for the end. rules: of a chart parser, in
    pre-order; the sum of their scores is that of the tree up to a constant of the sentence.
    """

    tree: Tree
    score: float | None
    moves: tuple[ScoredMove, ...] = ()
    rules: tuple[ScoredRule, ...] = ()

    @property
    def is_derived(self) -> bool:
        """Whether the grammar allows all moves or rules, so that the search can find the tree."""
        return not self.reason

    @property
    def reason(self) -> str:
        """The first violation and the number of its words, from 1; "" if the grammar derives the tree."""
        for number, move in enumerate(self.moves, start=1):
            if move.violation:
                where = "the end" if move.word is None else f"word {number} {move.word!r}"
                return f"{where}: {move.violation.what} ({move.violation.kind})"
        for rule in self.rules:
            if rule.violation:
                where = f"words {rule.start + 1} to {rule.end}" if rule.end > rule.start + 1 else f"word {rule.end}"
                return f"{where}: {rule.violation.what} ({rule.violation.kind})"
        return ""
