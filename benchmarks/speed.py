"""Measure the speed of the search alone, with gold tags and three settings: default, narrower and fast.

A parser is trained on a treebank's train part, as for the accuracy rows. The dev part is encoded in advance; then only
the beam search is timed, in several rounds that alternate between the settings and spaCy's tagger and parser (see
spacy_baseline.py). Speeds are words per CPU second on one thread; the figures are medians over the rounds, and F is
that of the same parser and setting.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import common
from results import Table, percent, publish, spread
from saved_pipeline import word_docs
from spacy_baseline import baseline
from timing import pipe_speed, words_per_second
from training_run import parse_and_score, tags_for, train

from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Speed of the engine",
    ("words/s", "words/s range", "F", "flat", "relaxed", "spaCy words/s", "ratio to spaCy", "search", "passes"),
)

_NARROW = {"gamma": 1e5, "outcome_filter_min_share": 0.002}
_FAST = {"gamma": 3e4, "outcome_filter_min_share": 0.01}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure all settings on one treebank."""
    arguments = _arguments(argv)
    trees = common.read_part(arguments, arguments.bank, "train")
    trained = train(trees, arguments.config, gold_tags=False, epochs=arguments.epochs, seed=arguments.seed)
    dev = common.read_part(arguments, arguments.bank, "dev")
    parsers = {
        "default": trained.parser,
        "narrow": trained.parser.with_search(**dict(arguments.narrow)),
        "fast": trained.parser.with_search(**dict(arguments.fast)),
    }
    speeds = _measure(parsers, dev, arguments.rounds)
    rows = {}
    for name, parser in parsers.items():
        scores = parse_and_score(parser, dev, tags_for(trained, dev, gold_tags=True))
        rows[f"speed-{arguments.bank}-{name}"] = _cells(speeds[name], speeds["spaCy"], scores, parser, trained.n_passes)
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.add_argument("--config", "--features", default="rich", help="paper, rich, or a file with settings")
    parser.add_argument("--epochs", type=int, help="passes; default: the config's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    for name, settings in (("narrow", _NARROW), ("fast", _FAST)):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            type=common.search_setting,
            default=list(settings.items()),
            metavar="NAME=VALUE",
            help=f"search settings of the row; default: {' '.join(f'{k}={v:g}' for k, v in settings.items())}",
        )
    return parser.parse_args(argv)


def _measure(parsers: dict[str, PerceptronParser], dev: Sequence[Tree], rounds: int) -> dict[str, list[float]]:
    """Return the speeds by round, after a warm-up round."""
    n_words = sum(len(tree.words) for tree in dev)
    nlp = baseline()
    speeds: dict[str, list[float]] = {name: [] for name in (*parsers, "spaCy")}
    for _ in range(rounds + 1):
        for name, parser in parsers.items():
            speeds[name].append(words_per_second(_search(parser, dev), n_words))
        speeds["spaCy"].append(pipe_speed(lambda: nlp, lambda nlp: word_docs(nlp, dev), n_words))
    return {name: found[1:] for name, found in speeds.items()}


def _search(parser: PerceptronParser, trees: Sequence[Tree]) -> Callable[[], None]:
    """Return a function that searches for the best analysis of every sentence without building its tree."""
    sentences = [parser.model.sentence(tree.words, tree.tags) for tree in trees]
    beam = parser._beam

    def run() -> None:
        for sentence in sentences:
            beam.parse(sentence)

    return run


def _cells(
    speeds: list[float], spacy_speeds: list[float], scores: dict[str, Any], parser: PerceptronParser, n_passes: int
) -> list[str]:
    config = parser.config
    search = ("beam_size", "gamma", "outcome_filter_min_count", "outcome_filter_min_share")
    ratios = [ours / theirs for ours, theirs in zip(speeds, spacy_speeds, strict=True)]
    return [
        f"{median(speeds):,.0f}",
        spread(speeds, "{:,.0f}"),
        percent(scores["const_f"]),
        str(scores["flat"]),
        str(scores["relaxed"]),
        f"{median(spacy_speeds):,.0f}",
        f"{median(ratios):.2f}",
        " ".join(f"{name}={getattr(config, name)}" for name in search),
        str(n_passes),
    ]


if __name__ == "__main__":
    main()
