"""A stream of Docs that may be left early, also one of several processes."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.errors import IncparseError

INTERRUPT_SECONDS = 1.0  # within which an interrupt arrives that has already reached the workers
WORKER_BATCH = 100  # texts sent to a worker process at once: what is under way when the stream ends is done in vain


def stream(
    nlp: Language, texts: Iterable[str | Doc], *, n_process: int = 1, batch_size: int | None = None
) -> Iterator[Doc]:
    """Yield the Docs of `nlp.pipe`; an error in `texts` is raised behind the Docs of all texts before it.

    Where `nlp.pipe` is left while its workers have something to say, it waits for them, and they for somebody who
    listens. So the end is an orderly one here: no more texts, and the Docs that are under way are taken.
    """
    source = _Source(texts)
    if n_process > 1:
        docs = _with_quiet_workers(nlp.pipe(source, n_process=n_process, batch_size=batch_size or WORKER_BATCH))
    else:
        docs = nlp.pipe(source, batch_size=batch_size)
    try:
        # With `yield from`, `docs` would be closed before anything can be done about it.
        for doc in docs:  # noqa: UP028
            yield doc
    except GeneratorExit:
        source.is_open = False
        with suppress(EOFError, OSError):  # workers that were interrupted
            deque(docs, maxlen=0)
        raise
    except (EOFError, OSError) as error:
        if n_process == 1:
            raise
        time.sleep(INTERRUPT_SECONDS)  # what interrupted the workers has interrupted this process too: it comes now
        raise IncparseError("a worker process has ended before its time: is there enough memory for all?") from error
    if source.error is not None:
        raise source.error


class _Source:
    """An iterator that ends at an error, and keeps it."""

    def __init__(self, texts: Iterable[str | Doc]):
        self._texts = iter(texts)
        self.is_open = True
        self.error: Exception | None = None

    def __iter__(self) -> _Source:
        return self

    def __next__(self) -> str | Doc:
        if not self.is_open:
            raise StopIteration
        try:
            return next(self._texts)
        except StopIteration:
            pass
        except Exception as error:
            self.error = error
        self.is_open = False
        raise StopIteration


def _with_quiet_workers(docs: Iterator[Doc]) -> Iterator[Doc]:
    """Let the workers, which start with the first Doc, end without a traceback where the user interrupts them."""
    if threading.current_thread() is not threading.main_thread():
        yield from docs
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # forked processes take this over
    try:
        first = next(docs, None)
    finally:
        signal.signal(signal.SIGINT, handler)
    if first is not None:
        yield first
    yield from docs
