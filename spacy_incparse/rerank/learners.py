"""The learners of the reranker's weights by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.boost_learner import BoostLearner, BoostSettings
from spacy_incparse.rerank.greedy_log_learner import GreedyLogLearner, GreedyLogSettings
from spacy_incparse.rerank.learner import LogLearner, LogSettings, RerankLearner, RiskLearner, RiskSettings
from spacy_incparse.rerank.perceptron_learner import RankPerceptronLearner, RankPerceptronSettings
from spacy_incparse.settings import Settings


class LearnerKind(NamedTuple):
    """A learner's class and that of its settings."""

    learner: type
    settings: type[Settings]


DEFAULT_LEARNER = "risk"
LEARNERS = {
    "boost": LearnerKind(BoostLearner, BoostSettings),
    "log-greedy": LearnerKind(GreedyLogLearner, GreedyLogSettings),
    "log": LearnerKind(LogLearner, LogSettings),
    "risk": LearnerKind(RiskLearner, RiskSettings),
    "perceptron": LearnerKind(RankPerceptronLearner, RankPerceptronSettings),
}


def make_learner(name: str = DEFAULT_LEARNER, **settings: Any) -> RerankLearner:
    """Return the learner of a name with these settings, the others at their defaults. Raises ConfigError."""
    if name not in LEARNERS:
        raise ConfigError(f"the reranker has no learner {name!r}: choose from {', '.join(LEARNERS)}")
    kind = LEARNERS[name]
    return kind.learner(kind.settings.from_dict(settings))
