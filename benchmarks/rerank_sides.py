"""The learners that `reranking.py` compares, with the settings to choose from, and what they reach in the papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from spacy_incparse.rerank.data import ChoiceRule, How
from spacy_incparse.rerank.learner import RerankLearner, find_learner

SCALES = (0.1, 0.2, 0.5, 1.0)  # of F(x), for choosing the tree of best expected F
RULES: dict[How, tuple[ChoiceRule, ...]] = {
    "score": (ChoiceRule(),),
    "expected_f": tuple(ChoiceRule("expected_f", scale) for scale in SCALES),
}


@dataclass(frozen=True)
class Side:
    """A learner with fixed settings, and values of others to choose from.

    name: of the row in results.tsv. most_trees: the length of the longest lists that it learns from in a useful time.
    scores: the names of the models whose scores the candidates have beside the parser's.
    """

    name: str
    title: str
    learner: str
    fixed: Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]]
    most_trees: int = 100
    scores: tuple[str, ...] = ()

    def learners(self, most_rounds: int) -> Iterator[RerankLearner]:
        """Yield a learner for each combination of settings; those that go on by rounds stop after `most_rounds`."""
        limit = {"rounds": min(self.fixed["rounds"], most_rounds)} if "rounds" in self.fixed else {}
        for values in product(*self.grid.values()):
            chosen = dict(zip(self.grid, values, strict=True))
            yield find_learner(self.learner)(**{**self.fixed, **limit, **chosen})

    def shown(self, settings: Mapping[str, Any]) -> str:
        """Return the chosen settings as text."""
        return " ".join(f"{name}={settings[name]:g}" for name in self.grid)


_SMOOTHING = {"smoothing": find_learner("boost").GRID["smoothing"]}
_SIGMA = find_learner("risk").GRID
BOOST = Side("boost", "boosting", "boost", {"rounds": 32_000, "pair_weights": "none"}, _SMOOTHING)
BOOST_F = Side("boost-f", "boosting, pairs weighted by F", "boost", {"rounds": 32_000, "pair_weights": "f"}, _SMOOTHING)
LOG_GREEDY = Side("log-greedy", "greedy log loss", "log-greedy", {"rounds": 100}, find_learner("log-greedy").GRID, 20)
LOG_BEST = Side("log-best", "log loss, prior, best tree", "log", {"target": "best"}, _SIGMA)
LOG = Side("log", "log loss, prior, all best trees", "log", {"target": "shared"}, _SIGMA)
RISK = Side("risk", "expected F, prior", "risk", {}, _SIGMA)
PERCEPTRON = Side("perceptron", "averaged perceptron", "perceptron", {}, find_learner("perceptron").GRID)


def _with(side: Side, *scores: str) -> Side:
    title = f"{side.title}; {' and '.join(scores)} score{'s' * (len(scores) > 1)}"
    return replace(side, name="+".join((side.name, *scores)), title=title, scores=scores)


LOG_GENERATIVE, RISK_GENERATIVE = _with(LOG, "generative"), _with(RISK, "generative")
RISK_CHART, RISK_BOTH = _with(RISK, "chart"), _with(RISK, "generative", "chart")

SIDES = {
    side.name: side
    for side in (
        BOOST, BOOST_F, LOG_GREEDY, LOG_BEST, LOG, RISK, PERCEPTRON, LOG_GENERATIVE, RISK_GENERATIVE, RISK_CHART,
        RISK_BOTH,
    )
}  # fmt: skip
USUAL = tuple(name for name, side in SIDES.items() if "chart" not in side.scores)  # a chart in each fold takes long
