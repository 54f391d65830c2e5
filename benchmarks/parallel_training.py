"""Measure training in several processes: wall time until the F of one process is reached, and the final F.

    python benchmarks/parallel_training.py craft --processes 1,2

The machine must be quiet: times are wall-clock times from the start of training, with taggers and evaluations. The F
to reach is the lowest of the runs' best F, so that all reach it. Finished runs are kept in `metrics` (`--output`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import common
import srsly
from results import Table, publish

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.training.training_loop import PassReport
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Training in several processes",
    ("processes", "best F", "F reached by all", "passes until then", "seconds until then", "speed against one process"),
)


@dataclass(frozen=True)
class Curve:
    """F on the dev part, in percent, and seconds since the start, after each pass."""

    f: Sequence[float]
    seconds: Sequence[float]

    def passes_to(self, f: float) -> int:
        """Return the number of passes until an F is reached."""
        return next(k for k, found in enumerate(self.f, 1) if found >= f)


def main() -> None:
    """Measure with each number of processes."""
    parser = common.argument_parser(__doc__, bank="craft")
    parser.add_argument("--config", default="rich", help="recipe or file with settings; default: rich")
    parser.add_argument("--processes", default="1,2", help="numbers of processes, the first one to compare with")
    parser.add_argument("--epochs", type=int, help="passes; default: the config's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="folder of finished runs; default: metrics/parallel-BANK-CONFIG")
    arguments = parser.parse_args()
    name = f"parallel-{arguments.bank}-{Path(arguments.config).stem}"
    folder = arguments.output or common.CHECKOUT / "metrics" / name
    train, dev = (common.read_part(arguments, arguments.bank, part) for part in ("train", "dev"))
    curves = {}
    for n_process in map(int, arguments.processes.split(",")):
        path = folder / f"seed-{arguments.seed}-processes-{n_process}.json"
        if not path.exists():
            curve = follow(train, dev, arguments.config, arguments.epochs, arguments.seed, n_process)
            folder.mkdir(parents=True, exist_ok=True)
            srsly.write_json(path, asdict(curve))
        curves[n_process] = Curve(**srsly.read_json(path))
    path = arguments.results or (None if arguments.limit else common.RESULTS)
    publish(TABLE, {f"{name}-{n}": row for n, row in rows(curves).items()}, path, seed=str(arguments.seed))


def follow(
    train: Sequence[Tree], dev: Sequence[Tree], config: str, epochs: int | None, seed: int, n_process: int
) -> Curve:
    """Train as `spacy-incparse train --n-process` does, and return F and seconds after each pass."""
    recipe = read_recipe(config, max_epochs=epochs, seed=seed)
    f: list[float] = []
    seconds: list[float] = []
    started = time.perf_counter()

    def note(report: PassReport, *_: object) -> None:
        f.append(100 * (report.scores or {})["const_f"])
        seconds.append(time.perf_counter() - started)
        print(f"{n_process} processes, pass {report.number}: F {f[-1]:.2f} after {seconds[-1]:.0f} s", flush=True)

    recipe.train(train, dev, n_process=n_process, on_pass=note)
    return Curve(f, seconds)


def rows(curves: dict[int, Curve]) -> dict[int, list[str]]:
    """Return the cells of each number of processes."""
    target = min(max(curve.f) for curve in curves.values())
    first, *_ = (curve.seconds[curve.passes_to(target) - 1] for curve in curves.values())
    found = {}
    for n_process, curve in curves.items():
        n_passes = curve.passes_to(target)
        seconds = curve.seconds[n_passes - 1]
        figures = [f"{max(curve.f):.2f}", f"{target:.2f}", str(n_passes), f"{seconds:.0f}", f"{first / seconds:.2f}"]
        found[n_process] = [str(n_process), *figures]
    return found


if __name__ == "__main__":
    common.run_resumable(main)
