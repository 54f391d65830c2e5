"""Documents that end the worker that parses them, such as by taking all memory: find them, and put them aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from spacy_incparse.corpora.records import Shard, Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import OnKilled

MOST_SHARDS = 3  # that may be given up before as many are finished: more speak for a fault of the pipeline
REASON = "each worker process that parsed it ended"

# Runs shards, and calls the function with those that kill all their workers.
TryOut: TypeAlias = Callable[[Iterator[Shard], OnKilled], None]


class GivenUp:
    """The shards of a corpus that killed all their workers."""

    def __init__(self) -> None:
        self.n_finished = 0  # of the other shards, in this run or an earlier one
        self._shards: list[tuple[Shard, IncparseError]] = []

    def note(self, shard: Shard, error: IncparseError) -> None:
        """Note a shard. Raises its error if there are too many of them."""
        self._shards.append((shard, error))
        if len(self._shards) > max(MOST_SHARDS, self.n_finished):
            raise error

    def __bool__(self) -> bool:
        return bool(self._shards)

    def without_killers(self, try_out: TryOut) -> Sequence[Shard]:
        """Return the shards without the documents that kill workers alone, too, which are put aside with the reason.

        Raises IncparseError if these are all documents of the corpus.
        """
        killers = {shard.first for shard, _ in self._shards if len(shard.items) == 1}
        several = [shard for shard, _ in self._shards if len(shard.items) > 1]
        if several:
            try_out(_single_documents(several), lambda document, _: killers.add(document.first))
        if not self.n_finished and len(killers) == sum(len(shard.items) for shard, _ in self._shards):
            raise self._shards[0][1]
        return [_put_aside(shard, killers) for shard, _ in self._shards]


def _single_documents(shards: Sequence[Shard]) -> Iterator[Shard]:
    for shard in shards:
        for number, item in enumerate(shard.items, start=shard.first):
            yield Shard(shard.number, number, (item,), 0)


def _put_aside(shard: Shard, killers: set[int]) -> Shard:
    items = (
        Unreadable(item.id, item.file, REASON) if number in killers else item
        for number, item in enumerate(shard.items, start=shard.first)
    )
    return replace(shard, items=tuple(items))
