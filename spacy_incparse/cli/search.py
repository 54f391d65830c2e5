"""The `search` command: find the nodes that match a pattern in files of trees."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_incparse.cli.options import NoTags, SkipBad
from spacy_incparse.cli.progress import progress_bar
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy_incparse.cli.file_search import FileResult, FileSearch
    from spacy_incparse.cli.hits import HitWriter


class HitFormat(str, Enum):
    """The output formats."""

    kwic = "kwic"
    tree = "tree"
    json = "json"


Format = Annotated[
    HitFormat | None,
    typer.Option("--format", "-f", help="Keyword in context, the default, trees, or JSON lines."),
]


def search_command(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="The pattern, in quotes: see docs/search.md.")],
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Bracket, .spacy, .parquet and .jsonl files, folders or globs."),
    ],
    normalize: Annotated[
        bool,
        typer.Option("--normalize", help="Remove functions, traces and wrappers from trees of bracket files first."),
    ] = False,
    raw_labels: Annotated[bool, typer.Option("--raw-labels", help="A label such as NP does not match NP-SBJ.")] = False,
    heads: Annotated[
        str, typer.Option("--heads", metavar="NAME|FILE.json", help="Head rules for relations with '#': en, any, ...")
    ] = "en",
    format_: Format = None,
    context: Annotated[
        int | None,
        typer.Option("--context", "-c", min=0, metavar="N", help="Words on either side. Default: as many as fit."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="One hit for each way to assign the pattern's names to nodes.")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Stop after N hits.")] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0, metavar="SECONDS", help="Time limit for regular expressions, per file."),
    ] = 60,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of matching nodes.")] = False,
    by_label: Annotated[bool, typer.Option("--by-label", help="Print how many nodes of each label match.")] = False,
    n_process: Annotated[int, typer.Option("--n-process", min=1, metavar="N", help="Files searched at once.")] = 1,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
) -> None:
    """Search trees with a Tregex pattern.

    Bracket files may be gzipped, and their trees are searched without normalization; Parquet files are those of
    `annotate`, and JSON lines also those of `parse`. Patterns do not distinguish words from labels: NN < pumpkin finds
    the noun.

    \b
    Examples:
      spacy-incparse search "NP < (NN=head $.. PP)" wsj/
      spacy-incparse search "VP << /^NP-TMP/" train.mrg --format tree -n 5
      spacy-incparse search "@SBAR < (WHNP << which)" "more/*.mrg.gz" parsed.spacy --count
      spacy-incparse search "SBAR > NP" parsed/ --n-process 4 --format json
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.cli.corpora import corpus_files
    from spacy_incparse.cli.file_search import FileSearch
    from spacy_incparse.patterns import compile

    compiled = compile(pattern, raw_labels=raw_labels, heads=HeadRules.find(heads), timeout=timeout)
    if (count or by_label) and (limit or every or format_ or context is not None or (count and by_label)):
        raise IncparseError("--count and --by-label exclude each other, --limit, --every, --format and --context")
    _check_context(context, format_)
    search = FileSearch(
        compiled, None, by_label, raw_labels, every, limit, normalized=normalize, skip_bad=skip_bad, tags=not no_tags
    )
    output = None if count or by_label else (format_ or HitFormat.kwic, context)
    _print(search, corpus_files(sources), output, n_process)


def _check_context(context: int | None, format_: HitFormat | None) -> None:
    if context is not None and format_ not in (None, HitFormat.kwic):
        raise IncparseError(f"--context is for --format kwic, not for {format_.value}")


def _print(
    search: FileSearch, files: Sequence[Path], output: tuple[HitFormat, int | None] | None, n_process: int
) -> None:
    """Print hits, in a format with a number of words around them, or else counts."""
    from spacy_incparse.cli.hits import LabelCounts

    if output is not None:
        search = replace(search, writer=_writer(*output, files))
    labels, count, skipped = LabelCounts(), 0, SkipLog()
    is_shown = output is None or not sys.stdout.isatty()
    with progress_bar(is_shown=is_shown, total=len(files), unit=" files") as progress:
        results = _counted(search.results(files, n_process), skipped, progress)
        if output is not None:
            for line in islice(chain.from_iterable(result.lines for result in results), search.limit):
                # Not typer.echo, which flushes every line: there may be many hits.
                print(line)
        for result in results if output is None else ():
            labels.update(result.labels)
            count += result.count
    if output is None:
        typer.echo("\n".join(labels.lines()) if search.by_label else count)
    if search.skip_bad:
        typer.echo(str(skipped), err=True)


def _counted(results: Iterator[FileResult], skipped: SkipLog, progress: Any) -> Iterator[FileResult]:
    """Yield the results, and add up what was skipped; a file is done when the next one is asked for."""
    for result in results:
        skipped.update(result.skipped)
        yield result
        progress.update(result.is_file)


def _writer(format_: HitFormat, context: int | None, files: Sequence[Path]) -> HitWriter:
    from spacy_incparse.cli.hits import Kwic, TreeHits, write_json

    width = shutil.get_terminal_size().columns
    names = max(len(path.name) for path in files) if len(files) > 1 else 0
    writers: dict[HitFormat, HitWriter] = {
        HitFormat.kwic: Kwic(width, context, names),
        HitFormat.tree: TreeHits(width),
        HitFormat.json: write_json,
    }
    return writers[format_]
