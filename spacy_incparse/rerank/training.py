"""Train a reranker on n-best lists: its features, the choice of the learner's settings, and the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.evaluation.evalb import Bootstrap, compare, score_trees
from spacy_incparse.evaluation.summaries import Scores
from spacy_incparse.parsing.nbest import max_expected_f
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.data import (
    SECOND_SCORES,
    ChoiceRule,
    How,
    RerankerWeights,
    RerankingData,
    base_f,
    build_data,
    candidate_values,
    choose,
    columns_of,
    corpus_f,
    first_candidates,
    select_lists,
)
from spacy_incparse.rerank.features import FeatureColumns, check_families, closed_class_tags
from spacy_incparse.rerank.learner import RerankLearner, find_learner, learner_names
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig
from spacy_incparse.settings import MOST, check_choice, check_number
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
    gold, temperatures, with_better, columns = [], [], False, list[set[str]]()

    def shortened() -> Iterator[CandidateList]:
        return (found.first(settings["n"]) for found in lists)

    for found in shortened():
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
        _learned(shortened, heads, settings | {"families": families}, closed_tags, names, report)
        for families in family_choices(settings)
    )
    config, known, learned = max(choices, key=lambda one: one[2].f)  # the first of equals
    config = replace(
        config, choose=learned.how, scale=learned.scale, n=learned.n or config.n, with_better=with_better,
        base_temperature=median(temperatures),
    )  # fmt: skip
    others = {name: SECOND_SCORES[name].train(gold, heads) for name in names}
    return Reranker(config, heads, known, learned.weights, others=others).without_zeros()


def _learned(
    lists: Callable[[], Iterator[CandidateList]], heads: HeadRules, settings: Mapping[str, Any],
    closed_tags: Sequence[str], names: Sequence[str], report: Report,
) -> tuple[RerankerConfig, FeatureColumns, Learned]:  # fmt: skip
    """Learn with one choice of families, and the scores of these names beside the parser's."""
    families = settings["families"]
    given = {} if families is None else {"families": families}
    config = RerankerConfig(max_count=settings["max_count"], n=settings["n"], closed_tags=closed_tags, **given)
    extractor = config.extractor(heads)
    keys = (extractor.keys([parse.tree for parse in found.parses]) for found in lists())
    columns = FeatureColumns.select(keys, min_lists=settings["min_lists"])
    data = build_data(lists(), extractor, columns, columns_of(names))
    chosen = "" if families is None else f" of {families if isinstance(families, str) else ', '.join(families)}"
    report(f"{data.n_lists:,} lists with {data.n_candidates:,} trees; {data.n_features:,} features{chosen}")
    how, n_folds = settings["choose"], settings["n_folds"]
    learned = learn_weights(data, losses(settings), settings["learner"], how=how, n_folds=n_folds, report=report)
    return config, columns, learned


class Trial(NamedTuple):
    """How one learner did with one number of rounds and one rule of choice.

    f: of the choices in all held-out folds, summed over all sentences (0 to 1). chosen: (n_lists,) the candidates.
    """

    learner: RerankLearner
    rounds: int
    rule: ChoiceRule
    f: float
    chosen: np.ndarray


