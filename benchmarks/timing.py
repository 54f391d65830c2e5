"""Measure words per CPU second, alternating between candidates."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from spacy.language import Language
from spacy.tokens import Doc

BATCH_SIZES = (64, 256, 1024)


def words_per_second(run: Callable[[], object], n_words: int) -> float:
    """Return the CPU time of a run: with one thread, it does not depend on the load of the machine."""
    started = time.process_time()
    run()
    return n_words / max(time.process_time() - started, 1e-9)


def pipe_speed(
    open_pipeline: Callable[[], Language], make_docs: Callable[[Language], Sequence[Doc]], n_words: int
) -> float:
    """Return the words per second of `nlp.pipe` at the best batch size; only `nlp.pipe` itself is timed.

    `open_pipeline` is called for each batch size, so that a pipeline that caches words can start with an empty cache.
    """
    speeds = []
    for batch_size in BATCH_SIZES:
        nlp = open_pipeline()
        docs = make_docs(nlp)
        speeds.append(words_per_second(partial(drain, nlp, docs, batch_size), n_words))
    return max(speeds)


def drain(nlp: Language, docs: Sequence[Doc], batch_size: int) -> None:
    """Run the pipeline over Docs."""
    for _ in nlp.pipe(docs, batch_size=batch_size):
        pass
