"""The results of Collins & Roark (2004) on a treebank: tables 1, 3 and 4, and figure 5 as numbers and as a picture.

Each side (generative model, perceptron without and with features of punctuation, hybrid, training without early update
and with repeated use of hypotheses) has its own number of passes, search width and, for the hybrid, weight. These are
chosen with the same effort for all sides, on stretches that make up a tenth of the train part. Then each side is
trained on the whole train part, once per seed, and scored on the dev part, which decides nothing. With a tagger's tags,
all sides learn from jackknifed tags; with gold tags, from gold tags. All sides return their best tree, as in the paper;
for table 4 they also return the tree of the best expected F.

OUTPUT/table1.txt and the other text files contain the printed tables, and OUTPUT/figure5.svg the figure. Finished parts
are saved in OUTPUT/figures.json: after an interruption, or for another table, the same command only computes the
missing parts. Parts are recomputed if the trees, the settings or the version of the package have changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import common
from paper_report import (
    Gain,
    chain_cells,
    chain_key,
    chains_text,
    curves_svg,
    curves_text,
    f_range,
    gains_text,
    held_out_text,
    scores_text,
    search_text,
    weight_text,
)
from paper_sides import (
    FULL,
    GENERATIVE,
    GOLD,
    HYBRID,
    HYBRID_ALONE,
    OWN,
    PERCEPTRON,
    PREDICTED,
    PUNCTUATION,
    REPEATED,
    Side,
)
from paper_study import Result, Study
from parts import Parts
from results import Table, percent, write

from spacy_incparse.cli.options import open_treebank
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "The paper's parsers",
    (
        "F", "F range", "precision", "recall", "exact", "tags", "flat", "relaxed", "sentences", "passes", "search",
        "weight", "held-out F", "F by pass",
    ),
)  # fmt: skip
GAIN_TABLE = Table("The paper's comparisons", ("difference in F", "range", "F", "over", "its F", "the paper"))
CHAIN_TABLE = Table(
    "The paper's table 1", ("types in dev", "types", "unseen words", "seen 2+", "unseen words, rare pruned")
)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the requested tables and figure for one treebank."""
    arguments = _arguments(argv)
    report = Report(arguments, argv)
    for name, make in PARTS.items():
        if name in arguments.only:
            text = "\n\n".join([*make(report), report.note])
            print(text, end="\n\n", flush=True)
            (arguments.output / f"{name}.txt").write_text(text + "\n", encoding="utf8")


