"""What the systems of Taskar et al. (2004, section 6) see of a forest's edges, and what two classifiers tell them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from spacy_incparse.chart.charts import ChartSentence, derived_tree
from spacy_incparse.chart.forest import GLUE_SCORE, Forest, rule_scores
from spacy_incparse.chart.grammar import Grammar, count_rules, tree_steps
from spacy_incparse.chart.learner import Jackknife
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.errors import ModelError
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

Span = tuple[int, int]
Feature = tuple[str, ...]
Predictions = dict[str, Collection[Span]]
MakeLexicon = Callable[[Sequence[Tree]], Lexicon]

BEFORE, BEHIND = "<s>", "</s>"  # what stands in for words outside the sentence
SHORT = 3  # spans of at most this many words have features of their own
STEP = 0.3  # of AdaGrad, for the flat classifier
L2 = 0.01  # strength of its prior, per sentence
N_EPOCHS = 10
N_FOLDS = 2  # the paper's
RARE_WEIGHT = 0.5  # observations that the tags of rare words are worth as a prior of a word's tags


class FeatureNumbers:
    """Numbers of features, from `first` on in the order in which they come; none for new ones once it is closed.

    features: those that have a number from the beginning; with them, it is closed.
    """

    def __init__(self, first: int = 0, features: Iterable[Hashable] | None = None):
        self.features: dict[Hashable, int] = {}
        self.is_open, self._first = True, first
        self.of(features or ())
        self.is_open = features is None

    def __len__(self) -> int:
        """Return the number of all features, with those before the first."""
        return self._first + len(self.features)

    def of(self, features: Iterable[Hashable]) -> list[int]:
        """Return the numbers of features, without those that have none."""
        numbers = self.features
        if self.is_open:
            return [numbers.setdefault(feature, len(self)) for feature in features]
        return [numbers[feature] for feature in features if feature in numbers]


def members_of(lists: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the place of the list, and the value, of each member of some lists: int64 (2, n_members)."""
    owners = np.repeat(np.arange(len(lists)), [len(members) for members in lists])
    return np.stack([owners, np.array([member for members in lists for member in members], np.int64)])


