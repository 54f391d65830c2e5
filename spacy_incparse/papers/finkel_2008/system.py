"""What the parser of Finkel et al. (2008) has of its own: grammar, prefilter, objective and gain."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import srsly

from spacy_incparse.chart.charts import ChartExample, span_number
from spacy_incparse.chart.config import ChartSettings
from spacy_incparse.chart.crf import CrfLearner, CrfSettings, EdgeLearner, EdgeLoss, log_likelihood
from spacy_incparse.chart.feature_groups import BoundFeatures
from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Rule, Step
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.parser import MAX_UNPRUNED_WORDS, ChartParser
from spacy_incparse.errors import ModelError
from spacy_incparse.papers.finkel_2008 import CrfConfig
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.transforms.binarize import label_parts, with_furthest_ancestor
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree

OPEN_SHARE = 0.01  # of the words seen once: tags with less are not open to new words


def gradient_steps(batch_size: int) -> CrfSettings:
    """Return the steps of section 3: of 0.1 at first, halved after five passes; the prior's strength is ours."""
    return CrfSettings(step=0.1, damping=0.0, l2=0.1, batch_size=batch_size, halved_after=5)


def relaxed(counts: Mapping[Rule, int]) -> Counter[Rule]:
    """Return the rules with those that differ from them in the furthest ancestor of their parent alone, counted as 0.

    Rules seen under one parent may be used under any other. A phrase gets only the ancestors that it was seen with, so
    that there are no new states but active ones: an active child follows its parent.
    """
    ancestors: dict[str, set[str]] = defaultdict(set)  # label without its furthest ancestor -> those it was seen with
    for rule in counts:
        found = _furthest(rule.parent)
        if found is not None and not label_parts(rule.parent).is_active:
            ancestors[_moved(rule.parent, "")].add(found)
    relaxed_counts = Counter(dict(counts))
    for rule in counts:
        if rule.right and _furthest(rule.parent) is not None:
            for ancestor in ancestors[_moved(rule.parent.partition("|")[0], "")]:
                right = (_moved(name, ancestor) if label_parts(name).is_active else name for name in rule.right)
                moved = rule._replace(parent=_moved(rule.parent, ancestor), right=tuple(right))
                relaxed_counts.setdefault(moved, 0)
    return relaxed_counts


@cache
def _furthest(state: str) -> str | None:
    """Return the furthest ancestor in a state's label; None if it has none or is a word's."""
    ancestors = () if not state or state.startswith(TAG_MARK) else label_parts(state).ancestors
    return ancestors[-1] if ancestors else None


_moved = cache(with_furthest_ancestor)


@dataclass(frozen=True)
class BooleanPruner:
    """The exact prefilter of section 2: leaves all trees of a sentence whose words have tags that they were seen with.

    `ForestBuilder` finds out which states over which spans are part of a tree. What is left to do before is the
    lexicon: a word may have the tags that training saw it with, and a word that was seen once at most also those that
    are open to new words.

    fine: the grammar of the charts. words: the tags of words. open_tags: those of words that are not among them.
    """

    fine: Grammar
    words: Mapping[str, Sequence[str]]
    open_tags: Sequence[str]

    @classmethod
    def train(cls, trees: Iterable[Tree], fine: Grammar) -> BooleanPruner:
        """Return the pruner with the tags of trees' words."""
        counts = count_tags(trees)
        of_rare = Counter(tag for found in counts.values() if found.total() == 1 for tag in found)
        open_tags = sorted(tag for tag, count in of_rare.items() if count >= OPEN_SHARE * of_rare.total())
        words = {word: sorted({*found, *(open_tags if found.total() == 1 else ())}) for word, found in counts.items()}
        return cls(fine, words, open_tags)

    def masks(self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()) -> list[np.ndarray]:
        """Return a mask of the tags that words without given ones may have; none if all have some; see `ChartModel`."""
        untagged = [place for place, tag in enumerate(tags) if not tag]
        if words is None or not untagged:
            return []
        fine = self.fine
        mask = np.ones((span_number(0, len(tags) + 1), len(fine.states)), np.uint8)
        for place in untagged:
            known = self.words.get(words[place], self.open_tags)
            rules = [rule - fine.first_lexical for tag in known for rule in fine.rules_of_tag.get(tag, ())]
            row = mask[span_number(place, place + 1)]
            row[fine.lexical] = 0
            row[fine.lexical[rules]] = 1
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
        return cls(fine, **content)


def count_tags(trees: Iterable[Tree]) -> dict[str, Counter[str]]:
    """Return how often each word has each of its tags."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for word, tag in zip(tree.words, tree.tags, strict=True):
            counts[word][tag] += 1
    return counts


class CrfParser(ChartParser):
    """A trained parser of whole charts."""

    kind = "crf"
    config_type: ClassVar[type[ChartSettings]] = CrfConfig
    pruner_type = BooleanPruner
    most_words = MAX_UNPRUNED_WORDS


class PaperLearner(ChartLearner):
    """A chart parser in training on whole charts: what is pruned is part of no tree."""

    is_jackknifed = False

    def _train_pruner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays], tags: Sequence[Tags]) -> BooleanPruner:
        return BooleanPruner.train(trees, self.grammar)


class FinkelLearner(PaperLearner):
    """The parser in training."""

    parser_type = CrfParser

    def _rules(self, counts: Counter[Rule]) -> Counter[Rule]:
        return relaxed(counts) if self.config.relaxed_rules else counts

    def _edge_learner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays]) -> EdgeLearner:
        return CrfLearner(self._features(trees), len(trees), gradient_steps(self.config.batch_size))


@dataclass
class CrfObjective:
    """The negative log likelihood of examples plus the L2 prior l2 / 2 |w|^2, to be minimized.

    examples: each with the features of its forest.
    """

    examples: Sequence[tuple[ChartExample, BoundFeatures]]
    l2: float = 0.0
    loss: EdgeLoss | None = None

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value at the weights, float64 (n_weights,), and the gradient, of the same shape."""
        value, gradient = self.l2 / 2 * float((weights * weights).sum()), self.l2 * weights
        for example, bound in self.examples:
            loss = None if self.loss is None else self.loss(example)
            found, derivatives = log_likelihood(bound.scores(weights), example, loss)
            value -= found
            features, sums = bound.feature_vector(derivatives)
            gradient[features] -= sums
        return value, gradient
