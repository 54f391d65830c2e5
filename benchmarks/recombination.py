"""Measure what recombining the phrases of n-best lists gains (`choose = "recombined"`), without any training.

    python benchmarks/recombination.py wsj --config rich --lists metrics/reranking-wsj-rich

The lists are those that `reranking.py` keeps: of the dev part, with the median temperature of the parsers of the train
part's folds, and of the train part, by parsers that have not seen it. The settings are the parser's defaults.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import median

import common
from results import Table, percent, publish, spread

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.scores import Scores
from spacy_incparse.evaluation.significance import compare
from spacy_incparse.parsers.choice import SHARES_OF_FITTED
from spacy_incparse.parsers.choice_settings import ChoiceSettings
from spacy_incparse.parsers.expected_f import max_expected_f
from spacy_incparse.parsers.nbest import phrase_probabilities, probabilities
from spacy_incparse.parsers.recombination import Recombination
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_files import read_lists
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Recombined trees",
    ("trees", "F by score", "best expected F", "recombined", "gain", "95 %", "p", "gain on train", "new trees %"),
)
N_SAMPLES = 10_000


@dataclass(frozen=True)
class Comparison:
    """The scores of the trees that each way of choosing gives for the same lists. n_new: trees in none of them."""

    by_score: Scores
    by_expected_f: Scores
    recombined: Scores
    n_new: int

    @classmethod
    def of(cls, lists: Iterable[CandidateList], n: int) -> Comparison:
        """Choose from the first n trees of each list."""
        found = [one.first(n) for one in lists]
        return cls(
            _scores(found, lambda one: one.parses[0].tree),
            _scores(
                found, lambda one: max_expected_f(one.parses, SHARES_OF_FITTED["expected_f"] * one.temperature).tree
            ),
            _scores(found, recombined),
            sum(recombined(one) not in [parse.tree for parse in one.parses] for one in found),
        )

    @property
    def gain(self) -> float:
        """The gain in F of recombined trees over those of the highest score, from 0 to 1."""
        return self.recombined.all.f - self.by_score.all.f


def recombined(candidates: CandidateList) -> Tree:
    """Return the tree that a parser returns for this list with `choose = "recombined"`."""
    trees = [parse.tree for parse in candidates.parses]
    temperature = SHARES_OF_FITTED["recombined"] * candidates.temperature
    shares = probabilities([parse.score for parse in candidates.parses], temperature)
    return Recombination(trees, phrase_probabilities(trees, shares), ChoiceSettings().choose_threshold).best_tree()


def main(argv: Sequence[str] | None = None) -> None:
    """Measure lists of several lengths."""
    arguments = _arguments(argv)
    folds = [
        list(read_lists(path))[: arguments.limit] for path in sorted((arguments.lists / "train").glob("*.jsonl.gz"))
    ]
    if not folds:
        raise IncparseError(f"{arguments.lists} has no lists: make them with reranking.py --output {arguments.lists}")
    temperature = median(lists[0].temperature for lists in folds)
    dev = [replace(one, temperature=temperature) for one in read_lists(arguments.lists / "dev.jsonl.gz")]
    start = f"recombined-{arguments.bank}-{arguments.config}" + (f"-seed{arguments.seed}" if arguments.seed else "")
    rows = {f"{start}-{n}": _cells(dev[: arguments.limit], folds, n) for n in arguments.n}
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _cells(dev: Sequence[CandidateList], folds: Iterable[Sequence[CandidateList]], n: int) -> list[str]:
    """Return a row of the table."""
    found, train = Comparison.of(dev, n), Comparison.of(chain.from_iterable(folds), n)
    bootstrap = compare(found.by_score, found.recombined, n=N_SAMPLES)
    scores = (found.by_score, found.by_expected_f, found.recombined)
    return [
        str(n),
        *(percent(one.all.f) for one in scores),
        f"{100 * found.gain:+.2f}",
        spread([100 * bootstrap.low, 100 * bootstrap.high], "{:+.2f}"),
        f"{bootstrap.p_value:.4f}",
        f"{100 * train.gain:+.2f}",
        f"{100 * found.n_new / len(dev):.0f}",
    ]


def _scores(lists: Sequence[CandidateList], choose: Callable[[CandidateList], Tree]) -> Scores:
    return score_trees([one.gold for one in lists if one.gold], [choose(one) for one in lists if one.gold])


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.add_argument("--config", default="rich", help="the recipe of the lists' parsers; for the row's name")
    parser.add_argument("--lists", type=Path, required=True, metavar="FOLDER", help="what reranking.py has kept")
    parser.add_argument("--seed", type=int, default=0, help="that of the parsers; for the row's name")
    parser.add_argument("--n", type=int, nargs="+", default=[20, 50], help="numbers of trees; default: 20 50")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
