"""A slow, plain tagger: contexts are tuples of strings, averages are taken after every sentence."""

import random
import re
from collections import Counter

from spacy_incparse.tagging.tagger import SCALE
from spacy_incparse.tagging.words import (
    BOUNDARIES,
    CLUSTER_TEMPLATES,
    FIELDS,
    TAG,
    TEMPLATES,
    TagDictionary,
    orient_quotes,
    parse_template,
    shorten,
    word_fields,
)


class SlowTagger:
    """Trained on construction; `weights` maps (context, tag) to the averaged weight in whole numbers of 1/SCALE."""

    def __init__(
        self, sentences, tags, *, n_epochs, seed, beam_size, margin, templates=None, clusters=None, separators="",
        **counts,
    ):  # fmt: skip
        self.dictionary = TagDictionary.from_corpus(sentences, tags, **counts)
        self.clusters = clusters
        if templates is None:
            templates = TEMPLATES + CLUSTER_TEMPLATES if clusters else TEMPLATES
        self.templates = [parse_template(text) for text in templates]
        self.labels = sorted({tag for row in tags for tag in row})
        parts = {tag: set(re.split(f"[{separators}]", tag)) if separators else set() for tag in self.labels}
        shared = Counter(part for found in parts.values() for part in found)
        self.parts = {part for part in shared if shared[part] > 1}
        self.outcomes = {tag: [tag, *(("part", part) for part in found & self.parts)] for tag, found in parts.items()}
        self.beam_size, self.margin = beam_size, margin
        self.weights = Counter()
        self.only_tags = {}
        self._train(sentences, tags, n_epochs, seed)
        self.only_tags = self.dictionary.only_tags

    def tag(self, words):
        rows = self._rows(words)
        beams = self._search(rows)
        return self._path(beams, len(words)) if words else []

    def k_best(self, words, k):
        rows, best = self._rows(words), self.tag(words)
        return [self._ranking(rows, best, i, k) for i in range(len(words))]

    def _ranking(self, rows, best, i, k):
        scores = {}
        for tag in self.labels:
            tags = [*best[:i], tag, *best[i + 1 :]]
            static = self._static(rows, i, tag)
            scores[tag] = static + sum(self._history(rows, tags, place) for place in range(i, min(i + 3, len(tags))))
        ranked = sorted(self.labels, key=lambda tag: (tag != best[i], -scores[tag], tag))
        return [(tag, min(scores[tag], scores[best[i]]) / SCALE) for tag in ranked[:k]]

    def _rows(self, words):
        before, after = BOUNDARIES
        shortened = [shorten(word) for word in orient_quotes(words)]
        rows = [word_fields(word, self.dictionary, self.clusters) for word in shortened]
        self.given = [self.only_tags.get(word) for word in shortened]
        return [before] * 2 + rows + [after] * 2

    def _contexts(self, rows, i, tags, with_tags):
        for number, template in enumerate(self.templates):
            if any(atom.field == TAG for atom in template) == with_tags:
                yield (number, *[self._value(rows, i, tags, atom) for atom in template])

    def _value(self, rows, i, tags, atom):
        if atom.field == TAG:
            return tags[i + atom.offset] if i + atom.offset >= 0 else None
        return rows[i + 2 + atom.offset][FIELDS.index(atom.field)]

    def _static(self, rows, i, tag):
        return self._sum(self._contexts(rows, i, (), False), tag)

    def _history(self, rows, tags, i):
        return self._sum(self._contexts(rows, i, tags, True), tags[i])

    def _sum(self, contexts, tag):
        return sum(self.weights.get((context, one), 0) for context in contexts for one in self.outcomes[tag])

    def _search(self, rows, gold=None):
        """For each word (score, tag id, node before, tag before), best first."""
        beams = []
        for i in range(len(rows) - 4):
            allowed = range(len(self.labels)) if not self.given[i] else [self.labels.index(self.given[i])]
            static = {tag: self._static(rows, i, self.labels[tag]) for tag in allowed} if not self.given[i] else {}
            if gold:
                static[self.labels.index(gold[i])] -= self.margin
            found = {}
            for node in range(len(beams[-1]) if beams else 1):
                path = self._path(beams, i, node)
                score = beams[-1][node][0] if beams else 0
                for tag in allowed:
                    local = static.get(tag, 0) + self._history(rows, [*path, self.labels[tag]], i)
                    new = (-score - local, tag, node)
                    state = (tag, path[-1] if path else None)
                    found[state] = min(found.get(state, new), new)
            beams.append([(-score, tag, node) for score, tag, node in sorted(found.values())[: self.beam_size]])
        return beams

    def _path(self, beams, n_words, node=0):
        tags = []
        for beam in reversed(beams[:n_words]):
            _, tag, node = beam[node]
            tags.append(self.labels[tag])
        return tags[::-1]

    def _train(self, sentences, tags, n_epochs, seed):
        order, generator, totals, n_steps = list(range(len(sentences))), random.Random(seed), Counter(), 0
        for _ in range(n_epochs):
            generator.shuffle(order)
            for number in order:
                self._learn(self._rows(sentences[number]), list(tags[number]))
                n_steps += 1
                for cell, weight in self.weights.items():
                    totals[cell] += weight
        signed = {cell: (2 * abs(total) * SCALE + n_steps) // (2 * n_steps) for cell, total in totals.items()}
        self.weights = {cell: size if totals[cell] > 0 else -size for cell, size in signed.items() if size}

    def _learn(self, rows, gold):
        beams = self._search(rows, gold)
        if self._path(beams, len(gold)) == gold:
            return
        score, largest, length = 0, 0, 0
        for i in range(len(gold)):
            score += self._static(rows, i, gold[i]) - self.margin + self._history(rows, gold, i)
            violation, last = beams[i][0][0] - score, self.labels[beams[i][0][1]]
            if violation >= largest and (violation > 0 or last != gold[i]):
                largest, length = violation, i + 1
        guess = self._path(beams, length)
        for tags, change in ((gold[:length], 1), (guess, -1)):
            for i in range(length):
                for with_tags in (False, True):
                    for context in self._contexts(rows, i, tags, with_tags):
                        for one in self.outcomes[tags[i]]:
                            self.weights[context, one] += change
