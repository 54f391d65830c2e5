"""Batches for spaCy's training loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def create_pass_batcher() -> Callable[[Iterable[Item]], Iterator[list[Item]]]:
    """Return `batch_by_pass`, for `@batchers = "spacy_incparse.batch_by_pass.v1"` in a config."""
    return batch_by_pass


def batch_by_pass(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield all items as one batch, so that each training step is one pass over the treebank and evaluated once."""
    batch = list(items)
    if batch:
        yield batch
