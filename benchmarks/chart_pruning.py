"""Measure what the pruner of a chart parser leaves out, what this costs, and how time grows with the length.

    python benchmarks/chart_pruning.py wsj

A parser is trained as by `accuracy.py --config chart` on nine tenths of the train part, and parses the other tenth with
its own tags under the settings `pruning` = normal, loose and off. The oracle F is that of the best tree in the chart;
the rest of what it lacks is due to grammar and tags. Charts that are not pruned are large: 600 MB for sentences of 60
words. So `pruning-BANK-off-short` is for sentences up to `--unpruned` words alone, and the other settings have a row
for the same sentences (`-short`). On these sentences, the strictest threshold is also varied: `thresholds-BANK-1.2e-05`
has what it loses of the oracle F without pruning, with the parser as it was trained, over the sentences of `--tenths`
tenths of the train part, each parsed by a parser that has not seen it.

For the growth with length, sentences of one length are made of the words of neighbours; longer sentences than one chart
takes are parsed piece by piece. OUTPUT/pruning.txt, thresholds.txt and lengths.txt have the tables.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import common
import numpy as np
from paper_report import table_text
from results import Table, percent, publish
from training_run import tags_for, train

from spacy_incparse.chart.charts import ChartSentence, ScoredChart, derived_tree
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.parser import MAX_WORDS, ChartParser
from spacy_incparse.chart.pruner import SpanClassifier
from spacy_incparse.chart.recurrences import EdgeLabels, viterbi
from spacy_incparse.cli.options import open_treebank
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

PRUNING = Table(
    "Pruning of charts", ("oracle F", "F", "edges/word", "words/s", "relaxed", "most words", "sentences", "words")
)
THRESHOLDS = Table(
    "Thresholds of pruning", ("oracle F", "loss of oracle F", "F", "edges/word", "words/s", "sentences", "words")
)
LENGTHS = Table("Growth of time with length", ("words", "sentences", "ms/sentence", "edges", "exponent", "relaxed"))
TENTH = 10  # of the train part, every tenth sentence is held out
WORTH = 0.45  # of a bracket, in the search for the oracle tree


@dataclass(frozen=True)
class Oracle:
    """Finds the tree with the best F in a forest."""

    grammar: Grammar
    labels: EdgeLabels

    def tree(self, forest: Forest, sentence: ChartSentence, gold: Tree) -> Tree:
        """Return the tree with the most gold phrases minus a share of all."""
        gains = np.full((len(self.labels.spans(forest)), self.labels.n_labels), -WORTH)
        rows = {tuple(span): row for row, span in enumerate(self.labels.spans(forest).tolist())}
        names = {name: number for number, name in enumerate(self.grammar.labels)}
        for label, start, end in set(gold.spans()):
            if (start, end) in rows and label in names:
                gains[rows[start, end], names[label]] += 1
        gains[:, names[ROOT]] = 0
        _, edges = viterbi(forest, self.labels.edge_scores(forest, gains))
        return derived_tree(forest, edges, self.grammar, sentence.words, sentence.tags)


@dataclass(frozen=True)
class Tenth:
    """A part of the train part, its sentences' tags, and a parser that learned from the rest."""

    parser: ChartParser
    trees: Sequence[Tree]
    tags: Sequence[Tags]

    @classmethod
    def held_out(cls, arguments: argparse.Namespace, trees: Sequence[Tree], number: int) -> Tenth:
        """Train without one tenth."""
        fit = [tree for k, tree in enumerate(trees) if k % TENTH != number]
        trained = train(fit, arguments.config, gold_tags=False, epochs=arguments.epochs, seed=0)
        assert isinstance(trained.parser, ChartParser)
        held_out = trees[number::TENTH]
        return cls(trained.parser, held_out, tags_for(trained, held_out, gold_tags=False))

    def up_to(self, n_words: int) -> list[tuple[Tree, Tags]]:
        """Return the trees of at most so many words, with their tags."""
        return [(tree, row) for tree, row in zip(self.trees, self.tags, strict=True) if len(tree.words) <= n_words]


