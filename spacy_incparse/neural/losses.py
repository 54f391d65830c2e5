"""Losses of a sentence's span scores, each with its gradient.

`scores[s, l]` is the score of label l over span s, float32 (n_spans, n_labels), spans as in `bracket_chart`; no label
scores 0. `gold` has the rows (span, label) of the gold tree.

- "max-margin" (Taskar et al. 2004; Stern et al. 2017, section 3.2): how far the best tree, with 1 added for each wrong
  and for each missing bracket, is above the gold tree. The gradient has as many entries as the trees have brackets.
- "crf" (Finkel et al. 2008): the log loss of the gold tree among all trees; the gradient is the difference between the
  probabilities of brackets and the gold ones.
- "local": the sum over spans of the log loss of the span's label among all labels and none, whatever the other spans.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spacy_incparse.neural.bracket_chart import best_brackets, bracket_marginals

Loss = Callable[[np.ndarray, int, np.ndarray], tuple[float, np.ndarray]]
"""From the scores, the number of words and the gold rows to the loss and the derivatives by the scores."""


def max_margin_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the structured hinge loss; 0 if the gold tree wins by at least its distance from every other tree."""
    spans, labels = gold[:, 0], gold[:, 1]
    rivals = scores + np.float32(1)
    rivals[spans, labels] -= 2  # a gold bracket is not wrong, and without it, one is missing
    best = rivals.argmax(axis=1)
    score, chosen = best_brackets(rivals[np.arange(len(best)), best].astype(np.float64), n_words)
    loss = score + len(gold) - float(scores[spans, labels].sum(dtype=np.float64))
    gradient = np.zeros_like(scores)
    gradient[chosen, best[chosen]] += 1
    gradient[spans, labels] -= 1
    return max(loss, 0.0), gradient


def crf_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the log loss of the gold tree."""
    spans, labels = gold[:, 0], gold[:, 1]
    log_z, gradient = label_marginals(scores, n_words)
    gradient[spans, labels] -= 1
    return log_z - float(scores[spans, labels].sum(dtype=np.float64)), gradient


def local_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the sum of the log losses of all spans."""
    spans, labels = gold[:, 0], gold[:, 1]
    highest = np.maximum(scores.max(axis=1), 0)
    shares = np.exp(scores - highest[:, None])
    totals = shares.sum(axis=1) + np.exp(-highest)
    loss = float((highest + np.log(totals)).sum(dtype=np.float64) - scores[spans, labels].sum(dtype=np.float64))
    shares /= totals[:, None]
    shares[spans, labels] -= 1
    return loss, shares


LOSSES: dict[str, Loss] = {"crf": crf_loss, "local": local_loss, "max-margin": max_margin_loss}


def label_marginals(scores: np.ndarray, n_words: int) -> tuple[float, np.ndarray]:
    """Return log Z and the probability of each label over each span: float32 (n_spans, n_labels)."""
    highest = scores.max(axis=1)
    shares = np.exp(scores - highest[:, None])
    totals = shares.sum(axis=1)
    log_z, brackets = bracket_marginals(highest.astype(np.float64) + np.log(totals), n_words)
    shares *= (brackets / totals).astype(shares.dtype)[:, None]
    return log_z, shares
