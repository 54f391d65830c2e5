"""What workers do: annotate the shards of a job. It imports spaCy, which the process that reads them does not need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import srsly
from spacy.tokens import Doc

from spacy_incparse.corpora.annotator import Annotator, reason_of
from spacy_incparse.corpora.job import Job
from spacy_incparse.corpora.output_folder import FAILED, OutputFolder
from spacy_incparse.corpora.records import Counts, Document, Item, Shard, ShardRecord, Unreadable
from spacy_incparse.corpora.writers import Parsed, find_writer
from spacy_incparse.documents.tree_storage import anchored_trees
from spacy_incparse.memory import release_memory


class ShardWorker:
    """Annotates the shards of a job and writes their files; in a worker process, loads the pipeline once."""

    def __init__(self, job: Job):
        self._writer, self._folder = find_writer(job.writer), OutputFolder(job.output)
        self._annotator = Annotator(job.model, job.code)

    def __call__(self, shard: Shard) -> ShardRecord:
        """Write the files of a shard, and then its record."""
        record = self._write(shard)
        release_memory()
        return record

    def try_out(self, shard: Shard) -> ShardRecord:
        """Do the same without writing anything."""
        counts, _ = self._files(shard)
        release_memory()
        return ShardRecord(shard.number, counts)

    def _write(self, shard: Shard) -> ShardRecord:
        return self._folder.write_shard(shard.number, *self._files(shard))

    def _files(self, shard: Shard) -> tuple[Counts, dict[str, bytes]]:
        """Return what a shard consists of, and its files by their names in the output folder."""
        counts, failed = Counts(), list[dict[str, Any]]()
        with self._annotator.zone(_documents(shard)):
            files = self._writer.files(shard.name, self._parsed(shard, counts, failed))
        if failed:
            files[f"{FAILED}/{shard.name}.jsonl"] = "".join(srsly.json_dumps(row) + "\n" for row in failed).encode()
        return counts, files

    def _parsed(self, shard: Shard, counts: Counts, failed: list[dict[str, Any]]) -> Iterator[Parsed]:
        """Yield the parsed documents of a shard, count them, and put the others aside."""
        numbered = dict(enumerate(shard.items, start=shard.first))
        outcomes = self._annotator.annotate(_documents(shard))
        for number, item in numbered.items():
            if isinstance(item, Unreadable):
                failed.append(_failure(number, item, item.reason))
                continue
            document, outcome = next(outcomes)
            assert document is item
            reason = outcome if isinstance(outcome, str) else self._obstacle(outcome)
            if reason:
                failed.append(_failure(number, item, reason))
            else:
                _count(outcome, counts)
                yield Parsed(number, item, cast("Doc", outcome))
        counts.failed = len(failed)

    def _obstacle(self, doc: Doc) -> str:
        """Return why a Doc cannot be written, or ""."""
        try:
            self._writer.check_doc(doc)
        except Exception as error:  # what components put on Docs may raise anything
            return reason_of(error)
        return ""


def _documents(shard: Shard) -> Iterator[Document]:
    return (item for item in shard.items if isinstance(item, Document))


def _failure(number: int, item: Item, reason: str) -> dict[str, Any]:
    return {"document": number, "id": item.id, "file": item.file, "reason": reason}


def _count(doc: Any, counts: Counts) -> None:
    trees = anchored_trees(doc)
    counts.documents += 1
    counts.sentences += len(trees)
    counts.words += sum(len(found.tree.words) for found in trees)
    counts.flat += sum(found.source == "flat" for found in trees)
