"""This package's side of benepar_comparison.py, and what neural_footprint.py and gpu_speed.py measure.

    python neural_worker.py train|parse FOLDER SETTINGS

FOLDER has train.mrg and dev.mrg, one tree a line, and gets the trained pipeline and its trees. SETTINGS is JSON. The
last line of the output is JSON: CPU seconds, seconds that elapsed, and bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from process_memory import peak_bytes

Figures = dict[str, float]
N_WATCHED = 20  # sentences of the train part that spaCy's training loop scores after each pass


def in_process(worker: Path, task: str, folder: Path, settings: dict[str, Any], **environment: str) -> Figures:
    """Do one part in a fresh process with other variables of the environment; `worker`: this file."""
    words = [sys.executable, str(worker), task, str(folder), json.dumps(settings)]
    result = subprocess.run(words, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def train(folder: Path, settings: dict[str, Any]) -> Figures:
    """Train with a fixed number of passes, and save the pipeline.

    settings: "gpu" is the number of a GPU, "mixed_precision" for an encoder on it.
    """
    from spacy_incparse.cli.train_neural import neural_config, train_neural
    from spacy_incparse.treebanks.reader import read_treebank

    trees = read_treebank(folder / "train.mrg")
    started, clock = time.process_time(), time.perf_counter()
    config = neural_config(
        encoder=settings["encoder"],
        max_epochs=settings["passes"],
        seed=settings["seed"],
        mixed_precision=settings.get("mixed_precision", False),
    )
    config["training"]["before_to_disk"] = None
    output, gpu = folder / settings["name"], settings.get("gpu", -1)
    train_neural(trees, trees[:N_WATCHED], output, config, gpu=gpu, keep_last=True)
    elapsed = time.perf_counter() - clock
    return {"seconds": time.process_time() - started, "elapsed": elapsed, "peak": peak_bytes()}


def parse(folder: Path, settings: dict[str, Any]) -> Figures:
    """Load the trained pipeline and parse; the trees are written after the clock has stopped.

    settings: with "single", products of matrices are in single precision; "gpu" is the number of a GPU, which computes
    a few sentences before, so that its kernels are compiled.
    """
    started = time.process_time()
    import spacy

    import spacy_incparse

    imported = time.process_time()
    from spacy_incparse.cli.train import BEST

    encoder = {"transformer": {"model": {"with_spans": {"bfloat16": False}}}} if settings.get("single") else {}
    if settings.get("gpu", -1) >= 0:
        spacy.require_gpu(settings["gpu"])
    nlp = spacy_incparse.load(folder / settings["name"] / BEST, config={"components": encoder})
    loaded = time.process_time()
    from saved_pipeline import sentence_docs

    from spacy_incparse.treebanks.reader import read_treebank

    trees = read_treebank(folder / "dev.mrg")
    if "gpu" in settings:
        list(nlp.pipe(sentence_docs(nlp, trees[:N_WATCHED])))
    docs = sentence_docs(nlp, trees)
    before, clock = time.process_time(), time.perf_counter()
    docs = list(nlp.pipe(docs))
    figures = {"seconds": time.process_time() - before, "elapsed": time.perf_counter() - clock, "peak": peak_bytes()}
    figures |= {"import": imported - started, "load": loaded - imported}
    (folder / settings["trees"]).write_text("".join(f"{tree}\n" for doc in docs for tree in doc._.trees), "utf8")
    return figures


def main() -> None:
    """Do one part and print its figures."""
    do = {"train": train, "parse": parse}[sys.argv[1]]
    print(json.dumps(do(Path(sys.argv[2]), json.loads(sys.argv[3]))))


if __name__ == "__main__":
    main()
