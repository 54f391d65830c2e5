"""The commands `spacy-incparse ...`; also `python -m spacy_incparse ...` and `spacy incparse ...`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from spacy_incparse import __version__
from spacy_incparse.cli.complexity import complexity_command
from spacy_incparse.cli.edit import edit_command
from spacy_incparse.cli.evaluate import evaluate_command, oracle_command, score_command
from spacy_incparse.cli.export import export_command
from spacy_incparse.cli.measures import measures_command
from spacy_incparse.cli.options import Command, CommandGroup
from spacy_incparse.cli.parse import annotate_command, parse_command
from spacy_incparse.cli.rerank_train import rerank_train_command
from spacy_incparse.cli.score_trees import score_trees_command
from spacy_incparse.cli.search import search_command
from spacy_incparse.cli.serve import serve_command
from spacy_incparse.cli.train import train_command
from spacy_incparse.cli.treebank import convert_command, repair_command, stats_command

__all__ = ["app", "main"]

_ALL: tuple[Callable[..., None], ...] = (
    parse_command, annotate_command, train_command, rerank_train_command, evaluate_command, score_command,
    score_trees_command, oracle_command, search_command, measures_command, complexity_command, convert_command,
    stats_command, repair_command, export_command, serve_command, edit_command,
)  # fmt: skip
COMMANDS = {command.__name__.removesuffix("_command").replace("_", "-"): command for command in _ALL}

# Plain help pages, like those of spaCy: Typer's boxes would re-wrap the examples.
app = typer.Typer(
    name="incparse", cls=CommandGroup, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)
for _name, _command in COMMANDS.items():
    app.command(_name, cls=Command)(_command)


def main() -> None:
    """Run the command given by the program's arguments."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spacy-incparse {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Constituency parsing with spaCy: phrase-structure trees for raw text, and training on your own treebank.

    Every command has a help text with examples: spacy-incparse parse --help
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
