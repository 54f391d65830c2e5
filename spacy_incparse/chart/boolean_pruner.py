"""The exact prefilter of Finkel, Kleeman & Manning (2008, section 2): what is part of no tree is left out, and no more.

`ForestBuilder` finds out which states over which spans are part of a tree, in a chart of true and false. What is left
to do before is the lexicon of that grammar: a word may have the tags that training saw it with, and a word that was
seen once at most also those that are open to new words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import srsly

from spacy_incparse.chart.grammar import Grammar, Step
from spacy_incparse.chart.span_numbers import span_number
from spacy_incparse.errors import ModelError
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.trees.tree import Tree

OPEN_SHARE = 0.01  # of the words seen once: tags with less are not open to new words


class BooleanPruner:
    """Leaves all trees of a sentence whose words have tags that they were seen with.

    fine: the grammar of the charts. words: the tags of words. open_tags: those of words that are not among them.
    """

    def __init__(self, fine: Grammar, words: Mapping[str, Sequence[str]], open_tags: Sequence[str]):
        self.fine, self.words, self.open_tags = fine, words, open_tags

    @classmethod
    def train(cls, trees: Sequence[Tree], fine: Grammar) -> BooleanPruner:
        """Return the pruner with the tags of trees' words."""
        counts = count_tags(trees)
        open_tags = sorted(open_tag_shares(counts))
        words = {word: sorted({*found, *(open_tags if found.total() == 1 else ())}) for word, found in counts.items()}
        return cls(fine, words, open_tags)

    def masks(self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()) -> list[np.ndarray]:
        """Return a mask of the tags that words without given ones may have; none if all have some. See `SpanPruner`."""
        untagged = [place for place, tag in enumerate(tags) if not tag]
        if words is None or not untagged:
            return []
        fine, n_words = self.fine, len(tags)
        mask = np.ones((n_words * (n_words + 1) // 2, len(fine.states)), np.uint8)
        for place in untagged:
            rules = {
                rule for tag in self.words.get(words[place], self.open_tags) for rule in fine.rules_of_tag.get(tag, ())
            }
            row = mask[span_number(place, place + 1)]
            row[fine.lexical] = 0
            row[fine.lexical[[rule - fine.first_lexical for rule in rules]]] = 1
        for step in gold:
            if step.rule.parent:
                mask[span_number(step.start, step.end), fine.state_ids[step.rule.parent]] = 1
        return [mask]

    def to_bytes(self) -> bytes:
        """Return the pruner as bytes, without the grammar of the charts."""
        return srsly.msgpack_dumps({"words": dict(self.words), "open_tags": list(self.open_tags)})

    @classmethod
    def from_bytes(cls, data: bytes, fine: Grammar) -> BooleanPruner:
        """Undo `to_bytes` for the grammar of the charts. Raises ModelError for other bytes."""
        content = srsly.msgpack_loads(data)
        if not isinstance(content, dict) or set(content) != {"words", "open_tags"}:
            raise ModelError("the model is damaged: it has no tags of words")
        return cls(fine, content["words"], content["open_tags"])


def count_tags(trees: Iterable[Tree]) -> dict[str, Counter[str]]:
    """Return how often each word has each of its tags."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for word, tag in zip(tree.words, tree.tags, strict=True):
            counts[word][tag] += 1
    return counts


def open_tag_shares(counts: Mapping[str, Counter[str]]) -> dict[str, float]:
    """Return the tags that are open to new words, each with its share of the words seen once."""
    of_rare = Counter(tag for found in counts.values() if found.total() == 1 for tag in found)
    n_rare = of_rare.total()
    return {tag: count / n_rare for tag, count in of_rare.items() if count >= OPEN_SHARE * n_rare}
