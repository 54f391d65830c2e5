"""The reranker's learners from the definitions, with dicts and sets, and one loop inside another."""

from math import exp, log, sqrt

import numpy as np


class SlowLists:
    """The lists of a RerankingData: for each, its candidates as (set of features, scores, matched, phrases, gold)."""

    def __init__(self, data):
        self.n_features, self.n_scores = data.n_features, data.scores.shape[1]
        self.lists = []
        for number in range(data.n_lists):
            rows = range(int(data.list_starts[number]), int(data.list_starts[number + 1]))
            self.lists.append([SlowCandidate(data, row, int(data.n_gold[number])) for row in rows])

    def best(self, candidates):
        """x_{i,1}: highest F, then highest base score, then first."""
        return min(range(len(candidates)), key=lambda j: (-candidates[j].f, -candidates[j].scores[0], j))

    def pairs(self):
        """All (better, worse, difference of F times gold brackets)."""
        for candidates in self.lists:
            best = candidates[self.best(candidates)]
            for other in candidates:
                if other is not best:
                    yield best, other, (best.f - other.f) * best.gold


class SlowCandidate:
    def __init__(self, data, row, gold):
        begin, end = data.feature_starts[row], data.feature_starts[row + 1]
        self.features = {int(k) for k in data.features[begin:end]}
        self.scores = [float(value) for value in data.scores[row]]
        self.matched, self.phrases, self.gold = int(data.n_matched[row]), int(data.n_phrases[row]), gold
        self.f = 2 * self.matched / (self.phrases + gold)

    def value(self, scores, weights):
        return sum(w * s for w, s in zip(scores, self.scores, strict=True)) + sum(weights[k] for k in self.features)


def slow_base_weight(data, by_f=False):
    """alpha_0 of section 2.3.1: where the slope of the loss of the base scores alone changes its sign."""
    pairs = [(a.scores[0] - b.scores[0], d if by_f else 1.0) for a, b, d in SlowLists(data).pairs()]
    low, high = -64.0, 64.0
    while high - low > 1e-14:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        slope = sum(-importance * margin * exp(-middle * margin) for margin, importance in pairs)
        low, high = (middle, high) if slope < 0 else (low, middle)
    return low


def slow_boosting(data, n_rounds, smoothing, by_f=False):
    """Section 2.3.1 and table 1 of Collins (2000): alpha_0, the weights, and the additions that the sums of W took."""
    lists, base_weight = SlowLists(data), slow_base_weight(data, by_f)
    pairs = list(lists.pairs())
    importance = [difference if by_f else 1.0 for _, _, difference in pairs]
    weights = [0.0] * lists.n_features
    margins = [base_weight * (better.scores[0] - worse.scores[0]) for better, worse, _ in pairs]
    n_additions = 0
    for _ in range(n_rounds):
        best = (0.0, None, 0.0)
        losses = [s * exp(-margin) for s, margin in zip(importance, margins, strict=True)]
        smooth = smoothing * sum(losses)
        for k in range(lists.n_features):
            only_better = [x for x, (a, b, _) in enumerate(pairs) if k in a.features and k not in b.features]
            only_worse = [x for x, (a, b, _) in enumerate(pairs) if k not in a.features and k in b.features]
            plus, minus = sum(losses[x] for x in only_better), sum(losses[x] for x in only_worse)
            n_additions += len(only_better) + len(only_worse)
            gain = (sqrt(plus) - sqrt(minus)) ** 2
            if gain > best[0]:
                best = (gain, k, 0.5 * log((plus + smooth) / (minus + smooth)))
        _, k, delta = best
        if k is None:
            break
        weights[k] += delta
        for x, (a, b, _) in enumerate(pairs):
            margins[x] += delta * ((k in a.features) - (k in b.features))
    return base_weight, weights, n_additions


def slow_boost_loss(data, base_weight, weights, by_f=False):
    total = 0.0
    for better, worse, difference in SlowLists(data).pairs():
        margin = better.value([base_weight], weights) - worse.value([base_weight], weights)
        total += (difference if by_f else 1.0) * exp(-margin)
    return total


