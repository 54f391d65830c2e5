"""The sides that the paper compares: their training, the choice of settings on held-out trees, and their scores.

All sides have the same grid: every number of passes up to the recipe's, and a narrower and a wider search than the
recipe's. The hybrid also has several weights of the generative score, in training and in the search. All sides return
their best tree, as in the paper; those of table 4 also return the tree of the best expected F, each with its own
temperature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from training_run import parse_and_score

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.errors import IncparseError
from spacy_incparse.generative.kind import GenerativeConfig, PerceptronKind
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.learner import retag
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.papers.collins_roark_2004.candidate_cache import RepeatedUseConfig, reuse_hypotheses
from spacy_incparse.parsing.nbest import max_expected_f
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.training.passes import TagSchedule, learn_pass
from spacy_incparse.training.preparation import Progress
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

Config = ParserConfig | GenerativeConfig
AnyParser = PerceptronParser | GenerativeParser
GetParser = Callable[[], AnyParser]

GOLD, PREDICTED, OWN = "gold", "predicted", "own"  # the treebank's tags, a tagger's, the parser's own
TENTH, LONGEST_STRETCH = 10, 20  # one stretch in ten is held out, with at most this many sentences
WEIGHT_FACTORS = (0.5, 1.0, 2.0)  # times the recipe's weight: the values for training
SEARCH_FACTORS = (0.7, 1.4)  # times that: the values for the search
WIDTH_FACTORS = ((1 / 3, 1), (10, 2), (100, 4))  # times the recipe's gamma, and times its beam size
SWEEPS = 5  # over the cache per pass; the paper has one after each sentence, which takes quadratic time
N_TREES, TEMPERATURES = 50, (15.0, 30.0, 60.0)  # for expected F; temperatures in units of perceptron weights
TEMPERATURE_FACTORS = (0.5, 1.0, 2.0)  # times the recipe's temperature of log probabilities
SCORES = ("const_f", "const_p", "const_r", "const_exact", "tag_acc", "flat", "relaxed", "n_sents")


@dataclass(frozen=True)
class Side:
    """A parser of the paper: a recipe with some settings changed.

    repeats: whether it makes repeated use of hypotheses of all sentences. risk: whether it also returns the tree of the
    best expected F. curve: its name in figure 5, if it is included.
    """

    name: str
    title: str
    recipe: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    repeats: bool = False
    risk: bool = False
    curve: str = ""

    def settings(self, lang: str, n_sentences: int) -> tuple[Config, int, HeadRules]:
        """Return the settings, given the number of training sentences, the maximum number of passes and head rules."""
        recipe = read_recipe(self.recipe, lang=lang)
        config = recipe.parser_config
        if self.repeats:
            cache = {"cache_size": n_sentences, "cache_interval": max(1, n_sentences // SWEEPS)}
            config = RepeatedUseConfig(**config.to_dict(), **cache)
        return replace(config, **self.changes), recipe.max_epochs, recipe.heads


GENERATIVE = Side("generative", "Generative", "generative", risk=True)
PERCEPTRON = Side("perceptron", "Perceptron (baseline)", "paper", curve="early update")
PUNCTUATION = Side("punctuation", "Perceptron (w/ punctuation features)", "paper+punct", risk=True)
HYBRID = Side("hybrid", "Generative + Perceptron (w/ punct)", "hybrid", risk=True)
# The same as PUNCTUATION, unless the hybrid's recipe has other training settings.
HYBRID_ALONE = Side(
    "hybrid-alone",
    "Perceptron of the hybrid's recipe",
    "hybrid",
    {"generative_weight": 0.0, "train_generative_weight": 0.0},
    risk=True,
)
FULL = Side("full", "Perceptron, no early update", "paper", {"update": "full"}, curve="neither refinement")
REPEATED = Side("repeated", "Perceptron, repeated use of hypotheses", "paper", repeats=True, curve="both refinements")


@dataclass(frozen=True)
class Corpus:
    """Trees, with one row of tags each for learning and one for parsing."""

    trees: Sequence[Tree]
    tags: Sequence[Any]
    given: Sequence[Any]

    @classmethod
    def of(cls, trees: Sequence[Tree], kind: str, predicted: Sequence[Any]) -> Corpus:
        """Return the trees with tags of one kind; `predicted` contains a tagger's tags."""
        gold = [tree.tags for tree in trees]
        if kind == OWN:
            return cls(trees, gold, [[None] * len(tree.words) for tree in trees])
        tags = predicted if kind == PREDICTED else gold
        return cls(trees, tags, tags)

    def where(self, is_chosen: Callable[[int], bool]) -> Corpus:
        """Return a part, given the indices of its sentences."""
        chosen = [number for number in range(len(self.trees)) if is_chosen(number)]
        return Corpus(*([column[number] for number in chosen] for column in (self.trees, self.tags, self.given)))


