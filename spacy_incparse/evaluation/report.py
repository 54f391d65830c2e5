"""The report of the `score` command: one or two parsers against the same gold trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.scores import Scores
from spacy_incparse.evaluation.significance import Bootstrap, compare
from spacy_incparse.evaluation.summaries import format_evalb
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class ScoreReport:
    """The result of `score`; `second` and `bootstrap` are None unless requested."""

    first: Scores
    second: Scores | None = None
    bootstrap: Bootstrap | None = None
    as_evalb: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of the first scores, the second's under "second", the comparison under "bootstrap"."""
        result = self.first.to_dict()
        if self.second is not None:
            result["second"] = self.second.to_dict()
        if self.bootstrap is not None:
            result["bootstrap"] = self.bootstrap.to_dict()
        return result

    def format(self) -> str:
        """Return the report as text: EVALB's summary and the tables, or in EVALB mode the program's output."""
        if self.second is None:
            return self._format_one(self.first)
        parts = ["##### First", self._format_one(self.first), "##### Second", self._format_one(self.second)]
        if self.bootstrap is not None:
            parts.append(self.bootstrap.format())
        return "\n\n".join(parts)

    def _format_one(self, scores: Scores) -> str:
        return format_evalb(scores) if self.as_evalb else scores.format()


def report_scores(
    gold: Iterable[Tree],
    parsed: Iterable[Tree],
    parsed2: Iterable[Tree] | None = None,
    *,
    params: EvalbParams = COLLINS,
    as_evalb: bool = False,
    n_bootstrap: int = 0,
    seed: int = 0,
) -> ScoreReport:
    """Score the trees of one or two parsers and, if `n_bootstrap` is above 0, compare the two.

    Raises IncparseError as `score_trees` does, and if a comparison is requested without a second parser.
    """
    if n_bootstrap and parsed2 is None:
        raise IncparseError("the bootstrap compares two parsers: give a second file of parsed trees")
    gold = list(gold)
    first = score_trees(gold, parsed, params=params, as_evalb=as_evalb)
    if parsed2 is None:
        return ScoreReport(first, as_evalb=as_evalb)
    second = score_trees(gold, parsed2, params=params, as_evalb=as_evalb)
    comparison = compare(first, second, n=n_bootstrap, seed=seed) if n_bootstrap else None
    return ScoreReport(first, second, comparison, as_evalb)
