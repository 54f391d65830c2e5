"""Measure the size and speed of an HTML page with 50 trees: creating it, and opening it in headless Chromium.

The trees are those of a treebank's dev part whose lengths are closest to 30 words. The opening time runs from the start
of navigation until the page's script has run and the whole page is laid out. Each run starts a new browser with a
window of 1400 x 900 pixels. Times are wall-clock times, the best of the runs. Without Chromium, opening is skipped.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import common
from results import Table, publish

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.page import page
from spacy_incparse.viz.picture import STYLES, Entry, Picture

TABLE = Table("Pages", ("trees", "words a tree", "MB", "MB minified", "made in s", "opened in s", "runs"))
WORDS = 30
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
TIMER = """<script>addEventListener("load", () => {
  document.documentElement.dataset.height = document.documentElement.getBoundingClientRect().height;
  document.documentElement.dataset.opened = performance.now();
});</script>"""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n')  # would forbid the timer


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the page in each style."""
    arguments = _arguments(argv)
    trees = _trees(arguments)
    pictures = [Picture([[Entry(tree)]]) for tree in trees]
    words = f"{mean(len(tree.words) for tree in trees):.1f}"
    rows = {}
    for style in STYLES:
        made = [_seconds_to_make(pictures, style) for _ in range(arguments.runs)]
        pages = [page(pictures, style, minify=minify) for minify in (False, True)]
        n_opened = 0 if arguments.no_browser else arguments.runs
        opened = [seconds for _ in range(n_opened) if (seconds := _seconds_to_open(pages[0]))]
        rows[f"page-{arguments.bank}-{style}"] = [
            str(len(trees)),
            words,
            *(f"{len(text.encode('utf8')) / common.MEGABYTE:.2f}" for text in pages),
            f"{min(made):.3f}",
            f"{min(opened):.3f}" if opened else "-",
            str(arguments.runs),
        ]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="gum", runs=5)
    parser.add_argument("--trees", type=int, default=50, help="number of trees on the page; default: 50")
    parser.add_argument("--no-browser", action="store_true", help="do not open the page")
    return parser.parse_args(argv)


def _trees(arguments: argparse.Namespace) -> list[Tree]:
    trees = common.read_part(arguments, arguments.bank, "dev")
    return sorted(trees, key=lambda tree: abs(len(tree.words) - WORDS))[: arguments.trees]


def _seconds_to_make(pictures: Sequence[Picture], style: str) -> float:
    start = time.perf_counter()
    page(pictures, style)
    return time.perf_counter() - start


def _seconds_to_open(html: str) -> float | None:
    """Return the browser's time when the page is laid out; None if there is no browser."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        return None
    flags = ["--headless", "--disable-gpu", "--window-size=1400,900", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(_POLICY.sub(TIMER, html, count=1), encoding="utf8")
        command = [program, *flags, f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri()]
        dom = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r'<html[^>]* data-opened="([\d.]+)"', dom)
    return float(found[1]) / 1_000 if found else None


if __name__ == "__main__":
    main()
