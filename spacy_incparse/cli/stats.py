"""`stats`: show statistics of a treebank's grammar, or where two treebanks annotate differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path

from typer import Argument, Option, echo

from spacy_incparse.cli.options import check_output, keep_inputs, one_of, open_treebank, takes, write_json
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_file
from spacy_incparse.incremental.coverage import grammar_table
from spacy_incparse.repair.compare import Difference, annotation_differences
from spacy_incparse.treebanks.normalize import WITH_FUNCTIONS
from spacy_incparse.trees.arrays import JOINT
from spacy_incparse.trees.tree import Tree

DECISIONS: dict[str, Callable[[Difference], str]] = {
    "production": lambda row: f"{row.context} -> {row.outcome}",
    "chain": lambda row: f"{row.outcome}{JOINT}{row.context}",
    "tag": lambda row: f"{row.context} in {row.outcome}",
    "word": lambda row: f"{row.context} as {row.outcome}",
}


@takes(
    treebank=Argument(metavar="TREEBANK", help="Bracket file, folder or glob of a treebank."),
    held_out=Argument(metavar="[HELD_OUT]", help="Held-out trees, to measure the coverage of the grammar."),
    with_top=Option("--with-top", help="Count the root in the length of a chain, as the paper does."),
    against=Option("--against", metavar="OTHER", help="Compare the annotation with another treebank's."),
    number=Option("--number", "-n", min=1, metavar="N", help="With --against: show N differences. Default: 50."),
    kinds=one_of(
        " ".join(DECISIONS), "--kind", several=True,
        help="With --against: compare these alone; may be repeated. Default: all of them.",
    ),
    functions=Option("--functions", help="With --against: compare labels with their function tags."),
    format_=one_of(
        "text tsv", "--format", "-f", help="With --against: aligned text, the default, or tab-separated values."
    ),
)  # fmt: skip
def stats_command(
    treebank: str, held_out: str | None = None, with_top: bool = False, against: str | None = None,
    number: int | None = None, kinds: list[str] | None = None, functions: bool = False, format_: str | None = None,
    skip_bad: bool = False, no_tags: bool = False, output: Path | None = None,
) -> None:  # fmt: skip
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
        one, other = [
            open_treebank(path, skip_bad=skip_bad, no_tags=no_tags, steps=steps) for path in (treebank, against)
        ]
        found = annotation_differences(one, other, kinds=kinds or list(DECISIONS))[: number or 50]
        for line in _tsv_lines(found) if format_ == "tsv" else _text_lines(found):
            echo(line)
        write_json(output, {"differences": [asdict(row) for row in found]})
        return

    def read(path: str) -> list[Tree]:
        return open_treebank(path, skip_bad=skip_bad, for_grammar=True, no_tags=no_tags)

    trees, held_out_trees = read(treebank), None if held_out is None else read(held_out)
    table = grammar_table(trees, held_out_trees, with_top=with_top)
    echo(table.format())
    write_json(output, table.to_dict())


def _tsv_lines(rows: Sequence[Difference]) -> Iterator[str]:
    yield "\t".join(field.name for field in fields(Difference))
    for row in rows:
        yield "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in astuple(row))


def _text_lines(rows: Sequence[Difference]) -> Iterator[str]:
    decisions = [DECISIONS[row.kind](row) for row in rows]
    width = max(map(len, ["decision", *decisions]))
    yield f"{'kind':<10}  {'decision':<{width}}  {'first':>15}  {'second':>15}  log odds  at least"
    for row, decision in zip(rows, decisions, strict=True):
        first, second = f"{row.count:,}/{row.total:,}", f"{row.other_count:,}/{row.other_total:,}"
        figures = f"{first:>15}  {second:>15}  {row.log_odds:>+8.2f}  {row.at_least:>8.2f}"
        yield f"{row.kind:<10}  {decision:<{width}}  {figures}"


@takes(
    sources=Argument(metavar="SRC...", help="Bracket files, folders or globs."),
    output=Argument(metavar="OUT.spacy", help="The file to write."),
    detokenize=Option("--detokenize", help="Put spaces where a text has them. By default, spaces are unknown."),
    n_sents=Option("--n-sents", min=1, metavar="N", help="Number of sentences per Doc."),
)
def convert_command(
    sources: list[str], output: Path, detokenize: bool = False, n_sents: int = 1, skip_bad: bool = False,
    no_tags: bool = False,
) -> None:  # fmt: skip
    """Convert bracket files to a .spacy file with trees.

    The Docs have the treebank's words, tags, sentence boundaries and trees (doc._.trees). Trees are stored in the user
    data. To write such a file yourself, use DocBin(store_user_data=True).

    \b
    Examples:
      spacy-incparse convert train.mrg train.spacy
      spacy-incparse convert wsj/ "more/*.mrg.gz" corpus.spacy --detokenize --n-sents 10
    """
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
    n_words = sum(len(tree.words) for tree in trees)
    echo(f"{output}: {len(trees):,} sentences, {n_words:,} words in {len(docs):,} Docs")
