"""The systems of Finkel et al. (2008) and Taskar et al. (2004), and the product's own: how each is trained."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from chart_lab import Lab, Scorer
from chart_predictions import Predictor, jackknifed

from spacy_incparse.chart.charts import ChartExample, ChartSentence
from spacy_incparse.chart.crf import BracketLoss, CrfLearner, CrfSettings, EdgeFeatures
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.templates import NAMED_SETS, EdgeTemplateSet, resolve
from spacy_incparse.papers.finkel_2008 import SETS
from spacy_incparse.papers.finkel_2008.system import gradient_steps
from spacy_incparse.papers.taskar_2004 import GRAMMARS
from spacy_incparse.papers.taskar_2004.dual import DualExample, FactoredDual, MarginLearner, binarized_loss
from spacy_incparse.papers.taskar_2004.features import LexicalSpans
from spacy_incparse.transforms.binarize import Markovization

TABLE_BITS = 20
L2 = 0.1  # of conditional random fields
C = 1.0  # of the factored dual
TOLERANCE = 0.02  # of its duality gap
MAX_PASSES = 20

# Finkel et al., section 5: parents of all labels, head tags of VP, and the first child in active labels (<= 15 words),
# or the previous sibling, too (<= 40 words).
FINKEL_15 = Markovization(vertical=1, annotate_tags=True, head_tag_labels=("VP",), anchor=True)
FINKEL_40 = Markovization(vertical=1, annotate_tags=True, head_tag_labels=("VP",), anchor=True, horizontal=1)
# Taskar et al., section 6: the grammar of Klein & Manning (2003) without their splits by hand, in Chomsky normal form.
TASKAR = GRAMMARS["paper"]
HEAD = GRAMMARS["categories"]
X_BAR = Markovization()

FINKEL_FEATURES = "finkel"

Report = Callable[[Scorer, float], None]
"""Takes the scorer after a pass, and the CPU seconds of training so far."""


@dataclass(frozen=True)
class Side:
    """A system: its grammar, how it is trained, and how its trees are chosen (see `Lab.parse`)."""

    name: str
    grammar: Markovization
    train: Callable[[Lab, Report], Scorer]
    is_relaxed: bool = False
    temperature: float | None = None
    all_lengths: bool = False  # whether it is trained on sentences of any length


def generative(lab: Lab, _: Report) -> Scorer:
    """Return the scores of the probabilistic grammar."""
    return lambda sentence, forest: lab.pcfg.scores(forest, sentence.words)


def crf(features: str | EdgeTemplateSet, settings: CrfSettings, n_passes: int, *, softmax_margin: bool = False) -> Any:
    """Return the training of a conditional random field by stochastic gradient."""

    def train(lab: Lab, report: Report) -> Scorer:
        loss = BracketLoss.unbinarized(lab.grammar) if softmax_margin else None
        learner = CrfLearner(edge_features(lab, features), len(lab.examples), settings, loss)
        return _learn(lab, learner, n_passes, report)

    return train


def mira(features: str | EdgeTemplateSet, n_passes: int) -> Any:
    """Return the training with a large margin, one sentence at a time."""

    def train(lab: Lab, report: Report) -> Scorer:
        return _learn(lab, MarginLearner(edge_features(lab, features)), n_passes, report)

    return train


def factored_dual(*, with_words: bool, with_predictions: bool = False, pairwise: bool = True) -> Any:
    """Return the training of Taskar et al.: BASIC, LEXICAL or LEXICAL+AUX."""

    def train(lab: Lab, report: Report) -> Scorer:
        reader = LexicalSpans(lab.grammar, with_words=with_words)
        guesses = jackknifed(lab) if with_predictions else [None] * len(lab.trees)
        final = Predictor(lab) if with_predictions else None
        loss = binarized_loss(lab.grammar)
        examples = []
        for example, guess in zip(lab.examples, guesses, strict=True):
            forest, gold = example.forest, example.gold
            losses, constant = loss.of_edges(forest, gold)
            fixed = lab.pcfg.word_scores(forest, example.sentence.words)
            features = reader.read(forest, example.sentence.words, guess)
            examples.append(DualExample(forest, gold, features, losses + fixed, constant - fixed[gold].sum()))
        reader.numbers.is_open = False
        dual = FactoredDual(examples, len(reader.numbers), C, pairwise=pairwise)

        def score(sentence: ChartSentence, forest: Forest) -> np.ndarray:
            guess = final.of(sentence) if final else None
            found = reader.read(forest, sentence.words, guess).scores(dual.weights)
            return found + lab.pcfg.word_scores(forest, sentence.words)

        start = time.process_time()
        for gap in dual.passes(TOLERANCE, MAX_PASSES):
            print(f"    primal {gap.primal:.4f}  dual {gap.dual:.4f}  gap {100 * gap.relative:.2f} %", flush=True)
            report(score, time.process_time() - start)
        return score

    return train


def edge_features(lab: Lab, features: str | EdgeTemplateSet) -> EdgeFeatures:
    """Return the hashed features of a lab's grammar."""
    return EdgeFeatures(
        lab.grammar, resolve(features, named={**NAMED_SETS, **SETS}), lab.lexicon, table_bits=TABLE_BITS
    )


