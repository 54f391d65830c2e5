"""`parse`: parse text and print the trees."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum
from typing import IO, Annotated, Any, cast

import typer

from spacy_incparse.cli.options import Model, decoded, open_pipeline
from spacy_incparse.cli.pictures import Writer, find_writer
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.treebank_files import GZIP_MAGIC

# Their scores are those of the parser, with the model's temperature, also if there is one tree: a Doc may have others.
_LISTS = ("lists", "bllip")


class Format(str, Enum):
    """The output formats."""

    pretty = "pretty"
    penn = "penn"
    json = "json"
    draw = "draw"
    svg = "svg"
    html = "html"
    lists = "lists"
    bllip = "bllip"


def parse_command(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The text, in quotes.")] = None,
    model: Model = "en",
    source: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE|-", help="Read a file, plain or gzipped, or standard input (-)."),
    ] = None,
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="Each line is a sentence with tokens separated by spaces.")
    ] = False,
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Like --tokenized, with tags: word_TAG. Tags may be missing.")
    ] = False,
    format_: Annotated[
        Format | None, typer.Option("--format", "-f", help="Default: pretty on a terminal, otherwise penn.")
    ] = None,
    ptb: Annotated[
        bool, typer.Option("--ptb", help="Read (--tokenized) and write words in Penn Treebank spelling: -LRB- ``.")
    ] = False,
    nbest: Annotated[
        int, typer.Option("--nbest", min=1, metavar="K", help="Up to K trees per sentence, best first.")
    ] = 1,
    n_process: Annotated[
        int, typer.Option("--n-process", min=1, metavar="N", help="Number of processes; lists are made in one.")
    ] = 1,
) -> None:
    """Parse text and show the trees.

    Raw text is split into paragraphs at blank lines, and the pipeline splits paragraphs into sentences and words. Trees
    are printed as soon as they are parsed. Formats: "penn" (one tree per line), "pretty" (indented), "json" (one object
    per line), "draw" (in characters), "svg" (one picture) and "html" (a page in which you can fold and search).
    For n-best lists in files there are "lists" (JSON lines) and "bllip" (the format of that parser).

    \b
    Examples:
      spacy-incparse parse "The cat that I saw was asleep."
      spacy-incparse parse --input book.txt --format json > book.jsonl
      spacy-incparse parse --input letter.txt --format html > letter.html
      echo "It rained ." | spacy-incparse parse --tokenized --nbest 3
      spacy-incparse parse --input letter.txt --nbest 50 --format lists > letter.jsonl
      echo "They can_VBP fish_NN ." | spacy-incparse parse --tagged
    """
    name = (format_ or _default_format()).value
    with _open(text, source) as lines:
        for line in parse(
            decoded(lines, source), model, find_writer(name), tokenized=tokenized, tagged=tagged, ptb=ptb,
            nbest=nbest if nbest > 1 or name in _LISTS else None, n_process=n_process,
            batch_size=_batch_size(lines, n_process), place=source or "the text",
        ):  # fmt: skip
            typer.echo(line)


def parse(
    lines: Iterable[str],
    model: str,
    writer: Writer,
    *,
    tokenized: bool = False,
    tagged: bool = False,
    ptb: bool = False,
    nbest: int | None = None,
    n_process: int = 1,
    batch_size: int | None = None,
    place: str = "the text",
) -> Iterator[str]:
    """Yield the output of `writer` for the sentences in lines of text; the other arguments are as in the command.

    nbest: the most trees of a sentence; None: the tree on the Doc. place: the source of the lines, for messages.
    """
    from spacy_incparse.cli.parsing import paragraphs, parse_texts, tokenized_docs
    from spacy_incparse.cli.tagged import tagged_docs
    from spacy_incparse.pipeline.given_annotations import given

    nlp, parser = open_pipeline(model)
    texts: Iterable[Any]
    if tagged:
        texts = tagged_docs(lines, nlp.vocab, parser.decoder.parser.tags, place, ptb=ptb)
    else:
        texts = tokenized_docs(lines, nlp.vocab, ptb=ptb) if tokenized else paragraphs(lines)
    with given(nlp, {"token.tag"}, "doc") if tagged else nullcontext():
        sentences = parse_texts(nlp, texts, nbest=nbest, n_process=n_process, batch_size=batch_size)
        yield from writer(sentences, (nbest or 1) > 1, ptb)


def _batch_size(lines: IO[bytes], n_process: int) -> int | None:
    """Return 1 for a terminal or a pipe, whose user or program may wait for the trees of each text."""
    return 1 if lines.isatty() or (n_process == 1 and not lines.seekable()) else None


def _default_format() -> Format:
    return Format.pretty if sys.stdout.isatty() else Format.penn


@contextmanager
def _open(text: str | None, source: str | None) -> Iterator[IO[bytes]]:
    """Open the text or file given by the arguments; gzip is detected from the file's content."""
    if text is not None and source is not None:
        raise IncparseError("pass either a text or --input, not both")
    if text is not None:
        if os.path.isfile(text):
            typer.echo(f"Warning: {text!r} is parsed as a text; to parse the file, use --input {text}", err=True)
        yield io.BytesIO(text.encode("utf8", "surrogateescape"))
    elif source is not None and source != "-":
        with open(source, "rb") as file:
            is_gzipped = file.peek(2).startswith(GZIP_MAGIC)
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
    elif source is None and sys.stdin.isatty():
        raise IncparseError(
            "there is nothing to parse: pass a text in quotes, or --input FILE (--input - to type it in)"
        )
    else:
        yield sys.stdin.buffer
