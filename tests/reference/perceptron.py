"""The perceptron from the definitions: whole prefixes are compared, and all weight vectors added up for averages."""

from collections import Counter
from fractions import Fraction


class SlowPerceptron:
    """Learning of a SlowBeam's weights, which are a list that it changes, in units of 1 / scale.

    update: "early", "max_violation" or "full". margin and step_decay: as in ParserConfig.
    """

    def __init__(self, beam, update, margin=0, step_decay=0):
        self.beam, self.update = beam, update
        self.margin, self.step_decay = margin, step_decay
        self.scale = 64 if step_decay else 1
        self.n_changes = Counter()
        self.weights = beam.weights
        self.history = [list(self.weights)]

    def learn(self, sentence, gold):
        """Learn from a sentence and its moves; a chain that is None is missing in the grammar. True for an update."""
        n_known = next((k for k, (_, chain) in enumerate(gold) if chain is None), len(gold))
        levels = self._levels(sentence, gold[:n_known])
        change = self._choose(levels)
        if change:
            length, guess, complete = change
            self.apply(sentence, gold[:length], guess, complete)
        self.history.append(list(self.weights))
        return bool(change)

    def apply(self, sentence, gold, guess, complete):
        """w += Phi(gold) - Phi(guess) (figure 1)."""
        change = Counter(self.beam.features(sentence, gold, complete))
        change.subtract(self.beam.features(sentence, guess, complete))
        for feature, value in change.items():
            self.weights[feature] += value * self.step(feature)
            self.n_changes[feature] += value * value

    def step(self, feature):
        """The size of a feature's next change by 1, in units: 1 / sqrt(1 + step_decay * changes so far)."""
        return max(1, round_half_away(Fraction(self.scale / (1 + self.step_decay * self.n_changes[feature]) ** 0.5)))

    def relearn(self, sentence, gold, candidates, complete):
        """Figure 4, step 2, for one cached sentence; the first of equal candidates is the best, gold loses ties."""
        scores = [self.beam.score(self.beam.features(sentence, c, complete)) for c in candidates]
        best = candidates[scores.index(max(scores))]
        gold = gold[: len(best)]
        if best == gold or self.beam.score(self.beam.features(sentence, gold, complete)) > max(scores):
            return False
        self.apply(sentence, gold, best, complete)
        return True

    def _levels(self, sentence, gold):
        """For each prefix of gold, and for all of it complete: what `_level` says of it."""
        beam, levels = [self.beam.start()], []
        for n in range(1, len(gold) + 1):
            beam, _ = self.beam.advance(beam, sentence, n - 1)
            levels.append(self._level(sentence, gold[:n], beam, False))
        if len(gold) == len(sentence.words):
            final, _ = self.beam.finish(beam, sentence)
            levels.append(self._level(sentence, gold, final, True))
            levels[-1] += (self._rival(gold, final),)
        return levels

    def _rival(self, gold, final):
        """The second best of complete parses, where gold is the best and leads it by less than the margin."""
        if list(final[0].moves) != list(gold) or len(final) < 2:
            return None
        return list(final[1].moves) if final[0].score - final[1].score < self.margin * self.scale else None

    def _level(self, sentence, gold, beam, complete):
        """(length, best moves, whether they are gold, their lead over gold, whether gold is in the beam, complete)"""
        gold_score = self.beam.score(self.beam.features(sentence, gold, complete))
        # Once gold has left the beam, it is out for good: its prefix is not in any later one.
        is_in = any(list(h.moves) == list(gold) for h in beam)
        return (
            len(gold),
            list(beam[0].moves),
            list(beam[0].moves) == list(gold),
            beam[0].score - gold_score,
            is_in,
            complete,
        )

    def _choose(self, levels):
        """The prefix to update at: (length, the better analysis, whether it is complete); None where gold is best."""
        if self.update == "early":
            levels = levels[: next((k + 1 for k, level in enumerate(levels) if not level[4]), len(levels))]
        if levels and levels[-1][5] and levels[-1][6]:
            return levels[-1][0], levels[-1][6], True
        if self.update == "max_violation":
            violated = [level for level in levels if not level[2] and level[3] >= 0]
            levels = [max(violated, key=lambda level: level[3])] if violated else []
        if not levels or levels[-1][2]:
            return None
        length, guess, _, _, _, complete = levels[-1][:6]
        return length, guess, complete

    def averages(self):
        """The exact mean of the weight vectors: the initial one and the one after each example."""
        n = len(self.history) * self.scale
        return [Fraction(sum(column), n) for column in zip(*self.history, strict=True)]


def quantised(averages, limit=32000, max_scale=64):
    """The averages in units of 1 / scale, halves rounded away from 0; scale: the largest power of 2 that fits."""
    scale = max_scale
    while scale > 1 and max(map(abs, averages)) * scale > limit:
        scale //= 2
    return [round_half_away(value * scale) for value in averages], scale


def round_half_away(value):
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole
