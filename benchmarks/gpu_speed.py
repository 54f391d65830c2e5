"""Compare neural parsers that learn and parse on the processor, on a GPU, and on a GPU with mixed precision.

    python benchmarks/gpu_speed.py wsj --encoder FOLDER --sentences 4000 --passes 2 --gpu 0

Each is trained on the first sentences of a treebank's train part with a fixed number of passes, and parses the words of
the dev part, in processes of their own. Speeds are words per second that elapsed, with one thread of the processor; the
first compilation of CUDA's kernels counts as training, but not as parsing, which a few sentences begin. The columns
"times" compare with the processor's speeds of the same run. `--gpu -1` measures the processor alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import common
from neural_worker import Figures, in_process
from results import Table, percent, publish

from spacy_incparse.cli.train import NO_ENCODER
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Neural parsers on a GPU",
    ("F", "training words/s", "parsing words/s", "times training", "times parsing", "sentences", "passes"),
)
WORKER = Path(__file__).with_name("neural_worker.py")
CPU = "cpu"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one encoder on one treebank."""
    arguments = _arguments(argv)
    parts = {part: common.read_part(arguments, arguments.bank, part) for part in ("train", "dev")}
    parts["train"] = parts["train"][: arguments.sentences]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, trees in parts.items():
            (folder / f"{part}.mrg").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
        found = {way: _measured(folder, arguments, way, settings) for way, settings in _ways(arguments).items()}
        scores = {way: score_trees(parts["dev"], read_treebank(folder / f"{way}.mrg")).to_dict() for way in found}
    speeds = {way: _speeds(figures, parts, arguments.passes) for way, figures in found.items()}
    encoder = Path(arguments.encoder).name
    rows = {
        f"gpu-{arguments.bank}-{encoder}-{way}": [
            percent(scores[way]["const_f"]),
            *(f"{speed:.0f}" for speed in speeds[way]),
            *(f"{speed / base:.2f}" for speed, base in zip(speeds[way], speeds[CPU], strict=True)),
            str(len(parts["train"])),
            str(arguments.passes),
        ]
        for way in found
    }
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _ways(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return what is measured, with the settings of each."""
    ways: dict[str, dict[str, Any]] = {CPU: {"gpu": -1}}
    if arguments.gpu >= 0:
        ways["single"] = {"gpu": arguments.gpu}
        if arguments.encoder != NO_ENCODER:
            ways["mixed"] = {"gpu": arguments.gpu, "mixed_precision": True}
    return ways


def _measured(folder: Path, arguments: argparse.Namespace, way: str, settings: dict[str, Any]) -> dict[str, Figures]:
    """Train and parse; return the figures of both."""
    settings |= {"encoder": arguments.encoder, "passes": arguments.passes, "seed": arguments.seed, "name": way}
    settings |= {"trees": f"{way}.mrg"}
    return {task: in_process(WORKER, task, folder, settings) for task in ("train", "parse")}


def _speeds(figures: Mapping[str, Figures], parts: Mapping[str, Sequence[Tree]], n_passes: int) -> tuple[float, float]:
    """Return words per second in training and in parsing."""
    n_words = {part: sum(len(tree.words) for tree in trees) for part, trees in parts.items()}
    return (
        n_words["train"] * n_passes / figures["train"]["elapsed"],
        n_words["dev"] / figures["parse"]["elapsed"],
    )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--encoder", default=NO_ENCODER, metavar="FOLDER", help="a transformer; default: none, a CNN")
    parser.add_argument("--sentences", type=int, metavar="N", help="of the train part; default: all")
    parser.add_argument("--passes", type=int, default=2, help="default: 2")
    parser.add_argument("--gpu", type=int, default=0, metavar="ID", help="-1: the processor alone; default: 0")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