def cross_validate(
    data: RerankingData,
    learners: Sequence[RerankLearner],
    *,
    n_folds: int = 5,
    rules: Sequence[ChoiceRule] = (ChoiceRule(),),
) -> list[Trial]:
    """Return a trial for each learner, number of rounds and rule, in this order.

    Each list's candidate is chosen with weights learnt from the other folds. Learners that improve by rounds are tried
    with several numbers of rounds in one run: see `round_numbers`.
    """
    folds = contiguous_folds(data.n_lists, n_folds)
    trials: list[Trial] = []
    for learner in learners:
        chosen: dict[tuple[int, ChoiceRule], list[np.ndarray]] = {}
        for lists in folds:
            others, held_out = np.setdiff1d(np.arange(data.n_lists), lists), select_lists(data, lists)
            for rounds, weights in learner.path(select_lists(data, others), round_numbers(learner.n_rounds)):
                values = candidate_values(held_out, weights)
                for rule in rules:
                    candidates = choose(held_out, values, *rule) + data.list_starts[lists[0]]  # as numbered in `data`
                    chosen.setdefault((rounds, rule), []).append(candidates)
        for (rounds, rule), parts in chosen.items():
            joined = np.concatenate(parts)
            trials.append(Trial(learner, rounds, rule, corpus_f(data, joined), joined))
    return trials


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest F, the first of several."""
    return max(trials, key=lambda trial: trial.f)


def contiguous_folds(n_lists: int, n_folds: int) -> list[np.ndarray]:
    """Return the list numbers of each fold, ascending. Neighbours stay together, because they are of one document.

    Raises ConfigError unless there are at least 2 folds, and a list for each.
    """
    if not 2 <= n_folds <= n_lists:
        raise ConfigError(f"{n_lists} lists cannot be split into {n_folds} folds: choose from 2 to {n_lists}")
    ends = [number * n_lists // n_folds for number in range(n_folds + 1)]
    return [np.arange(start, end) for start, end in pairwise(ends)]


def round_numbers(rounds: int) -> list[int]:
    """Return numbers of rounds to try: all rounds, and halves, quarters, ... of them down to a 32nd."""
    return sorted({max(1, rounds >> halvings) for halvings in range(6)}) if rounds else [0]


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
    """The trials of lists of some length, for each learner and number of rounds in the order of RULES; the best one."""

    data: RerankingData
    n: int | None
    groups: list[list[Trial]]
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
        groups = [trials[k : k + len(RULES)] for k in range(0, len(trials), len(RULES))]
        return _Tried(data, n, groups, best_trial([trial for trial in trials if how in (None, trial.rule.how)]))

    longest, most = tried(data, learners), int(np.diff(data.list_starts).max())
    lengths = [longest]
    lengths += [tried(first_candidates(data, n), [longest.best.learner], n) for n in LENGTHS if n < most]
    found = max(lengths, key=lambda one: one.best.f)
    base, scale = base_f(data), 1.0
    for one in lengths:
        trees = "" if one.n is None else f", the first {one.n} trees"
        for by_score, *by_f in one.groups:
            better, mark = best_trial(by_f), ""
            if any(trial is found.best for trial in (by_score, *by_f)):
                scale, mark = better.rule.scale, "  *"
            gains = f"{100 * (by_score.f - base):+.2f} F by score, {100 * (better.f - base):+.2f} by expected F"
            learner, values = by_score.learner, by_score.learner.to_dict()
            shown = ", ".join([f"{by_score.rounds} rounds", *(f"{key} {values[key]}" for key in learner.GRID)])
            report(f"  {learner.NAME}: {shown}{trees}: {gains} (scale {better.rule.scale:g}){mark}")
    *_, (_, weights) = found.best.learner.path(found.data, [found.best.rounds])
    return Learned(weights, found.best.rule.how, scale, found.n, found.best.f)


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
        if name not in RerankerConfig.SEARCH:
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
            check_choice("scores", name, tuple(SECOND_SCORES))
        for kind in kinds:
            if scores and not kind.WEIGHS_SCORES:
                raise ConfigError(
                    f"the loss {kind.NAME!r} learns no weights of scores beside the parser's: risk and log do"
                )
    if settings["choose"] is not None:
        check_choice("choose", settings["choose"], get_args(How))
    for name, least, most in (("max_count", 1, 100), ("min_lists", 1, MOST), ("n", 1, 100), ("n_folds", 2, MOST)):
        check_number(name, settings[name], least, most)
    if not isinstance(settings["learner"], dict):
        raise ConfigError(f"learner is {settings['learner']!r}: it must be a dict of settings of the learner")
    for families in family_choices(settings):
        if families is not None:
            check_families(families)


def _has_no_twins(names: Any) -> bool:
    return isinstance(names, (list, tuple)) and len(set(map(str, names))) == len(names)


def losses(training: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the losses to choose from."""
    loss = training["loss"]
    return (loss,) if isinstance(loss, str) else tuple(loss)


def family_choices(training: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the choices of families of features to choose from; None is the default choice."""
    families = training["families"]
    has_lists = isinstance(families, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in families)
    return tuple(families) if has_lists else (families,)
