"""Train a reranker on n-best lists: its features, the choice of the learner's settings, and the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.significance import Bootstrap, compare
from spacy_incparse.evaluation.summaries import Scores
from spacy_incparse.parsing.nbest import max_expected_f
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.choice import ChoiceRule, How, Trial, base_f, best_trial, cross_validate
from spacy_incparse.rerank.data import RerankerWeights, RerankingData, build_data, first_candidates
from spacy_incparse.rerank.features import FeatureColumns, check_families, closed_class_tags
from spacy_incparse.rerank.learner import RerankLearner, find_learner, learner_names
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig
from spacy_incparse.rerank.second_scores import SECOND_SCORES, columns_of, train_second_score
from spacy_incparse.settings import MOST, check_number
from spacy_incparse.training.temperature import best_temperature
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

RERANK_DEFAULTS: dict[str, Any] = {
    "loss": "risk",  # what is learned: "risk" (expected F), "log", "boost", "log-greedy", "perceptron"; or several
    "learner": {},  # settings of the learner; those that are not given are chosen by cross-validation
    "scores": None,  # names of scores beside the parser's: "generative", "chart"; None: those that the lists have
    "families": None,  # names of families of features, or of groups of them, or a list of such lists; None: the default
    "max_count": 4,  # a count c of a feature is the features >= 1, ..., >= min(c, max_count)
    "min_lists": 5,  # features of fewer lists are left out
    "n": 20,  # how many analyses of each sentence are looked at; fewer if that is better in cross-validation
    "choose": None,  # "score": the most probable tree; "expected_f": that of the best expected F; None: the better way
    "n_folds": 5,  # of the cross-validation over the lists
}
"""The settings of training with their defaults. Of several losses and lists of families, cross-validation takes one."""


def learn_reranker(
    lists: Iterable[CandidateList], heads: HeadRules, settings: Mapping[str, Any], report: Report = lambda _: None
) -> Reranker:
    """Return a reranker trained on lists with gold trees, which are read several times.

    If some of them have trees that score higher than the parser's own, the reranker will have them in its lists, too.
    The median of their temperatures becomes the reranker's: that of the parser is fitted on the trees that the gain is
    measured on.

    heads: the head rules of the features. The models of second scores are trained on the gold trees. settings: see
    `RERANK_DEFAULTS`. Raises ConfigError for wrong settings, and IncparseError for lists that cannot be learned from.
    """
    check_reranking(settings)
    settings = RERANK_DEFAULTS | dict(settings)
    lists = _Shortened(lists, settings["n"])
    gold, temperatures, with_better, columns = [], [], False, list[set[str]]()
    for found in lists:
        gold += [] if found.gold is None else [found.gold]
        temperatures.append(found.temperature)
        with_better |= found.has_better
        columns.append(set(found.others))
    names = settings["scores"]
    if names is None:  # all models whose scores all lists have
        are_weighed = all(find_learner(name).WEIGHS_SCORES for name in losses(settings))
        shared = set.intersection(*columns) if columns and are_weighed else set()
        names = [name for name, score in SECOND_SCORES.items() if shared.issuperset(score.columns)]
    closed_tags = closed_class_tags(gold)
    choices = (
        _learned(lists, heads, settings | {"families": families}, closed_tags, names, report)
        for families in family_choices(settings)
    )
    config, known, learned = max(choices, key=lambda one: one[2].f)  # the first of equals
    config = replace(
        config, choose=learned.how, scale=learned.scale, n=learned.n or config.n, with_better=with_better,
        base_temperature=median(temperatures),
    )  # fmt: skip
    others = {name: train_second_score(name, gold, heads) for name in names}
    return Reranker(config, heads, known, learned.weights, others=others).without_zeros()


def _learned(
    lists: Iterable[CandidateList], heads: HeadRules, settings: Mapping[str, Any], closed_tags: Sequence[str],
    names: Sequence[str], report: Report,
) -> tuple[RerankerConfig, FeatureColumns, Learned]:  # fmt: skip
    """Learn with one choice of families, and the scores of these names beside the parser's."""
    families = settings["families"]
    given = {} if families is None else {"families": families}
    config = RerankerConfig(max_count=settings["max_count"], n=settings["n"], closed_tags=closed_tags, **given)
    extractor = config.extractor(heads)
    keys = (extractor.keys([parse.tree for parse in found.parses]) for found in lists)
    columns = FeatureColumns.select(keys, min_lists=settings["min_lists"])
    data = build_data(lists, extractor, columns, columns_of(names))
    chosen = "" if families is None else f" of {families if isinstance(families, str) else ', '.join(families)}"
    report(f"{data.n_lists:,} lists with {data.n_candidates:,} trees; {data.n_features:,} features{chosen}")
    how, n_folds = settings["choose"], settings["n_folds"]
    learned = learn_weights(data, losses(settings), settings["learner"], how=how, n_folds=n_folds, report=report)
    return config, columns, learned


