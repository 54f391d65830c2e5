"""`repair`: mend what is inconsistent in a treebank, by rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from spacy_incparse.cli.options import check_output, is_within, keep_inputs
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_bytes
from spacy_incparse.repair.change_report import FileChanges, report_lines, summary_lines
from spacy_incparse.repair.repairing import repair_trees
from spacy_incparse.repair.rule_files import Rule, find_rules
from spacy_incparse.treebanks.penn_reader import read_trees
from spacy_incparse.treebanks.treebank_files import treebank_files
from spacy_incparse.trees.tree import Tree


def repair_command(
    treebank: Annotated[str, typer.Argument(metavar="INPUT", help="Bracket file, folder or glob of a treebank.")],
    output: Annotated[
        Path | None, typer.Argument(metavar="[OUTPUT]", help="The file for the repaired trees, one on each line.")
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="NAME|FILE.json", help="Rules: english, craft or a file. May be repeated."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.tsv", help="One line for each change. Default: OUTPUT.changes.tsv"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only write the report, and not the trees.")] = False,
    ptb: Annotated[bool, typer.Option("--ptb", help="Write words in the spelling of the Penn Treebank.")] = False,
) -> None:
    """Repair a treebank by rules.

    A rule has a pattern, which finds what is wrong, and an action, which mends it: docs/repair.md. Rules apply in their
    order until none finds anything, so a second run changes nothing. Each change is a line of the report, with the
    subtree before and after it. Traces, function tags and wrappers stay.

    \b
    Examples:
      spacy-incparse repair train.mrg repaired.mrg --rules english
      spacy-incparse repair craft/ craft.mrg --rules craft --rules english --report changes.tsv
      spacy-incparse repair train.mrg --rules mine.json --dry-run --report changes.tsv
    """
    if not rules:
        raise IncparseError("name the rules: --rules english, or a file of your own (docs/repair.md)")
    if dry_run and report is None:
        raise IncparseError("--dry-run only writes the report: name a file for it with --report")
    if not dry_run and output is None:
        raise IncparseError("name a file for the repaired trees, or ask for a --dry-run")
    report = report or Path(f"{output}.changes.tsv")
    if output is not None and output.absolute() == report.absolute():
        raise IncparseError(f"{output} is named for the trees and for the report: they need two files")
    for path in (output, report):
        check_output(path)
        keep_inputs(path, treebank)
        _check_outside(path, Path(treebank))
    repair(treebank, None if dry_run else output, find_all_rules(rules), report, ptb=ptb)


def repair(treebank: str, output: Path | None, rules: Sequence[Rule], report: Path, *, ptb: bool = False) -> None:
    """Write the report, then the repaired trees unless `output` is None, and show the counts of each rule."""
    files: list[FileChanges] = []
    repaired: list[Tree] = []
    for path in treebank_files(treebank):
        trees = list(read_trees(path))
        mended, changes = repair_trees(trees, rules, str(path))
        repaired += mended
        n_phrases = sum(len(tree.arrays.sizes) - len(tree.words) for tree in trees)
        files.append(FileChanges(path, len(trees), n_phrases, changes))
    _write(report, report_lines(files))
    if output is not None:
        _write(output, (tree.to_string(ptb=ptb) for tree in repaired))
    for line in summary_lines(files, rules):
        typer.echo(line)


def find_all_rules(names: Sequence[str]) -> list[Rule]:
    """Return the rules of several files, in their order. Raises IncparseError if two rules have the same name."""
    rules = [rule for name in names for rule in find_rules(name)]
    for number, rule in enumerate(rules):
        if any(rule.name == other.name for other in rules[:number]):
            raise IncparseError(f"two of the rules are named {rule.name!r}: the report could not tell them apart")
    return rules


def _check_outside(output: Path | None, treebank: Path) -> None:
    """Raise IncparseError if an output is within the treebank's folder, and would be part of it from then on."""
    if output is not None and is_within(output, treebank):
        raise IncparseError(f"{output} is inside the treebank {treebank}, and would be read as a part of it next time")


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
