"""The results of Collins (2000) on a treebank: what reranking gains, by learner, round and family, and what it costs.

    python benchmarks/reranking.py wsj --config rich --seed 0

A parser is trained on parts of the train part, each time without a fold, whose n-best lists it makes; one trained on
all of it makes the dev part's. The learners' settings, rounds, the length of the lists and the choice of a tree are
chosen by cross-validation over the train part's lists. The dev part decides nothing.

OUTPUT/table3.txt and the other text files contain the printed tables, OUTPUT/rounds.svg the gain by round. Lists are
kept in OUTPUT/lists, finished measurements in OUTPUT/figures.json: after an interruption, the same command only
computes what is missing.

As in the paper, the parser's own tree is the best of its list. With `--with-better`, trees that score higher are in the
lists, too, and the reranker is compared with the parser's own trees, with the highest-scoring ones of the lists, and
with those that are made of the lists' phrases without training.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import common
from base_lists import SCORES, base_lists, finished_lists, parser_recipe
from parts import PACKAGES, Parts
from rerank_cost import algorithm_costs, reranking_speed, sizes
from rerank_report import (
    COLUMNS,
    Line,
    costs_text,
    families_text,
    gains_text,
    per_round,
    points,
    rounds_svg,
    rounds_text,
    table_3,
)
from rerank_sides import SIDES, USUAL, Side
from rerank_study import Choice, Study
from results import Table, percent, write

from spacy_incparse.cli.options import open_treebank
from spacy_incparse.evaluation.evalb import compare
from spacy_incparse.evaluation.summaries import Scores
from spacy_incparse.rerank.data import SECOND_SCORES, How
from spacy_incparse.training.loop import fingerprint
from spacy_incparse.trees.tree import Tree

N_SAMPLES = 10_000
TABLE = Table(
    "Reranking",
    (
        "F", "gain", "95 %", "p", "over best expected F", "gain in cross-validation", *COLUMNS, "exact",
        "F up to 40 words", *(f"{name} up to 40" for name in COLUMNS), "sentences up to 40", "settings",
    ),
)  # fmt: skip
COST_TABLE = Table(
    "Reranking: the algorithms",
    ("rounds", "additions a round", "ms a round", "sentences", "trees", "features", "features that differ in a pair"),
)
BETTER_TABLE = Table(
    "Reranking: lists with the trees that score higher than the parser's own",
    (
        "F", "over own", "over own: 95 %", "over own: p", "over highest-scoring", "over highest-scoring: 95 %",
        "over recombined", "over recombined: 95 %", "over highest-scoring in cross-validation", "exact", "settings",
    ),
)  # fmt: skip
ROUNDS_TABLE = Table("Reranking: gain by round", ("rounds", "gain by round in cross-validation", "gain by round"))
FAMILY_TABLE = Table("Reranking: families of features", ("features", "gain in cross-validation", "gain"))
SPEED_TABLE = Table("Reranking: speed", ("trees", "sentences a second", "MB of the model"))
WITHOUT = {
    "own": "parser", "most-probable": "most probable tree", "expected-f": "best expected F",
    "expected-f-scaled": "best expected F, scale chosen", "oracle": "best tree",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Write the requested tables and figures for one treebank and one kind of parser."""
    arguments = _arguments(argv)
    report = Report(arguments, argv)
    for name in arguments.only:
        text = "\n\n".join([*PARTS[name](report), report.note])
        print(text, end="\n\n", flush=True)
        (arguments.output / f"{name}.txt").write_text(text + "\n", encoding="utf8")


