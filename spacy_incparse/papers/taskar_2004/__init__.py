"""Taskar, Klein, Collins, Koller & Manning (2004), Max-Margin Parsing: the kinds "max_margin" and "mira".

What a chart parser shares with the paper is in `chart/`; its tests are in tests/chart/ and tests/papers/.

- section 2.2, equation 2 (margins in proportion to the loss): `dual.py`: `FactoredDual.gap` has the primal objective;
  `MarginLearner` (MIRA) follows it one sentence at a time
- section 2.3, equation 3 (the dual over trees): tests/reference/margin.py: `plain_dual`, the slow twin
- section 3 (parts, the loss over constituents of the binary tree): `dual.py`: `binarized_loss`; footnote 4 (losses
  closer to F): `chart/crf.py`: `BracketLoss.unbinarized`, wrong and missing phrases
- section 4 (marginals, the factored dual Q): `dual.py`: `DualExample.marginals`, `FactoredDual`
- section 5 (factored SMO): `FactoredDual.visit`; `DualLearner` in the training loop
- section 6 (GENERATIVE): `features.py`: `Pcfg`; its P(w given t) are the fixed scores of the others
- section 6 (BASIC, LEXICAL): `features.py`: `LexicalSpans`, `span_words`; LEXICAL+AUX, the flat classifier, two folds:
  `ConstituentClassifier`, `jackknifed_predictors`
- section 6, footnote 5 (unary chains in one symbol): `transforms/binarize.py`: `collapse_unaries`
- figures 2 and 3: benchmarks/chart_papers.py

`--config max-margin` is LEXICAL+AUX from words alone with few states; docs/results.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy_incparse.chart.config import ChartConfig, ChartKind, ChartSettings
from spacy_incparse.chart.templates import EdgeTemplate
from spacy_incparse.papers.finkel_2008 import PaperKind
from spacy_incparse.settings import Settings, check_choice, check_range
from spacy_incparse.transforms.binarize import Markovization

BASIC, LEXICAL, LEXICAL_AUX = FEATURES = "taskar-basic", "taskar-lexical", "taskar-lexical+aux"
GRAMMARS = {
    # Few states and unary rules, for few trees.
    "categories": Markovization(branching="head"),
    # The grammar of Klein & Manning (2003) without their splits by hand, in Chomsky normal form.
    "paper": Markovization(branching="head", horizontal=1, vertical=1, head_tag_labels=("VP",), collapse_unaries=True),
}


@dataclass(frozen=True, kw_only=True)
class MaxMarginConfig(ChartSettings):
    """Settings of the chart parser of Taskar et al. (2004), section 6.

    features: "taskar-basic" (BASIC: rules alone), "taskar-lexical" (LEXICAL: words in and around spans) or
        "taskar-lexical+aux" (LEXICAL+AUX: also the predictions of two other classifiers).
    grammar: "categories": states are categories alone; "paper": they also name the parent, the head's tag if they are
        VPs, and the sibling in active states, and unary chains are one symbol.
    slack_cost: C, what a unit of the loss that is left costs; higher values fit the training trees better.
    max_length: sentences with more words are not used in training; 0: all are.
    """

    features: str = LEXICAL_AUX
    grammar: str = "categories"
    slack_cost: float = 1.0
    max_length: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choices in (("features", FEATURES), ("grammar", tuple(GRAMMARS))):
            check_choice(name, getattr(self, name), choices)
        check_range("slack_cost", self.slack_cost, 0, 1e6)

    @property
    def templates(self) -> tuple[EdgeTemplate, ...]:
        """(): the features are explicit (`features.LexicalSpans`)."""
        return ()

    @property
    def markovization(self) -> Markovization:
        """How trees become binary, and what their labels tell."""
        return GRAMMARS[self.grammar]


class MaxMarginKind(PaperKind):
    """The chart parser of Taskar et al. (2004), learned by the factored dual."""

    name = part_name = "max_margin"
    config_type: ClassVar[type[Settings]] = MaxMarginConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"max-margin": {"max_epochs": 20}}
    feature_sets = FEATURES
    learner_name = "spacy_incparse.papers.taskar_2004.dual:MaxMarginLearner"
    SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class MiraConfig(ChartSettings):
    """Settings of a chart parser that learns with a large margin: some of those of `ChartConfig`, where they stand."""

    SEARCH = ("decoding",)
    INSTEAD = ChartConfig.INSTEAD

    features: str | dict[str, Sequence[str]] = "span"
    n_tags: int = 3
    clusters: str | None = None
    decoding: str = "expected_f"


class MiraKind(ChartKind):
    """Chart parsers of all sentences that learn with a large margin, one sentence at a time (Crammer et al. 2006)."""

    name = part_name = "mira"
    config_type: ClassVar[type[Settings]] = MiraConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    learner_name = "spacy_incparse.papers.taskar_2004.dual:MiraLearner"


MAX_MARGIN, MIRA = MaxMarginKind(), MiraKind()
