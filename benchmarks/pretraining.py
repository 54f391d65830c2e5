"""Measure the pre-training of the neural parser's convolutional layer on raw text, with spaCy's `spacy pretrain`.

    python benchmarks/pretraining.py text.txt.gz ... --output FOLDER
    python benchmarks/neural_accuracy.py gum --init-tok2vec FOLDER/model-last.bin --output PARSER

Each line of the texts is a sentence. Sentences are shuffled, and the layer and the settings are those of
`configs/neural.cfg`: it learns to predict the first and last characters of each word from the words around it.
Time is CPU time of one thread, with the tokenizer's.
"""

from __future__ import annotations

import argparse
import gzip
import random
import time
from collections.abc import Sequence
from pathlib import Path

import common
import srsly
from process_memory import peak_bytes
from results import Table, publish
from spacy.training.pretrain import pretrain

from spacy_incparse.cli.neural_train import neural_config

TABLE = Table("Pre-training", ("sentences", "words", "passes", "loss a word", "CPU s", "words/s", "peak MB"))


def main(argv: Sequence[str] | None = None) -> None:
    """Pre-train on some texts."""
    arguments = _arguments(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    sentences = [line for path in arguments.texts for line in _lines(path)]
    random.Random(arguments.seed).shuffle(sentences)
    sentences = sentences[: arguments.limit]
    raw_text, log = arguments.output / "raw.jsonl", arguments.output / "log.jsonl"
    srsly.write_jsonl(raw_text, ({"text": sentence} for sentence in sentences))
    log.unlink(missing_ok=True)  # spaCy appends to it
    config = neural_config(seed=arguments.seed)
    config["paths"]["raw_text"] = str(raw_text)
    config["pretraining"]["max_epochs"] = arguments.epochs
    started = time.process_time()
    pretrain(config.interpolate(), arguments.output, silent=False)
    seconds = time.process_time() - started
    passes = list(srsly.read_jsonl(log))[: arguments.epochs]
    n_words = passes[-1]["nr_word"]
    numbers = (seconds, n_words / seconds, peak_bytes() / common.MEGABYTE)
    cells = [
        *map(str, (len(sentences), n_words // arguments.epochs, arguments.epochs)),
        f"{passes[-1]['epoch_loss'] / n_words * arguments.epochs:.3f}",
        *(f"{number:.0f}" for number in numbers),
    ]
    name = f"pretraining-{arguments.name}"
    publish(TABLE, {name: cells}, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _lines(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf8")
    return [line for line in text.splitlines() if line.strip()]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT", help="a text, plain or gzipped")
    parser.add_argument("--epochs", type=int, default=1, help="passes; default: 1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="cnn", help="the row is called pretraining-NAME; default: cnn")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where to save the weights")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
