"""Which constraints on brackets a chart can meet, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.parsers.constraints import Constraint, is_about_root, may_be_met
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

MAX_REQUIRED = 60  # labels over the same words; see span_limits.pxd


def possible(constraints: Iterable[Constraint], grammar: Grammar, n_words: int) -> list[Constraint]:
    """Return the constraints that some tree may satisfy."""
    known = set(grammar.labels)
    n_required: Counter[tuple[int, int]] = Counter()
    found = []
    for constraint in constraints:
        span = constraint[:2]
        if constraint.label != ROOT:
            n_required[span] += constraint.is_required
        if may_be_met(constraint, known, n_words) and n_required[span] <= MAX_REQUIRED:
            found.append(constraint)
    return found


def limiting(constraints: Sequence[Constraint], n_words: int) -> list[Constraint]:
    """Return the constraints that are not only about the root, which is in every tree."""
    return [constraint for constraint in constraints if not is_about_root(constraint, n_words)]


def unmet(constraints: Sequence[Constraint], tree: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that a tree does not satisfy. Its root satisfies a required phrase."""
    root, *phrases = tree.spans() if constraints else [()]
    labelled, unlabelled = set(phrases), {phrase[1:] for phrase in phrases}

    def is_there(constraint: Constraint) -> bool:
        span, label = constraint[:2], constraint.label
        at_root = root[1:] == span and (label == ROOT or (label is None and constraint.is_required))
        return at_root or (span in unlabelled if label is None else (label, *span) in labelled)

    return tuple(constraint for constraint in constraints if is_there(constraint) != constraint.is_required)
