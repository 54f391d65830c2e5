"""The fresh process of footprint.py. usage: load_and_parse.py MODEL TREEBANK LIMIT; prints its measurements as JSON."""

from __future__ import annotations

import json
import sys
import time

import spacy  # noqa: F401  before the clock starts
from process_memory import peak_bytes, resident_bytes

ONE_SENTENCE = "The owl had watched them for an hour."


def measure(model: str, treebank: str, limit: int) -> dict[str, float]:
    """Return the seconds and bytes of loading and parsing; none of our modules is imported before the clock starts."""
    before = resident_bytes()
    started = time.perf_counter()
    import spacy_incparse

    nlp = spacy_incparse.load(model)
    loaded = time.perf_counter()
    nlp(ONE_SENTENCE)
    parsed = time.perf_counter()
    _parse(nlp, treebank, limit)
    from saved_pipeline import folder_bytes

    return {
        "load": loaded - started,
        "first": parsed - loaded,
        "resident": resident_bytes(),
        "peak": peak_bytes(),
        "spacy": before,
        "folder": folder_bytes(model),
    }


def _parse(nlp, treebank: str, limit: int) -> None:
    """Parse without keeping the Docs, whose memory does not belong to the pipeline."""
    from saved_pipeline import sentence_docs

    from spacy_incparse.treebanks.reader import read_treebank

    for _ in nlp.pipe(sentence_docs(nlp, read_treebank(treebank)[: limit or None])):
        pass


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
