"""`repair`: mend what is inconsistent in a treebank, by rules and by a parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from typer import Argument, Option, echo

from spacy_incparse.cli.evaluate import tree_sentences
from spacy_incparse.cli.options import check_output, is_within, keep_inputs, open_pipeline, progress_bar, takes
from spacy_incparse.errors import IncparseError, UntaggedError
from spacy_incparse.files import write_bytes
from spacy_incparse.repair.relabelling import PARSER, Relabeller, Sentence, relabel_trees
from spacy_incparse.repair.repair import FileChanges, repair_trees, report_lines, summary_lines
from spacy_incparse.repair.rules import Rule, find_rules
from spacy_incparse.treebanks.reader import read_trees, treebank_files
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.documents.sentences import Sentence as PipeSentence
    from spacy_incparse.parsing.parse import Constraint, Posterior
    from spacy_incparse.pipeline.tree_pipe import TreePipe


@takes(
    treebank=Argument(metavar="INPUT", help="Bracket file, folder or glob of a treebank."),
    output=Argument(metavar="[OUTPUT]", help="The file for the repaired trees, one on each line."),
    rules=Option("--rules", metavar="NAME|FILE.json", help="Rules: english, craft or a file. May be repeated."),
    parser=Option("--parser", metavar="MODEL", help="Then relabel phrases by a pipeline's parser, where it is sure."),
    sure=Option("--sure", metavar="P", min=0.5, max=1.0, help="How sure --parser must be of a label. Default: 0.95."),
    pairs=Option("--pairs", metavar="'OLD>NEW ...'", help="The changes that --parser may make. Default: all."),
    report=Option("--report", metavar="FILE.tsv", help="One line for each change. Default: OUTPUT.changes.tsv"),
    dry_run=Option("--dry-run", help="Only write the report, and not the trees."),
    ptb=Option("--ptb", help="Write words in the spelling of the Penn Treebank."),
)
def repair_command(
    treebank: str, output: Path | None = None, rules: list[str] | None = None, parser: str | None = None,
    sure: float | None = None, pairs: str | None = None, report: Path | None = None, dry_run: bool = False,
    ptb: bool = False,
) -> None:  # fmt: skip
    """Repair a treebank by rules, and by a parser.

    A rule has a pattern, which finds what is wrong, and an action, which mends it (docs/training.md). They apply in
    order until none finds anything, so a second run changes nothing. Each change is a line of the report, with the
    subtree before and after it. Traces, function tags and wrappers stay.

    With --parser, a pipeline then parses each sentence with the tree's own tags, so that all of its phrases must be
    there. A phrase gets another label if the parser gives it a probability of at least --sure.

    \b
    Examples:
      spacy-incparse repair train.mrg repaired.mrg --rules english
      spacy-incparse repair craft/ craft.mrg --rules craft --rules english --report changes.tsv
      spacy-incparse repair train.mrg --rules mine.json --dry-run --report changes.tsv
      spacy-incparse repair train.mrg repaired.mrg --rules english --parser out/model-best --sure 0.99
    """
    if not rules and parser is None:
        raise IncparseError("name the rules: --rules english, or a file of your own (docs/training.md); or a --parser")
    if dry_run and report is None and output is None:
        raise IncparseError("--dry-run only writes the report: name a file for it with --report")
    if not dry_run and output is None:
        raise IncparseError("name a file for the repaired trees, or ask for a --dry-run")
    report = report or Path(f"{output}.changes.tsv")
    _check_outputs(output, report, treebank)
    found = find_all_rules(rules or ())
    if pairs is not None and parser is None:
        raise IncparseError("--pairs is for --parser: rules name their labels themselves")
    if sure is not None and parser is None:
        raise IncparseError("--sure is for --parser: rules are always applied")
    relabeller = None if parser is None else _open_relabeller(parser, sure or 0.95, pairs)
    repair(treebank, None if dry_run else output, found, report, relabeller, ptb=ptb)


def repair(
    treebank: str, output: Path | None, rules: Sequence[Rule], report: Path, relabeller: Relabeller | None = None,
    *, ptb: bool = False,
) -> None:  # fmt: skip
    """Write the report, then the repaired trees unless `output` is None, and show the counts of each rule."""
    files = [_repaired(path, rules, relabeller) for path in treebank_files(treebank)]
    _write(report, report_lines([file.changes for file in files]))
    if output is not None:
        _write(output, (tree.to_string(ptb=ptb) for file in files for tree in file.trees))
    reasons = {rule.name: rule.reason for rule in rules}
    if relabeller is not None:
        reasons[PARSER] = f"The parser gives the label a probability of at least {relabeller.sure:g}."
    for line in summary_lines([file.changes for file in files], reasons):
        echo(line)
    n_left = sum(file.n_left for file in files)
    if n_left:
        n_trees = sum(file.changes.n_trees for file in files)
        what = f"{n_left:,} of {n_trees:,} trees, for which the parser finds no tree with all of their phrases"
        echo(f"left as they are: {what}", err=True)


class RepairedFile(NamedTuple):
    """A file's trees after all changes, the changes, and the number of trees that the parser could not analyse."""

    trees: list[Tree]
    changes: FileChanges
    n_left: int