@dataclass(frozen=True)
class Found:
    """What a parser makes of a sentence; seconds are CPU time."""

    tree: Tree
    oracle: Tree
    n_edges: int
    source: str
    seconds: float


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one treebank."""
    arguments = _arguments(argv)
    trees = open_treebank(arguments.train) if arguments.train else common.read_part(arguments, arguments.bank, "train")
    trees = trees[: arguments.limit]
    tenths = [Tenth.held_out(arguments, trees, number) for number in range(arguments.tenths)]
    for name, table, measured_rows in (
        ("pruning", PRUNING, _pruning(arguments, tenths[0])),
        ("thresholds", THRESHOLDS, _thresholds(arguments, tenths)),
        ("lengths", LENGTHS, _lengths(arguments, tenths[0])),
    ):
        found = dict(measured_rows)
        _write_text(arguments.output / f"{name}.txt", table, found)
        if arguments.results or not arguments.train:
            rows = {f"{name}-{arguments.bank}-{row}": cells for row, cells in found.items()}
            publish(table, rows, common.results_file(arguments), seed="0", argv=argv)


def _write_text(path: Path, table: Table, rows: Mapping[str, Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [["", *table.columns], *([name, *cells] for name, cells in rows.items())]
    path.write_text(table_text(table.heading, lines, n_names=1) + "\n", encoding="utf8")


def measured(parser: ChartParser, gold: Tree, tags: Tags) -> Found:
    """Return the tree of a parser, and the oracle tree of its chart."""
    started = time.process_time()
    chart = scored_chart(parser, gold.words, tags)
    config = parser.config
    parse = chart.best(config.decoding, config.threshold, config.choose_temperature)
    seconds = time.process_time() - started
    oracle = Oracle(chart.grammar, chart.labels).tree(chart.chart.forest, chart.sentence, gold)
    return Found(parse.tree, oracle, chart.chart.forest.n_edges, parse.source, seconds)


def scored_chart(parser: ChartParser, words: Sequence[str], tags: Tags) -> ScoredChart:
    """Return the chart of a sentence, which one chart is enough for."""
    found = parser.scored(words, tags)
    assert isinstance(found, ScoredChart), f"no chart: {words}"
    return found


def _pruning(arguments: argparse.Namespace, tenth: Tenth) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and cells of each row on pruning."""
    every, short = tenth.up_to(MAX_WORDS), tenth.up_to(min(MAX_WORDS, arguments.unpruned))
    for name, pruning, chosen in (
        ("normal", "normal", every),
        ("loose", "loose", every),
        ("normal-short", "normal", short),
        ("loose-short", "loose", short),
        ("off-short", "off", short),
    ):
        if not chosen:
            print(f"{name}: no row, the held-out tenth has no sentence that is short enough", flush=True)
            continue
        parser = tenth.parser.with_search(pruning=pruning)
        cells = _pruning_cells([(tree, measured(parser, tree, row)) for tree, row in chosen])
        print(name, *cells, flush=True)
        yield name, cells


def _pruning_cells(found: Sequence[tuple[Tree, Found]]) -> list[str]:
    gold = [tree for tree, _ in found]
    n_words = sum(len(tree.words) for tree in gold)
    oracle, own = score_trees(gold, [one.oracle for _, one in found]), score_trees(gold, [one.tree for _, one in found])
    n_edges, seconds = sum(one.n_edges for _, one in found), sum(one.seconds for _, one in found)
    n_relaxed = sum(one.source == "relaxed" for _, one in found)
    most = max(len(tree.words) for tree in gold)
    return [
        percent(oracle.all.f), percent(own.all.f), f"{n_edges / n_words:.0f}", f"{n_words / seconds:,.0f}",
        str(n_relaxed), str(most), str(len(gold)), str(n_words),
    ]  # fmt: skip