@dataclass(frozen=True)
class Treebank:
    """A treebank with one kind of tags; the train part is split again, to fit parsers and to choose settings."""

    train: Corpus
    dev: Corpus

    def __post_init__(self) -> None:
        if len(self.train.trees) < TENTH:
            raise IncparseError(f"{len(self.train.trees)} sentences to train on: there must be {TENTH} or more")

    @cached_property
    def fit(self) -> Corpus:
        """The sentences to train on while choosing settings."""
        return self.train.where(lambda number: not self._is_held_out(number))

    @cached_property
    def held_out(self) -> Corpus:
        """The sentences to choose settings on: whole stretches, because sentences of one text are similar."""
        return self.train.where(self._is_held_out)

    def _is_held_out(self, number: int) -> bool:
        stretch = max(1, min(LONGEST_STRETCH, len(self.train.trees) // (5 * TENTH)))
        return number // stretch % TENTH == TENTH - 1


def variants(config: Config, weights: Sequence[float] | None = None) -> list[Config]:
    """Return the settings to train with; those of a hybrid differ in the weight of the generative score.

    weights: the weights in training; the ratio to the weight in the search stays the same.
    """
    if isinstance(config, GenerativeConfig) or not config.is_hybrid:
        return [config]
    own = config.train_generative_weight
    factors = [weight / own for weight in weights] if weights else WEIGHT_FACTORS
    return [
        replace(config, train_generative_weight=factor * own, generative_weight=factor * config.generative_weight)
        for factor in factors
    ]


def searches(config: Config) -> list[dict[str, Any]]:
    """Return the search widths to try, starting with the config's own."""
    gamma, beam_size = config.gamma or 0.0, config.beam_size
    if isinstance(config, ParserConfig):
        widths = [(factor * gamma, more * beam_size) for factor, more in WIDTH_FACTORS]
    else:  # gamma is a probability: a lower gamma gives a wider filter
        widths = [(min(gamma / factor**2, 1.0), more * beam_size) for factor, more in WIDTH_FACTORS]
    return [{}, *({"gamma": width, "beam_size": most} for width, most in widths)]


def search_weights(config: Config) -> list[dict[str, Any]]:
    """Return the weights of the generative score to try in the search, starting with the config's own."""
    if isinstance(config, GenerativeConfig) or not config.is_hybrid:
        return [{}]
    return [{}, *({"generative_weight": factor * config.generative_weight} for factor in SEARCH_FACTORS)]


def temperatures(config: Config) -> list[float]:
    """Return the temperatures to try for expected F, in units of the scores."""
    if isinstance(config, ParserConfig) or config.choose_temperature is None:
        return list(TEMPERATURES)
    return [factor * config.choose_temperature for factor in TEMPERATURE_FACTORS]


class Answering:
    """A parser that returns its best tree or, given a temperature, the tree of the best expected F."""

    def __init__(self, parser: AnyParser, temperature: float | None):
        self._parser, self._temperature = parser, temperature

    def parse_batch(self, sentences: Iterable[tuple[Sequence[str], Any]]) -> list[Parse]:
        """Return the parses of sentences, each given as words and tags."""
        return [self._parse(words, tags) for words, tags in sentences]

    def _parse(self, words: Sequence[str], tags: Any) -> Parse:
        parses = self._parser.nbest(words, tags, 1 if self._temperature is None else N_TREES)
        return parses[0] if len(parses) == 1 or self._temperature is None else max_expected_f(parses, self._temperature)


def train_passes(
    config: Config, corpus: Corpus, heads: HeadRules, n_passes: int, seed: int, progress: Progress
) -> Iterator[GetParser]:
    """Train, and after each pass yield a function that returns its parser; a generative model has one pass."""
    if isinstance(config, GenerativeConfig):
        trees = [retag(tree, row) for tree, row in zip(corpus.trees, corpus.tags, strict=True)]
        generative = GenerativeParser.train(trees, config, heads)
        yield lambda: generative
        return
    learner = PerceptronKind().learner(corpus.trees, corpus.tags, config, heads, None)
    if isinstance(config, RepeatedUseConfig):
        reuse_hypotheses(learner, config)
    schedule = TagSchedule(corpus.trees, corpus.tags, learner, config.gold_tag_interval)
    for number in range(1, n_passes + 1):
        learn_pass(schedule.examples(number), learner, seed, number, progress)
        yield learner.parser


def try_settings(
    config: Config, treebank: Treebank, heads: HeadRules, n_passes: int, risk: bool, progress: Progress
) -> dict[str, list[float]]:
    """Return F on the held-out part after each pass, then with each of `searches`, `search_weights`, `temperatures`.

    Each step uses the best settings of the previous steps; temperatures are only tried with `risk`.
    """
    by_pass: list[float] = []
    best: AnyParser | None = None
    for get_parser in train_passes(config, treebank.fit, heads, n_passes, 0, progress):
        parser = get_parser()
        by_pass.append(_score(parser, treebank.held_out)["const_f"])
        best = parser if by_pass[-1] > max([-1.0, *by_pass[:-1]]) else best
    assert best is not None
    best, by_search = _try_searches(best, max(by_pass), searches(config), treebank.held_out)
    best, by_weight = _try_searches(best, max(by_search), search_weights(config), treebank.held_out)
    tried = temperatures(config) if risk else []
    by_temperature = [_score(best, treebank.held_out, temperature)["const_f"] for temperature in tried]
    return {"by_pass": by_pass, "by_search": by_search, "by_weight": by_weight, "by_temperature": by_temperature}


def _try_searches(
    parser: AnyParser, f: float, tried: Sequence[dict[str, Any]], held_out: Corpus
) -> tuple[AnyParser, list[float]]:
    """Return the parser with the best settings, and F for all settings; the first are its own, with the known F."""
    parsers = [parser, *(parser.with_search(**settings) for settings in tried[1:])]
    figures = [f, *(_score(parser, held_out)["const_f"] for parser in parsers[1:])]
    return parsers[figures.index(max(figures))], figures


def measure(
    config: Config,
    treebank: Treebank,
    heads: HeadRules,
    n_passes: int,
    n_last: int,
    temperature: float | None,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Train on the whole train part, and return the scores on the dev part after `n_passes`.

    n_last: the total number of passes, with F after each in "by_pass"; 0: stop after `n_passes`. With a temperature,
    "risk" contains the scores of the trees of the best expected F.
    """
    scores: dict[str, Any] = {}
    risk: dict[str, Any] = {}
    by_pass: list[float] = []
    passes = train_passes(config, treebank.train, heads, max(n_passes, n_last), seed, progress)
    for number, get_parser in enumerate(passes, 1):
        if number == n_passes or n_last:
            parser = get_parser()
            here = _score(parser, treebank.dev)
            by_pass.append(here["const_f"])
            if number == n_passes:
                scores = here
                risk = {} if temperature is None else _score(parser, treebank.dev, temperature)
    return scores | {"by_pass": by_pass if n_last else [], "risk": risk}


def _score(parser: AnyParser, corpus: Corpus, temperature: float | None = None) -> dict[str, Any]:
    scores = parse_and_score(Answering(parser, temperature), corpus.trees, corpus.given)
    return {key: scores[key] for key in SCORES}
