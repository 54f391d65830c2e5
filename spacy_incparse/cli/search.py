"""The `search` command: find the nodes that match a pattern in files of trees."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_incparse.cli.options import NoTags, SkipBad
from spacy_incparse.cli.progress import progress_bar
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy_incparse.patterns import Forest, Match, Pattern


class HitFormat(str, Enum):
    """The output formats."""

    kwic = "kwic"
    tree = "tree"
    json = "json"


def search_command(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="The pattern, in quotes: see docs/search.md.")],
    sources: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Bracket files, .spacy files, folders or globs.")
    ],
    normalize: Annotated[
        bool,
        typer.Option("--normalize", help="Remove functions, traces and wrappers from trees of bracket files first."),
    ] = False,
    raw_labels: Annotated[bool, typer.Option("--raw-labels", help="A label such as NP does not match NP-SBJ.")] = False,
    heads: Annotated[
        str, typer.Option("--heads", metavar="NAME|FILE.json", help="Head rules for relations with '#': en, any, ...")
    ] = "en",
    format_: Annotated[
        HitFormat, typer.Option("--format", "-f", help="Keyword in context, trees, or JSON lines.")
    ] = HitFormat.kwic,
    context: Annotated[
        int | None,
        typer.Option("--context", "-c", min=0, metavar="N", help="Words on either side. Default: as many as fit."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="One hit for each way to assign the pattern's names to nodes.")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Stop after N hits.")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, metavar="SECONDS", help="Time limit for regular expressions, per file.")
    ] = 60,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of matching nodes.")] = False,
    by_label: Annotated[bool, typer.Option("--by-label", help="Print how many nodes of each label match.")] = False,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
) -> None:
    """Search trees with a Tregex pattern.

    Bracket files may be gzipped, and their trees are searched without normalization. Patterns do not distinguish words
    from labels: NN < pumpkin finds the noun.

    \b
    Examples:
      spacy-incparse search "NP < (NN=head $.. PP)" wsj/
      spacy-incparse search "VP << /^NP-TMP/" train.mrg --format tree -n 5
      spacy-incparse search "@SBAR < (WHNP << which)" "more/*.mrg.gz" parsed.spacy --count
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.patterns import compile

    compiled = compile(pattern, raw_labels=raw_labels, heads=HeadRules.find(heads), timeout=timeout)
    if (count or by_label) and (limit or every or (count and by_label)):
        raise IncparseError("--count and --by-label exclude each other, --limit and --every")
    skipped = SkipLog() if skip_bad else None
    corpus = _Corpus(sources, normalize, skipped, tags=not no_tags, prints_hits=not (count or by_label))
    if count:
        typer.echo(sum(compiled.count(forest) for _, forest in corpus))
    elif by_label:
        _print_table(compiled, corpus, raw_labels)
    else:
        _print_hits(compiled, corpus, format_, context, every, limit)
    if skipped:
        typer.echo(str(skipped), err=True)


class _Corpus:
    """The files with their trees, and the progress through them."""

    def __init__(
        self, sources: Sequence[str], normalize: bool, skipped: SkipLog | None, *, tags: bool, prints_hits: bool
    ):
        from spacy_incparse.cli.corpora import corpus_files

        self.files = corpus_files(sources)
        self._normalize, self._skipped, self._tags = normalize, skipped, tags
        self._is_shown = not (prints_hits and sys.stdout.isatty())

    def __iter__(self) -> Iterator[tuple[Path, Forest]]:
        from spacy_incparse.cli.corpora import read_corpus

        read = read_corpus(self.files, normalized=self._normalize, skip_bad=self._skipped, tags=self._tags)
        with progress_bar(is_shown=self._is_shown, total=len(self.files), unit=" files") as progress:
            for path, forest in read:
                yield path, forest
                progress.update()


def _print_table(pattern: Pattern, corpus: _Corpus, raw_labels: bool) -> None:
    from spacy_incparse.cli.hits import LabelCounts

    counts = LabelCounts(raw_labels=raw_labels)
    for _, forest in corpus:
        for match in pattern.search(forest):
            counts.add(match)
    typer.echo("\n".join(counts.lines()))


def _print_hits(
    pattern: Pattern, corpus: _Corpus, format_: HitFormat, context: int | None, every: bool, limit: int | None
) -> None:
    from spacy_incparse.cli.hits import HitWriter, Kwic, TreeHits, write_json

    width = shutil.get_terminal_size().columns
    names = max(len(path.name) for path in corpus.files) if len(corpus.files) > 1 else 0
    writers: dict[HitFormat, HitWriter] = {
        HitFormat.kwic: Kwic(width, context, names),
        HitFormat.tree: TreeHits(width),
        HitFormat.json: write_json,
    }
    hits = ((path, match) for path, forest in corpus for match in _hits(pattern, forest, every))
    for path, match in islice(hits, limit):
        # Not typer.echo, which flushes every line: there may be many hits.
        print(writers[format_](path, match))


def _hits(pattern: Pattern, forest: Forest, every: bool) -> Iterator[Match]:
    """Yield the matches, each with the number of its tree in the file, because the forest may omit trees."""
    matches = pattern.search(forest, every=every)
    if forest.places is None:
        return matches
    return (match._replace(number=forest.place(match.number)) for match in matches)
