"""Say where the time of a word goes: the shares of features, weights, search, tags, sentences and Python.

`perf` (Linux) samples a process that parses single-sentence Docs with `nlp.pipe`, from when the pipeline is loaded and
warm; functions belong to parts by the names that they have in the compiled modules. Figures are percentages of the
samples, and microseconds of CPU time a word.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import common
from results import Table, publish
from saved_pipeline import open_pipeline, sentence_docs, short_name

PARTS = {  # part: what modules and functions match; the first match counts
    "features": r"Scorer__hash|position_sums|node_path|context_key|extraction",
    "weights": r"_score_of|shift_score|scores_of_label|expect_label|column_score|close_score|ContextTable|expect\b",
    "probabilities": r"generative_scorer|hybrid_scorer|Generative",
    "search": r"incremental|generative|moves\.|beam\.|sentence\.|chart",
    "tags": r"tagging|tag_decoder|engine\.",
    "network": r"blas|neural|packed|multiarray",
    "Python": r"",
}
TABLE = Table("Where the time goes", ("us a word", *PARTS, "words"))
N_ROUNDS = 4


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline on one treebank."""
    if argv is None and sys.argv[1:2] == ["--child"]:
        return _parse(*sys.argv[2:])
    arguments = common.argument_parser(__doc__, bank="gum", model="en", runs=1).parse_args(argv)
    dev = Path(arguments.treebanks) / arguments.bank / "dev.mrg"
    with TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        child = subprocess.Popen(
            [sys.executable, __file__, "--child", arguments.model, str(dev)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdin
        assert child.stdout
        child.stdout.readline()
        recorder = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-o", str(data), "-p", str(child.pid)])
        time.sleep(1)
        print("go", file=child.stdin, flush=True)
        seconds, n_words = map(float, child.stdout.readline().split())
        recorder.wait()
        report = subprocess.run(
            ["perf", "report", "-i", str(data), "--sort", "dso,symbol", "--stdio", "-q"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    shares = Counter[str]()
    for percent, name in re.findall(r"^\s*([\d.]+)%\s+(.*)$", report, re.MULTILINE):
        shares[next(part for part, names in PARTS.items() if re.search(names, name))] += float(percent)
    total = sum(shares.values())
    cells = [f"{seconds / n_words * 1e6:.1f}", *(f"{100 * shares[part] / total:.0f} %" for part in PARTS)]
    name = f"shares-{arguments.bank}-{short_name(arguments.model)}"
    publish(TABLE, {name: [*cells, f"{n_words:.0f}"]}, common.results_file(arguments), argv=argv)


def _parse(model: str, path: str) -> None:
    from spacy_incparse.treebanks.reader import read_treebank

    trees, nlp = read_treebank(path), open_pipeline(model)
    list(nlp.pipe(sentence_docs(nlp, trees[:100])))
    docs = [doc for _ in range(N_ROUNDS) for doc in sentence_docs(nlp, trees)]
    print("ready", flush=True)
    input()
    started = time.process_time()
    for _ in nlp.pipe(docs):
        pass
    print(time.process_time() - started, sum(map(len, docs)), flush=True)


if __name__ == "__main__":
    main()
