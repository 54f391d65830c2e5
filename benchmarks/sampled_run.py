"""Run a command, and sample the resident memory of its processes; needs Linux (/proc)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

MARK = "INCPARSE_BENCHMARK"  # an environment variable that all processes of a run have
INTERVAL = 0.5  # seconds between two samples


class Sample(NamedTuple):
    """The memory of a process, `seconds` after the start of the run.

    resident: all bytes in memory. own: those that the process has asked for, without the parts of files, such as
    libraries, that are in memory: the system drops these when it needs the place, and reads them again.
    """

    seconds: float
    resident: int
    own: int


@dataclass(frozen=True)
class SampledRun:
    """What a command needed.

    samples: by process, the first process first. most: the most resident bytes of all processes at the same time; what
    they share counts for each.
    """

    returncode: int
    seconds: float
    samples: dict[int, list[Sample]]
    most: int


def start_marked(words: Sequence[str], **options: Any) -> tuple[subprocess.Popen[bytes], str]:
    """Start a command, and return its process and the mark of all its processes; options: those of Popen."""
    mark = uuid4().hex
    return subprocess.Popen(words, env={**os.environ, MARK: mark}, **options), mark


def run_sampled(words: Sequence[str]) -> SampledRun:
    """Run a command to its end."""
    start = time.perf_counter()
    samples: dict[int, list[Sample]] = {}
    most = 0
    process, mark = start_marked(words)
    while process.poll() is None:
        found = {pid: _memory(pid) for pid in (process.pid, *worker_processes(process.pid, mark))}
        for pid, memory in found.items():
            samples.setdefault(pid, []).append(Sample(time.perf_counter() - start, *memory))
        most = max(most, sum(resident for resident, _ in found.values()))
        time.sleep(INTERVAL)
    return SampledRun(process.returncode, time.perf_counter() - start, samples, most)


def worker_processes(first: int, mark: str) -> Iterator[int]:
    """Yield the worker processes of a run: they have its mark, and are children of the first or actors of Ray."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() not in (folder / "environ").read_bytes():
                continue
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        is_child = parent == first and b"spawn_main" in words
        if is_child or b"ray::Answers" in words:
            yield int(folder.name)


def _memory(pid: int) -> tuple[int, int]:
    """Return the resident bytes of a process, and those of them that are its own; 0 if it has ended."""
    try:
        pages = [int(field) for field in Path(f"/proc/{pid}/statm").read_text().split()[1:3]]
    except OSError:
        return 0, 0
    resident, of_files = (n_pages * os.sysconf("SC_PAGE_SIZE") for n_pages in pages or (0, 0))
    return resident, resident - of_files
