"""The generative model from its definitions: dictionaries of counts, the recursion of the interpolation, all analyses.

Taken over from the model under test are its vocabulary (which words count as which) and its interpolation weights.
"""

from collections import Counter, defaultdict
from math import exp, floor, inf, log, log2
from types import SimpleNamespace
from typing import NamedTuple

from spacy_incparse.generative.counts import COUNT_BUCKETS, RATIO_BUCKETS
from spacy_incparse.generative.model import NODE, WORD
from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.incremental.grammar import derivation
from spacy_incparse.transforms.left_corner import transform
from tests.reference.features import Context, Facts, Open, Sentence
from tests.reference.search import SlowBeam

STOP = 0


class Hypothesis(NamedTuple):
    """A partial analysis: log probability, open constituents, tags so far, moves, and the rank of what it extends."""

    score: float
    stack: tuple[Open, ...]
    tags: tuple[int, ...]
    moves: tuple[tuple[int, int, tuple[int, ...]], ...]  # closings, tag, chain
    previous: int


class SlowGenerative(SlowBeam):
    """Probabilities of single decisions, and the search over them; beam_size 0 and gamma 0 keep everything."""

    def __init__(self, trees, model, config, *, beam_size=0, gamma=0.0):
        self.grammar, self.vocabulary = model.grammar, model.vocabulary
        self.outcome_filter_min_count = 0
        self.beam_size, self.gamma = beam_size or inf, gamma
        facts = SimpleNamespace(grammar=model.grammar, heads=model.heads, punctuation=())
        self.facts = Facts(facts, CONJUNCTIONS)
        self.root = 2 + model.grammar.labels.nonterminal_ids["TOP"]
        self.least = config.context_min_count
        self.weights = {"node": model.node_weights, "word": model.word_weights}
        self.counts = {"node": defaultdict(Counter), "word": defaultdict(Counter)}
        for tree in trees:
            self._count(transform(tree))
        self.class_counts, self.bases = self._class_counts(), {}

    # Counts

    def _count(self, tree):
        labels = self.grammar.labels
        words = self.vocabulary.encode(tree.words)
        tags = [labels.tag_ids[tag] for tag in tree.tags]
        sentence = Sentence(words, [0] * len(words), tags, False)
        stack = (Open(self.root, 0, ()),)
        for position, (n_closings, chain) in enumerate(derivation(tree)):
            for _ in range(n_closings):
                self._add("node", self.node_values(stack, sentence), STOP)
                stack = self.close(stack)
            for label in chain:
                symbol = 2 + labels.nonterminal_ids[label]
                self._add("node", self.node_values(stack, sentence), symbol)
                stack = (*stack, Open(symbol, position, ()))
            tag = tags[position]
            self._add("node", self.node_values(stack, sentence), self.facts.tag_symbol(tag))
            self._add("word", self.word_values(stack, sentence, tag), words[position])
            stack = self.attach(stack, (), tag, position)
        while stack:
            self._add("node", self.node_values(stack, sentence), STOP)
            stack = self.close(stack) if len(stack) > 1 else ()

    def _add(self, kind, values, outcome):
        for level in range(1, len(values) + 1):
            self.counts[kind][values[:level]][outcome] += 1

    def _class_counts(self):
        """(class, tag) -> how many words that are not known."""
        found = Counter()
        for values, words in self.counts["word"].items():
            if len(values) == 1:
                found.update({(word, values[0]): n for word, n in words.items() if not self.vocabulary.is_known(word)})
        return found

    # Probabilities

    def node_values(self, stack, sentence):
        context = Context(stack, sentence, 0, self.facts)
        first, *rest = [context.value(name) for name in NODE]
        return ((first, bool(stack[-1].children)), *rest)

    def word_values(self, stack, sentence, tag):
        context = Context(stack, sentence, 0, self.facts)
        return (tag, *(context.value(name) for name in WORD))

    def interpolated(self, kind, values, outcome, base):
        """P_k = lambda_k c(outcome) / c + (1 - lambda_k) P_{k-1}, from the least specific set on."""
        p = base
        for level in range(1, len(values) + 1):
            here = self.counts[kind].get(values[:level])
            if here is None or (level > 1 and here.total() < self.least):
                break
            weight = self.weights[kind][bucket(level - 1, here.total(), len(here))]
            p = weight * here[outcome] / here.total() + (1 - weight) * p
        return p

    def node(self, stack, sentence, outcome):
        """P(outcome | context), the outcome a symbol or STOP."""
        has_children = bool(stack[-1].children)
        if outcome == self.root or (outcome == STOP and not has_children):
            return 0.0
        n_outcomes = self.facts.n_nonterminals - 1 + self.facts.n_tags + has_children
        return self.interpolated("node", self.node_values(stack, sentence), outcome, 1 / n_outcomes)

    def word(self, stack, sentence, tag, word):
        """P(word | tag, context)"""
        return self.interpolated("word", self.word_values(stack, sentence, tag), word, self.word_base(word, tag))

    def word_base(self, word, tag):
        """P(class | tag), with one count of P(class) added, over the members of the class."""
        if (word, tag) not in self.bases:
            of = self.class_of(word)
            n_all = sum(self.class_counts.values())
            n_class = sum(n for (name, _), n in self.class_counts.items() if name == of)
            n_tag = sum(n for (_, other), n in self.class_counts.items() if other == tag)
            share = (n_class + 1) / (n_all + len(self.vocabulary.classes))
            members = 1 + sum(self.class_of(k) == of for k in range(1, len(self.vocabulary.words) + 1))
            self.bases[word, tag] = (self.class_counts[of, tag] + share) / (n_tag + 1) / members
        return self.bases[word, tag]

    def class_of(self, word):
        known = self.vocabulary.is_known(word)
        return self.vocabulary.class_number(self.vocabulary.words[word - 1], False) if known else word

    # Search

    def first(self):
        return [Hypothesis(0.0, (Open(self.root, 0, ()),), (), (), -1)]

    def sentence_of(self, words, tags):
        return Sentence(words, [0] * len(words), [*tags, *[0] * (len(words) - len(tags))], False)

    def extensions(self, beam, words, tags, relaxed=False):
        """All hypotheses that absorb the last of `words`, each with its log probability without the word's own."""
        position, found = len(words) - 1, []
        for rank, h in enumerate(beam):
            for n_closings, stack, score in self.closed_stacks(h, words, relaxed):
                for tag in tags:
                    for chain in self.chains(tag, relaxed):
                        if self.may_attach(stack[-1], chain, tag, position, relaxed):
                            before, now = self._attached(h, stack, chain, tag, words, score)
                            moves = (*h.moves, (n_closings, tag, chain))
                            after = self.attach(stack, chain, tag, position)
                            found.append((before, Hypothesis(now, after, (*h.tags, tag), moves, rank)))
        return found

    def _attached(self, h, stack, chain, tag, words, score):
        sentence = self.sentence_of(words, (*h.tags, tag))
        for label in chain:
            score += log(self.node(stack, sentence, 2 + label))
            stack = (*stack, Open(2 + label, len(words) - 1, ()))
        before = score + log(self.node(stack, sentence, self.facts.tag_symbol(tag)))
        return before, before + log(self.word(stack, sentence, tag, words[-1]))

    def closed_stacks(self, h, words, relaxed):
        """Attachment sites from the lowest up: (number of closings, stack, log probability)."""
        for n_closings, stack, score in self.sites(h, 0, self.sentence_of(words, h.tags), 0, relaxed):
            yield n_closings, stack, h.score + score

    def stop_score(self, stack, sentence, position):
        return log(self.node(stack, sentence, STOP))

    def push(self, beam, words, tags):
        """The beam after the last of `words`, and what `Beam.measures` gives of it."""
        found = self.extensions(beam, words, tags) or self.extensions(beam, words, tags, True)
        ranked = sorted((h for _, h in found), key=lambda h: -h.score)
        kept = ranked[:1]
        for h in ranked[1:]:
            n = len(kept)
            if n >= self.beam_size or (self.gamma and h.score <= ranked[0].score + log(self.gamma) + 3 * log(n)):
                break
            kept.append(h)
        before = log_sum(h.score for h in beam)
        word = log_sum(h.score for _, h in found) - before
        return kept, (word, log_sum(score for score, _ in found) - before, *self._expectations(kept))

    def _expectations(self, kept):
        total = log_sum(h.score for h in kept)
        shares = [exp(h.score - total) for h in kept]
        names = self.facts.names
        open_labels = [[names[c.symbol] for c in h.stack[1:]] for h in kept]
        return (
            -sum(p * log(p) for p in shares if p),
            sum(p * (h.moves[-1][0] + len(h.moves[-1][2]) + 2) for p, h in zip(shares, kept, strict=True)),
            sum(p * len(labels) for p, labels in zip(shares, open_labels, strict=True)),
            sum(p * sum("/" not in x for x in labels) for p, labels in zip(shares, open_labels, strict=True)),
            sum(p for p, h in zip(shares, kept, strict=True) if h.previous == 0),
        )

    def finish(self, beam, words):
        """Complete analyses as (log probability, moves), the best first."""
        for relaxed in (False, True):
            final = []
            for h in beam:
                *_, (_, stack, score) = self.closed_stacks(h, words, relaxed)
                if len(stack) == 1 and self.may_close(stack[0], 0, relaxed):
                    final.append((score + log(self.node(stack, self.sentence_of(words, h.tags), STOP)), h.moves))
            if final:
                return sorted(final, key=lambda pair: -pair[0])
        raise AssertionError("a relaxed search always ends")


def bucket(level, total, n_outcomes):
    by_count = min(floor(log2(total)), COUNT_BUCKETS - 1)
    by_ratio = min(floor(2 * log2(total / n_outcomes) + 1e-9), RATIO_BUCKETS - 1)
    return (level * COUNT_BUCKETS + by_count) * RATIO_BUCKETS + by_ratio


def log_sum(values):
    values = list(values)
    top = max(values)
    return top + log(sum(exp(value - top) for value in values))