def _repaired(path: Path, rules: Sequence[Rule], relabeller: Relabeller | None) -> RepairedFile:
    try:
        trees, n_left = list(read_trees(path)), 0
    except UntaggedError as error:  # without tags, a rule would find what it should not, such as a phrase that has none
        raise error.with_advice("`repair` looks at parts of speech, and needs brackets that have them") from None
    mended, changes = repair_trees(trees, rules, str(path))
    if relabeller is not None:
        relabelled = relabel_trees(mended, relabeller, rules)
        mended, changes, n_left = relabelled.trees, changes + relabelled.changes, relabelled.n_left
    n_phrases = sum(len(tree.arrays.sizes) - len(tree.words) for tree in trees)
    return RepairedFile(mended, FileChanges(path, len(trees), n_phrases, changes), n_left)


def _read_pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of labels in a text such as "NP>WHNP ADVP>PRN". Raises IncparseError for anything else."""
    found = [tuple(pair.split(">")) for pair in text.split()]
    if not found or not all(len(pair) == 2 and all(pair) for pair in found):
        raise IncparseError(f"--pairs {text!r}: pass pairs of labels separated by blanks, such as 'NP>WHNP ADVP>PRN'")
    return [(old, new) for old, new in found]


def _open_relabeller(model: str, sure: float, pairs: str | None) -> Relabeller:
    """Return the parser of a pipeline, given its name or path, as one that relabels phrases.

    pairs: the changes that it may make, as in --pairs; None: all.

    Raises ModelError if it cannot be loaded, and IncparseError if it does not compute probabilities of phrases, or does
    not know a label.
    """
    changes = None if pairs is None else _read_pairs(pairs)
    nlp, component = open_pipeline(model)
    parser = component.decoder.parser
    if not parser.has_posterior:
        raise IncparseError(
            f"--parser {model}: a {parser.kind} parser does not compute the probabilities of phrases; train one with "
            f"--config chart or neural"
        )
    if component.decoder.temperature is None:
        raise IncparseError(
            f"--parser {model}: the model has no temperature to turn its scores into probabilities: fit one with the "
            f"component's calibrate()"
        )
    known = frozenset(parser.labels) - {ROOT}
    for label in (label for pair in changes or () for label in pair):
        if label not in known:
            raise IncparseError(
                f"--pairs: {model} does not know the label {label!r} (it has {', '.join(sorted(known))})"
            )
    allowed = None if changes is None else frozenset(changes)
    return Relabeller(partial(_posteriors, nlp, component), known, allowed, sure)


def find_all_rules(names: Sequence[str]) -> list[Rule]:
    """Return the rules of several files, in their order. Raises IncparseError if two rules have the same name."""
    rules = [rule for name in names for rule in find_rules(name)]
    for number, rule in enumerate(rules):
        if any(rule.name == other.name for other in rules[:number]):
            raise IncparseError(f"two of the rules are named {rule.name!r}: the report could not tell them apart")
    return rules


def _check_outputs(output: Path | None, report: Path, treebank: str) -> None:
    """Raise IncparseError if a file cannot be written, is an input, or is named twice."""
    if output is not None and output.absolute() == report.absolute():
        raise IncparseError(f"{output} is named for the trees and for the report: they need two files")
    for path in (output, report):
        check_output(path)
        keep_inputs(path, treebank)
        if path is not None and is_within(path, Path(treebank)):
            raise IncparseError(
                f"{path} is inside the treebank {treebank}, and would be read as a part of it next time"
            )


def _posteriors(nlp: Language, component: TreePipe, sentences: Sequence[Sentence]) -> Iterator[Posterior | None]:
    """Yield the probabilities of the phrases of sentences, as the repair package asks for them."""
    trees = [tree for tree, _ in sentences]
    with (
        tree_sentences(nlp, component, trees, gold_tags=True) as found,
        progress_bar(total=len(sentences), unit=" trees") as progress,
    ):
        for (_, constraints), sentence in zip(sentences, found, strict=True):
            yield None if sentence is None else _posterior(component, sentence, constraints)
            progress.update()


def _posterior(component: TreePipe, sentence: PipeSentence, constraints: Sequence[Constraint]) -> Posterior | None:
    parser, (words, tags, _, *more) = component.decoder.parser, component.input_of(sentence)
    best = parser.parse(words, tags, constraints, *more)
    if best.unmet or best.source in ("flat", "relaxed"):
        return None
    return parser.posterior(words, tags, constraints, *more)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