class _Shortened:
    """Lists without the candidates after the first n, each time they are read."""

    def __init__(self, lists: Iterable[CandidateList], n: int):
        self._lists, self._n = lists, n

    def __iter__(self) -> Iterator[CandidateList]:
        return (found.first(self._n) for found in self._lists)


LENGTHS = (10, 20, 50)  # of shorter lists that are tried, with the settings that are best for the longest ones
SCALES = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0)  # of values as log probabilities, for the choice by expected F
RULES = (ChoiceRule("score"), *(ChoiceRule("expected_f", scale) for scale in SCALES))

Report = Callable[[str], object]
"""Called with a line of text after each step."""


class Learned(NamedTuple):
    """The weights of all lists, how a tree is chosen by them, and the scale for the choice by expected F.

    n: of how many candidates of a list it chooses; None: of all. f: in the cross-validation (0 to 1).
    """

    weights: RerankerWeights
    how: How
    scale: float = 1.0
    n: int | None = None
    f: float = 0.0


class _Tried(NamedTuple):
    """The trials of lists of some length, in the order of learners, rounds and rules, and the best one."""

    data: RerankingData
    n: int | None
    trials: list[Trial]
    best: Trial


def learn_weights(
    data: RerankingData,
    names: Sequence[str],
    given: Mapping[str, Any],
    *,
    how: How | None = None,
    n_folds: int = 5,
    report: Report = lambda _: None,
) -> Learned:
    """Learn with the learner, settings, rounds, rule of choice and length of lists of the highest F on held-out lists.

    names: of the learners to choose from. given: settings of the learners that are not chosen. how: how a tree is
    chosen; None: the better way. Data of one list are learned with the first learner and settings. Shorter lists
    (`LENGTHS`) are tried with the settings that are best for whole ones, which costs a fraction of all combinations.
    Ties go to the first. Raises ConfigError for an unknown learner or setting.
    """
    learners = [learner for name in names for learner in _candidates(find_learner(name), given)]
    if data.n_lists < 2:
        return Learned(learners[0].learn(data), how or "score")

    def tried(data: RerankingData, learners: Sequence[RerankLearner], n: int | None = None) -> _Tried:
        trials = cross_validate(data, learners, n_folds=min(n_folds, data.n_lists), rules=RULES)
        trials = [t for t in trials if t.learner.LENGTH not in given or t.rounds == t.learner.n_rounds]
        return _Tried(data, n, trials, best_trial([trial for trial in trials if how in (None, trial.rule.how)]))

    longest = tried(data, learners)
    most = int(np.diff(data.list_starts).max())
    shorter = (tried(first_candidates(data, n), [longest.best.learner], n) for n in LENGTHS if n < most)
    lengths = [longest, *shorter]
    best = max(lengths, key=lambda one: one.best.f)
    for one in lengths:
        _report(one, best.best, base_f(data), report)
    *_, (_, weights) = best.best.learner.path(best.data, [best.best.rounds])
    by_f = [trial for trial in _alike(best.trials, best.best) if trial.rule.how == "expected_f"]
    return Learned(weights, best.best.rule.how, best_trial(by_f).rule.scale, best.n, best.best.f)


def _alike(trials: Sequence[Trial], one: Trial) -> list[Trial]:
    """Return the trials of the same weights."""
    return [trial for trial in trials if trial.learner is one.learner and trial.rounds == one.rounds]


def _report(tried: _Tried, best: Trial, base: float, report: Report) -> None:
    """Report the gains of each learner and number of rounds, with the better scale."""
    trees = "" if tried.n is None else f", the first {tried.n} trees"
    for first in tried.trials[:: len(RULES)]:
        alike = _alike(tried.trials, first)
        by_score, *by_f = alike
        better = best_trial(by_f)
        gains = f"{100 * (by_score.f - base):+.2f} F by score, {100 * (better.f - base):+.2f} by expected F"
        mark = "  *" if any(trial is best for trial in alike) else ""
        learner, settings = first.learner, first.learner.to_dict()
        shown = ", ".join([f"{first.rounds} rounds", *(f"{key} {settings[key]}" for key in learner.GRID)])
        report(f"  {learner.NAME}: {shown}{trees}: {gains} (scale {better.rule.scale:g}){mark}")


def _candidates(kind: type[RerankLearner], given: Mapping[str, Any]) -> Iterator[RerankLearner]:
    """Yield the learners to choose from: with all combinations of the settings of its grid that are not given."""
    grid = {key: values for key, values in kind.GRID.items() if key not in given}
    for values in product(*grid.values()):
        yield kind.from_dict(dict(given) | dict(zip(grid, values, strict=True)))


