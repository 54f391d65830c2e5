"""What a reranker gains on held-out trees, over the parser and over the choice of best expected F."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.scores import Scores
from spacy_incparse.evaluation.significance import Bootstrap, compare
from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.reranker import Reranker
from spacy_incparse.training.temperature import best_temperature
from spacy_incparse.trees.tree import Tree


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
        return {
            "base": self.base.to_dict(),
            "most_probable": self.most_probable.to_dict(),
            "expected_f": self.expected_f.to_dict(),
            "reranked": self.reranked.to_dict(),
            "gain": self.gain.to_dict(),
        }

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