class Report:
    """Format the results as text, and write the rows of each part when it is finished."""

    def __init__(self, arguments: argparse.Namespace, argv: Sequence[str] | None):
        self._arguments, self._argv = arguments, argv
        self._sizes = [len(_trees(arguments, part)) for part in ("train", "dev")]
        self.study = _study(arguments)
        named = arguments.train and not arguments.results  # a user's own files: write rows only if --results is given
        self._results = None if named else common.results_file(arguments)

    @property
    def note(self) -> str:
        """The text below each table."""
        sizes = "trained on {:,} sentences, scored on {:,}".format(*self._sizes)
        return f"Here: {self._arguments.config}, {sizes}. Paper: Collins (2000), trained on 36,000, section 23."

    def table_3(self) -> list[str]:
        """Compare the parser, the learners, and the best trees of the lists."""
        base = self.study.base()
        scores = {name: self.study.scores(places) for name, places in base["places"].items()}
        without = [self._without(name, scores) for name in WITHOUT]
        sides = [self._line(side, how, scores) for side in self._sides for how in get_args(How)]
        lines = [*without[:-1], *sides, without[-1]]
        if self._arguments.with_better:
            self._write_better(lines, scores["own"], scores["most-probable"])
        else:
            self._write(TABLE, {line.name: line.cells for line in lines})
        return [table_3(lines), gains_text(lines)]

    def _write_better(self, lines: Sequence[Line], own: Scores, highest: Scores) -> None:
        recombined = self.study.recombined()
        rows = [*lines, Line("recombined", "recombined", recombined)]
        self._write(BETTER_TABLE, {line.name: better_cells(line, own, highest, recombined) for line in rows})

    def rounds(self) -> list[str]:
        """Follow the learners that choose one feature in each round."""
        curves: dict[str, dict[int, float]] = {}
        rows = {}
        for side in self._sides:
            choice = self.study.choice(side, "score")
            if len(choice.by_rounds) > 1 and side.learner != "perceptron":
                train, dev = dict(choice.by_rounds), self._by_round(side, choice)
                curves |= {f"{side.name}, cross-validation": train, f"{side.name}, dev part": dev}
                rows[f"rounds-{side.name}"] = [" ".join(map(str, train)), *map(_series, (train, dev))]
        if not curves:
            return ["Gain by round: only boosting and greedy log loss have rounds"]
        self._write(ROUNDS_TABLE, rows)
        path = self._arguments.output / "rounds.svg"
        path.write_text(rounds_svg(curves), encoding="utf8")
        return [rounds_text(curves), f"As a picture: {path}"]

    def families(self) -> list[str]:
        """Learn from each family of features alone."""
        gains = self.study.family_gains()
        cells = {
            f"family-{name}": [str(found["n"]), points(found["train"]), points(found["dev"])]
            for name, found in gains.items()
        }
        self._write(FAMILY_TABLE, cells)
        return [families_text(gains)]

    def cost(self) -> list[str]:
        """Count and time the algorithms, and time the reranker."""
        n = min(20, self.study.n_best[-1])
        data = self.study.shorter(n)
        found, size = (
            algorithm_costs(data.train, self._arguments.cost_rounds, self._arguments.greedy_rounds),
            sizes(data.train),
        )
        shared = [str(size[name]) for name in ("sentences", "trees", "features")]
        rows = {
            name: [
                str(cost["rounds"]), f"{per_round(cost, 'additions'):.0f}", f"{1000 * per_round(cost, 'seconds'):.3f}",
                *shared, f"{size['b']:.0f}",
            ]
            for name, cost in found.items()
        }  # fmt: skip
        self._write(COST_TABLE, {f"cost-{name}": cells for name, cells in rows.items()})
        speeds = {"speed": self._speed(SIDES["risk"], n), "speed+generative": self._speed(SIDES["risk+generative"], n)}
        self._write(SPEED_TABLE, speeds)
        shown = ["Reranking {} trees: {} sentences/s; the model: {} MB".format(*cells) for cells in speeds.values()]
        return [costs_text(found, size), "\n".join(shown)]

    def _speed(self, side: Side, n: int) -> list[str]:
        weights = self.study.weights(side, self.study.choice(side, "score"))
        speed = reranking_speed(self.study.shorter(n, side), weights, self.study.lists, n, side.scores)
        return [str(n), f"{speed['sentences_per_second']:.0f}", f"{speed['bytes'] / common.MEGABYTE:.2f}"]

    @property
    def _sides(self) -> list[Side]:
        return [SIDES[name] for name in self._arguments.learners]

    def _without(self, name: str, scores: dict[str, Scores]) -> Line:
        gain = None if name == "most-probable" else compare(scores["most-probable"], scores[name], n=N_SAMPLES)
        base = self.study.base()
        trains = {"expected-f": base["unscaled"], "expected-f-scaled": base["train"]}
        settings = f"scale={base['scale']:g}" if name == "expected-f-scaled" else "-"
        return Line(name, WITHOUT[name], scores[name], gain, None, trains.get(name), settings)

    def _line(self, side: Side, how: How, base: dict[str, Scores]) -> Line:
        choice = self.study.choice(side, how)
        found = self.study.scores(self.study.places(side, choice)[choice.rounds])
        ends_by_f = how == "expected_f"
        return Line(
            side.name + "-expected-f" * ends_by_f,
            side.title + ", best expected F" * ends_by_f,
            found,
            compare(base["most-probable"], found, n=N_SAMPLES),
            found.all.f - base["expected-f"].all.f,
            choice.gain,
            f"{side.shown(choice.settings)} rounds={choice.rounds} n={choice.n}"
            + f" scale={choice.rule.scale:g}" * ends_by_f,
        )

    def _by_round(self, side: Side, choice: Choice) -> dict[int, float]:
        base = self.study.scores(self.study.base()["places"]["most-probable"]).all.f
        found = self.study.places(side, choice)
        return {rounds: self.study.scores(places).all.f - base for rounds, places in found.items()}

    def _write(self, table: Table, rows: dict[str, list[str]]) -> None:
        if self._results:
            seed = self._arguments.seed
            start = f"rerank-{self._arguments.bank}-{self._arguments.config}" + "-better" * self._arguments.with_better
            start += f"-seed{seed}" if seed else ""
            named = {f"{start}-{name}": cells for name, cells in rows.items()}
            write(table, named, self._results, seed=str(seed), argv=self._argv)


