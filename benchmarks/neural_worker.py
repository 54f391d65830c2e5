"""This package's side of benepar_comparison.py.

    python neural_worker.py train|parse FOLDER SETTINGS

FOLDER has train.mrg and dev.mrg, one tree a line, and gets the trained pipeline and its trees. SETTINGS is JSON. The
last line of the output is JSON: CPU seconds and bytes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from process_memory import peak_bytes

Figures = dict[str, float]
N_WATCHED = 20  # sentences of the train part that spaCy's training loop scores after each pass


def train(folder: Path, settings: dict[str, Any]) -> Figures:
    """Train with a fixed number of passes, and save the pipeline."""
    from spacy_incparse.cli.neural_train import neural_config, train_neural
    from spacy_incparse.treebanks.penn_reader import read_treebank

    trees = read_treebank(folder / "train.mrg")
    started = time.process_time()
    config = neural_config(encoder=settings["encoder"], max_epochs=settings["passes"], seed=settings["seed"])
    config["training"]["before_to_disk"] = None
    train_neural(trees, trees[:N_WATCHED], folder / settings["name"], config, keep_last=True)
    return {"seconds": time.process_time() - started, "peak": peak_bytes()}


def parse(folder: Path, settings: dict[str, Any]) -> Figures:
    """Load the trained pipeline and parse; the trees are written after the clock has stopped.

    settings: with "single", products of matrices are in single precision.
    """
    started = time.process_time()
    import spacy_incparse

    imported = time.process_time()
    from spacy_incparse.cli.training_folder import BEST

    encoder = {"transformer": {"model": {"with_spans": {"bfloat16": False}}}} if settings.get("single") else {}
    nlp = spacy_incparse.load(folder / settings["name"] / BEST, config={"components": encoder})
    loaded = time.process_time()
    from saved_pipeline import sentence_docs

    from spacy_incparse.treebanks.penn_reader import read_treebank

    docs = sentence_docs(nlp, read_treebank(folder / "dev.mrg"))
    before = time.process_time()
    docs = list(nlp.pipe(docs))
    seconds = time.process_time() - before
    figures = {"import": imported - started, "load": loaded - imported, "seconds": seconds, "peak": peak_bytes()}
    (folder / settings["trees"]).write_text("".join(f"{tree}\n" for doc in docs for tree in doc._.trees), "utf8")
    return figures


def main() -> None:
    """Do one part and print its figures."""
    do = {"train": train, "parse": parse}[sys.argv[1]]
    print(json.dumps(do(Path(sys.argv[2]), json.loads(sys.argv[3]))))


if __name__ == "__main__":
    main()
