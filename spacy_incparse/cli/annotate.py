"""`annotate`: parse corpora on disk, shard by shard, in several processes or on a Ray cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from typer import Argument, Option, echo

from spacy_incparse.cli.options import is_within, takes
from spacy_incparse.corpora.records import SHARD_CHARS, Counts, ShardRecord
from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:
    from spacy_incparse.corpora.annotate import RunWorkers


@takes(
    paths=Argument(metavar="INPUT... OUTPUT", help="Files, folders and globs to read; the folder to write."),
    output_format=Option("--format", "-f", metavar="FORMAT", help="parquet, jsonl, brackets or docbin."),
    input_format=Option(
        "--input-format", metavar="FORMAT", help="text, lines, jsonl, conllu or parquet. Default: by file name."
    ),
    text_field=Option("--text-field", metavar="NAME", help="Field or column with the text (JSONL, Parquet)."),
    id_field=Option("--id-field", metavar="NAME", help="Field or column with the id (JSONL, Parquet)."),
    n_process=Option("--n-process", min=1, metavar="N", help="Number of processes, or of Ray's actors."),
    ray=Option("--ray", metavar="[ADDRESS]", help="Use a Ray cluster: its address; local, the default, starts one."),
    code=Option("--code", "-c", metavar="FILE.py", help="Python code with the pipeline's components."),
    shard_chars=Option("--shard-chars", min=1, metavar="N", help="Characters of a shard of documents."),
    overwrite=Option("--overwrite", help="Replace an output that was made from something else."),
)
def annotate_command(
    paths: list[str], model: str = "en", output_format: str = "parquet", input_format: str = "auto",
    text_field: str = "text", id_field: str = "id", n_process: int | None = None, ray: str | None = None,
    code: Path | None = None, shard_chars: int = SHARD_CHARS, overwrite: bool = False,
) -> None:  # fmt: skip
    """Parse corpora on disk, and write them with their trees.

    Texts (.txt: a document for each file), .jsonl, .conllu and .parquet are read, also with .gz, .bz2 or .xz; use
    --input-format lines for files with a document on each line. The output is a folder of shards. Interrupted or
    killed, the same command goes on where it stopped. Documents that fail are put aside in OUTPUT/failed.

    \b
    Examples:
      spacy-incparse annotate books/ parsed/ --n-process 4
      spacy-incparse annotate "news/*.jsonl.gz" parsed/ --text-field body --format jsonl
      spacy-incparse annotate tweets.txt.xz trees/ --input-format lines --format brackets
      spacy-incparse annotate crawl/ parsed/ --ray auto
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.corpora.annotate import Job, annotate
    from spacy_incparse.corpora.readers import SUFFIXES, Fields, find_reader, input_files
    from spacy_incparse.workers import run_in_workers

    *inputs, folder = paths
    if not inputs:
        raise IncparseError(f"what to read or where to write is missing: only {folder!r} is given")
    reader, output = find_reader(input_format), Path(folder)
    suffixes = SUFFIXES if reader is None else {*SUFFIXES, *reader.suffixes}
    files = tuple(input_files(inputs, suffixes, any_suffix=reader is not None))
    fields = Fields(text_field, id_field)
    job = Job(files, output, model, input_format, output_format, fields, code, shard_chars)
    if output.is_file():
        raise IncparseError(f"{output} is a file: the last argument is the folder to write")
    if inside := [path for path in inputs if is_within(output, path)]:
        raise IncparseError(
            f"the output {output} is inside the input {inside[0]}, and would be read as input next time"
        )
    if any(file.resolve().is_relative_to(output.resolve()) for file in files):
        raise IncparseError(f"the input is inside the output {output}: name another folder")
    run_workers: RunWorkers = partial(run_in_workers, n_process=n_process or 1)
    if ray is not None:
        from spacy_incparse.ray import run_with_ray

        run_workers = run_with_ray(ray, n_process)
    with AnnotationProgress(sum(path.stat().st_size for path in files)) as progress:
        try:
            counts = annotate(job, run_workers, progress, overwrite=overwrite)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"the same command goes on where {output} stops") from None
    text = f"{output}: {_count(counts.documents, 'document')}, {_count(counts.sentences, 'sentence')}, "
    text += f"{_count(counts.words, 'word')} with trees"
    if counts.flat:
        text += f"; flat trees, because the parser failed: {_count(counts.flat, 'sentence')}"
    if counts.failed:
        text += f"; put aside in {output / 'failed'}: {_count(counts.failed, 'document')}"
    echo(text)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


_LOG_SECONDS = 60.0


class AnnotationProgress:
    """Shows words, words per second of this run, the time left, and how many documents were put aside.

    total: bytes of all input files. The time left is that of the bytes that have not been read, at the speed of this
    run; what an earlier run has finished counts as done, but not for the speed.
    """

    def __init__(self, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._total, self._stream, self._clock = total, stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._started = self._shown = clock()
        self._n_shards = self._n_bytes = self._new_bytes = self._new_words = self._width = 0
        self._counts = Counts()

    def __enter__(self) -> AnnotationProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and self._width:
            print(f"\r{'':{self._width}}\r", end="", file=self._stream, flush=True)

    def __call__(self, n_bytes: int, record: ShardRecord, *, is_new: bool) -> None:
        """Note a shard with these bytes of the input; not `is_new`: an earlier run has finished it."""
        self._n_shards += 1
        self._n_bytes += n_bytes
        self._counts.add(record.counts)
        if is_new:
            self._new_bytes += n_bytes
            self._new_words += record.counts.words
        if self._is_terminal:
            line = self.line()
            print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
            self._width = len(line)
        elif self._clock() - self._shown >= _LOG_SECONDS:
            self._shown = self._clock()
            print(self.line(), file=self._stream, flush=True)

    def line(self) -> str:
        """Return the state in words."""
        seconds = max(self._clock() - self._started, 1e-9)
        percent = 100 * self._n_bytes / max(self._total, 1)
        text = f"{percent:.0f} %, {self._n_shards:,} shards, {self._counts.words:,} words"
        if self._new_bytes:
            n_left = max(self._total - self._n_bytes, 0)
            time_left = timedelta(seconds=round(n_left / self._new_bytes * seconds))
            text += f", {self._new_words / seconds:,.0f} words/s, {time_left} left"
        return text + (f", {self._counts.failed:,} documents put aside" if self._counts.failed else "")
