"""Shared by all benchmarks: arguments, treebanks, machine and commit. Import this module before numpy and spaCy."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "benchmarks" / "results.tsv"
SAMPLE = "sample"  # the name of the project's own treebank
MEGABYTE = 10**6
PIPELINES = {"model-best", "model-last"}  # what trained pipelines are called, whatever they were trained on

# One thread, here and in child processes. Each library reads its variable when it is first loaded, and the imports
# above load none of them.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[_variable] = "1"


def argument_parser(
    description: str | None,
    *,
    bank: str | None = None,
    banks: Sequence[str] | None = None,
    model: str | None = None,
    runs: int | None = None,
) -> argparse.ArgumentParser:
    """Return a parser with the arguments of all benchmarks, and with those optional ones that get a default here."""
    arguments = argparse.ArgumentParser(description=description)
    if bank is not None:
        arguments.add_argument("bank", nargs="?", default=bank, help=f"name of the treebank; default: {bank}")
    if banks is not None:
        text = f"names of treebanks; default: {' '.join(banks)}"
        arguments.add_argument("banks", nargs="*", default=list(banks), help=text)
    if model is not None:
        text = f"an embedded pipeline's name or a folder; default: {model}"
        arguments.add_argument("--model", default=model, help=text)
    if runs is not None:
        arguments.add_argument("--runs", type=int, default=runs, help=f"default: {runs}")
    arguments.add_argument(
        "--treebanks",
        type=Path,
        default=Path(os.environ.get("INCPARSE_TREEBANKS", CHECKOUT / "../shared/treebanks")),
        help="folder with BANK/train.mrg and BANK/dev.mrg; default: the environment variable INCPARSE_TREEBANKS",
    )
    arguments.add_argument("--limit", type=int, help="use only this many sentences, to try the script; writes no row")
    arguments.add_argument("--results", type=Path, help="file to write the rows to, also with --limit")
    return arguments


def run_resumable(main: Callable[[], None]) -> None:
    """Run the main function of a benchmark that keeps finished parts; mistakes and Ctrl+C end it in one line."""
    try:
        main()
    except IncparseError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit("Interrupted: finished parts are saved, and the same command continues after them")


def search_setting(text: str) -> tuple[str, float | int | str]:
    """Return the name and value of a search setting, "name=value"."""
    name, _, value = text.partition("=")
    if name in ("choose", "choose_from"):
        return name, value
    return name, int(value) if value.isdigit() and name != "gamma" else float(value)


def read_part(arguments: argparse.Namespace, bank: str, part: str) -> list[Tree]:
    """Return the normalized trees of a treebank's part, "train" or "dev"; `--limit` applies to both."""
    return read_treebank(part_path(arguments, bank, part))[: arguments.limit]


def up_to(max_words: int, trees: Sequence[Tree]) -> list[Tree]:
    """Return the trees of sentences of up to `max_words` words; 0: all."""
    return [tree for tree in trees if not max_words or len(tree.words) <= max_words]


def part_path(arguments: argparse.Namespace, bank: str, part: str) -> Path:
    """Return the file of a treebank's part."""
    if bank == SAMPLE:
        return CHECKOUT / "assets" / f"sample-{part}.mrg"
    return arguments.treebanks / bank / f"{part}.mrg"


def results_file(arguments: argparse.Namespace) -> Path | None:
    """Return the file for the rows; a trial with few sentences has none, unless the arguments name one."""
    return arguments.results or (None if arguments.limit else RESULTS)


def machine() -> str:
    """Return the processor, the number of cores, and the versions that affect speed."""
    versions = f"Python {platform.python_version()}, spaCy {version('spacy')}, numpy {version('numpy')}"
    return f"{_processor()}, {os.cpu_count()} cores, {versions}"


def commit() -> str:
    """Return the commit, with "-dirty" if a file of the package or of the benchmarks differs from it."""
    try:
        changes = _git("status", "--porcelain", "--", "spacy_incparse", "benchmarks", ":!benchmarks/results.tsv")
        return _git("describe", "--always") + ("-dirty" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def command(argv: Sequence[str] | None) -> str:
    """Return the command line without machine-specific parts: folders, and the file for the results."""
    script = Path(sys.argv[0]).name
    rest, words = list(sys.argv[1:] if argv is None else argv), []
    while rest:
        word = rest.pop(0)
        if re.match(r"--(treebanks|results|trees)\b", word):
            del rest[: "=" not in word]
            continue
        words.append(_shown(word) if "/" in word else word)
    return " ".join(["benchmarks/" + script, *words])


def _shown(path: str) -> str:
    """Return the last part of a path, and the one before it if the last is a name that many pipelines have."""
    return "/".join(Path(path).parts[-2 if Path(path).name in PIPELINES else -1 :])


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf8"))
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return result.stdout.strip()
