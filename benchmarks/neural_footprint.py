"""Measure speed and memory of a neural parser that is loaded and parses, in a process that does nothing else.

    python benchmarks/neural_accuracy.py wsj --encoder FOLDER --name minilm --output PARSER
    python benchmarks/neural_footprint.py wsj --parser PARSER --name minilm --single

Each run is a fresh process of `neural_worker.py`: it imports the package, loads the pipeline and parses the words of
the dev part with `nlp.pipe`. Medians; all seconds are CPU seconds of one thread. `--single` adds a row for matrices
multiplied in single precision, in the place of the transformer's bfloat16; the two take turns.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common
from neural_worker import in_process
from results import Table, publish, spread

TABLE = Table(
    "Footprint of neural parsers",
    ("parsing words/s", "words/s range", "peak MB", "import s", "load s", "words", "sentences", "runs"),
)
WORKER = Path(__file__).with_name("neural_worker.py")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one parser."""
    arguments = _arguments(argv)
    trees = common.read_part(arguments, arguments.bank, "dev")
    plain = {"name": str(arguments.parser.resolve()), "trees": "found.mrg"}
    ways = {"": plain, "-single": plain | {"single": True}} if arguments.single else {"": plain}
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dev.mrg").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
        for _ in range(arguments.runs):
            for way, settings in ways.items():
                runs[way].append(in_process(WORKER, "parse", folder, settings, CUDA_VISIBLE_DEVICES=""))
    n_words = sum(len(tree.words) for tree in trees)
    rows = {
        f"footprint-{arguments.bank}-{arguments.name}{way}": [*_cells(found, n_words), str(len(trees)), str(len(found))]
        for way, found in runs.items()
    }
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def _cells(runs: Sequence[dict[str, float]], n_words: int) -> list[str]:
    speeds = [n_words / run["seconds"] for run in runs]
    return [
        f"{median(speeds):.0f}",
        spread(speeds, "{:.0f}"),
        f"{median(run['peak'] for run in runs) / common.MEGABYTE:.0f}",
        *(f"{median(run[key] for run in runs):.2f}" for key in ("import", "load")),
        str(n_words),
    ]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="wsj", runs=3)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--parser", type=Path, required=True, metavar="FOLDER", help="where neural_accuracy.py saved it (--output)"
    )
    parser.add_argument("--name", required=True, help="its name for the row")
    parser.add_argument("--single", action="store_true", help="also in single precision")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