@dataclass(frozen=True)
class SparseFeatures:
    """The features of a forest's edges.

    rules: for each edge its own feature, groups: its group; -1 for none. members: the group and the feature of each
    member of a group, int64 (2, n_members), by group.

    BASIC has the rules alone, LEXICAL the words of spans too, LEXICAL+AUX also what other classifiers say of each span.
    The score of a word under its tag is fixed. Features of a span fire if a phrase is over it, whatever its label.
    """

    rules: np.ndarray
    groups: np.ndarray
    members: np.ndarray

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the summed weights of each edge's features: float64 (n_edges,)."""
        owners, features = self.members
        of_groups = np.bincount(owners, weights[features], minlength=int(self.groups.max(initial=-1)) + 1)
        return np.where(self.rules >= 0, weights[self.rules], 0.0) + np.append(of_groups, 0.0)[self.groups]

    def totals(self, edges: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of some edges and the summed value of each, where it is not 0.

        An edge of the value v adds v to each of its features. An edge may come several times.
        """
        owners, features = self.members
        has_rule, n_groups = self.rules[edges] >= 0, int(owners.max(initial=-1)) + 1
        shares = np.bincount(self.groups[edges] + 1, values, minlength=n_groups + 1)[owners + 1]
        all_features = np.concatenate([self.rules[edges][has_rule], features[shares != 0]])
        numbers, places = np.unique(all_features, return_inverse=True)
        sums = np.bincount(places, np.concatenate([values[has_rule], shares[shares != 0]]), minlength=len(numbers))
        return numbers[sums != 0], sums[sums != 0]


def span_words(words: Sequence[str], start: int, end: int) -> Iterator[Feature]:
    """Yield the features of the words in and around a span, each with its length if that is short."""
    n = end - start
    length = str(n) if n <= SHORT else ""
    before, first, last, behind = _borders(words, start, end)
    yield from (("first", first, length), ("before", before, length), ("last", last, length))
    yield from (("behind", behind, length), ("before+first", before, first, length))
    yield ("last+behind", last, behind, length)
    if n == SHORT:
        yield ("second", words[start + 1], length)


def _borders(items: Sequence[str], start: int, end: int) -> tuple[str, str, str, str]:
    """Return what stands before a span, at its two ends, and behind it."""
    behind = items[end] if end < len(items) else BEHIND
    return items[start - 1] if start else BEFORE, items[start], items[end - 1], behind


class LexicalSpans:
    """Reads the features of sentences under one grammar.

    with_words: whether spans have features of their words; if not, this is BASIC. numbers: of the features behind those
    of rules; by default, none has one yet.
    """

    def __init__(self, grammar: Grammar, *, with_words: bool = True, numbers: FeatureNumbers | None = None):
        self.grammar, self.with_words = grammar, with_words
        self.numbers = FeatureNumbers(grammar.n_rules) if numbers is None else numbers
        root = grammar.labels.index(ROOT)
        self._makes_phrase = np.array([any(label != root for label in labels) for labels in grammar.rule_labels])

    def read(
        self, forest: Forest, words: Sequence[str], predictions: Mapping[str, Collection[Span]] | None = None
    ) -> SparseFeatures:
        """Return the features of a forest's edges; new ones get a number as long as `numbers` is open.

        predictions: the spans that each classifier takes for phrases.
        """
        rules, starts, _, ends = forest.edge_array().astype(np.int64).T
        is_lexical = (rules >= self.grammar.first_lexical) & (rules < self.grammar.first_root)
        own = np.where((rules >= 0) & ~is_lexical, rules, -1)
        if not self.with_words and not predictions:
            return SparseFeatures(own, np.full(len(own), -1), members_of([]))
        makes_phrase = (rules >= 0) & self._makes_phrase[np.maximum(rules, 0)]
        places = np.where(makes_phrase, starts * (len(words) + 1) + ends, -1)
        spans, groups = np.unique(places[makes_phrase], return_inverse=True)
        of_edges = np.full(len(own), -1)
        of_edges[makes_phrase] = groups
        found = []
        for place in spans.tolist():
            pair = divmod(place, len(words) + 1)
            guesses = [("predicted", name, str(pair in spans)) for name, spans in (predictions or {}).items()]
            found.append(self.numbers.of([*(span_words(words, *pair) if self.with_words else ()), *guesses]))
        return SparseFeatures(own, of_edges, members_of(found))


@dataclass
class WordModel:
    """How much a word's number in a lexicon speaks for each lexical state: log P(state | number) / P(state).

    By Bayes' rule this is log P(number | state) up to a constant of the word. Rare words share numbers by their shape
    and suffix; the states of a number are smoothed by those of words seen once. numbers: of the words with scores.
    scores: (len(numbers) + 1, n_lexical); the last row is that of other words.
    """

    lexicon: Lexicon
    numbers: list[int]
    scores: np.ndarray

    def __post_init__(self) -> None:
        self._rows = {number: row for row, number in enumerate(self.numbers)}

    @classmethod
    def estimate(cls, trees: Sequence[TreeArrays], grammar: Grammar, lexicon: Lexicon) -> WordModel:
        """Count the words of markovized trees."""
        places = {grammar.states[state]: place for place, state in enumerate(grammar.lexical.tolist())}
        rows: dict[int, int] = {}
        seen: list[tuple[int, int]] = []
        rare = np.full(len(places), 1e-3)
        for arrays in trees:
            steps = (step for step in tree_steps(arrays) if step.rule.parent and not step.rule.right)
            for step, number, word_class in zip(steps, *lexicon.encode(arrays.words)[:2], strict=True):
                place = places[step.rule.parent]
                seen.append((rows.setdefault(number, len(rows)), place))
                rare[place] += number == word_class
        table = np.zeros((len(rows), len(places)))
        np.add.at(table, tuple(np.array(seen, np.int64).reshape(-1, 2).T), 1)
        rare /= rare.sum()
        prior = (table.sum(axis=0) + rare) / (table.sum() + 1)
        smooth = table + RARE_WEIGHT * rare
        shares = np.vstack([smooth / smooth.sum(axis=1, keepdims=True), rare])
        return cls(lexicon, list(rows), np.log(shares) - np.log(prior))

    def of_sentence(self, words: Sequence[str]) -> np.ndarray:
        """Return the scores of a sentence: float64 (n_words, n_lexical_rules)."""
        return self.scores[[self._rows.get(number, -1) for number in self.lexicon.encode(words)[0]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores in a form suitable for msgpack."""
        return {
            "lexicon": self.lexicon.to_dict(),
            "numbers": self.numbers,
            "scores": self.scores[:-1].astype("<f8").tobytes(),
            "unseen": self.scores[-1].astype("<f8").tobytes(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], n_lexical: int) -> WordModel:
        """Undo `to_dict` for a grammar with so many lexical rules. Raises ModelError for another's."""
        scores = np.frombuffer(data["scores"], "<f8").reshape(len(data["numbers"]), n_lexical)
        unseen = np.frombuffer(data["unseen"], "<f8")
        if unseen.shape != (n_lexical,):
            raise ModelError(f"the model is damaged: it has scores of {len(unseen)} lexical rules, not of {n_lexical}")
        return cls(Lexicon.from_dict(data["lexicon"]), data["numbers"], np.vstack([scores, unseen]))


@dataclass(frozen=True)
class Pcfg:
    """Log probabilities of rules given their parents.

    A state first gets a unary rule or none, then a binary or lexical one. So a rule's probability is relative to how
    often its parent was in that position: after the position of the child of a binary or root rule, all unary rules and
    "none" sum to 1. What was never seen has the log probability `GLUE_SCORE`, so that every tree has a score.

    rules: by rule. bare: by state, of having no unary rule.
    """

    grammar: Grammar
    rules: np.ndarray
    bare: np.ndarray
    words: WordModel | None = None

    @classmethod
    def estimate(cls, trees: Iterable[TreeArrays], grammar: Grammar, lexicon: Lexicon | None = None) -> Pcfg:
        """Return the relative frequencies of a grammar's rules; its trees are read for the lexicon's words only."""
        counts, n_states = grammar.counts.astype(float), len(grammar.states)
        firsts = [grammar.first_unary, grammar.first_lexical, grammar.first_root]
        binary, unary, lexical, roots = np.split(counts, firsts)
        tops = np.bincount(grammar.roots, roots, n_states)
        for child in (1, 2):
            tops += np.bincount(grammar.binary[:, child], binary, n_states)
        unaries = np.bincount(grammar.unary[:, 0], unary, n_states)
        bases = np.bincount(grammar.binary[:, 0], binary, n_states) + np.bincount(grammar.lexical, lexical, n_states)
        parents = bases[grammar.binary[:, 0]], tops[grammar.unary[:, 0]], bases[grammar.lexical]
        totals = np.concatenate([*parents, np.full(len(roots), roots.sum())])
        with np.errstate(divide="ignore", invalid="ignore"):
            rules = np.log(counts / totals)
            bare = np.log((tops - unaries) / tops)
        words = WordModel.estimate(list(trees), grammar, lexicon) if lexicon is not None else None
        return cls(grammar, np.fmax(rules, GLUE_SCORE), np.fmax(bare, GLUE_SCORE), words)

    def scores(self, forest: Forest, words: Sequence[str] | None = None) -> np.ndarray:
        """Return the score of each edge; `words` count only if the model was estimated with a lexicon."""
        lexical = self.words.of_sentence(words) if self.words and words is not None else None
        return cast("np.ndarray", rule_scores(forest, self.rules, self.bare, self.grammar.first_lexical, lexical))

    def word_scores(self, forest: Forest, words: Sequence[str]) -> np.ndarray:
        """Return log P(word | state) at lexical edges, up to a constant of each word, and 0 at other rules."""
        none = replace(self, rules=np.zeros_like(self.rules), bare=np.zeros_like(self.bare))
        return none.scores(forest, words)


@dataclass
class ConstituentClassifier:
    """Logistic regression over the words and tags of spans, learned by stochastic gradient (AdaGrad)."""

    numbers: FeatureNumbers
    weights: np.ndarray

    @classmethod
    def train(cls, trees: Sequence[Tree]) -> ConstituentClassifier:
        """Learn from all spans of trees, and their tags."""
        model, examples = cls(FeatureNumbers(), np.zeros(0)), []
        for tree in trees:
            phrases = phrase_spans(tree)
            answers = np.array([span in phrases for span in _spans(len(tree.words))], float)
            examples.append((*model._rows(tree.words, tree.tags), answers))
        model.numbers.is_open = False
        model.weights, squares = np.zeros(len(model.numbers)), np.full(len(model.numbers), 1e-8)
        order = np.random.default_rng(0)
        for _ in range(N_EPOCHS):
            for number in order.permutation(len(examples)).tolist():
                owners, features, answers = examples[number]
                scores = np.bincount(owners, model.weights[features], minlength=len(answers))
                errors = 1 / (1 + np.exp(-scores)) - answers
                touched, places = np.unique(features, return_inverse=True)
                gradient = np.bincount(places, errors[owners]) + L2 * model.weights[touched]
                squares[touched] += gradient**2
                model.weights[touched] -= STEP * gradient / np.sqrt(squares[touched])
        return model

    def to_dict(self) -> dict[str, Any]:
        """Return the classifier in a form suitable for msgpack."""
        return {"features": list(self.numbers.features), "weights": self.weights.astype("<f8").tobytes()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ConstituentClassifier:
        """Undo `to_dict`. Raises ModelError for anything else."""
        model = cls(FeatureNumbers(0, map(tuple, data["features"])), np.frombuffer(data["weights"], "<f8"))
        n_weights, n = len(model.weights), len(model.numbers)
        if n_weights != n:
            raise ModelError(f"the model is damaged: it has {n_weights} weights of {n} features of spans")
        return model

    def phrases(self, words: Sequence[str], tags: Sequence[str]) -> frozenset[Span]:
        """Return the spans that are more probably phrases than not."""
        owners, features = self._rows(words, tags)
        spans = _spans(len(words))
        scores = np.bincount(owners, self.weights[features], minlength=len(spans))
        return frozenset(span for span, score in zip(spans, scores.tolist(), strict=True) if score > 0)

    def _rows(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """Return the span of each feature and the features: int64 (2, n)."""
        return members_of([self.numbers.of(span_features(words, tags, *span)) for span in _spans(len(words))])


def span_features(words: Sequence[str], tags: Sequence[str], start: int, end: int) -> Iterator[Feature]:
    """Yield the features of a span's words, of the tags in and around it, and of their pairs."""
    before, first, last, behind = _borders(tags, start, end)
    yield ("any",)
    yield from span_words(words, start, end)
    yield from (("tag before", before), ("first tag", first), ("last tag", last), ("tag behind", behind))
    yield from (("tags before+first", before, first), ("tags last+behind", last, behind))
    yield from (("tags before+behind", before, behind), ("tags first+last", first, last))
    yield ("all tags", *tags[start:end])


def _spans(n_words: int) -> list[Span]:
    return [(start, end) for start in range(n_words) for end in range(start + 1, n_words + 1)]


@dataclass(frozen=True)
class SpanPredictor:
    """The best tree of a probabilistic grammar, and the flat classifier of single spans."""

    pcfg: Pcfg
    flat: ConstituentClassifier

    def of(self, sentence: ChartSentence, forest: Forest) -> Predictions:
        """Return the spans that each takes for phrases; the flat classifier sees the tags of the grammar's tree."""
        _, edges = viterbi(forest, self.pcfg.scores(forest, sentence.words))
        tree = derived_tree(forest, edges, self.pcfg.grammar, sentence.words, sentence.tags)
        return {"generative": phrase_spans(tree), "flat": self.flat.phrases(sentence.words, tree.tags)}


def jackknifed_predictors(
    pcfg: Pcfg, trees: Sequence[Tree], arrays: Sequence[TreeArrays], make_lexicon: MakeLexicon
) -> Jackknife:
    """Return the predictor of all trees, and those of each half, which predict the phrases of the other half.

    pcfg: of all trees. arrays: the markovized trees.
    """

    def train(places: Sequence[int]) -> SpanPredictor:
        chosen, shown = [trees[place] for place in places], [arrays[place] for place in places]
        counts = count_rules(shown)  # the rules of the grammar that they lack are improbable
        counted = np.array([counts[rule] for rule in pcfg.grammar.rules], np.int64)
        found = Pcfg.estimate(shown, replace(pcfg.grammar, counts=counted), make_lexicon(chosen))
        return SpanPredictor(found, ConstituentClassifier.train(chosen))

    return Jackknife(trees, N_FOLDS, SpanPredictor(pcfg, ConstituentClassifier.train(trees)), train)


def phrase_spans(tree: Tree) -> frozenset[Span]:
    """Return the spans of a tree's phrases, without the root."""
    return frozenset((start, end) for label, start, end in tree.spans() if label != ROOT)
