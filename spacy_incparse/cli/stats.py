"""`stats`: show statistics of a treebank's grammar, or where two treebanks annotate differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, fields
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spacy_incparse.cli.options import NoTags, OutputFile, SkipBad, check_output, keep_inputs, open_treebank, write_json
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_file
from spacy_incparse.incremental.coverage import grammar_table
from spacy_incparse.repair.compare import Difference, annotation_differences
from spacy_incparse.treebanks.normalize import WITH_FUNCTIONS
from spacy_incparse.trees.edits import JOINT
from spacy_incparse.trees.tree import Tree

N_DIFFERENCES = 50

# With --against alone:
Number = Annotated[
    int | None,
    typer.Option("--number", "-n", min=1, metavar="N", help="With --against: show N differences. Default: 50."),
]


class DecisionKind(str, Enum):
    """What can be compared."""

    production = "production"
    chain = "chain"
    tag = "tag"
    word = "word"


Kinds = Annotated[
    list[DecisionKind] | None,
    typer.Option("--kind", help="With --against: compare these alone; may be repeated. Default: all of them."),
]


class TableFormat(str, Enum):
    """The output formats of the table."""

    text = "text"
    tsv = "tsv"


Format = Annotated[
    TableFormat | None,
    typer.Option("--format", "-f", help="With --against: aligned text, the default, or tab-separated values."),
]


def stats_command(
    treebank: Annotated[str, typer.Argument(metavar="TREEBANK", help="Bracket file, folder or glob of a treebank.")],
    held_out: Annotated[
        str | None, typer.Argument(metavar="[HELD_OUT]", help="Held-out trees, to measure the coverage of the grammar.")
    ] = None,
    with_top: Annotated[
        bool, typer.Option("--with-top", help="Count the root in the length of a chain, as the paper does.")
    ] = False,
    against: Annotated[
        str | None, typer.Option("--against", metavar="OTHER", help="Compare the annotation with another treebank's.")
    ] = None,
    number: Number = None,
    kinds: Kinds = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="With --against: compare labels with their function tags.")
    ] = False,
    format_: Format = None,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    output: OutputFile = None,
) -> None:
    """Show the size and coverage of a treebank's grammar, or where two treebanks annotate differently.

    This is table 1 of Collins & Roark (2004). A chain is the path from a word's tag up to where the word is attached;
    the left-corner transform makes chains shorter and fewer. With held-out trees you also see how many words and
    sentences lack something in the grammar.

    With --against, this is a list of productions, unary chains, parents of tags, and tags and parents of frequent
    words: those with the largest difference in log odds between the two treebanks, and their counts in both.

    \b
    Examples:
      spacy-incparse stats train.mrg dev.mrg
      spacy-incparse stats mine.mrg --against wsj/ --kind word --kind chain -n 20
    """
    keep_inputs(output, treebank, held_out, against)
    if against is None and (kinds or functions or number or format_):
        raise IncparseError(
            "--kind, --functions, --number and --format compare two treebanks: name the other one with --against"
        )
    if against is not None:
        if held_out is not None or with_top:
            raise IncparseError("--against excludes HELD_OUT and --with-top: they are about one treebank's grammar")
        steps = WITH_FUNCTIONS if functions else None
        both = [open_treebank(path, skip_bad=skip_bad, no_tags=no_tags, steps=steps) for path in (treebank, against)]
        kinds, format_ = kinds or list(DecisionKind), format_ or TableFormat.text
        _show_differences(both[0], both[1], kinds, number or N_DIFFERENCES, format_, output)
        return

    def read(path: str) -> list[Tree]:
        return open_treebank(path, skip_bad=skip_bad, for_grammar=True, no_tags=no_tags)

    trees, held_out_trees = read(treebank), None if held_out is None else read(held_out)
    table = grammar_table(trees, held_out_trees, with_top=with_top)
    typer.echo(table.format())
    write_json(output, table.to_dict())


def _show_differences(
    trees: list[Tree],
    other_trees: list[Tree],
    kinds: list[DecisionKind],
    number: int,
    format_: TableFormat,
    output: Path | None,
) -> None:
    found = annotation_differences(trees, other_trees, kinds=[kind.value for kind in kinds])[:number]
    for line in table_lines(found, format_):
        typer.echo(line)
    write_json(output, {"differences": [asdict(row) for row in found]})


_DECISIONS: dict[str, Callable[[Difference], str]] = {
    "production": lambda row: f"{row.context} -> {row.outcome}",
    "chain": lambda row: f"{row.outcome}{JOINT}{row.context}",
    "tag": lambda row: f"{row.context} in {row.outcome}",
    "word": lambda row: f"{row.context} as {row.outcome}",
}


def table_lines(rows: Sequence[Difference], format_: TableFormat) -> Iterator[str]:
    """Yield the lines of the table."""
    if format_ is TableFormat.tsv:
        yield "\t".join(field.name for field in fields(Difference))
        for row in rows:
            yield "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in astuple(row))
        return
    decisions = [_DECISIONS[row.kind](row) for row in rows]
    width = max(map(len, ["decision", *decisions]))
    yield f"{'kind':<10}  {'decision':<{width}}  {'first':>15}  {'second':>15}  log odds  at least"
    for row, decision in zip(rows, decisions, strict=True):
        first, second = f"{row.count:,}/{row.total:,}", f"{row.other_count:,}/{row.other_total:,}"
        figures = f"{first:>15}  {second:>15}  {row.log_odds:>+8.2f}  {row.at_least:>8.2f}"
        yield f"{row.kind:<10}  {decision:<{width}}  {figures}"


def convert_command(
    sources: Annotated[list[str], typer.Argument(metavar="SRC...", help="Bracket files, folders or globs.")],
    output: Annotated[Path, typer.Argument(metavar="OUT.spacy", help="The file to write.")],
    detokenize: Annotated[
        bool, typer.Option("--detokenize", help="Put spaces where a text has them. By default, spaces are unknown.")
    ] = False,
    n_sents: Annotated[int, typer.Option("--n-sents", min=1, metavar="N", help="Number of sentences per Doc.")] = 1,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
) -> None:
    """Convert bracket files to a .spacy file with trees.

    The Docs have the treebank's words, tags, sentence boundaries and trees (doc._.trees). Trees are stored in the user
    data. To write such a file yourself, use DocBin(store_user_data=True).

    \b
    Examples:
      spacy-incparse convert train.mrg train.spacy
      spacy-incparse convert wsj/ "more/*.mrg.gz" corpus.spacy --detokenize --n-sents 10
    """
    n_docs, n_trees, n_words = convert(
        sources, output, detokenize=detokenize, n_sents=n_sents, skip_bad=skip_bad, no_tags=no_tags
    )
    typer.echo(f"{output}: {n_trees:,} sentences, {n_words:,} words in {n_docs:,} Docs")


def convert(
    sources: list[str],
    output: Path,
    *,
    detokenize: bool = False,
    n_sents: int = 1,
    skip_bad: bool = False,
    no_tags: bool = False,
) -> tuple[int, int, int]:
    """Write the trees of bracket files to a DocBin; return the numbers of Docs, sentences and words."""
    # Imported here, as in the other commands, so that commands that do not need spaCy start quickly.
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_incparse.documents.gold import trees_to_docs

    if output.suffix != ".spacy":
        raise IncparseError(f"{output}: the last argument is the file to write, and its name must end in .spacy")
    check_output(output)
    keep_inputs(output, *sources)
    trees = open_treebank(sources, skip_bad=skip_bad, no_tags=no_tags)
    docs = DocBin(store_user_data=True)
    for doc in trees_to_docs(trees, Vocab(), natural_spacing=detokenize, n_sents=n_sents):
        docs.add(doc)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_file(output, docs.to_disk)
    return len(docs), len(trees), sum(len(tree.words) for tree in trees)
