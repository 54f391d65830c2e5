"""The labels that span classifiers learn: states without context, and the masks of states that they leave."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_incparse.chart.forests.span_numbers import span_number
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.tree_rules import TAG_MARK, Step
from spacy_incparse.transforms.state_labels import ACTIVE, label_parts, passive_label

NONE = -1


def coarse_ends(state: str) -> tuple[str, str]:
    """Return the states without context of the top and the bottom of the chain that a state stands for."""
    parts = label_parts(state.removeprefix(TAG_MARK))
    highest, lowest = (passive_label([parts.categories[k]]) for k in (0, -1))
    if state.startswith(TAG_MARK):
        return (TAG_MARK + highest if len(parts.categories) == 1 else highest), TAG_MARK + lowest
    if parts.is_active:
        side = state.partition(ACTIVE)[2].partition("<")[0]
        return (f"{lowest}{ACTIVE}{side}<>",) * 2
    return highest, lowest


class SpanLabels:
    """The states of a grammar without their context, numbered; those of POS nodes are none of them.

    highest, lowest: for each state of the grammar, the label of the top and the bottom of the chain that it stands for,
    or -1.
    """

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        ends = [coarse_ends(state) for state in grammar.states]
        self.names = tuple(sorted({name for pair in ends for name in pair if not name.startswith(TAG_MARK)}))
        ids = {name: number for number, name in enumerate(self.names)}
        self.highest = np.array([ids.get(highest, NONE) for highest, _ in ends], np.int32)
        self.lowest = np.array([ids.get(lowest, NONE) for _, lowest in ends], np.int32)

    def of_steps(self, steps: Iterable[Step]) -> np.ndarray:
        """Return the labels of a tree: rows of span and label, sorted, int32 (n, 2).

        Spans of several words that have a node are among them whether they have a label or not.
        """
        found = set()
        for step in steps:
            state = self.grammar.state_ids.get(step.rule.parent, NONE)
            for labels in (self.highest, self.lowest) if state != NONE else ():
                if labels[state] != NONE:
                    found.add((span_number(step.start, step.end), int(labels[state])))
        return np.array(sorted(found), np.int32).reshape(-1, 2)
