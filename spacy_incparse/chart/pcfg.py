"""A probabilistic grammar: relative frequencies of rules, and of words by their numbers in a lexicon."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar, tree_steps
from spacy_incparse.chart.rule_scores import GLUE_SCORE, rule_scores
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.trees.arrays import TreeArrays

RARE_WEIGHT = 0.5  # observations that the tags of rare words are worth as a prior of a word's tags


@dataclass(frozen=True)
class WordModel:
    """How much a word's number in a lexicon speaks for each lexical state: log P(state | number) / P(state).

    By Bayes' rule this is log P(number | state) up to a constant of the word. Rare words share numbers by their shape
    and suffix; the states of a number are smoothed by those of words seen once. scores: (n_numbers, n_lexical).
    """

    lexicon: Lexicon
    rows: dict[int, int]  # number of a word -> row of `scores`
    scores: np.ndarray
    unseen: np.ndarray  # for numbers without a row

    @classmethod
    def estimate(cls, trees: Sequence[TreeArrays], grammar: Grammar, lexicon: Lexicon) -> WordModel:
        """Count the words of markovized trees."""
        places = {state: place for place, state in enumerate(grammar.lexical.tolist())}
        states = {name: number for number, name in enumerate(grammar.states)}
        counts: dict[int, Counter[int]] = defaultdict(Counter)
        rare = np.full(len(places), 1e-3)
        for arrays in trees:
            numbers, classes = lexicon.encode(arrays.words)
            steps = (step for step in tree_steps(arrays) if step.rule.parent and not step.rule.right)
            for step, number, word_class in zip(steps, numbers, classes, strict=True):
                place = places[states[step.rule.parent]]
                counts[number][place] += 1
                rare[place] += number == word_class
        table = np.zeros((len(counts), len(places)))
        for row, number in enumerate(counts):
            for place, count in counts[number].items():
                table[row, place] = count
        rare /= rare.sum()
        prior = (table.sum(axis=0) + rare) / (table.sum() + 1)
        smooth = table + RARE_WEIGHT * rare
        return cls(
            lexicon=lexicon,
            rows={number: row for row, number in enumerate(counts)},
            scores=np.log(smooth / smooth.sum(axis=1, keepdims=True)) - np.log(prior),
            unseen=np.log(rare) - np.log(prior),
        )

    def of_sentence(self, words: Sequence[str]) -> np.ndarray:
        """Return the scores of a sentence: float64 (n_words, n_lexical_rules)."""
        numbers, _ = self.lexicon.encode(words)
        rows = [self.rows.get(number, -1) for number in numbers]
        return np.array([self.unseen if row < 0 else self.scores[row] for row in rows]).reshape(len(words), -1)


@dataclass(frozen=True)
class Pcfg:
    """Log probabilities of rules given their parents.

    A state first gets a unary rule or none, then a binary or lexical one. So a rule's probability is relative to how
    often its parent was in that position: after the position of the child of a binary or root rule, all unary rules and
    "none" sum to 1. What was never seen has the log probability `GLUE_SCORE`, so that every tree has a score.

    rules: by rule. bare: by state, of having no unary rule.
    """

    grammar: Grammar
    rules: np.ndarray
    bare: np.ndarray
    words: WordModel | None = None

    @classmethod
    def estimate(cls, trees: Iterable[TreeArrays], grammar: Grammar, lexicon: Lexicon | None = None) -> Pcfg:
        """Return the relative frequencies of a grammar's rules; its trees are read for the lexicon's words only."""
        counts = grammar.counts.astype(float)
        n_states = len(grammar.states)
        binary, unary, lexical, roots = np.split(
            counts, [grammar.first_unary, grammar.first_lexical, grammar.first_root]
        )
        tops = np.bincount(grammar.roots, roots, n_states)
        for child in (1, 2):
            tops += np.bincount(grammar.binary[:, child], binary, n_states)
        unaries = np.bincount(grammar.unary[:, 0], unary, n_states)
        bases = np.bincount(grammar.binary[:, 0], binary, n_states) + np.bincount(grammar.lexical, lexical, n_states)
        totals = np.concatenate(
            [
                bases[grammar.binary[:, 0]],
                tops[grammar.unary[:, 0]],
                bases[grammar.lexical],
                np.full(len(roots), roots.sum()),
            ]
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            rules = np.log(counts / totals)
            bare = np.log((tops - unaries) / tops)
        words = WordModel.estimate(list(trees), grammar, lexicon) if lexicon is not None else None
        return cls(grammar, np.fmax(rules, GLUE_SCORE), np.fmax(bare, GLUE_SCORE), words)

    def scores(self, forest: Forest, words: Sequence[str] | None = None) -> np.ndarray:
        """Return the score of each edge; `words` count only if the model was estimated with a lexicon."""
        lexical = self.words.of_sentence(words) if self.words is not None and words is not None else None
        return cast("np.ndarray", rule_scores(forest, self.rules, self.bare, self.grammar.first_lexical, lexical))