PARTS: dict[str, Callable[[Report], list[str]]] = {
    "table3": Report.table_3, "rounds": Report.rounds, "families": Report.families, "cost": Report.cost,
}  # fmt: skip


def _series(curve: dict[int, float]) -> str:
    return " ".join(points(gain) for gain in curve.values())


def better_cells(line: Line, own: Scores, highest: Scores, recombined: Scores) -> list[str]:
    """Return a row of `BETTER_TABLE`: what was chosen against three choices without a reranker."""
    gains = [compare(other, line.scores, n=N_SAMPLES) for other in (own, highest, recombined)]
    shown = [[points(gain.difference), f"{100 * gain.low:+.2f} - {100 * gain.high:+.2f}"] for gain in gains]
    train = "-" if line.train is None else points(line.train)
    summary = line.scores.all
    return [
        percent(summary.f), *shown[0], f"{gains[0].p_value:.4f}", *shown[1], *shown[2], train, percent(summary.exact),
        line.settings,
    ]  # fmt: skip


def _study(arguments: argparse.Namespace) -> Study:
    train, dev = (_trees(arguments, part) for part in ("train", "dev"))
    settings = {"seed": arguments.seed, "epochs": arguments.epochs, "lang": arguments.lang}
    made = {"n": arguments.candidates, "n_folds": arguments.folds, "with_better": arguments.with_better}
    asked = {name for learner in arguments.learners for name in SIDES[learner].scores}
    scores = [name for name in SECOND_SCORES if name in asked or name in SCORES]
    if arguments.lists:
        given = {"lang": arguments.lang, "scores": scores}
        lists = finished_lists(train, dev, arguments.lists, arguments.config, **made, **given)
    else:
        made_by = {"n_process": arguments.processes, "scores": scores}
        lists = base_lists(train, dev, arguments.output / "lists", arguments.config, **made, **settings, **made_by)
    recipe = parser_recipe(arguments.config, **settings).contents()
    checksum = fingerprint([*train, *dev], recipe | made | {"n_train": len(train)})
    parts = Parts(arguments.output / "figures.json", (*PACKAGES, "rerank"))
    return Study(lists, parts, checksum, n_best=arguments.n, most_rounds=arguments.rounds)


def _trees(arguments: argparse.Namespace, part: str) -> list[Tree]:
    path = getattr(arguments, part)
    trees = open_treebank(path)[: arguments.limit] if path else common.read_part(arguments, arguments.bank, part)
    return trees[: arguments.n_train] if part == "train" else trees


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank=common.SAMPLE)
    parser.add_argument("--train", help="bracket files to train on, instead of BANK's; BANK is then only a name")
    parser.add_argument("--dev", help="bracket files to score on")
    parser.add_argument("--lang", default="en", help="the language's code, for the head rules; default: en")
    parser.add_argument("--config", default="rich", help="the parser: a recipe or a file with settings; default: rich")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-train", type=int, metavar="N", help="only the first N sentences of the train part")
    parser.add_argument("--epochs", type=int, help="passes of the parsers; default: the recipe's")
    parser.add_argument("--folds", type=int, default=5, help="of the train part; default: 5")
    parser.add_argument("--processes", type=int, default=1, help="that make lists; default: 1")
    parser.add_argument("--lists", type=Path, help="folder with lists that an earlier version has made")
    parser.add_argument("--with-better", action="store_true", help="keep trees that score above the parser's own")
    parser.add_argument("--candidates", type=int, default=50, help="at most, in the lists that are made; default: 50")
    parser.add_argument(
        "--n", type=lambda text: sorted(map(int, text.split(","))), default=[20],
        help="lengths of the lists to choose from; default: 20",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=4000, help="at most; default: 4000")
    parser.add_argument("--cost-rounds", type=int, default=1000, help="of boosting in the cost; default: 1000")
    parser.add_argument("--greedy-rounds", type=int, default=50, help="of greedy log loss in the cost; default: 50")
    parser.add_argument("--learners", type=_names(SIDES), default=list(USUAL), help=f"of {','.join(SIDES)}")
    parser.add_argument("--only", type=_names(PARTS), default=list(PARTS), help=f"of {','.join(PARTS)}; default: all")
    parser.add_argument("--output", type=Path, help="folder for tables, figure, lists and finished measurements")
    arguments = parser.parse_args(argv)
    if (arguments.train is None) != (arguments.dev is None):
        parser.error("--train and --dev must be used together")
    arguments.output = arguments.output or Path("metrics") / f"reranking-{arguments.bank}-{arguments.config}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    return arguments


def _names(known: Sequence[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = text.split(",")
        if not set(found) <= set(known):
            raise argparse.ArgumentTypeError(f"{text!r}: choose from {', '.join(known)}")
        return found

    return names


if __name__ == "__main__":
    common.run_resumable(main)