def _thresholds(arguments: argparse.Namespace, tenths: Sequence[Tenth]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and cells of each row on the strictest threshold; each sentence has a chart, or a looser one."""
    gold = [tree for tenth in tenths for tree, _ in tenth.up_to(arguments.unpruned)]
    if not gold:
        return
    most = _oracle_f(gold, _found(arguments, [tenth.parser.with_search(pruning="off") for tenth in tenths], tenths))
    for threshold in arguments.thresholds:
        found = _found(arguments, [with_threshold(tenth.parser, threshold) for tenth in tenths], tenths)
        oracle = _oracle_f(gold, found)
        _, f, edges, speed, _, _, n, n_words = _pruning_cells(list(zip(gold, found, strict=True)))
        cells = [f"{oracle:.3f}", f"{most - oracle:.3f}", f, edges, speed, n, n_words]
        print(threshold, *cells, flush=True)
        yield f"{threshold:g}", cells


def _found(arguments: argparse.Namespace, parsers: Sequence[ChartParser], tenths: Sequence[Tenth]) -> list[Found]:
    return [
        measured(parser, tree, tags)
        for parser, tenth in zip(parsers, tenths, strict=True)
        for tree, tags in tenth.up_to(arguments.unpruned)
    ]


def _oracle_f(gold: Sequence[Tree], found: Sequence[Found]) -> float:
    return 100 * score_trees(gold, [one.oracle for one in found]).all.f


def with_threshold(parser: ChartParser, threshold: float) -> ChartParser:
    """Return a parser with the same model, whose span classifiers begin with another threshold."""
    pruner = copy(parser.model.pruner)
    assert isinstance(pruner, SpanClassifier), "the parser has no classifiers of spans"
    looser = [value for value in pruner.settings.thresholds if value < threshold]
    pruner.settings = replace(pruner.settings, thresholds=(threshold, *looser))
    return ChartParser(replace(parser.model, pruner=pruner), parser.config, parser.temperature)


def _lengths(arguments: argparse.Namespace, tenth: Tenth) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and cells of each row on the growth with length."""
    words = [word for tree in tenth.trees for word in tree.words]
    own = [tag for row in tenth.tags for tag in row]
    last: tuple[int, float] | None = None
    for length in arguments.lengths:
        starts = range(0, len(words) - length + 1, length)[: arguments.sentences]
        if not starts:
            print(f"{length}: no row, the held-out tenth has fewer words", flush=True)
            continue
        cells, last = _length_cells(tenth.parser, [(words[i : i + length], own[i : i + length]) for i in starts], last)
        print(length, *cells, flush=True)
        yield str(length), cells


def _length_cells(
    parser: Parser, sentences: Sequence[tuple[Sequence[str], Tags]], last: tuple[int, float] | None
) -> tuple[list[str], tuple[int, float]]:
    """Return the cells for sentences of one length, and this length with its time; `last`: those before."""
    assert isinstance(parser, ChartParser)
    length = len(sentences[0][0])
    started = time.process_time()
    sources = [parser.parse(words, tags).source for words, tags in sentences]
    seconds = (time.process_time() - started) / len(sentences)
    edges = "-"
    if length <= MAX_WORDS:
        edges = f"{sum(scored_chart(parser, *one).chart.forest.n_edges for one in sentences) / len(sentences):.0f}"
    exponent = "-" if last is None else f"{log(seconds / last[1]) / log(length / last[0]):.2f}"
    cells = [str(length), str(len(sentences)), f"{1000 * seconds:.2f}", edges, exponent, str(sources.count("relaxed"))]
    return cells, (length, seconds)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank=common.SAMPLE)
    parser.add_argument("--train", help="bracket files, instead of BANK's train part; BANK is then only a name")
    parser.add_argument("--config", default="chart", help="chart, or a file with settings of a chart parser")
    parser.add_argument("--epochs", type=int, help="passes; default: the config's")
    parser.add_argument(
        "--unpruned", type=int, default=60, help="most words of sentences whose charts are not pruned; default: 60"
    )
    parser.add_argument("--tenths", type=int, default=1, help="to try thresholds on, up to 10; default: 1")
    parser.add_argument(
        "--thresholds", type=lambda text: [float(value) for value in text.split(",")],
        default=[1e-3, 3e-4, 1e-4, 3e-5, 1.2e-5],
        help="of pruning; default: 1e-3,3e-4,1e-4,3e-5,1.2e-5",
    )  # fmt: skip
    parser.add_argument(
        "--lengths", type=lambda text: [int(length) for length in text.split(",")], default=[20, 40, 80, 160, 320],
        help="lengths of sentences, for the growth of time; default: 20,40,80,160,320",
    )  # fmt: skip
    parser.add_argument("--sentences", type=int, default=100, help="most sentences of each length; default: 100")
    parser.add_argument("--output", type=Path, help="folder for the tables")
    arguments = parser.parse_args(argv)
    arguments.output = arguments.output or Path("metrics") / f"pruning-{arguments.bank}"
    return arguments


if __name__ == "__main__":
    main()
