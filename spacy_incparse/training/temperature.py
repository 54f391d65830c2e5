"""The temperature that turns a parser's scores into probabilities, fitted on sentences that it has not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.parsing.parse import Input
from spacy_incparse.parsing.parser import Parser, requested_tags
from spacy_incparse.trees.tree import Tree

MAX_SENTENCES = 1000  # enough for one number
MAX_EXACT = 200  # sentences for parsers that know the probability of each phrase
EXACT_STEPS = 9  # in each of two rounds
LOWEST, HIGHEST = 1e-2, 1e6  # in averaged weights
N_STEPS, N_ROUNDS = 41, 4  # of the search for the best one: each round between the neighbors of the last round's best


class ScoredAnalyses(NamedTuple):
    """The scores of each sentence's analyses, the parser's own first, and whether that one has all gold phrases."""

    scores: list[list[float]]
    is_right: list[bool]


def fit_temperature(parser: Parser, gold: Sequence[Tree], given: Sequence[Input]) -> float | None:
    """Return the temperature at which the probability of a parser's tree best predicts that it is right; None without
    trees. given: what `parse` takes of each sentence.

    This minimizes the log loss of "the parser's tree has all phrases of the gold tree" (Guo et al. 2017, section 4.2,
    for a yes or no, since the gold tree is often not in the list). Only the first `MAX_SENTENCES` trees are used. For a
    parser with exact probabilities, it is the log loss of "a phrase of the parser's tree is right", on the first
    `MAX_EXACT` trees. If the parser combines others, each of them gets its own temperature first.
    """
    if not gold:
        return None
    for member in parser.members:
        request = member.tag_request
        own = [(words, requested_tags(tags, request), *more) for words, tags, *more in given]
        member.temperature = _fitted(member, gold, own)
    return _fitted(parser, gold, given)


def _fitted(parser: Parser, gold: Sequence[Tree], given: Sequence[Input]) -> float:
    if parser.has_exact_probabilities and not parser.members:
        return _fit_to_phrases(parser, gold[:MAX_EXACT], given[:MAX_EXACT])
    return best_temperature(*scored_analyses(parser, gold[:MAX_SENTENCES], given))


def scored_analyses(parser: Parser, gold: Sequence[Tree], given: Sequence[Input]) -> ScoredAnalyses:
    """Return the scores of the analyses of gold trees' words; more sentences may be given than trees."""
    search = NBestSearch(parser)
    found = ScoredAnalyses([], [])
    for tree, sentence in zip(gold, given, strict=False):
        parses = search.analyses(*sentence)
        found.scores.append([parse.score for parse in parses])
        found.is_right.append(parses[0].tree.spans() == tree.spans())
    return found


def _fit_to_phrases(parser: Parser, gold: Sequence[Tree], given: Sequence[Input]) -> float:
    """Return the temperature at which the probabilities of phrases best predict that these are right."""
    low, high = np.log(0.1), np.log(10.0)
    for _ in range(2):
        steps = np.linspace(low, high, EXACT_STEPS)
        losses = np.zeros(EXACT_STEPS)
        for tree, sentence in zip(gold, given, strict=True):
            losses += _phrase_losses(parser, tree, sentence, np.exp(steps).tolist())
        best = int(np.argmin(losses))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, EXACT_STEPS - 1)]
    return float(f"{np.exp(steps[best]):.4g}")


def _phrase_losses(parser: Parser, tree: Tree, given: Input, temperatures: Sequence[float]) -> list[float]:
    """Return the log loss of the phrases below the root of the parser's tree at each temperature."""
    found, right = parser.parse(*given).tree.spans()[1:], set(tree.spans())
    is_right = np.array([phrase in right for phrase in found], bool)
    losses = []
    for temperature in temperatures:
        posterior = parser.posterior(*given, temperature=temperature)
        if posterior is None:
            return [0.0] * len(temperatures)
        shares = np.array([posterior.phrases.get(phrase, 0.0) for phrase in found])
        losses.append(-float(np.log(np.clip(np.where(is_right, shares, 1 - shares), 1e-6, 1)).sum()))
    return losses


def best_temperature(scores: Sequence[Sequence[float]], is_right: Sequence[bool]) -> float:
    """Return the temperature with the least log loss; `scores`: of each sentence's analyses, the parser's own first."""
    gaps = np.full((len(scores), max(map(len, scores))), np.inf)
    for i, row in enumerate(scores):
        gaps[i, : len(row)] = row[0] - np.array(row)
    right = np.array(is_right)
    low, high = np.log(LOWEST), np.log(HIGHEST)
    for _ in range(N_ROUNDS):
        steps = np.linspace(low, high, N_STEPS)
        best = int(np.argmin([_log_loss(gaps, right, np.exp(step)) for step in steps]))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, N_STEPS - 1)]
    return float(f"{np.exp(steps[best]):.4g}")


def _log_loss(gaps: np.ndarray, right: np.ndarray, temperature: float) -> float:
    ratios = -gaps / temperature  # 0 for the first one; above 0 if another tree is more probable
    top = ratios.max(axis=1)
    first = np.exp(-top) / np.exp(ratios - top[:, None]).sum(axis=1)
    return float(-np.log(np.clip(np.where(right, first, 1 - first), 1e-9, 1)).mean())
