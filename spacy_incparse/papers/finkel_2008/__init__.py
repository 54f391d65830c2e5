"""Finkel, Kleeman & Manning (2008), Efficient, Feature-based, Conditional Random Field Parsing: the kind "crf".

What a chart parser shares with the paper is in `chart/`; its tests are in tests/chart/ and tests/papers/.

- section 2, footnote 1 (unary chains as single rules, one over the same words): `chart/grammar.py`: `tree_steps`; two
  nodes for a span with the same state in `chart/forest_builder.pyx`
- equation 1 (P(t given s), Z over all trees): `chart/recurrences.pyx`: `inside`, `log_partition`
- equations 2 and 3 (clique potentials; log likelihood with an L2 prior): `chart/feature_groups.pyx`; `system.py`:
  `CrfObjective`
- equation 4 (empirical minus expected features): `chart/crf.py`: `log_likelihood`, by finite differences in test_crf.py
- section 2 (the boolean prefilter): `chart/forest_builder.pyx`: a forest has only edges that are in some tree;
  `system.py`: `BooleanPruner`, the tags of words
- section 2 (prefiltered charts on disk): `chart/learner.py`, for those that have no room in memory
- section 3 (stochastic gradient in batches, the gain): `chart/crf.py`: `CrfLearner`; `system.py`: `gradient_steps`
- section 3, figure 2 (L-BFGS): benchmarks/chart_convergence.py only
- section 4, table 1 as far as it can be read: `RULES` (the lexicon's) and `FINKEL` below; classes of distributional
  similarity: `linear/words.py`, where word clusters are given; of unknown words: `linear/words.py`: `word_class_of`
- section 5 (parents, head tags of VP, first child; previous sibling with `horizontal`): `CrfConfig.markovization`
- section 5 (the relaxed grammar): `system.py`: `relaxed`
- tables 3 and 4, figure 2: benchmarks/chart_papers.py

`--config crf` is the system "feature-based, relaxed grammar" from words alone; docs/results.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy_incparse.chart.config import ChartKind, ChartSettings
from spacy_incparse.chart.templates import EdgeTemplateSet, combine
from spacy_incparse.errors import ConfigError
from spacy_incparse.settings import MOST, Settings, check_number
from spacy_incparse.transforms.binarize import Markovization
from spacy_incparse.trees.tree import Tree

# What a context-free grammar has: weights of rules, and of words under their tags.
RULES: EdgeTemplateSet = {
    "rule": ("-> rule",),
    "word": ("W[i] -> state base", "L[i] -> state base", "U[i] -> state base", "RANK -> base any"),
}
FINKEL: EdgeTemplateSet = {
    "span": (
        "W[i] -> rule base", "W[j-1] -> rule base", "L[i] -> base", "L[j-1] -> base", "U[i] -> base", "U[j-1] -> base",
        "LEN -> rule base", "W[i] -> left_verb", "W[j-1] -> right_verb",
    ),
    "split": ("W[k] -> rule base", "W[k-1] -> base", "U[k-1] U[k] -> base", "W[k] -> right_pp"),
    "unary": ("SHORT W[i] -> rule base",),
}  # fmt: skip
# What word clusters add to both.
RULES_CLUSTERS: EdgeTemplateSet = {"word": ("K[i] -> state base", "K[i-1] -> state base", "K[i+1] -> state base")}
FINKEL_CLUSTERS: EdgeTemplateSet = {
    "span": ("K[i] -> rule base", "K[j-1] -> rule base"),
    "split": ("K[k] -> rule base", "K[k-1] K[k] -> rule base"),
    "unary": ("SHORT K[i] -> rule base",),
}
SETS: Mapping[str, tuple[EdgeTemplateSet, EdgeTemplateSet]] = {
    "rules": (RULES, RULES_CLUSTERS),
    "finkel": (combine(RULES, FINKEL), combine(RULES_CLUSTERS, FINKEL_CLUSTERS)),
}


class PaperKind(ChartKind):
    """A chart parser as published: of short sentences, whose charts are whole, and of words alone."""

    SECONDS: ClassVar[float]
    """About how long a pass takes for a thousand sentences of 15 words, on one core of 2026."""

    def notice(self, config: ChartSettings, trees: Sequence[Tree]) -> str:
        """Return of how many sentences a parser learns, and what that costs."""
        limit = config.max_length
        lengths = [len(tree.words) for tree in trees if not limit or len(tree.words) <= limit]
        cost = self.SECONDS * sum((length / 15) ** 3 for length in lengths) / 1000
        some = f"the {len(lengths):,} of {len(trees):,} sentences that have at most {limit} words"
        chosen = some if limit else f"all {len(trees):,} sentences"
        return (
            f"A {self.name} parser, as published, learns from {chosen} (max_length); a pass takes about "
            f"{cost:,.0f} seconds. For a parser of all sentences, use --config chart"
        )


@dataclass(frozen=True, kw_only=True)
class CrfConfig(ChartSettings):
    """Settings of the chart parser of Finkel et al. (2008).

    features: "finkel", "rules" (those of a context-free grammar), or your own templates, see chart/templates.py.
    horizontal: number of siblings (0 to 2) that the label of an active node names, beside the first child.
    relaxed_rules: whether a rule may be used under each ancestor that its parent was seen with (section 5).
    batch_size: the number of sentences after which the weights change.
    table_bits: the table of hashed weights has 2**table_bits rows.
    max_length: sentences with more words are not used in training; 0: all are.
    clusters: word clusters for tagger and parsers: a language code or a file; None: none. The model stores what it
        needs. Named feature sets add features of them.
    """

    FEATURE_SETS = SETS

    features: str | dict[str, Sequence[str]] = "finkel"
    horizontal: int = 0
    relaxed_rules: bool = True
    batch_size: int = 15
    table_bits: int = 22
    max_length: int = 15
    clusters: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("horizontal", self.horizontal, 0, 2)
        check_number("batch_size", self.batch_size, 1, MOST)
        if not isinstance(self.relaxed_rules, bool):
            raise ConfigError(f"relaxed_rules is {self.relaxed_rules!r}: it must be true or false")

    @property
    def markovization(self) -> Markovization:
        """The grammar of section 5: ancestors in all labels, tags of the heads of VPs, first children."""
        return Markovization(
            vertical=1, annotate_tags=True, head_tag_labels=("VP",), anchor=True, horizontal=self.horizontal
        )


class CrfKind(PaperKind):
    """The chart parser of Finkel et al. (2008)."""

    name = part_name = "crf"
    config_type: ClassVar[type[Settings]] = CrfConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"crf": {"max_epochs": 20}}
    feature_sets = tuple(SETS)
    learner_name = "spacy_incparse.papers.finkel_2008.system:FinkelLearner"
    SECONDS = 400.0


CRF = CrfKind()