def shuffled(examples: Sequence[ChartExample], n_passes: int, seed: int = 0) -> Iterator[Iterator[ChartExample]]:
    """Yield the examples of each pass, in an order of its own."""
    order = random.Random(seed)
    for _ in range(n_passes):
        numbers = order.sample(range(len(examples)), len(examples))
        yield map(examples.__getitem__, numbers)


def _learn(lab: Lab, learner: CrfLearner | MarginLearner, n_passes: int, report: Report) -> Scorer:
    seconds = 0.0
    for examples in shuffled(lab.examples, n_passes):
        start = time.process_time()
        for example in examples:
            learner.learn(example)
        learner.finish_batch()
        seconds += time.process_time() - start
        report(learner.model().scores, seconds)
    return learner.model().scores


# Section 5: batches of 15 sentences and twenty passes (<= 15 words), of 30 and ten (<= 40); the gain is 0.1 at first,
# and halved after five passes.
SGD = {15: gradient_steps(15), 40: gradient_steps(30)}
PASSES = {15: 20, 40: 10}
RELAXED_PASSES = {15: 20, 40: 2}  # the charts of longer sentences have 1.9 billion edges: ten passes take hours
ADAGRAD = CrfSettings(step=0.02, l2=L2)  # small steps, smaller for features that are seen often
CHART = CrfSettings(step=0.05)  # the product's, as in configs/chart.cfg, and its number of passes
CHART_PASSES = 3


def finkel_sides(max_words: int) -> list[Side]:
    """Return the systems of Finkel et al., trained and tested on sentences up to a length."""
    grammar = FINKEL_15 if max_words <= 15 else FINKEL_40
    sgd, n, n_relaxed = SGD[max_words], PASSES[max_words], RELAXED_PASSES[max_words]
    return [
        Side("generative", grammar, generative),
        Side("generative-all", grammar, generative, all_lengths=True),
        Side("discriminative", grammar, crf("rules", sgd, n)),
        Side("feature-based", grammar, crf(FINKEL_FEATURES, sgd, n)),
        Side("relaxed", grammar, crf(FINKEL_FEATURES, sgd, n_relaxed), is_relaxed=True),
        Side("discriminative-adagrad", grammar, crf("rules", ADAGRAD, 10)),
        Side("feature-based-adagrad", grammar, crf(FINKEL_FEATURES, ADAGRAD, 10)),
        Side("relaxed-adagrad", grammar, crf(FINKEL_FEATURES, ADAGRAD, 10), is_relaxed=True),
    ]


def taskar_sides(grammar: Markovization) -> list[Side]:
    """Return the systems of Taskar et al. under one grammar."""
    return [
        Side("generative", grammar, generative),
        Side("basic", grammar, factored_dual(with_words=False)),
        Side("lexical", grammar, factored_dual(with_words=True)),
        Side("lexical+aux", grammar, factored_dual(with_words=True, with_predictions=True)),
    ]


PRODUCT = [
    Side("generative", X_BAR, generative),
    Side("crf", X_BAR, crf("span", CHART, CHART_PASSES), temperature=1.0),
    Side("softmax-margin", X_BAR, crf("span", CHART, CHART_PASSES, softmax_margin=True), temperature=1.0),
    Side("max-margin", X_BAR, mira("span", 10), temperature=1.0),
]
PROTOCOLS: dict[str, Callable[[int], list[Side]]] = {
    "finkel": finkel_sides,
    "taskar": lambda _: taskar_sides(TASKAR),
    "taskar-head": lambda _: taskar_sides(HEAD),
    "product": lambda _: PRODUCT,
}
