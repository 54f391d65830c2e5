"""The results of Finkel, Kleeman & Manning (2008) and of Taskar et al. (2004) on a treebank.

    python benchmarks/chart_papers.py wsj
    python benchmarks/chart_papers.py wsj --protocols finkel --lengths 40 --only systems

Each system is trained on the train part's sentences up to a length, and parses the dev part's up to that length, with
gold tags or with words only; with `--folds`, it also parses the train part, each fold by a system trained on the
others, and with `--all-sentences` the dev part's sentences of any length, as Finkel et al. do with what they trained on
up to 40 words. Settings are fixed in advance. Nothing is pruned, as in the papers.

OUTPUT/systems.txt has precision, recall and F next to the papers', OUTPUT/convergence.txt, by_pass.svg and by_time.svg
the F of stochastic gradient, L-BFGS, MIRA and the factored dual by pass and by training time. Finished measurements are
kept in OUTPUT/figures.json: after an interruption, the same command only computes what is missing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import common
from chart_convergence import LEARNERS, by_pass_svg, by_time_svg, convergence_text, follow
from chart_lab import GOLD, WORDS, Lab
from chart_sides import PROTOCOLS, Side
from paper_report import table_text
from parts import PACKAGES, Figures, Parts
from results import Table, percent, write

from spacy_incparse.cli.options import open_treebank
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.training.loop import fingerprint
from spacy_incparse.training.settings import head_rules
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Chart parsers of the papers",
    (
        "P", "R", "F", "paper's P", "paper's R", "paper's F", "sentences", "without a tree", "trained on", "states",
        "rules", "train CPU s",
    ),
)  # fmt: skip
CURVES = Table("Chart parsers: convergence", ("passes", "F by pass", "CPU s by pass"))
# Of Taskar et al., figure 3 (section 23, 421 sentences; trained on 9,753), and of Finkel et al., section 1: the best.
_TASKAR = {
    "generative": (88.25, 87.73, 87.99),
    "basic": (88.08, 88.31, 88.20),
    "lexical": (88.55, 88.34, 88.44),
    "lexical+aux": (89.14, 89.10, 89.12),
}
PAPER: dict[tuple[str, int, str], tuple[float | None, float | None, float]] = {
    **{(protocol, 15, name): found for name, found in _TASKAR.items() for protocol in ("taskar", "taskar-head")},
    ("finkel", 15, "relaxed"): (None, None, 90.9),
}


LENGTHS = {"15": 15, "40": 40}  # the papers'
ALL, FOLDS = "tested-all", "folds"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the requested tables and figures for one treebank."""
    arguments = _arguments(argv)
    study = Study(arguments, argv)
    for name in arguments.only:
        text = study.systems() if name == "systems" else study.convergence()
        print(text, end="\n\n", flush=True)
        (arguments.output / f"{name}.txt").write_text(text + "\n", encoding="utf8")


@dataclass(frozen=True)
class Run:
    """A system under one protocol.

    parses: "" for the dev part's sentences up to a length, ALL for those of any length, FOLDS for the train part's.
    """

    protocol: str
    max_words: int
    kind: str
    side: Side
    parses: str

    @property
    def name(self) -> str:
        """The name of its row, without the treebank."""
        return "-".join(filter(None, (self.protocol, str(self.max_words), self.kind, self.side.name, self.parses)))


