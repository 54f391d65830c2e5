"""Compare the neural parser with benepar: the same encoder, treebank, number of passes and processor.

    python benchmarks/benepar_comparison.py wsj --encoder FOLDER --benepar-python ENVIRONMENT/bin/python --output FOLDER

Both train a span classifier above the same pre-trained transformer for the same number of passes, without a look at the
dev part, and parse the words of the dev part in one thread. Each part is a process of its own: `neural_worker.py` in
this environment, and `benepar_worker.py` in that of `--benepar-python`, where this package need not be.

    incparse            the config of `spacy-incparse train --config neural`, as it is
    incparse-single     the same parser; matrices are multiplied in single precision, as by benepar
    benepar             benepar with the learning rates of this package's config: 2e-4 for the encoder, ten times as
                        much for the layers above, growing at first and then falling to 0
    benepar-own-rates   5e-5 for all layers, growing over 160 steps, as in benepar's training program

Training figures stay in the output folder: after an interruption, the same command trains only what is missing. Scores
are those of `neural_accuracy.py`. All seconds are CPU seconds. Parsers parse in turns, and the medians are given.
`installed MB` is the size of the package and its dependencies beyond spaCy and its own. "import" is the time of the
bare import; "load" that of opening the trained parser, with the imports that this causes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import common
from parts import PACKAGES, Parts
from results import Table, percent, publish

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.treebanks.reader import read_treebank

TABLE = Table(
    "Comparison with benepar",
    (
        "F", "precision", "recall", "exact", "tags", "sentences", "passes", "training s", "training words/s",
        "training peak MB", "parsing words/s", "parsing peak MB", "import s", "load s", "installed MB", "versions",
    ),
)  # fmt: skip
HERE = Path(__file__).parent
SIZE_SCRIPT = HERE / "installed_size.py"
VERSIONS = (
    "from importlib.metadata import version; import sys; print(', '.join(f'{n} {version(n)}' for n in sys.argv[1:]))"
)


@dataclass(frozen=True)
class Side:
    """One of the packages: its program, what is installed for it, and the versions that matter."""

    script: Path
    requirement: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A parser that is measured; one that is only another way to parse names the parser `trained` before."""

    side: Side
    trained: str
    training: dict[str, Any] = field(default_factory=dict)
    parsing: dict[str, Any] = field(default_factory=dict)


OURS = Side(HERE / "neural_worker.py", "spacy-incparse[transformers]", ("torch", "spacy-curated-transformers"))
BENEPAR = Side(HERE / "benepar_worker.py", "benepar", ("torch", "benepar", "transformers"))
SYSTEMS = {
    "incparse": System(OURS, "incparse"),
    "incparse-single": System(OURS, "incparse", parsing={"single": True}),
    "benepar": System(BENEPAR, "benepar", {"rate": 2e-4, "head_rate": 2e-3, "falls": True}),
    "benepar-own-rates": System(BENEPAR, "benepar-own-rates", {"rate": 5e-5, "head_rate": 5e-5, "falls": False}),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the systems on one treebank."""
    arguments = _arguments(argv)
    names = arguments.systems.split(",")
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev"):
        trees = common.read_part(arguments, arguments.bank, part)
        (folder / f"{part}.mrg").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
    training = {name: _trained(arguments, SYSTEMS[name]) for name in names}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(arguments.runs):
        for name in names:
            runs[name].append(_parsed(arguments, name))
    rows = {f"versus-{arguments.bank}-{name}": _cells(arguments, name, training[name], runs[name]) for name in names}
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _trained(arguments: argparse.Namespace, system: System) -> dict[str, float]:
    """Train a system, unless the output folder has it already; return its seconds and bytes."""
    settings = {
        **system.training,
        "name": system.trained,
        "encoder": arguments.encoder,
        "passes": arguments.epochs,
        "seed": arguments.seed,
    }
    train = arguments.output / "train.mrg"
    checked = [json.dumps(settings).encode(), train.read_bytes(), system.side.script.read_bytes()]
    parts = Parts(arguments.output / f"{system.trained}.json", (*PACKAGES, "chart", "cli", "corpora", "pipeline"))
    checksum = hashlib.sha256(b"".join(checked)).hexdigest()
    return parts.get("training", checksum, lambda: _run(arguments, system.side, "train", settings))


def _parsed(arguments: argparse.Namespace, name: str) -> dict[str, float]:
    system = SYSTEMS[name]
    settings = {**system.parsing, "name": system.trained, "trees": f"{name}.mrg"}
    return _run(arguments, system.side, "parse", settings)


def _run(arguments: argparse.Namespace, side: Side, do: str, settings: dict[str, Any]) -> dict[str, float]:
    """Run a part in a process of its own; the last line that it prints has its figures."""
    words = [str(side.script), do, str(arguments.output), json.dumps(settings)]
    return json.loads(_output(arguments, side, words).splitlines()[-1])


def _output(arguments: argparse.Namespace, side: Side, words: Sequence[str]) -> str:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if side is BENEPAR:
        environment.pop("PYTHONPATH", None)
    python = arguments.benepar_python if side is BENEPAR else sys.executable
    result = subprocess.run([python, *words], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return result.stdout


def _cells(
    arguments: argparse.Namespace, name: str, training: dict[str, float], runs: Sequence[dict[str, float]]
) -> list[str]:
    side = SYSTEMS[name].side
    gold = read_treebank(arguments.output / "dev.mrg")
    scores = score_trees(gold, read_treebank(arguments.output / f"{name}.mrg")).to_dict()
    n_train = sum(len(tree.words) for tree in read_treebank(arguments.output / "train.mrg")) * arguments.epochs
    n_dev = sum(len(tree.words) for tree in gold)
    medians = {key: median(run[key] for run in runs) for key in runs[0]}
    installed = int(_output(arguments, side, [str(SIZE_SCRIPT), side.requirement]))
    return [
        *(percent(scores[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
        str(scores["n_sents"]),
        str(arguments.epochs),
        f"{training['seconds']:.0f}",
        f"{n_train / training['seconds']:.0f}",
        f"{training['peak'] / common.MEGABYTE:.0f}",
        f"{n_dev / medians['seconds']:.0f}",
        f"{medians['peak'] / common.MEGABYTE:.0f}",
        f"{medians['import']:.2f}",
        f"{medians['load']:.2f}",
        f"{installed / common.MEGABYTE:.0f}",
        _output(arguments, side, ["-c", VERSIONS, *side.packages]).strip(),
    ]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, runs=3)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("bank", help="name of the treebank: wsj, gum, craft, or sample")
    parser.add_argument("--encoder", required=True, metavar="FOLDER", help="a pre-trained transformer")
    parser.add_argument("--benepar-python", metavar="FILE", help="the Python of an environment with benepar")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help=f"some of {', '.join(SYSTEMS)}; default: all")
    parser.add_argument("--epochs", type=int, default=6, help="passes; default: 6")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where the parsers are kept")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
