"""What workers do: annotate the shards of a job. It imports spaCy, which the process that reads them does not need."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import srsly
from spacy.tokens import Doc
from spacy.util import import_file

from spacy_incparse.corpora.records import (
    FAILED,
    Counts,
    Document,
    OutputFolder,
    Shard,
    ShardRecord,
    Unreadable,
)  # fmt: skip
from spacy_incparse.corpora.writers import RELATIONS, Parsed, find_writer
from spacy_incparse.documents.complexity import complexity
from spacy_incparse.documents.rows import relation_rows
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import csv_line, release_memory
from spacy_incparse.measuring.complexity import MEASURES, cells
from spacy_incparse.pipeline.loading import load_for_texts
from spacy_incparse.tokens import penn_to_text, raw_word
from spacy_incparse.workers import batches

if TYPE_CHECKING:
    from spacy_incparse.corpora.annotate import Job


class ShardWorker:
    """Annotates the shards of a job and writes their files; in a worker process, loads the pipeline once."""

    def __init__(self, job: Job):
        self._writer, self._folder = find_writer(job.writer), OutputFolder(job.output)
        self._annotator, self._complexity = Annotator(job.model, job.code, ptb=job.ptb), job.complexity
        self._relations = job.relations

    def __call__(self, shard: Shard) -> ShardRecord:
        """Write the files of a shard, and then its record."""
        record = self._folder.write_shard(shard, *self._files(shard))
        release_memory()
        return record

    def try_out(self, shard: Shard) -> ShardRecord:
        """Do the same without writing anything."""
        counts, _ = self._files(shard)
        release_memory()
        return ShardRecord(shard.number, counts)

    def _files(self, shard: Shard) -> tuple[Counts, dict[str, bytes]]:
        """Return what a shard consists of, and its files by their names in the output folder."""
        counts, failed = Counts(), list[dict[str, Any]]()
        table, relations = [["document", "id", "file", *MEASURES]], list[dict[str, Any]]()
        with self._annotator.zone(_documents(shard)):
            files = self._writer.files(shard.name, self._parsed(shard, counts, failed, table, relations))
        if self._relations and self._writer.table is not None:
            files |= self._writer.table(f"relations/{shard.name}", RELATIONS, relations)
        if self._complexity:
            files[f"complexity/{shard.name}.csv"] = "".join(f"{csv_line(row)}\n" for row in table).encode()
        if failed:
            files[f"{FAILED}/{shard.name}.jsonl"] = "".join(srsly.json_dumps(row) + "\n" for row in failed).encode()
        return counts, files

    def _parsed(
        self, shard: Shard, counts: Counts, failed: list[dict[str, Any]], table: list[list[str]],
        relations: list[dict[str, Any]],
    ) -> Iterator[Parsed]:  # fmt: skip
        """Yield the parsed documents of a shard, count and measure them, and put the others aside."""
        outcomes = self._annotator.annotate(_documents(shard))
        for number, item in enumerate(shard.items, start=shard.first):
            if isinstance(item, Unreadable):
                outcome: Outcome = item.reason
            else:
                _, outcome = next(outcomes)
            if isinstance(outcome, Doc):  # what components put on Docs may raise anything
                trouble = _tried(self._writer.check_doc, outcome)
                outcome = trouble if isinstance(trouble, str) else outcome
            if isinstance(outcome, str):
                failed.append({"document": number, "id": item.id, "file": item.file, "reason": outcome})
                continue
            trees = anchored_trees(outcome)
            counts.documents += 1
            counts.sentences += len(trees)
            counts.words += sum(len(found.tree.words) for found in trees)
            counts.flat += sum(found.source == "flat" for found in trees)
            if self._complexity:
                table.append([str(number), item.id, item.file, *cells(complexity(outcome))])
            if self._relations:
                relations += ({"document": number, "id": item.id, **row} for row in relation_rows(outcome))
            yield Parsed(number, cast("Document", item), outcome)
        counts.failed = len(failed)


def _documents(shard: Shard) -> Iterator[Document]:
    return (item for item in shard.items if isinstance(item, Document))


_BATCH_CHARS, _CHARS_OF_DOC = 100_000, 400  # in one call of `nlp.pipe`; how many a Doc counts for beside its own
_TREES = "doc._.trees"  # what a component that parses declares to assign

Outcome: TypeAlias = Doc | str  # a parsed Doc, or why there is none


class Annotator:
    """A loaded pipeline.

    model: the name of an embedded or installed pipeline, or a folder. code: a Python file with components of the
    pipeline, which is run first. ptb: texts are in the spelling of the Penn Treebank, and become raw. Raises ModelError
    if the pipeline cannot be loaded or does not parse, and IncparseError if the code fails.
    """

    def __init__(self, model: str, code: Path | None = None, *, ptb: bool = False):
        self._ptb = ptb
        if code is not None:
            try:
                import_file("python_code", code)
            except (Exception, SystemExit) as error:
                raise IncparseError(f"{code}: the code cannot be run: {_reason(error)}") from error
        try:
            self.nlp = load_for_texts(model)
        except SystemExit as error:  # from the code that makes a component
            raise ModelError(f"the pipeline {model!r} cannot be loaded: {_reason(error)}") from error
        if not any(_TREES in self.nlp.get_pipe_meta(name).assigns for name in self.nlp.pipe_names):
            has = ", ".join(self.nlp.pipe_names) or "no components"
            raise ModelError(f"the pipeline {model!r} has no component that parses, such as 'incparse' (it has {has})")
        self._has_words = False

    def zone(self, documents: Iterable[Document]) -> AbstractContextManager[object]:
        """Return a context in which Docs are made and used; the words that they add to the vocabulary are freed.

        documents: those that will be annotated. Before the first zone, the tokenizer splits them: in a zone, strings
        that it has split before take less than half the time, but it remembers none.
        """
        if not self._has_words:
            self._has_words = True
            for document in documents:
                if not document.words:
                    _tried(self.nlp.make_doc, document.text)  # a failure is one of this document when it is annotated
        return self.nlp.memory_zone()

    def annotate(self, documents: Iterable[Document]) -> Iterator[tuple[Document, Outcome]]:
        """Yield each document, in order, with its Doc or with the reason why the pipeline failed."""
        for batch in batches(documents, _BATCH_CHARS, lambda one: len(one.text) + _CHARS_OF_DOC):
            yield from zip(batch, self._outcomes(batch), strict=True)

    def _outcomes(self, batch: Sequence[Document]) -> list[Outcome]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about single sentences; flat trees are counted
            found = _tried(lambda: list(self.nlp.pipe([self._doc(document) for document in batch])))
            if isinstance(found, str):
                return [_tried(lambda document=document: self.nlp(self._doc(document))) for document in batch]
            return found

    def _doc(self, document: Document) -> Doc:
        if not document.words:
            return self.nlp.make_doc(penn_to_text(document.text) if self._ptb else document.text)
        words, starts = map(raw_word, document.words) if self._ptb else document.words, list(document.sent_starts)
        return Doc(self.nlp.vocab, words=list(words), spaces=list(document.spaces), sent_starts=cast("Any", starts))


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or why it failed. All that a component raises is a document's failure.

    Even SystemExit must not end the run.
    """
    try:
        return function(*arguments)
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        return _reason(error)


def _reason(error: BaseException) -> str:
    """Return an error in a line, with its class: the text alone may say little, such as the 3 of SystemExit(3)."""
    return f"{type(error).__name__}: {error}".replace("\n", " ")
