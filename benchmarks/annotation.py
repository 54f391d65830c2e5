"""Measure `spacy-incparse annotate`: speed by processes and with Ray, kill -9, memory, and size of the output.

    python benchmarks/annotation.py speed brown.txt.gz --words 1000000
    python benchmarks/annotation.py kills brown.txt.gz --words 20000 --kills 10
    python benchmarks/annotation.py memory brown.txt.gz --bytes 1000000000
    python benchmarks/annotation.py storage masc.txt.gz --words 200000 --format parquet

The corpus is the text repeated until it has as many words or bytes; each line is a document. `speed` and `memory` need
a quiet machine: times are wall-clock times of the whole command. `kills` and `memory` need Linux (/proc), and use a
parser that takes (nearly) no time, unless a `--model` is given. With `--ray`, a local Ray cluster is measured, too.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import common
from results import Table, publish
from sampled_run import Sample, run_sampled, start_marked, worker_processes

from spacy_incparse.corpora.records import SHARD_CHARS

SPEED = Table("Annotation", ("words", "seconds", "words/s", "speed against one process"))
KILLS = Table("Annotation: kill -9", ("killed", "kills", "runs until complete", "documents", "same bytes"))
MINUTE = 60.0  # seconds
MOMENTS = {"after 1 minute": MINUTE, "after 15 minutes": 15 * MINUTE}
_KINDS = ("resident MB", "own MB")
MEMORY = Table(
    "Annotation: memory",
    (
        "MB of text",
        "seconds",
        *(f"{kind} {moment}" for kind in _KINDS for moment in (*MOMENTS, "at the end")),
        "most MB",
    ),
)
STORAGE = Table("Annotation: storage", ("words", "bytes of text a word", "sentences", "documents", "bytes a word"))
CODE = Path(__file__).with_name("stub_parser.py")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one thing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(MEASURES))
    parser.add_argument("text", type=Path, help="a text with a sentence or paragraph on each line, plain or gzipped")
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, help="instead of --words")
    parser.add_argument("--model", default=None, help="default: en; for memory, a parser that takes no time")
    parser.add_argument("--processes", default="1,2", help="memory: numbers of processes")
    parser.add_argument("--rounds", type=int, default=3, help="speed: runs of each kind, whose median counts")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--shard-chars", type=int, default=SHARD_CHARS)
    parser.add_argument("--format", default="jsonl", help="parquet needs pyarrow")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--only-ray", action="store_true", help="kills: only the processes of Ray")
    parser.add_argument("--only-driver", action="store_true", help="kills: only the first process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, help="file to write the rows to")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(arguments, folder / "corpus.lines")
        MEASURES[arguments.what](arguments, folder)


def write_corpus(arguments: argparse.Namespace, path: Path) -> None:
    """Write the text as often as needed."""
    data = arguments.text.read_bytes()
    lines = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).splitlines(keepends=True)
    n_words = n_bytes = 0
    with path.open("wb") as file:
        while n_bytes < arguments.bytes if arguments.bytes else n_words < arguments.words:
            for line in lines:
                file.write(line)
                n_words, n_bytes = n_words + len(line.split()), n_bytes + len(line)
                if n_bytes >= arguments.bytes if arguments.bytes else n_words >= arguments.words:
                    break


def command(arguments: argparse.Namespace, folder: Path, out: str, *more: str) -> list[str]:
    """Return the words of an `annotate` command."""
    words = [sys.executable, "-m", "spacy_incparse", "annotate", str(folder / "corpus.lines"), str(folder / out)]
    words += ["--shard-chars", str(arguments.shard_chars), "--format", arguments.format, *more]
    if arguments.what in ("kills", "memory") and arguments.model is None:
        return [*words, "--model", str(_stub(folder)), "--code", str(CODE)]
    return [*words, "--model", arguments.model or "en"]


def measure_speed(arguments: argparse.Namespace, folder: Path) -> None:
    """Run with one process, with two, and with two workers of Ray, in turns; all write the same bytes."""
    kinds = {"1-process": ["--n-process", "1"], "2-processes": ["--n-process", "2"]}
    if arguments.ray:
        kinds["ray-2-workers"] = ["--ray", "local", "--n-process", "2"]
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    hashes = set()
    for _ in range(arguments.rounds):  # one of each kind after the other: a machine is not always as fast
        for kind, more in kinds.items():
            shutil.rmtree(folder / kind, ignore_errors=True)
            start = time.perf_counter()
            subprocess.run(command(arguments, folder, kind, *more), check=True, stdout=subprocess.DEVNULL)
            times[kind].append(time.perf_counter() - start)
            hashes.add(hash_of(folder / kind))
        print({kind: [round(one, 1) for one in found] for kind, found in times.items()}, flush=True)
    n_words = json.loads((folder / "1-process" / "totals.json").read_text())["words"]
    suffix = f"-{arguments.model}" if arguments.model else ""
    for kind in kinds:
        seconds, gain = median(times[kind]), median(times["1-process"]) / median(times[kind])
        cells = [f"{n_words:,}", f"{seconds:.1f}", f"{n_words / seconds:,.0f}", f"{gain:.2f}"]
        publish(SPEED, {f"annotate-{kind}{suffix}": cells}, arguments.results)
    print("same bytes" if len(hashes) == 1 else "DIFFERENT BYTES")


def measure_kills(arguments: argparse.Namespace, folder: Path) -> None:
    """Kill a worker, or the first process, at random moments of a run; start it again until it is complete."""
    os.environ.setdefault("STUB_SECONDS", "0.005")
    subprocess.run(command(arguments, folder, "whole", "--n-process", "2"), check=True, stdout=subprocess.DEVNULL)
    n_shards = json.loads((folder / "whole" / "totals.json").read_text())["shards"]
    whole, shards = hash_of(folder / "whole"), folder / "out" / "shards"
    moments = random.Random(arguments.seed)
    victims = ["driver"] if arguments.only_driver else ["worker", "driver"]
    kinds = [(victim, ["--n-process", "2"]) for victim in victims]
    with_ray = [(f"ray-{kind}", [*more, "--ray", "local"]) for kind, more in kinds]
    kinds = ([] if arguments.only_ray else kinds) + (with_ray if arguments.ray or arguments.only_ray else [])
    for kind, more in kinds:
        n_kills, n_runs, is_same = 0, 0, True
        while n_kills < arguments.kills:
            shutil.rmtree(folder / "out", ignore_errors=True)
            while not (folder / "out" / "totals.json").exists():
                n_runs += 1
                after = n_shards + 1  # never: the last run is left alone
                if n_kills < arguments.kills:
                    after = moments.randrange(min(_n_finished(shards), n_shards - 1), n_shards)
                words = command(arguments, folder, "out", *more)
                n_kills += _run_killed(words, kind, shards, after, moments.random())
            is_same = is_same and hash_of(folder / "out") == whole
            left_over = [path.name for path in (folder / "out").rglob(".*")]
            print(*left_over, f"{kind}: {n_kills} kills, {n_runs} runs, same bytes: {is_same}", flush=True)
        totals = json.loads((folder / "out" / "totals.json").read_text())
        cells = [kind, str(n_kills), str(n_runs), f"{totals['documents']:,}", "yes" if is_same else "NO"]
        publish(KILLS, {f"annotate-kill-{kind}": cells}, arguments.results, seed=str(arguments.seed))


def _run_killed(words: Sequence[str], kind: str, shards: Path, after: int, seconds: float) -> int:
    """Run a command, and kill one of its processes some time after so many shards; return how many were killed."""
    process, mark = start_marked(words, stdout=subprocess.DEVNULL)
    while process.poll() is None and _n_finished(shards) < after:
        time.sleep(0.01)
    time.sleep(seconds / 2)
    n_killed = 0
    while not n_killed and process.poll() is None and not (shards.parent / "totals.json").exists():
        victims = [process.pid] if kind.endswith("driver") else list(worker_processes(process.pid, mark))
        for victim in victims[:1]:
            os.kill(victim, signal.SIGKILL)
            n_killed = 1
        time.sleep(0.01)
    process.wait()
    return n_killed


def _n_finished(shards: Path) -> int:
    return len(list(shards.glob("*.json")))


def measure_memory(arguments: argparse.Namespace, folder: Path) -> None:
    """Sample the memory of each process of a run with one worker, and of the one that reads for two."""
    for n_process in map(int, arguments.processes.split(",")):
        run = run_sampled(command(arguments, folder, f"memory-{n_process}", "--n-process", str(n_process)))
        if run.returncode:
            raise SystemExit(f"annotate ended with {run.returncode}")
        size = (folder / "corpus.lines").stat().st_size
        for number, samples in enumerate(run.samples.values()):
            name = f"annotate-memory-{n_process}-{'driver' if number == 0 else f'worker-{number}'}"
            cells = [f"{size / common.MEGABYTE:.0f}", *memory_cells(samples)]
            publish(MEMORY, {f"{name}-{arguments.model or 'stub'}": cells}, arguments.results)


def memory_cells(samples: Sequence[Sample]) -> list[str]:
    """Return the seconds, the memory at each moment, and the most.

    Memory rises and falls with each shard, so that of a moment is the median of the minute that follows, and that of
    the end is the median of the last minute. A moment that the run did not reach has a dash.
    """
    last = samples[-1].seconds
    minutes = [_minute(samples, start) for start in (*MOMENTS.values(), max(0.0, last - MINUTE))]
    resident = [_megabytes(one.resident for one in minute) for minute in minutes]
    own = [_megabytes(one.own for one in minute) for minute in minutes]
    return [f"{last:.0f}", *resident, *own, f"{max(one.resident for one in samples) / common.MEGABYTE:.0f}"]


def _minute(samples: Sequence[Sample], start: float) -> list[Sample]:
    return [one for one in samples if start <= one.seconds <= start + MINUTE]


def _megabytes(values: Iterable[int]) -> str:
    found = list(values)
    return f"{median(found) / common.MEGABYTE:.0f}" if found else "-"


def measure_storage(arguments: argparse.Namespace, folder: Path) -> None:
    """Compare the files of the shards with the words in them; texts that repeat are packed too well to be measured."""
    subprocess.run(command(arguments, folder, "out"), check=True, stdout=subprocess.DEVNULL)
    n_words = json.loads((folder / "out" / "totals.json").read_text())["words"]
    names = ("sentences", "documents")
    sizes = [sum(path.stat().st_size for path in (folder / "out" / name).glob("*")) / n_words for name in names]
    text = (folder / "corpus.lines").stat().st_size / n_words
    cells = [f"{n_words:,}", *(f"{size:.2f}" for size in (text, *sizes, sum(sizes)))]
    publish(STORAGE, {f"annotate-storage-{arguments.format}": cells}, arguments.results)


def hash_of(folder: Path) -> str:
    """Return a hash of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _stub(folder: Path) -> Path:
    """Return the folder of a pipeline with a parser that takes no time."""
    path = folder / "stub"
    if not path.exists():
        import runpy

        import spacy

        runpy.run_path(str(CODE))
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("stub_parser")
        nlp.to_disk(path)
    return path


MEASURES = {"speed": measure_speed, "kills": measure_kills, "memory": measure_memory, "storage": measure_storage}


if __name__ == "__main__":
    main()