@dataclass(frozen=True)
class RerankReport:
    """The scores of choices from the same lists, and the difference of the last from the first.

    base: the parser's own trees. most_probable: those with the highest score, which are the same for most parsers.
    """

    base: Scores
    most_probable: Scores
    expected_f: Scores
    reranked: Scores

    @property
    def gain(self) -> Bootstrap:
        """The reranker against the parser, by paired bootstrap."""
        return compare(self.base, self.reranked)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-serializable dict; F is a fraction."""
        return {name: found.to_dict() for name, found in (vars(self) | {"gain": self.gain}).items()}

    def format(self) -> str:
        """Return the figures as a table in percent, and a line about the difference."""
        rows = (
            ("parser", self.base),
            ("most probable tree", self.most_probable),
            ("best expected F, no training", self.expected_f),
            ("reranker", self.reranked),
        )
        lines = [f"{'':30} {'P':>7} {'R':>7} {'F':>7} {'exact':>7}"]
        for name, scores in rows:
            found = scores.to_dict()
            figures = [100 * (found[key] or 0.0) for key in ("const_p", "const_r", "const_f", "const_exact")]
            lines.append(f"{name:30} " + " ".join(f"{figure:7.2f}" for figure in figures))
        return "\n".join([*lines, f"{self.gain.format()}: reranker against parser"])


def rerank_report(reranker: Reranker, lists: Sequence[CandidateList]) -> RerankReport:
    """Score the parser's trees, those of best expected F, and the reranker's, from lists with gold trees."""
    gold = [found.gold for found in lists if found.gold is not None]
    choices: tuple[Callable[[CandidateList], Parse], ...] = (
        lambda found: found.parses[0],
        lambda found: max(found.parses, key=lambda parse: parse.score),
        lambda found: max_expected_f(found.parses, found.temperature),
        lambda found: reranker.rerank(found.parses, found.temperature)[0].parse,
    )
    return RerankReport(*(score_trees(gold, [choose(found).tree for found in lists]) for choose in choices))


def fit_reranker_temperature(reranker: Reranker, lists: Sequence[CandidateList]) -> float:
    """Return the temperature at which the probability of the chosen tree best predicts that it is right."""
    scores, is_right = [], []
    for found in lists:
        ranked = [parse for parse, _ in reranker.rerank(found.parses, found.temperature)]
        gold: Tree | None = found.gold
        scores.append([parse.score for parse in ranked])
        is_right.append(gold is not None and ranked[0].tree.spans() == gold.spans())
    return best_temperature(scores, is_right)


DEFAULT_SCORES = ("generative",)  # of the command: a chart parser in each fold takes long


def check_reranking(training: Mapping[str, Any], search: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError for settings that do not exist or have wrong values. Missing settings have their defaults."""
    for name in training:
        if name not in RERANK_DEFAULTS:
            known = ", ".join(sorted(RERANK_DEFAULTS))
            raise ConfigError(f"there is no setting {name!r} of the reranker's training: the settings are {known}")
    for name in search or {}:
        if name not in ("n", "choose"):
            raise ConfigError(f"{name!r} is not a setting of the reranker's search: choose from n, choose")
    settings = RERANK_DEFAULTS | dict(training) | dict(search or {})
    loss, scores = settings["loss"], settings["scores"]
    if not isinstance(loss, str) and not (loss and _has_no_twins(loss)):
        names = ", ".join(learner_names())
        raise ConfigError(f"loss is {loss!r}: it must be a name, or a list of different names, of {names}")
    kinds = [find_learner(name) for name in losses(settings)]
    if scores is not None:
        if not _has_no_twins(scores):
            names = ", ".join(SECOND_SCORES)
            raise ConfigError(f"scores is {scores!r}: it must be a list of different names of {names}")
        for name in scores:
            _check_name("scores", name, tuple(SECOND_SCORES))
        for kind in kinds:
            if scores and not kind.WEIGHS_SCORES:
                raise ConfigError(
                    f"the loss {kind.NAME!r} learns no weights of scores beside the parser's: risk and log do"
                )
    if settings["choose"] is not None:
        _check_name("choose", settings["choose"], ("score", "expected_f"))
    for name, least, most in (("max_count", 1, 100), ("min_lists", 1, MOST), ("n", 1, 100), ("n_folds", 2, MOST)):
        check_number(name, settings[name], least, most)
    if not isinstance(settings["learner"], dict):
        raise ConfigError(f"learner is {settings['learner']!r}: it must be a dict of settings of the learner")
    for families in family_choices(settings):
        if families is not None:
            check_families(families)


def _has_no_twins(names: Any) -> bool:
    return isinstance(names, (list, tuple)) and len(set(map(str, names))) == len(names)


def _check_name(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}: it must be one of {', '.join(known)}")


def losses(training: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the losses to choose from."""
    loss = training["loss"]
    return (loss,) if isinstance(loss, str) else tuple(loss)


def family_choices(training: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the choices of families of features to choose from; None is the default choice."""
    families = training["families"]
    has_lists = isinstance(families, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in families)
    return tuple(families) if has_lists else (families,)