def probabilities(values):
    weights = [exp(value - max(values)) for value in values]
    return [weight / sum(weights) for weight in weights]


def slow_log_objective(data, scores, weights, sigma, shared=False):
    """-log P of x_{i,1}, or of all candidates with the highest F, plus the prior."""
    lists = SlowLists(data)
    total = sum(w * w for w in weights) / (2 * sigma * sigma)
    for candidates in lists.lists:
        p = probabilities([c.value(scores, weights) for c in candidates])
        if shared:
            most = max(c.f for c in candidates)
            total -= log(sum(p_c for p_c, c in zip(p, candidates, strict=True) if c.f == most))
        else:
            total -= log(p[lists.best(candidates)])
    return total


def slow_risk_objective(data, scores, weights, sigma):
    """(1 - expected F) times the gold brackets, plus the prior."""
    n_gold = matched = phrases = 0.0
    for candidates in SlowLists(data).lists:
        p = probabilities([c.value(scores, weights) for c in candidates])
        n_gold += candidates[0].gold
        matched += sum(p_c * c.matched for p_c, c in zip(p, candidates, strict=True))
        phrases += sum(p_c * c.phrases for p_c, c in zip(p, candidates, strict=True))
    f = 2 * matched / (n_gold + phrases)
    return n_gold * (1 - f) + sum(w * w for w in weights) / (2 * sigma * sigma)


def slow_gradient(value, x, step=1e-5):
    moves = step * np.eye(len(x))
    return np.array([(value(x + move) - value(x - move)) / (2 * step) for move in moves])


class SlowGreedyLog:
    """Section 2.3.2 of Collins (2000): the whole distribution is calculated afresh for each weight that is tried."""

    def __init__(self, data, smoothing, tolerance, max_scaling):
        self.lists = SlowLists(data)
        self.best = [self.lists.best(candidates) for candidates in self.lists.lists]
        self.weights = [0.0] * data.n_features
        self.smoothing, self.tolerance, self.max_scaling = smoothing, tolerance, max_scaling

    def loss(self, weights):
        return -sum(log(p[best]) for p, best in zip(self.distributions(weights), self.best, strict=True))

    def distributions(self, weights):
        return [probabilities([c.value([1.0], weights) for c in candidates]) for candidates in self.lists.lists]

    def best_weight(self, k):
        delta = 0.0
        n_seen = self.smoothing + sum(k in cs[b].features for cs, b in zip(self.lists.lists, self.best, strict=True))
        for _ in range(self.max_scaling):
            n_expected = 2 * self.smoothing * probabilities([0.0, delta])[1]
            for p, candidates in zip(self.distributions(self.updated(k, delta)), self.lists.lists, strict=True):
                n_expected += sum(p_c for p_c, c in zip(p, candidates, strict=True) if k in c.features)
            step = log(n_seen / n_expected)
            delta += step
            if abs(step) < self.tolerance:
                break
        return delta

    def updated(self, k, delta):
        return [weight + delta * (k == other) for other, weight in enumerate(self.weights)]

    def round(self):
        """Update the feature with the best loss; return whether there was one."""
        before, best = self.loss(self.weights), (0.0, None, 0.0)
        for k in range(len(self.weights)):
            delta = self.best_weight(k)
            gain = before - self.loss(self.updated(k, delta))
            if abs(delta) > self.tolerance and gain > best[0]:
                best = (gain, k, delta)
        if best[1] is not None:
            self.weights = self.updated(*best[1:])
        return best[1] is not None


def slow_perceptron(data, orders, base_weight):
    """The average of all weight vectors, one after each list, over passes in these orders."""
    lists = SlowLists(data)
    weights, history = [0.0] * lists.n_features, []
    for number in (number for order in orders for number in order):
        candidates = lists.lists[number]
        values = [c.value([base_weight], weights) for c in candidates]
        guess, best = candidates[values.index(max(values))], candidates[lists.best(candidates)]
        for k in range(lists.n_features):
            weights[k] += (k in best.features) - (k in guess.features)
        history.append(list(weights))
    return [sum(column) / len(history) for column in zip(*history, strict=True)]
