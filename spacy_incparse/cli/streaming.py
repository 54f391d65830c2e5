"""A stream of Docs that can be stopped early, even with several processes."""

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

INTERRUPT_SECONDS = 1.0  # the time for an interrupt that has reached the workers to arrive here
WORKER_BATCH = 100  # texts sent to a worker process at once: those in progress when the stream ends are wasted


def stream(
    nlp: Language, texts: Iterable[str | Doc], *, n_process: int = 1, batch_size: int | None = None
) -> Iterator[Doc]:
    """Yield the Docs of `nlp.pipe`; an error in `texts` is raised after the Docs of all texts before it.

    If `nlp.pipe` is closed while its workers still have output, it deadlocks: it waits for the workers, and they wait
    for a reader. This function therefore stops sending texts and consumes the Docs in progress.
    """
    source = _Source(texts)
    if n_process > 1:
        docs = _with_quiet_workers(nlp.pipe(source, n_process=n_process, batch_size=batch_size or WORKER_BATCH))
    else:
        docs = nlp.pipe(source, batch_size=batch_size)
    try:
        # `yield from` would close `docs` too early.
        for doc in docs:  # noqa: UP028
            yield doc
    except GeneratorExit:
        source.is_open = False
        with suppress(EOFError, OSError):  # from interrupted workers
            deque(docs, maxlen=0)
        raise
    except (EOFError, OSError) as error:
        if n_process == 1:
            raise
        time.sleep(INTERRUPT_SECONDS)  # a signal that interrupted the workers was also sent to this process: it arrives
        raise IncparseError("a worker process ended unexpectedly: is there enough memory for all of them?") from error
    if source.error is not None:
        raise source.error


class _Source:
    """An iterator that stops at an error and stores it."""

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
    """Make the workers, which start with the first Doc, end without a traceback when the user interrupts them."""
    if threading.current_thread() is not threading.main_thread():
        yield from docs
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # inherited by forked processes
    try:
        first = next(docs, None)
    finally:
        signal.signal(signal.SIGINT, handler)
    if first is not None:
        yield first
    yield from docs
