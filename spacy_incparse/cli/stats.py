"""`stats`: show statistics of a treebank's grammar."""

from __future__ import annotations

from typing import Annotated

import typer

from spacy_incparse.cli.options import NoTags, OutputFile, SkipBad, keep_inputs, open_treebank, write_json
from spacy_incparse.derivations.grammar_tables import grammar_table
from spacy_incparse.trees.tree import Tree


def stats_command(
    treebank: Annotated[str, typer.Argument(metavar="TREEBANK", help="Bracket file, folder or glob of a treebank.")],
    held_out: Annotated[
        str | None, typer.Argument(metavar="[HELD_OUT]", help="Held-out trees, to measure the coverage of the grammar.")
    ] = None,
    with_top: Annotated[
        bool, typer.Option("--with-top", help="Count the root in the length of a chain, as the paper does.")
    ] = False,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    output: OutputFile = None,
) -> None:
    """Show the size and coverage of a treebank's grammar.

    This is table 1 of Collins & Roark (2004). A chain is the path from a word's tag up to where the word is attached;
    the left-corner transform makes chains shorter and fewer. With held-out trees you also see how many words and
    sentences lack something in the grammar.

    \b
    Example:
      spacy-incparse stats train.mrg dev.mrg
    """
    keep_inputs(output, treebank, held_out)

    def read(path: str) -> list[Tree]:
        return open_treebank(path, skip_bad=skip_bad, for_grammar=True, no_tags=no_tags)

    trees, held_out_trees = read(treebank), None if held_out is None else read(held_out)
    table = grammar_table(trees, held_out_trees, with_top=with_top)
    typer.echo(table.format())
    write_json(output, table.to_dict())
