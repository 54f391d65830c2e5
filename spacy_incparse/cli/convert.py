"""`convert`: convert a treebank to a `.spacy` file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spacy_incparse.cli.options import NoTags, SkipBad, check_output, keep_inputs, open_treebank
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_file


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
