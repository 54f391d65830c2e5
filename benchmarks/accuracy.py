"""Measure accuracy: train on a treebank's train part with several seeds, and score the dev part.

The number of passes is fixed in advance and the parser of the last pass is scored, so the dev part decides nothing.
Each parser is trained as by `spacy-incparse train`, and scored with its own tagger's tags
(`acc-BANK-predicted-CONFIG`) and with gold tags (`acc-BANK-gold-CONFIG`). With `--train-on gold`, training uses only
gold tags, and there is one row (`acc-BANK-gold-CONFIG-gold-trained`). With `--clusters`, the row names end in
`-clusters`. With `--train-words 40` it uses sentences of up to 40 words, and with `--test-words 40` these are scored;
`all,40` scores all and these (rows that end in `-trained-40`, `-tested-40`). A generative parser has no tagger: it
predicts its own tags, and all seeds give the same parser. Scores are
EVALB's with COLLINS.prm on all sentences; the gold tags are put into the finished trees so that every sentence counts.
Each seed is trained in its own process; the row reports its peak memory (at the end of training) and training time
(including the tagger). With `--trees FOLDER`, the trees are saved in FOLDER/ROW.SEED.mrg, so that `gains.py` can
compare two rows. Figures are saved too: after an interruption, the same command trains only the missing seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import common
from parts import Parts
from results import Table, percent, publish, spread
from training_run import parse_and_score, tags_for, train

from spacy_incparse.cli.recipe import read_recipe, save_pipeline
from spacy_incparse.training.loop import fingerprint

TABLE = Table(
    "Accuracy",
    (
        "F", "F range", "precision", "recall", "exact", "tags", "flat", "relaxed", "sentences", "passes", "training s",
        "peak MB",
    ),
)  # fmt: skip


MEASURES = ("const_f", "const_p", "const_r", "const_exact", "tag_acc")
SCORES = (*MEASURES, "flat", "relaxed", "n_sents")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one treebank and one feature set."""
    arguments = _arguments(argv)
    runs = _run_all(arguments)
    seeds = ",".join(map(str, arguments.seeds))
    rows = {_row_name(arguments, kind): _cells([run[kind] for run in runs]) for kind in runs[0]}
    publish(TABLE, rows, common.results_file(arguments), seed=seeds, argv=argv)


def run_seed(arguments: argparse.Namespace, seed: int) -> dict[str, dict[str, Any]]:
    """Train with one seed, and return the scores by the kind of tags used in parsing, and by the tested sentences."""
    gold_only = arguments.train_on == "gold"
    trees = common.up_to(arguments.train_words, common.read_part(arguments, arguments.bank, "train"))
    trained = train(
        trees,
        arguments.config,
        gold_tags=gold_only,
        epochs=arguments.epochs,
        seed=seed,
        clusters=arguments.clusters,
    )
    if arguments.save and seed == arguments.seeds[0]:
        splitter = trained.recipe.splitter(trees)
        save_pipeline(trained.recipe.pipeline(trained.tagger, trained.parser, {}, splitter), arguments.save)
    every = common.read_part(arguments, arguments.bank, "dev")
    costs = {"seconds": trained.seconds, "peak": trained.peak_bytes, "passes": trained.n_passes}
    scores = {}
    for kind, most in product(("gold",) if gold_only else ("predicted", "gold"), arguments.test_words):
        name = f"{kind}-tested-{most}" if most else kind
        dev = common.up_to(most, every)
        tags = tags_for(trained, dev, gold_tags=kind == "gold")
        path = arguments.trees and arguments.trees / f"{_row_name(arguments, name)}.{seed}.mrg"
        found = parse_and_score(trained.parser, dev, tags, path)
        scores[name] = {key: found[key] for key in SCORES} | costs
        print(f"seed {seed}: {name} tags, F {percent(scores[name]['const_f'])}", flush=True)
    return scores


def _row_name(arguments: argparse.Namespace, kind: str) -> str:
    tags, _, tested = kind.partition("-")
    suffixes = (
        "-gold-trained" * (arguments.train_on == "gold"),
        "-clusters" * bool(arguments.clusters),
        f"-trained-{arguments.train_words}" * bool(arguments.train_words),
        f"-{tested}" * bool(tested),
    )
    return f"acc-{arguments.bank}-{tags}-{Path(arguments.config).stem}{''.join(suffixes)}"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__)
    parser.add_argument("bank", help="name of the treebank: wsj, gum, craft, or sample")
    parser.add_argument("--config", "--features", default="rich", help="paper, rich, or a file with settings")
    parser.add_argument("--train-on", choices=("tagged", "gold"), default="tagged", help="tags in training")
    parser.add_argument("--epochs", type=int, help="passes; default: the config's")
    parser.add_argument("--train-words", type=int, default=0, metavar="N", help="most words of sentences to train on")
    parser.add_argument(
        "--test-words", type=lambda text: [0 if most == "all" else int(most) for most in text.split(",")], default=[0],
        metavar="all,N", help="most words of sentences to score, a row for each; default: all",
    )  # fmt: skip
    parser.add_argument("--clusters", metavar="LANG|FILE", help="word clusters; default: the config's")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="where to save the pipeline of the first seed")
    parser.add_argument("--trees", type=Path, metavar="FOLDER", help="where to save the trees of all seeds")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1, 2])
    return parser.parse_args(argv)


def _run_all(arguments: argparse.Namespace) -> list[dict[str, dict[str, Any]]]:
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:

        def run(seed: int) -> dict[str, dict[str, Any]]:
            return pool.apply(run_seed, (arguments, seed))

        if not arguments.trees:
            return [run(seed) for seed in arguments.seeds]
        kept, checksum = Parts(arguments.trees / "figures.json"), _checksum(arguments)
        name = _row_name(arguments, "all")
        return [kept.get(f"{name}, seed {seed}", checksum, lambda seed=seed: run(seed)) for seed in arguments.seeds]


def _checksum(arguments: argparse.Namespace) -> str:
    """Return a checksum of everything that a run depends on, except its seed and the package."""
    trees = [tree for part in ("train", "dev") for tree in common.read_part(arguments, arguments.bank, part)]
    recipe = read_recipe(arguments.config, max_epochs=arguments.epochs, clusters=arguments.clusters)
    settings = {**recipe.training, **recipe.search, "max_epochs": recipe.max_epochs, "train_on": arguments.train_on}
    settings |= {"train_words": arguments.train_words, "test_words": arguments.test_words}
    return fingerprint(trees, settings)


def _cells(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return means over the seeds; for flat sentences and memory the maximum, which a mean would hide."""
    means = {key: mean(run[key] for run in runs) for key in (*MEASURES, "relaxed", "seconds")}
    return [
        percent(means["const_f"]),
        spread([100 * run["const_f"] for run in runs]),
        *(percent(means[key]) for key in ("const_p", "const_r", "const_exact", "tag_acc")),
        str(max(run["flat"] for run in runs)),
        f"{means['relaxed']:.0f}",
        str(runs[0]["n_sents"]),
        str(runs[0]["passes"]),
        f"{means['seconds']:.0f}",
        f"{max(run['peak'] for run in runs) / common.MEGABYTE:.0f}",
    ]


if __name__ == "__main__":
    main()
