"""Sentences as packed forests: tags, constraints, and what is done if the grammar has no tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spacy_incparse.chart import constraints as limits
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.forest_builder import ForestBuilder
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.rule_tables import RuleTables
from spacy_incparse.chart.span_limits import SpanLimits
from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.parsers.parse import Tags


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

    def build(
        self, tags: Tags, constraints: Sequence[Constraint] = (), mask: np.ndarray | None = None, *, relax: bool = True
    ) -> Chart:
        """Return the chart of a sentence.

        tags: for each word its tag, or several with their scores, of which only the tags count here; None stands for
        all tags that training saw, and so does a tag that it did not see. constraints: see `parsers.constraints`.
        mask: see `ForestBuilder.build`; if nothing is left, the sentence is tried again without it. relax: whether a
        sentence without a tree is tried again with fewer demands.
        """
        words = [self.grammar.lexical_rules(tag) for tag in tags]
        kept = limits.possible(constraints, self.grammar, len(words))
        chart = self._build(words, kept, mask, relax)
        if chart.source == "flat" and kept and relax:
            kept = self._met(words, kept, mask)
            chart = self._build(words, kept, mask, relax)
        unmet = tuple(constraint for constraint in constraints if constraint not in kept)
        return Chart(chart.forest, chart.source, unmet)

    def _build(
        self, words: Sequence[Sequence[int]], constraints: Sequence[Constraint], mask: np.ndarray | None, relax: bool
    ) -> Chart:
        needed = limits.limiting(constraints, len(words))
        for source, builder in (("chart", self._strict), ("relaxed", self._relaxed)):
            if source == "chart" or relax:
                bounds = SpanLimits(self.grammar, builder.tables, needed, len(words)) if needed else None
                forest = builder.build(words, bounds, mask)
                if not forest and mask is not None:
                    forest = builder.build(words, bounds)
                if forest:
                    return Chart(forest, source)
        return Chart(Forest(), "flat")

    def _met(
        self, words: Sequence[Sequence[int]], constraints: Sequence[Constraint], mask: np.ndarray | None
    ) -> list[Constraint]:
        """Return the constraints that can be met together with those before them."""
        kept: list[Constraint] = []
        for constraint in constraints:
            if self._build(words, [*kept, constraint], mask, True).forest:
                kept.append(constraint)
        return kept

    @cached_property
    def _strict(self) -> ForestBuilder:
        return ForestBuilder(RuleTables(self.grammar))

    @cached_property
    def _relaxed(self) -> ForestBuilder:
        return ForestBuilder(RuleTables(self.grammar, is_relaxed=True))
