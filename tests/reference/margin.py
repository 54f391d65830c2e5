"""Max-margin training by the plain dual: a variable for each tree of each sentence."""

import numpy as np


def plain_dual(sentences, c, n_rounds=20_000, tolerance=1e-10):
    """The weights and the objective of equation 3 of Taskar et al. (2004).

    sentences: for each, the features of all trees (n_trees, n_features), their losses, and the gold tree's number.
    In each round, the pair of trees of each sentence that violates optimality most is solved exactly.
    """
    n_features = sentences[0][0].shape[1]
    weights = np.zeros(n_features)
    alphas = []
    for features, _, gold in sentences:
        alphas.append(np.eye(len(features))[gold])
    for _ in range(n_rounds):
        largest = 0.0
        for (features, losses, _), alpha in zip(sentences, alphas, strict=True):
            scores = losses + features @ weights
            up = int(np.argmax(scores))
            down = int(np.argmin(np.where(alpha > 0, scores, np.inf)))
            gain = scores[up] - scores[down]
            largest = max(largest, gain)
            change = features[down] - features[up]
            curvature = c * (change @ change)
            step = min(gain / curvature, alpha[down]) if curvature > 0 else alpha[down]
            if gain <= tolerance:
                continue
            alpha[up] += step
            alpha[down] -= step
            weights += c * step * change
        if largest <= tolerance:
            break
    dual = c * sum(alpha @ losses for alpha, (_, losses, _) in zip(alphas, sentences, strict=True))
    return weights, dual - weights @ weights / 2
