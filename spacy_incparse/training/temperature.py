"""The temperature that turns a parser's scores into probabilities, fitted on sentences that it has not learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.parsing.parse import Input
from spacy_incparse.parsing.parser import Parser, requested_tags
from spacy_incparse.trees.tree import Tree

MAX_SENTENCES = 1000  # enough for one number
MAX_EXACT = 200  # sentences for parsers that know the probability of each phrase
EXACT_STEPS = 9  # in each of two rounds
LOWEST, HIGHEST = 1e-2, 1e6  # in averaged weights
N_STEPS, N_ROUNDS = 41, 4  # of the search for the best one


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
    if not parser.has_exact_probabilities or parser.members:
        return best_temperature(*scored_analyses(parser, gold[:MAX_SENTENCES], given))
    pairs = list(zip(gold[:MAX_EXACT], given, strict=False))

    def losses(temperatures: list[float]) -> np.ndarray:
        return sum((_phrase_losses(parser, *pair, temperatures) for pair in pairs), np.zeros(EXACT_STEPS))

    return _searched(losses, 0.1, 10.0, EXACT_STEPS, 2)


def scored_analyses(parser: Parser, gold: Sequence[Tree], given: Sequence[Input]) -> ScoredAnalyses:
    """Return the scores of the analyses of gold trees' words; more sentences may be given than trees."""
    search = NBestSearch(parser)
    found = ScoredAnalyses([], [])
    for tree, sentence in zip(gold, given, strict=False):
        parses = search.analyses(*sentence)
        found.scores.append([parse.score for parse in parses])
        found.is_right.append(parses[0].tree.spans() == tree.spans())
    return found


def _phrase_losses(parser: Parser, tree: Tree, given: Input, temperatures: Sequence[float]) -> np.ndarray:
    """Return the log loss of the phrases below the root of the parser's tree at each temperature."""
    found, right = parser.parse(*given).tree.spans()[1:], set(tree.spans())
    is_right = np.array([phrase in right for phrase in found], bool)
    losses = []
    for temperature in temperatures:
        posterior = parser.posterior(*given, temperature=temperature)
        if posterior is None:
            return np.zeros(len(temperatures))
        shares = np.array([posterior.phrases.get(phrase, 0.0) for phrase in found])
        losses.append(-float(np.log(np.clip(np.where(is_right, shares, 1 - shares), 1e-6, 1)).sum()))
    return np.array(losses)


def best_temperature(scores: Sequence[Sequence[float]], is_right: Sequence[bool]) -> float:
    """Return the temperature with the least log loss; `scores`: of each sentence's analyses, the parser's own first."""
    gaps = np.full((len(scores), max(map(len, scores))), np.inf)
    for i, row in enumerate(scores):
        gaps[i, : len(row)] = row[0] - np.array(row)
    right = np.array(is_right)
    return _searched(lambda found: [_log_loss(gaps, right, one) for one in found], LOWEST, HIGHEST, N_STEPS, N_ROUNDS)


def _searched(
    losses: Callable[[list[float]], Any], lowest: float, highest: float, n_steps: int, n_rounds: int
) -> float:
    """Return the temperature with the least loss; each round is between the neighbors of the last round's best."""
    low, high = np.log(lowest), np.log(highest)
    for _ in range(n_rounds):
        steps = np.linspace(low, high, n_steps)
        best = int(np.argmin(losses(np.exp(steps).tolist())))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, n_steps - 1)]
    return float(f"{np.exp(steps[best]):.4g}")


def _log_loss(gaps: np.ndarray, right: np.ndarray, temperature: float) -> float:
    ratios = -gaps / temperature  # 0 for the first one; above 0 if another tree is more probable
    top = ratios.max(axis=1)
    first = np.exp(-top) / np.exp(ratios - top[:, None]).sum(axis=1)
    return float(-np.log(np.clip(np.where(right, first, 1 - first), 1e-9, 1)).mean())
