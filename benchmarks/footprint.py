"""Measure the footprint of a trained pipeline: loading time, memory while parsing, and size on disk.

Each measurement uses a fresh process that imports spaCy, starts the clock, loads the pipeline, parses one sentence, and
then parses the dev part of a treebank with `nlp.pipe`. Times are wall-clock times; figures are medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common
from results import Table, publish, spread

TABLE = Table(
    "Footprint",
    (
        "load s", "load s range", "first sentence s", "resident MB", "peak MB", "MB with spaCy alone", "folder MB",
        "runs",
    ),
)  # fmt: skip
CHILD = Path(__file__).with_name("load_and_parse.py")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline."""
    arguments = common.argument_parser(__doc__, bank="gum", model="en", runs=5).parse_args(argv)
    runs = [_fresh_process(arguments) for _ in range(arguments.runs)]
    columns = {key: [run[key] for run in runs] for key in runs[0]}
    megabytes = [f"{median(columns[key]) / common.MEGABYTE:.0f}" for key in ("resident", "peak", "spacy")]
    cells = [
        f"{median(columns['load']):.2f}",
        spread(columns["load"]),
        f"{median(columns['first']):.3f}",
        *megabytes,
        f"{columns['folder'][0] / common.MEGABYTE:.1f}",
        str(arguments.runs),
    ]
    name = f"footprint-{Path(arguments.model).name}"
    publish(TABLE, {name: cells}, common.results_file(arguments), argv=argv)


def _fresh_process(arguments: argparse.Namespace) -> dict[str, float]:
    path = common.part_path(arguments, arguments.bank, "dev")
    words = [sys.executable, str(CHILD), arguments.model, str(path), str(arguments.limit or 0)]
    result = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


if __name__ == "__main__":
    main()
