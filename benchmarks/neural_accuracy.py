"""Measure the accuracy of a neural parser: train on a treebank's train part, and score dev parts.

The parser is trained as by `spacy-incparse train --config neural --encoder FOLDER`, but the number of passes is fixed
in advance and the parser of the last pass is scored, with the threshold of the config, so the dev part decides nothing.
`train` fits the temperature on its dev file, which changes what has the best expected F; here it stays 1 unless
`--held-out N` leaves every Nth sentence of the train part out of training, to fit it on these. With `--encoder none`,
the layer of word vectors is spaCy's convolutional one, and `--init-tok2vec FILE` starts it with weights of
`spacy pretrain`. `--from FOLDER` fine-tunes a trained parser, and `--extra FILE` adds trees, such
as those of `biomedical_text.py`, of which each pass sees the part `--extra-weight`. The words of the dev parts of the
treebank and of those that `--on` names go through the pipeline with gold tokens and sentence boundaries. Scores are
EVALB's with COLLINS.prm on all sentences; the gold tags are put into the finished trees so that every sentence counts.
Training time is CPU time, of one thread unless `--threads` says otherwise. After an interruption, the same command goes
on after the last finished pass.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
from process_memory import peak_bytes
from results import Table, percent, publish
from saved_pipeline import open_pipeline, score_docs, sentence_docs

from spacy_incparse.cli.train import BEST, STATE
from spacy_incparse.cli.train_neural import neural_config, train_neural
from spacy_incparse.neural.training import is_begun
from spacy_incparse.training.passes import ExtraTrees, check_weight
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Accuracy of neural parsers",
    (
        "F", "precision", "recall", "exact", "tags", "sentences", "passes", "training s", "training words/s",
        "parsing words/s", "peak MB",
    ),
)  # fmt: skip
N_WATCHED = 20  # sentences of the train part that are scored after each pass if none are held out


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one treebank, one encoder and one seed."""
    arguments = _arguments(argv)
    if arguments.threads > 1:
        import torch

        torch.set_num_threads(arguments.threads)
    trees = common.read_part(arguments, arguments.bank, "train")
    learned, watched = _divided(trees, arguments.held_out)
    extra = ExtraTrees(read_treebank(arguments.extra) if arguments.extra else (), arguments.extra_weight)
    seconds = _train(arguments, learned, watched, extra)
    n_words = (_n_words(learned) + round(extra.weight * _n_words(extra.trees))) * arguments.epochs
    nlp = open_pipeline(str(arguments.output / BEST))
    rows = {}
    for bank in dict.fromkeys([arguments.bank, *arguments.on]):
        dev = common.read_part(arguments, bank, "dev")
        docs = sentence_docs(nlp, dev)
        started = time.process_time()
        scores = score_docs(dev, list(nlp.pipe(docs)))
        speed = sum(map(len, docs)) / (time.process_time() - started)
        rows[_row_name(arguments, bank)] = [
            *(percent(scores[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
            str(scores["n_sents"]),
            str(arguments.epochs),
            *(f"{number:.0f}" for number in (seconds, n_words / seconds, speed, peak_bytes() / common.MEGABYTE)),
        ]
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _divided(trees: Sequence[Tree], every: int) -> tuple[Sequence[Tree], Sequence[Tree]]:
    """Return the trees to learn from, and those that are scored after each pass; 0: none are left out."""
    if not every:
        return trees, trees[:N_WATCHED]
    return [tree for i, tree in enumerate(trees) if i % every], trees[::every]


def _train(arguments: argparse.Namespace, trees: Sequence[Tree], watched: Sequence[Tree], extra: ExtraTrees) -> float:
    """Train and save the pipeline; return the CPU seconds."""
    config = neural_config(
        encoder=arguments.encoder,
        max_epochs=arguments.epochs,
        seed=arguments.seed,
        init_tok2vec=arguments.init_tok2vec,
        base=arguments.base,
    )
    if arguments.rate is not None:
        _set_rate(config["training"]["optimizer"], arguments.rate)
    if not arguments.held_out:
        config["training"]["before_to_disk"] = None  # it would fit the temperature on trees that were learned from
    done = train_neural(
        trees, watched, arguments.output, config, base=arguments.base, extra=extra,
        description=arguments.bank, keep_last=True, resume=is_begun(arguments.output / STATE),
    )  # fmt: skip
    return done.seconds


def _set_rate(optimizer: dict[str, Any], rate: float) -> None:
    if isinstance(optimizer["learn_rate"], dict):
        optimizer["learn_rate"]["initial_rate"] = rate
    else:
        optimizer["learn_rate"] = rate


def _n_words(trees: Sequence[Tree]) -> int:
    return sum(len(tree.words) for tree in trees)


def _row_name(arguments: argparse.Namespace, bank: str) -> str:
    encoder = arguments.name
    if encoder is None:
        encoder = Path(arguments.encoder).name + "-pretrained" * (arguments.init_tok2vec is not None)
    return f"neural-{arguments.bank}-{encoder}" + f"-on-{bank}" * (bank != arguments.bank)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__)
    parser.add_argument("bank", help="name of the treebank: wsj, gum, craft, or sample")
    parser.add_argument("--encoder", default="none", metavar="FOLDER", help="a pre-trained transformer; default: none")
    parser.add_argument("--init-tok2vec", type=Path, metavar="FILE", help="weights of the convolutional layer")
    parser.add_argument("--name", help="the encoder's name for the row; default: that of the folder")
    parser.add_argument("--epochs", type=int, default=6, help="passes; default: 6")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--held-out", type=int, default=0, metavar="N", help="fit the temperature on every Nth sentence; default: none"
    )
    parser.add_argument("--from", dest="base", metavar="FOLDER", help="a neural pipeline to fine-tune")
    parser.add_argument("--extra", nargs="+", default=[], metavar="FILE", help="more trees to learn from, or folders")
    parser.add_argument("--extra-weight", type=float, default=1.0, help="the part of them that a pass sees; default: 1")
    parser.add_argument("--rate", type=float, help="the highest learning rate; default: that of the config")
    parser.add_argument("--threads", type=int, default=1, help="threads of the encoder; default: 1")
    parser.add_argument(
        "--on", nargs="+", default=[], metavar="BANK", help="other treebanks whose dev parts are parsed"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where to save the pipeline")
    arguments = parser.parse_args(argv)
    if arguments.base and (arguments.encoder != "none" or arguments.init_tok2vec or not arguments.name):
        parser.error("--from needs --name for its row, and has an encoder")
    check_weight(arguments.extra_weight)
    return arguments


if __name__ == "__main__":
    main()
