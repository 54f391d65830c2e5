"""Sentences as packed forests: tags, constraints, and what is done if the grammar has no tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.forest_builder import ForestBuilder
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.rule_tables import RuleTables, SpanLimits
from spacy_incparse.chart.sentence import Mask
from spacy_incparse.parsing.parse import Constraint, Tags, is_about_root, may_be_met
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class Chart:
    """The forest of a sentence.

    source: "chart"; "relaxed" if the grammar has no tree and neighbours may stand under no phrase; "flat" if even then
    there is none, or the forest would be too large, and it is empty. unmet: the constraints that were dropped because
    no tree satisfies them.
    """

    forest: Forest
    source: str
    unmet: tuple[Constraint, ...] = ()


class ChartBuilder:
    """Builds the charts of sentences under one grammar. Not for several threads at a time."""

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        self._builders: dict[bool, ForestBuilder] = {}  # by whether the grammar is relaxed

    def build(
        self, tags: Tags, constraints: Sequence[Constraint] = (), masks: Sequence[Mask] = (), *, relax: bool = True
    ) -> Chart:
        """Return the chart of a sentence.

        tags: for each word its tag, or several with their scores, of which only the tags count here; None stands for
        all tags that training saw, and so does a tag that it did not see. constraints: see `parsers.constraints`.
        masks: see `ForestBuilder.build`; where one leaves no tree, the next is tried, and none at all last. relax:
        whether neighbours may stand under no phrase, and constraints may be dropped, where there is no tree.
        """
        words = [self.grammar.lexical_rules(tag) for tag in tags]
        kept = possible(constraints, self.grammar, len(words))
        chart = self._build(words, kept, masks, relax)
        if chart.source == "flat" and kept and relax:
            wanted, kept = kept, []
            for constraint in wanted:  # those that can be met together with those before them
                if self._build(words, [*kept, constraint], masks, True).forest:
                    kept.append(constraint)
            chart = self._build(words, kept, masks, relax)
        unmet = tuple(constraint for constraint in constraints if constraint not in kept)
        return Chart(chart.forest, chart.source, unmet)

    def _build(
        self, words: Sequence[Sequence[int]], constraints: Sequence[Constraint], masks: Sequence[Mask], relax: bool
    ) -> Chart:
        needed = [one for one in constraints if not is_about_root(one, len(words))]  # the root is in every tree
        nothing: Sequence[None] = (None,)
        # What a constraint requires may have been pruned. Without constraints, what masks leave is good enough.
        groups: list[list[Sequence[Mask | None]]] = [[masks, nothing]] if needed else [[masks], [nothing]]
        for group in groups:
            for source, is_relaxed in (("chart", False), ("relaxed", True))[: 1 + relax]:
                if is_relaxed not in self._builders:
                    self._builders[is_relaxed] = ForestBuilder(RuleTables(self.grammar, is_relaxed))
                builder = self._builders[is_relaxed]
                bounds = SpanLimits(self.grammar, builder.tables, needed, len(words)) if needed else None
                for mask in chain.from_iterable(group):
                    forest = builder.build(words, bounds, mask)
                    if forest:
                        return Chart(forest, source)
        return Chart(Forest(), "flat")


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


def unmet(constraints: Sequence[Constraint], tree: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that a tree does not satisfy. Its root satisfies a required phrase."""
    root, *phrases = tree.spans() if constraints else [()]
    labelled, unlabelled = set(phrases), {phrase[1:] for phrase in phrases}

    def is_there(constraint: Constraint) -> bool:
        span, label = constraint[:2], constraint.label
        at_root = root[1:] == span and (label == ROOT or (label is None and constraint.is_required))
        return at_root or (span in unlabelled if label is None else (label, *span) in labelled)

    return tuple(constraint for constraint in constraints if is_there(constraint) != constraint.is_required)
