"""The temperature that turns a parser's scores into probabilities, fitted on sentences that it has not learned from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_incparse.parsers.nbest import NBestSearch
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.parsers.requested_tags import requested_tags
from spacy_incparse.trees.tree import Tree

MAX_SENTENCES = 1000  # enough for one number
LOWEST, HIGHEST = 1e-2, 1e6  # in averaged weights
N_STEPS, N_ROUNDS = 41, 4  # of the search for the best one: each round between the neighbors of the last round's best


def fit_temperature(parser: ConstituencyParser, gold: Sequence[Tree], tags: Sequence[Tags]) -> float | None:
    """Return the temperature at which the probability of a parser's tree best predicts that it is right; None without
    trees.

    This minimizes the log loss of "the parser's tree has all phrases of the gold tree" (Guo et al. 2017, section 4.2,
    for a yes or no, since the gold tree is often not in the list). Only the first `MAX_SENTENCES` trees are used. If
    the parser combines others, each of them gets its own temperature first.
    """
    if not gold:
        return None
    for member in parser.members:
        member.temperature = _fitted(member, gold, [requested_tags(row, member.tag_request) for row in tags])
    return _fitted(parser, gold, tags)


def _fitted(parser: ConstituencyParser, gold: Sequence[Tree], tags: Sequence[Tags]) -> float:
    search = NBestSearch(parser)
    scores, is_right = [], []
    for tree, row in zip(gold[:MAX_SENTENCES], tags, strict=False):
        parses = search.analyses(tree.words, row)
        scores.append([parse.score for parse in parses])
        is_right.append(parses[0].tree.spans() == tree.spans())
    return best_temperature(scores, is_right)


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