class Report:
    """Format the tables and the figure as text, and write the rows of each when it is finished."""

    def __init__(self, arguments: argparse.Namespace, argv: Sequence[str] | None):
        self._study = _study(arguments)
        self._bank, self._kinds, self._output, self._argv = arguments.bank, arguments.tags, arguments.output, argv
        named = arguments.train and not arguments.results  # a user's own files: write rows only if --results is given
        self._results = None if named else common.results_file(arguments)

    @property
    def note(self) -> str:
        """The text below each table."""
        sizes = f"trained on {len(self._study.train):,} sentences, scored on {len(self._study.dev):,}"
        return f"Here: {sizes}. Paper: Collins & Roark (2004), on other trees, the whole Penn Treebank."

    def table_1(self) -> list[str]:
        """Count chains."""
        table = self._study.chains(tagged=PREDICTED in self._kinds)
        rows = {f"chains-{transform}-{kind}": row for row in table.rows for transform, kind in [chain_key(row)]}
        self._write(CHAIN_TABLE, {name.replace(" ", "-"): chain_cells(row) for name, row in rows.items()}, "-")
        return [chains_text(table)]

    def table_3(self) -> list[str]:
        """Compare the generative model and the perceptron, without and with features of punctuation."""
        table = self._compared("Table 3", [GENERATIVE, PERCEPTRON, PUNCTUATION])
        gains = [Gain("punctuation", *self._results_of(kind, PUNCTUATION, PERCEPTRON)) for kind in self._kinds]
        return [table, self._gains(gains)]

    def table_4(self) -> list[str]:
        """Compare the hybrid with its parts."""
        parts = [GENERATIVE, PUNCTUATION]
        if self._study.differ(HYBRID_ALONE, PUNCTUATION):
            parts.append(HYBRID_ALONE)
        texts = [
            self._compared("Table 4", [*parts, HYBRID]),
            self._compared("Beyond the paper: trees of the best expected F", [*parts, HYBRID], risk=True),
        ]
        gains = []
        for kind in self._kinds:
            for name, risk in (("hybrid", False), ("hybrid-risk", True)):
                hybrid, *others = self._results_of(kind, HYBRID, *parts, risk=risk)
                gains.append(Gain(name, hybrid, max(others, key=lambda result: result.f)))
        return [*texts, self._gains(gains)]

    def figure_5(self) -> list[str]:
        """Follow training with neither refinement, with early update, and with repeated use of hypotheses as well."""
        results = full, early, repeated = self._results_of(GOLD, FULL, PERCEPTRON, REPEATED)
        for result in results:
            self._write_result(result)
        path = self._output / "figure5.svg"
        path.write_text(curves_svg(results), encoding="utf8")
        gains = [Gain("early", early, full), Gain("repeated", repeated, early)]
        return [curves_text(results), f"As a picture: {path}", self._gains(gains)]

    def _compared(self, title: str, sides: Sequence[Side], *, risk: bool = False) -> str:
        results = [result for kind in self._kinds for result in self._results_of(kind, *sides, risk=risk)]
        if PREDICTED in self._kinds:  # footnote 4
            results += self._results_of(OWN, GENERATIVE, risk=risk)
        for result in results:
            self._write_result(result)
        return scores_text(title, results)

    def _results_of(self, kind: str, *sides: Side, risk: bool = False) -> list[Result]:
        return [self._study.result(side, kind, risk=risk) for side in sides]

    def _gains(self, gains: Sequence[Gain]) -> str:
        rows = {
            f"{gain.result.kind}-{gain.name}-gain": [
                *gain.figures, percent(gain.result.f), gain.other.side.name, percent(gain.other.f), gain.paper,
            ]
            for gain in gains
        }  # fmt: skip
        self._write(GAIN_TABLE, rows, _seeds(gains[0].result))
        return gains_text(gains)

    def _write_result(self, result: Result) -> None:
        config, n_passes = result.choice.config, result.choice.n_passes
        cells = [
            percent(result.f),
            f_range(result),
            *(percent(result.mean(key)) for key in ("const_p", "const_r", "const_exact", "tag_acc")),
            str(max(run["flat"] for run in result.runs)),
            f"{result.mean('relaxed'):.0f}",
            str(result.runs[0]["n_sents"]),
            *(str(n_passes), search_text(result), weight_text(config), held_out_text(result)),
            " ".join(map(percent, result.curve)) or "-",
        ]
        name = f"{result.kind}-{result.side.name}" + "-risk" * result.risk
        self._write(TABLE, {name: cells}, _seeds(result))

    def _write(self, table: Table, rows: dict[str, list[str]], seed: str) -> None:
        if self._results:
            named = {f"paper-{self._bank}-{name}": cells for name, cells in rows.items()}
            write(table, named, self._results, seed=seed, argv=self._argv)


PARTS = {"table1": Report.table_1, "table3": Report.table_3, "table4": Report.table_4, "figure5": Report.figure_5}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank=common.SAMPLE)
    parser.add_argument("--train", help="bracket files to train on, instead of BANK's; BANK is then only a name")
    parser.add_argument("--dev", help="bracket files to score on")
    parser.add_argument("--lang", default="en", help="the language's code, for the head rules; default: en")
    parser.add_argument("--only", type=_names(PARTS), default=list(PARTS), help=f"of {','.join(PARTS)}; default: all")
    kinds = (GOLD, PREDICTED)
    parser.add_argument("--tags", type=_names(kinds), default=list(kinds), help="gold,predicted or one of them")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, help="the maximum number of passes; default: the recipes'")
    parser.add_argument(
        "--weights", type=lambda text: [float(weight) for weight in text.split(",")],
        help="weights of the generative score in training to choose from; default: half, once and twice the recipe's",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, help="folder for report, figure and finished parts")
    arguments = parser.parse_args(argv)
    if (arguments.train is None) != (arguments.dev is None):
        parser.error("--train and --dev must be used together")
    arguments.output = arguments.output or Path("metrics") / f"paper-{arguments.bank}"
    return arguments


def _names(known: Sequence[str] | dict[str, object]):
    def names(text: str) -> list[str]:
        found = text.split(",")
        if not set(found) <= set(known):
            raise argparse.ArgumentTypeError(f"{text!r}: choose from {', '.join(known)}")
        return found

    return names


def _study(arguments: argparse.Namespace) -> Study:
    arguments.output.mkdir(parents=True, exist_ok=True)
    return Study(
        *(_trees(arguments, part) for part in ("train", "dev")),
        Parts(arguments.output / "figures.json"),
        lang=arguments.lang,
        seeds=arguments.seeds,
        epochs=arguments.epochs,
        weights=arguments.weights,
    )


def _trees(arguments: argparse.Namespace, part: str) -> list[Tree]:
    path = getattr(arguments, part)
    return open_treebank(path)[: arguments.limit] if path else common.read_part(arguments, arguments.bank, part)


def _seeds(result: Result) -> str:
    return ",".join(map(str, result.seeds)) or "-"


if __name__ == "__main__":
    common.run_resumable(main)
