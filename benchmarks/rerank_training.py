"""Measure `spacy-incparse rerank-train`: wall-clock time of the whole command, memory, and what the reranker gains.

    python benchmarks/rerank_training.py wsj --model parser/model-best --name rich

The model is a trained pipeline with a parser that learned from the bank's train part. The machine must be quiet, and
run Linux (/proc). "MB of all" adds up the resident memory of all processes, so that what they share counts for each.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import common
from results import Table, percent, publish
from sampled_run import run_sampled

TABLE = Table(
    "Training a reranker",
    ("folds", "processes", "seconds", "most MB of a process", "most MB of all", "F of the parser", "F of the reranker"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Train once."""
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.add_argument("--model", required=True, help="folder of a trained pipeline")
    parser.add_argument("--name", required=True, help="for the row")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--passes", type=int, help="of the parsers; default: the model's")
    arguments = parser.parse_args(argv)
    parts = [str(common.part_path(arguments, arguments.bank, part)) for part in ("train", "dev")]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        words = [sys.executable, "-m", "spacy_incparse", "rerank-train", arguments.model, *parts]
        words += [str(Path(folder, "reranked"))]
        words += ["--folds", str(arguments.folds), "--n-process", str(arguments.processes), "--output", str(report)]
        words += ["--passes", str(arguments.passes)] if arguments.passes else []
        run = run_sampled(words)
        if run.returncode:
            sys.exit(run.returncode)
        scores = json.loads(report.read_text(encoding="utf8"))
    most = max(one.resident for samples in run.samples.values() for one in samples)
    memory = [f"{n_bytes / common.MEGABYTE:.0f}" for n_bytes in (most, run.most)]
    f = [percent(scores[name]["const_f"]) for name in ("base", "reranked")]
    cells = [str(arguments.folds), str(arguments.processes), f"{run.seconds:.0f}", *memory, *f]
    publish(TABLE, {f"rerank-train-{arguments.bank}-{arguments.name}": cells}, arguments.results or common.RESULTS)


if __name__ == "__main__":
    common.run_resumable(main)
