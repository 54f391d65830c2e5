"""Beam search from the definitions: every pair of attachment site and chain is tried, every hypothesis scored whole."""

from math import inf
from typing import NamedTuple

from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.incremental.grammar import END, NO_SIBLING
from spacy_incparse.incremental.grammar import SHIFT as GRAMMAR_SHIFT
from spacy_incparse.incremental.grammar import STOP as GRAMMAR_STOP
from tests.reference.features import Child, Extractor, Facts, Open, Sentence


class Hypothesis(NamedTuple):
    """A partial analysis: its score, its open constituents from the root down, its moves (closings, chain), tags."""

    score: int
    stack: tuple[Open, ...]
    moves: tuple[tuple[int, tuple[int, ...]], ...]
    tags: tuple[int, ...] = ()


class SlowBeam:
    """The search over a model (grammar, lexicon, head rules) with weights from a list; scores in units of the list.

    gamma, window: in the same units, None for plain top-N, and for no limit.
    """

    def __init__(self, model, config, weights, *, bits, beam_size, gamma, outcome_filter_min_count, window=None):
        self.grammar, self.model = model.grammar, model
        self.weights, self.beam_size, self.gamma = weights, beam_size, gamma
        self.window = inf if window is None else window
        self.outcome_filter_min_count, self.outcome_filter_min_share = (
            outcome_filter_min_count,
            config.outcome_filter_min_share,
        )
        self.facts = Facts(model, CONJUNCTIONS)
        self.extractor = Extractor(config.templates, self.facts, bits)
        self.root = 2 + model.grammar.labels.nonterminal_ids["TOP"]

    def sentence(self, words, tags):
        """Tags are names, or lists of (tag id, rank), the first of which is the tagger's."""
        numbers, classes, *clusters = self.model.lexicon.encode(words)
        known = self.grammar.labels.tag_ids
        ids = [known.get(tag, 0) if isinstance(tag, str) else tag[0][0] for tag in tags]
        alternatives = {k: tag for k, tag in enumerate(tags) if not isinstance(tag, str)}
        return Sentence(numbers, classes, ids, "?" in words[-3:], alternatives, clusters=clusters)

    # What may be done

    def chains(self, tag, relaxed):
        """The chains of a tag in their order; the bare tag can always attach when rules are relaxed."""
        chains = list(self.grammar.chains[tag])
        return [*chains, ()] if relaxed and () not in chains else chains

    def may_follow(self, constituent, tag, outcome):
        """Whether the outcomes seen in training allow one: a contexts' list counts where it was seen often enough."""
        sibling = constituent.children[-1].symbol - 2 if constituent.children else NO_SIBLING
        outcomes = self.grammar.contexts.get((constituent.symbol - 2, sibling, tag), {})
        total = sum(outcomes.values())
        if self.outcome_filter_min_count == 0 or total < self.outcome_filter_min_count:
            return True
        return outcomes.get(outcome, 0) >= max(1, self.outcome_filter_min_share * total)

    def has_triple(self, constituent, symbol):
        sibling = constituent.children[-1].symbol - 2 if constituent.children else NO_SIBLING
        return (constituent.symbol - 2, sibling, symbol) in self.grammar.triples

    def may_close(self, constituent, tag, relaxed):
        if not constituent.children or relaxed:
            return bool(constituent.children)
        return self.has_triple(constituent, GRAMMAR_STOP) and self.may_follow(constituent, tag, GRAMMAR_STOP)

    def may_attach(self, site, chain, tag, position, relaxed):
        """Triples are asked for at the site only; inside a chain the chain itself has been seen."""
        if relaxed:
            return True
        outcomes = [*chain, GRAMMAR_SHIFT]
        if not self.has_triple(site, chain[0] if chain else self.grammar.labels.tag_symbol(tag)):
            return False
        inside = [Open(2 + label, position, ()) for label in chain]
        return all(
            self.may_follow(*pair) for pair in zip([site, *inside], [tag] * len(outcomes), outcomes, strict=True)
        )

    # Moves

    def close(self, stack):
        """The stack after its lowest constituent has ended."""
        *above, parent, ended = stack
        child = Child(ended.symbol, ended.start, self.facts.head(ended))
        return (*above, parent._replace(children=(*parent.children, child)))

    def attach(self, stack, chain, tag, position):
        """The stack after a chain has been put on its lowest constituent, and the word under it."""
        stack = (*stack, *(Open(2 + label, position, ()) for label in chain))
        word = Child(self.facts.tag_symbol(tag), position, position)
        return (*stack[:-1], stack[-1]._replace(children=(*stack[-1].children, word)))

    def chain_features(self, stack, chain, sentence, position):
        tag = sentence.under[0] if sentence.under else sentence.tags[position]
        rank = self.chains(tag, relaxed=True).index(chain)
        found = self.extractor.chain(stack, rank, sentence, position)
        for label in chain:
            found = found + self.extractor.opening(stack, 2 + label, sentence, position)
            stack = (*stack, Open(2 + label, position, ()))
        return found + self.extractor.shift(stack, sentence, position)

    def move_features(self, stack, move, sentence, position):
        """The features of a move, and the stack after it."""
        n_closings, chain = move
        found = []
        for _ in range(n_closings):
            found += self.extractor.stop(stack, sentence, position)
            stack = self.close(stack)
        found += self.chain_features(stack, chain, sentence, position)
        return found, self.attach(stack, chain, sentence.tags[position], position)

    def end_features(self, stack, sentence):
        """The features of closing all that is open after the last word, the root too."""
        found = []
        while True:
            found += self.extractor.stop(stack, sentence, len(sentence.words))
            if len(stack) == 1:
                return found
            stack = self.close(stack)

    def features(self, sentence, moves, complete):
        """The features of the first moves of a derivation, and of its end if it is complete."""
        stack, found = self.start().stack, []
        for position, move in enumerate(moves):
            more, stack = self.move_features(stack, move, sentence, position)
            found += more
        return found + self.end_features(stack, sentence) if complete else found

    def score(self, features):
        return sum(self.weights[k] for k in features)

    # Search

    def start(self):
        return Hypothesis(0, (Open(self.root, 0, ()),), ())

    def parse(self, sentence, k, with_tags=False):
        """The k best analyses as (score, moves), or (score, moves, tags), and how often triples had to be left out."""
        beam, n_relaxed = [self.start()], 0
        for position in range(len(sentence.words)):
            beam, is_relaxed = self.advance(beam, sentence, position)
            n_relaxed += is_relaxed
        final, is_relaxed = self.finish(beam, sentence)
        found = [(h.score, h.moves, h.tags) if with_tags else (h.score, h.moves) for h in final[:k]]
        return found, n_relaxed + is_relaxed

    def advance(self, beam, sentence, position):
        """F_i = FILTER(ADV(F_{i-1})); where nothing is left, the same without triples and seen lists."""
        strict = self.successors(beam, sentence, position, False)
        found = strict or self.successors(beam, sentence, position, True)
        return self.filter([h for _, h in sorted(found, key=lambda pair: pair[0])]), not strict

    def finish(self, beam, sentence):
        """All hypotheses whose open constituents may end, with the score of that; the best first."""
        for relaxed in (False, True):
            final = []
            for rank, h in enumerate(beam):
                if self._may_end(h.stack, relaxed):
                    score = h.score + self.score(self.end_features(h.stack, sentence))
                    final.append((-score, rank, h._replace(score=score)))
            if final:
                return [h for _, _, h in sorted(final, key=lambda entry: entry[:2])], relaxed
        raise AssertionError("a relaxed search always ends")

    def _may_end(self, stack, relaxed):
        while self.may_close(stack[-1], END, relaxed):
            if len(stack) == 1:
                return True
            stack = self.close(stack)
        return False

    def successors(self, beam, sentence, position, relaxed):
        """All hypotheses that absorb the next word, each with its sort key: by score, then by predecessor's rank,
        number of closings and the chain's frequency."""
        found, best = [], -inf
        for tag, reading in sentence.readings(position):
            for rank, hypothesis in enumerate(beam):
                for n_closings, stack, closing_score in self.sites(hypothesis, tag, reading, position, relaxed):
                    if n_closings and hypothesis.score + closing_score < best - self.window:
                        break
                    for number, chain in enumerate(self.chains(tag, relaxed)):
                        if not self.may_attach(stack[-1], chain, tag, position, relaxed):
                            continue
                        features = self.chain_features(stack, chain, reading, position)
                        score = hypothesis.score + closing_score + self.score(features)
                        moves = (*hypothesis.moves, (n_closings, chain))
                        key = -score, rank, n_closings, (tag, number)
                        best = max(best, score)
                        stack_after = self.attach(stack, chain, tag, position)
                        found.append((key, Hypothesis(score, stack_after, moves, (*hypothesis.tags, tag))))
        return found

    def sites(self, hypothesis, tag, sentence, position, relaxed):
        """Attachment sites from the lowest up, for a word under a tag: (number of closings, stack, their score)."""
        stack, score = hypothesis.stack, 0
        n_closings = 0
        while True:
            yield n_closings, stack, score
            if len(stack) == 1 or not self.may_close(stack[-1], tag, relaxed):
                return
            score += self.stop_score(stack, sentence, position)
            stack = self.close(stack)
            n_closings += 1

    def stop_score(self, stack, sentence, position):
        return self.score(self.extractor.stop(stack, sentence, position))

    def filter(self, ranked):
        """Equation 3: h_k stays where score(h_k) >= score(h_0) - gamma / k^3; at most beam_size in all."""
        best = ranked[0].score
        kept = ranked[:1]
        for k, hypothesis in enumerate(ranked[1 : self.beam_size], start=1):
            if self.gamma is None or hypothesis.score >= best - self.gamma / k**3:
                kept.append(hypothesis)
        return kept
