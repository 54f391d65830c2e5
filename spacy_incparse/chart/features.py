"""The features of a grammar's edges: templates, made ready for the sentences of one grammar."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from spacy_incparse.chart.bound_features import BoundFeatures
from spacy_incparse.chart.feature_groups import FeatureGroups
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.sentence import ChartSentence
from spacy_incparse.chart.templates import MAX_OFFSET, SPAN_FIELDS, WORD_VALUES, EdgeTemplate, columns
from spacy_incparse.linear.templates import hash_text
from spacy_incparse.linear.words import Lexicon, word_class_of
from spacy_incparse.parsing.parse import best_tag

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
            "BoundFeatures", self._groups.bind(forest, self._values.words(sentence), self._values.ranks(sentence))
        )

    @cached_property
    def _groups(self) -> Any:
        groups: dict[tuple[int, str, str], list[EdgeTemplate]] = {}
        for template in self.templates:
            borders = "word" if template.kind == "word" else template.borders
            anchor = _ANCHORS.get(borders, _ANCHORS["ijk"])
            groups.setdefault((anchor, template.kind, template.outcome), []).append(template)
        grammar = self.grammar
        rows = [
            (anchor, [_numbers(template) for template in members], columns(grammar, kind, outcome))
            for (anchor, kind, outcome), members in groups.items()
        ]
        return FeatureGroups(rows, grammar.n_rules, len(grammar.states), grammar.first_lexical, self.table_bits)


def _numbers(template: EdgeTemplate) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Return a template's bias, and its fields as rows of value, border, offset and coefficient."""
    return hash_text(template.key), [
        (_VALUES[field.value], max("ijk".find(field.border), 0), field.offset, hash_text(f"{template.key} {name}") | 1)
        for name, field in zip(template.fields, template.parsed, strict=True)
    ]


PAD = MAX_OFFSET
BEFORE, BEHIND = 1, 2  # the values of what is outside of the sentence
CACHE_SIZE = 100_000  # words


class SentenceValues:
    """Computes the values of the words of sentences."""

    def __init__(self, grammar: Grammar, lexicon: Lexicon):
        self.grammar, self.lexicon = grammar, lexicon

    def words(self, sentence: ChartSentence) -> np.ndarray:
        """Return the values of a sentence's words: uint32 (len(WORD_VALUES), n_words + 2 * PAD), with the padding."""
        words = sentence.words
        found = np.full((len(WORD_VALUES), len(words) + 2 * PAD), BEHIND, np.uint32)
        found[:, :PAD] = BEFORE
        rows = found[:, PAD : PAD + len(words)]
        rows[0], rows[2], rows[6], rows[7] = self.lexicon.encode(words)
        rows[1], rows[3], rows[4] = np.array([_forms(word) for word in words], np.uint32).reshape(-1, 3).T
        rows[5] = [_checksum(best_tag(tag)) for tag in sentence.tags]
        return found

    def ranks(self, sentence: ChartSentence) -> np.ndarray:
        """Return the ranks of the lexical rules' tags: uint32 (n_words, n_lexical_rules); 0 for a word's only tag."""
        grammar = self.grammar
        found = np.zeros((len(sentence.words), len(grammar.lexical)), np.uint32)
        for row, tags in zip(found, sentence.tags, strict=True):
            if tags and not isinstance(tags, str):
                # The best tag has a rank of 1 to 15, by its lead, others of 16 to 31, by their distance.
                best = 1 + min(int(tags[1][1]).bit_length(), 14) if len(tags) > 1 else 0
                ranks = [best, *(16 + min(int(gap).bit_length(), 15) for _, gap in tags[1:])]
                for (name, _), rank in zip(tags, ranks, strict=True):
                    for rule in grammar.rules_of_tag.get(name, ()):
                        row[rule - grammar.first_lexical] = rank
        return found


@lru_cache(CACHE_SIZE)
def _forms(word: str) -> tuple[int, int, int]:
    """Return the values of a word that its letters alone tell: lower case, shape and suffix, and kind."""
    return _checksum(word.lower()), _checksum(word_class_of(word)), _checksum(_kind(word))


def _kind(word: str) -> str:
    """Return the kind of a word: "X" for a capital, "x" for another letter, "9" for a digit; else the character."""
    first = word[:1]
    if first.isalpha():
        return ("XX" if len(word) > 1 and word.isupper() else "X") if first.isupper() else "x"
    return "9" if any(map(str.isdigit, word)) else first


def _checksum(text: str) -> int:
    # Surrogates from broken input cannot be encoded otherwise. Values up to BEHIND have a meaning.
    return max(zlib.crc32(text.encode("utf8", "surrogatepass")), BEHIND + 1)
