"""The features of a grammar's edges: templates, made ready for the sentences of one grammar."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

from spacy_incparse.chart.chart_sentence import ChartSentence
from spacy_incparse.chart.features.bound_features import BoundFeatures
from spacy_incparse.chart.features.edge_fields import SPAN_FIELDS, WORD_VALUES, EdgeField
from spacy_incparse.chart.features.edge_outcomes import columns
from spacy_incparse.chart.features.edge_templates import EdgeTemplate
from spacy_incparse.chart.features.feature_groups import FeatureGroups
from spacy_incparse.chart.features.sentence_values import SentenceValues
from spacy_incparse.chart.forests.forest import Forest
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.features.templates import hash_text
from spacy_incparse.lexicon.words import Lexicon

TABLE_BITS = 22
# The numbers of anchors and values in feature_groups.pxd.
_ANCHORS = {"": 0, "i": 1, "j": 2, "ij": 3, "word": 4, "k": 5, "ijk": 6}
_VALUES = {name: number for number, name in enumerate(WORD_VALUES)}
_VALUES |= {name: number for number, name in enumerate(SPAN_FIELDS, start=100)}


class EdgeFeatures:
    """Finds the features of the edges of forests. Not for several threads at a time.

    templates: see `edge_templates.resolve`. lexicon: numbers the words, and has their clusters. table_bits: a feature
    is one of about 2**table_bits weights; features that share one by chance share its weight.
    """

    def __init__(
        self, grammar: Grammar, templates: Sequence[EdgeTemplate], lexicon: Lexicon, *, table_bits: int = TABLE_BITS
    ):
        self.grammar, self.templates, self.lexicon, self.table_bits = grammar, tuple(templates), lexicon, table_bits
        self._values = SentenceValues(grammar, lexicon)

    @property
    def n_weights(self) -> int:
        """The number of weights that the features need."""
        return self._groups.n_weights

    def bind(self, sentence: ChartSentence, forest: Forest) -> BoundFeatures:
        """Return the features of the edges of a sentence's forest."""
        return cast(
            BoundFeatures, self._groups.bind(forest, self._values.words(sentence), self._values.ranks(sentence))
        )

    @cached_property
    def _groups(self) -> Any:
        groups: dict[tuple[int, str, str], list[EdgeTemplate]] = {}
        for template in self.templates:
            groups.setdefault((_anchor(template), template.kind, template.outcome), []).append(template)
        grammar = self.grammar
        return FeatureGroups(
            [
                (anchor, [_numbers(template) for template in members], columns(grammar, kind, outcome))
                for (anchor, kind, outcome), members in groups.items()
            ],
            grammar.n_rules,
            len(grammar.states),
            grammar.first_lexical,
            self.table_bits,
        )


def _anchor(template: EdgeTemplate) -> int:
    if template.kind == "word":
        return _ANCHORS["word"]
    return _ANCHORS.get(template.borders, _ANCHORS["ijk"])


def _numbers(template: EdgeTemplate) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Return a template's bias, and its fields as rows of value, border, offset and coefficient."""
    return hash_text(template.key), [
        (_VALUES[field.value], _border(field), field.offset, hash_text(f"{template.key} {name}") | 1)
        for name, field in zip(template.fields, template.parsed, strict=True)
    ]


def _border(field: EdgeField) -> int:
    return max("ijk".find(field.border), 0)
