"""Parse the text that the embedded English pipelines learn from, by a neural parser or several that answer together.

    python benchmarks/embedded_teacher.py TEXT OUT PARSER [PARSER ...] --part 0/2

TEXT has a sentence on each line, PARSER is a pipeline of `train --config neural`; docs/english.md says how they are
trained. OUT gets a file of trees for each 1,000 lines. An interrupted run continues with the same command.
`--part 0/2` and `--part 1/2` in two processes share the work.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from combiner_accuracy import combined
from spacy.language import Language
from thinc.api import Model

import spacy_incparse
from spacy_incparse.neural.encoder import computes_in_bfloat16
from spacy_incparse.pipeline.tokenizer import penn_tokenizer

# Lower than the combiner's default: a phrase that is uncertain is better than none, for those who learn from the trees.
THRESHOLD = 0.35
LINES = 1000  # of a file
LEAST_FILL = 0.9  # of a group of sentences that go through an encoder together: the rest is padding


def main() -> None:
    """Parse what is not parsed yet."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("text", type=Path)
    arguments.add_argument("output", type=Path)
    arguments.add_argument("parsers", nargs="+", help="folders of pipelines with incparse_neural")
    arguments.add_argument("--weights", type=float, nargs="+", default=[], help="of the parsers; default: 1 each")
    arguments.add_argument("--lines", type=int, default=34_000, help="of the text's beginning; default: 34,000")
    arguments.add_argument("--part", default="0/1", metavar="K/N", help="each N-th file from the K-th on")
    given = arguments.parse_args()
    first, n_parts = map(int, given.part.split("/"))
    lines = given.text.read_text(encoding="utf8").splitlines()[: given.lines]
    nlp = teacher(given.parsers, given.weights)
    given.output.mkdir(parents=True, exist_ok=True)
    started, n_words = time.process_time(), 0
    for number in range(first, -(-len(lines) // LINES), n_parts):
        path = given.output / f"{number:04}.mrg"
        if path.exists():
            continue
        trees = [
            tree for doc in nlp.pipe(lines[number * LINES :][:LINES], batch_size=LINES) for tree in doc._.trees if tree
        ]
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
        unfinished.replace(path)
        n_words += sum(len(tree.words) for tree in trees)
        speed = n_words / (time.process_time() - started)
        print(f"{path}: {len(trees):,} trees, {speed:,.0f} words per CPU second", flush=True)


def teacher(parsers: list[str], weights: list[float]) -> Language:
    """Return a pipeline in which only the parser or the combination answers, with encoders in 8 or 16 bits."""
    if len(parsers) == 1:
        nlp, members = spacy_incparse.load(parsers[0]), list[str]()
        nlp.get_pipe("incparse_neural").search = {"threshold": THRESHOLD}
    else:
        nlp, members = combined(parsers, weights, THRESHOLD)
    for name in members:
        nlp.disable_pipe(name)
    nlp.tokenizer = penn_tokenizer(nlp)
    layers = [layer for _, part in nlp.components if getattr(part, "model", None) for layer in part.model.walk()]
    for layer in layers:
        if layer.name == "by_length":
            layer.attrs["least_fill"] = LEAST_FILL
    if not computes_in_bfloat16():
        in_8_bits(layers)
    return nlp


def in_8_bits(layers: Iterable[Model]) -> None:
    """Let PyTorch compute products of an encoder's layers in 8 bits: 1.6 times as fast, F on held-out trees 0.1 lower.

    The second product of each layer stays as it is: a few of its inputs are so large that the others would be lost, and
    with them 27 F of a parser on MPNet.
    """
    import torch

    warnings.filterwarnings("ignore", module="torch.ao")
    for shim in (shim for layer in layers for shim in layer.shims):
        products = {
            name: torch.ao.quantization.default_dynamic_qconfig
            for name, part in shim._model.named_modules()
            if isinstance(part, torch.nn.Linear) and not name.endswith("ffn.output")
        }
        shim._model = torch.ao.quantization.quantize_dynamic(shim._model, products, torch.qint8)


if __name__ == "__main__":
    main()
