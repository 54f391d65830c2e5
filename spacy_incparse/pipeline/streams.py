"""How both components go through a stream of Docs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc


def annotate_stream(component: TrainablePipe, stream: Iterable[Doc], batch_size: int) -> Iterator[Doc]:
    """Annotate `batch_size` Docs at a time; a batch that fails as a whole goes to the component's error handler."""
    stream = iter(stream)
    while docs := list(islice(stream, batch_size)):
        try:
            component.set_annotations(docs, component.predict(docs))
        except Exception as error:
            component.get_error_handler()(component.name, component, docs, error)
        else:
            yield from docs