class Study:
    """All measurements on one treebank."""

    def __init__(self, arguments: argparse.Namespace, argv: Sequence[str] | None):
        self._arguments, self._argv = arguments, argv
        self._train, self._dev = (_trees(arguments, part) for part in ("train", "dev"))
        self._heads = head_rules(None, arguments.lang)
        self._parts = Parts(arguments.output / "figures.json", (*PACKAGES, "chart"))
        self._checksum = fingerprint([*self._train, *self._dev], {"n_train": len(self._train)})
        if not all(common.up_to(max(arguments.lengths), trees) for trees in (self._train, self._dev)):
            raise IncparseError(f"no sentences up to {max(arguments.lengths)} words in one of the parts")
        named = arguments.train and not arguments.results
        self._results = None if named else common.results_file(arguments)

    def systems(self) -> str:
        """Train and score all systems."""
        lines = [["", "P", "R", "F", "paper: P", "R", "F", "no tree", "sentences"]]
        for run in self._runs():
            found = self._parts.get(run.name, self._checksum, lambda run=run: self._measure(run))  # type: ignore[misc]
            paper = PAPER.get((run.protocol, run.max_words, run.side.name), (None, None, None))
            shown = ["-" if figure is None else f"{figure:.2f}" for figure in paper]
            own = [percent(found[name]) for name in ("precision", "recall", "f")]
            lines.append([run.name, *own, *shown, str(found["n_relaxed"]), str(found["n"])])
            print("  ".join(lines[-1]), flush=True)
            counts = [str(found[name]) for name in ("n", "n_relaxed", "n_train", "states", "rules")]
            self._write(TABLE, {run.name: [*own, *shown, *counts, f"{found['seconds']:.0f}"]})
        return table_text("Precision, recall and F, and the papers' (trained on far more)", lines, n_names=1)

    def convergence(self) -> str:
        """Follow training on the dev part, which decides nothing."""
        train, dev = (common.up_to(15, trees) for trees in (self._train, self._dev))
        curves = {
            name: self._parts.get(
                f"curve {name}", self._checksum, lambda name=name: follow(name, train, dev, self._heads)
            )  # type: ignore[misc]
            for name in LEARNERS
        }
        for name, curve in curves.items():
            cells = [" ".join(map(percent, curve["f"])), " ".join(f"{s:.1f}" for s in curve["seconds"])]
            self._write(CURVES, {f"convergence-{name}": [str(len(curve["f"])), *cells]})
        for name, picture in (("by_pass", by_pass_svg(curves)), ("by_time", by_time_svg(curves))):
            (self._arguments.output / f"{name}.svg").write_text(picture, encoding="utf8")
        return convergence_text(curves)

    def _runs(self) -> list[Run]:
        arguments = self._arguments
        return [
            Run(protocol, max_words, kind, side, parses)
            for protocol in arguments.protocols
            for max_words in arguments.lengths
            for kind in arguments.kinds
            for parses in ("", *([ALL] if arguments.all_sentences else []), *([FOLDS] if arguments.folds else []))
            for side in PROTOCOLS[protocol](max_words)
            if not arguments.sides or side.name in arguments.sides
        ]

    def _measure(self, run: Run) -> Figures:
        gold, parsed, n_relaxed, seconds = [], [], 0, 0.0
        for fit, test in self._pairs(run):
            start = time.process_time()
            lab = Lab(fit, run.side.grammar, self._heads, run.kind, is_relaxed=run.side.is_relaxed)
            scorer = run.side.train(lab, lambda *_: None)
            seconds += time.process_time() - start
            trees, relaxed = lab.parse(test, scorer, run.side.temperature)
            gold += test
            parsed += trees
            n_relaxed += relaxed
        scores = score_trees(gold, parsed).all
        return {
            "precision": scores.precision, "recall": scores.recall, "f": scores.f, "n": len(gold), "n_train": len(fit),
            "n_relaxed": n_relaxed, "states": len(lab.grammar.states), "rules": lab.grammar.n_rules, "seconds": seconds,
        }  # fmt: skip

    def _pairs(self, run: Run) -> list[tuple[list[Tree], list[Tree]]]:
        """Return the trees to train on, each time with those to parse."""
        if run.parses == FOLDS:
            return self._folds(run)
        dev = list(self._dev) if run.parses == ALL else common.up_to(run.max_words, self._dev)
        return [(self._fit(run), dev)]

    def _fit(self, run: Run) -> list[Tree]:
        """Return the trees that a system is trained on."""
        return list(self._train) if run.side.all_lengths else common.up_to(run.max_words, self._train)

    def _folds(self, run: Run) -> list[tuple[list[Tree], list[Tree]]]:
        """Return the trees to train on and to parse in each fold over the train part."""
        n, folds = self._arguments.folds, []
        fold_of = {id(tree): number % n for number, tree in enumerate(common.up_to(run.max_words, self._train))}
        for fold in range(n):
            held_out = [tree for tree in self._train if fold_of.get(id(tree)) == fold]
            folds.append(([tree for tree in self._fit(run) if fold_of.get(id(tree)) != fold], held_out))
        return folds

    def _write(self, table: Table, rows: dict[str, list[str]]) -> None:
        if self._results:
            named = {f"chart-{self._arguments.bank}-{name}": cells for name, cells in rows.items()}
            write(table, named, self._results, seed="0", argv=self._argv)


def _trees(arguments: argparse.Namespace, part: str) -> list[Tree]:
    path = getattr(arguments, part)
    return open_treebank(path)[: arguments.limit] if path else common.read_part(arguments, arguments.bank, part)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank=common.SAMPLE)
    parser.add_argument("--train", help="bracket files to train on, instead of BANK's; BANK is then only a name")
    parser.add_argument("--dev", help="bracket files to score on")
    parser.add_argument("--lang", default="en", help="the language's code, for the head rules; default: en")
    parser.add_argument("--protocols", type=_names, default=list(PROTOCOLS), help=f"of {','.join(PROTOCOLS)}")
    parser.add_argument(
        "--lengths", type=lambda text: [LENGTHS[name] for name in text.split(",")], default=[15],
        help=f"most words of a sentence: {','.join(LENGTHS)}; default: 15",
    )  # fmt: skip
    parser.add_argument("--kinds", type=_names, default=[GOLD, WORDS], help="what is given: gold tags, or words only")
    parser.add_argument("--sides", type=_names, help="only these systems")
    parser.add_argument("--folds", type=int, default=0, help="of the train part; default: no cross-validation")
    parser.add_argument("--all-sentences", action="store_true", help="also parse the dev part's of any length")
    parser.add_argument("--only", type=_names, default=["systems", "convergence"], help="default: both")
    parser.add_argument("--output", type=Path, help="folder for tables, figures and finished measurements")
    arguments = parser.parse_args(argv)
    if (arguments.train is None) != (arguments.dev is None):
        parser.error("--train and --dev must be used together")
    for name in arguments.protocols:
        if name not in PROTOCOLS:
            parser.error(f"unknown protocol {name!r}: choose from {', '.join(PROTOCOLS)}")
    arguments.output = arguments.output or Path("metrics") / f"chart-{arguments.bank}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    return arguments


def _names(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    common.run_resumable(main)
