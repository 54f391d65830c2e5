"""Measure the time of a word by the length of its sentence, and the memory that it takes.

Sentences are consecutive words of a treebank's dev part, whatever they are; each length gets a fresh process. Only the
parser's component is timed, in CPU time on one thread. MB is the peak above that of a sentence of ten words.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import common
from process_memory import peak_bytes
from results import Table, publish
from saved_pipeline import open_pipeline, short_name
from spacy.tokens import Doc

LENGTHS = (10, 100, 1000, 10_000)
N_WORDS = 20_000  # of a length together
TABLE = Table(
    "Time by length of the sentence",
    (*(f"us at {n}" for n in LENGTHS), *(f"MB at {n}" for n in LENGTHS[1:])),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline on one treebank."""
    if argv is None and sys.argv[1:2] == ["--child"]:
        return _measure(*sys.argv[2:])
    arguments = common.argument_parser(__doc__, bank="gum", model="en", runs=1).parse_args(argv)
    dev = Path(arguments.treebanks) / arguments.bank / "dev.mrg"
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, __file__, "--child", arguments.model, str(dev), str(n)],
                check=True, stdout=subprocess.PIPE,
            ).stdout
        )
        for n in LENGTHS
    ]  # fmt: skip
    cells = [f"{seconds * 1e6:.0f}" for seconds, _ in found] + [
        f"{(peak - found[0][1]) / 1e6:.0f}" for _, peak in found[1:]
    ]
    name = f"length-{arguments.bank}-{short_name(arguments.model)}"
    publish(TABLE, {name: cells}, common.results_file(arguments), argv=argv)


def _measure(model: str, path: str, length: str) -> None:
    from spacy_incparse.treebanks.reader import read_treebank

    nlp, n = open_pipeline(model), int(length)
    words = [word for tree in read_treebank(path) for word in tree.words][:N_WORDS]
    parts = [words[k : k + n] for k in range(0, N_WORDS, n)]
    docs = [Doc(nlp.vocab, words=part, sent_starts=[1] + [-1] * (len(part) - 1)) for part in parts]
    (parser,) = (pipe for name, pipe in nlp.pipeline if name.startswith("incparse"))
    list(parser.pipe([docs[0].copy()][: n < 1000]))
    started = time.process_time()
    for _ in parser.pipe(docs):
        pass
    print(json.dumps([(time.process_time() - started) / len(words), peak_bytes()]))


if __name__ == "__main__":
    main()
