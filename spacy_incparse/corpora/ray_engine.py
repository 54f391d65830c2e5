"""Annotate the shards of a corpus with Ray: this process reads, actors annotate, on one machine or many.

A shard is read when an actor is free for it. An actor that dies is replaced, and its shard is done again. All machines
see the same folders. Ray Data is not used, because its executor takes longer to start than Ray itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spacy_incparse.corpora.annotate import AnnotateShard, Engine, engine_of
from spacy_incparse.corpora.records import Shard, ShardRecord
from spacy_incparse.ray_workers import RayPool, cluster, ray_module
from spacy_incparse.workers import OnKilled, run_in_pool

_MOST_DEATHS = 6  # of actors at the same shard: on a shared cluster, they may have other reasons than the shard


def with_ray(address: str, n_workers: int | None) -> Engine:
    """Return an engine that annotates shards on a Ray cluster.

    address: of the cluster, or "local". n_workers: the number of actors; None: one for each processor of the cluster.
    Raises IncparseError if Ray is not installed; the engine does, if there is no cluster.
    """
    ray_module()  # before the engine writes anything

    def run_workers(
        prepare: Callable[[], AnnotateShard], shards: Iterator[Shard], *, on_killed: OnKilled | None = None
    ) -> Iterator[tuple[Shard, ShardRecord]]:
        with cluster(address, n_workers) as ray:
            actors = n_workers or int(ray.cluster_resources().get("CPU", 1))
            yield from run_in_pool(RayPool(ray, prepare, actors, _MOST_DEATHS), shards, on_killed=on_killed)

    return engine_of(run_workers)
