"""Features of edges from the definition: each edge's templates are hashed one by one."""

import numpy as np

from spacy_incparse.chart.crf import PAD
from spacy_incparse.chart.forest import GLUE_SCORE
from spacy_incparse.chart.grammar import IDENTITY
from spacy_incparse.chart.templates import WORD_VALUES, columns
from spacy_incparse.linear.templates import hash_text
from tests.reference.features import MASK, mix64

BASE = 0x9E3779B97F4A7C15
BUCKETS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40)


def bucket(length):
    return sum(length > limit for limit in BUCKETS) + 1


class EdgeReader:
    """Reads the features of a sentence's edges."""

    def __init__(self, features, sentence, forest):
        self.features, self.grammar, self.forest = features, features.grammar, forest
        self.words, self.ranks = features.values(sentence).tolist(), features.ranks(sentence).tolist()
        self.columns = {(t.kind, t.outcome): columns(self.grammar, t.kind, t.outcome) for t in features.templates}

    def features_of_edges(self):
        """For each edge the numbers of its weights, and a constant score."""
        nodes, edges = self.forest.node_array().tolist(), self.forest.edge_array().tolist()
        ends = [node[3] for node in nodes[1:]] + [len(edges)]
        found = []
        for (state, _, _, first), end in zip(nodes, ends, strict=True):
            for rule, i, k, j in edges[first:end]:
                is_glue = rule < IDENTITY
                number = self.grammar.n_rules + state if rule == IDENTITY else rule
                known = not is_glue and number < self.grammar.n_rules + len(self.grammar.states)
                found.append((self._weights(number, i, k, j) if known else [], GLUE_SCORE if is_glue else 0))
        return found

    def _weights(self, number, i, k, j):
        found = []
        for template in self.features.templates:
            column = int(self.columns[template.kind, template.outcome][number])
            if column >= 0:
                h = hash_text(template.key)
                for name, field in zip(template.fields, template.parsed, strict=True):
                    h += (hash_text(f"{template.key} {name}") | 1) * self._value(field, number, i, k, j)
                found.append(((h & MASK) >> (64 - self.features.table_bits)) + column)
        return found

    def _value(self, field, number, i, k, j):
        kinds = list(WORD_VALUES)
        if field.border:
            return self.words[kinds.index(field.value)][PAD + {"i": i, "j": j, "k": k}[field.border] + field.offset]
        lengths = {"LEN": j - i, "LEFT": k - i, "RIGHT": j - k}
        if field.value in lengths:
            return bucket(lengths[field.value])
        if field.value == "RANK":
            return self.ranks[i][number - self.grammar.first_lexical]
        if field.value == "SHORT":
            return min(j - i, 4)
        if field.value == "MIDDLE":
            return self.words[0][PAD + i + 1] if j - i == 3 else 0
        start, end = (i - 1, j + 1) if field.value == "SHAPE" else (i, j)
        h = 0
        for value in self.words[kinds.index("S" if field.value == "SHAPE" else "T")][PAD + start : PAD + end]:
            h = (h * BASE + mix64(value)) & MASK
        return mix64(h) >> 32


def scores(features, sentence, forest, weights):
    """The score of each edge."""
    found = EdgeReader(features, sentence, forest).features_of_edges()
    return np.array([weights[numbers].sum() + constant for numbers, constant in found])
