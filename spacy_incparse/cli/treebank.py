"""`stats`, `convert` and `repair`: describe a treebank's grammar, store its trees in Docs, and mend them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option, echo

from spacy_incparse.cli import options
from spacy_incparse.cli.evaluate import tree_sentences
from spacy_incparse.errors import IncparseError, TreebankError, UntaggedError
from spacy_incparse.files import write_bytes, write_file
from spacy_incparse.incremental.coverage import grammar_table
from spacy_incparse.repair.compare import Difference, annotation_differences
from spacy_incparse.repair.relabelling import PARSER, Relabeller, Sentence, relabel_trees
from spacy_incparse.repair.repair import FileChanges, Rule, find_rules, repair_trees, report_lines, summary_lines
from spacy_incparse.treebanks import reader
from spacy_incparse.treebanks.dialects import PENN
from spacy_incparse.treebanks.formats import FORMATS, Format, TreeOfFile, written
from spacy_incparse.treebanks.reader import (
    STANDARD,
    SUFFIXES,
    WITH_FUNCTIONS,
    SkipLog,
    Step,
    refuse_other_formats,
    treebank_files,
)
from spacy_incparse.treebanks.treebank_file import TreebankFile
from spacy_incparse.trees.arrays import JOINT
from spacy_incparse.trees.labels import ROOT

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.parsing.parse import Posterior
    from spacy_incparse.pipeline.tree_pipe import TreePipe

DECISIONS: dict[str, Callable[[Difference], str]] = {
    "production": lambda row: f"{row.context} -> {row.outcome}",
    "chain": lambda row: f"{row.outcome}{JOINT}{row.context}",
    "tag": lambda row: f"{row.context} in {row.outcome}",
    "word": lambda row: f"{row.context} as {row.outcome}",
}


@options.takes(
    treebank=Argument(metavar="TREEBANK", help="Bracket file, folder or glob of a treebank."),
    held_out=Argument(metavar="[HELD_OUT]", help="Held-out trees, to measure the coverage of the grammar."),
    with_top=Option("--with-top", help="Count the root in the length of a chain, as the paper does."),
    against=Option("--against", metavar="OTHER", help="Compare the annotation with another treebank's."),
    number=Option("--number", "-n", min=1, metavar="N", help="With --against: show N differences. Default: 50."),
    kinds=options.one_of(
        " ".join(DECISIONS), "--kind", several=True,
        help="With --against: compare these alone; may be repeated. Default: all of them.",
    ),
    functions=Option("--functions", help="With --against: compare labels with their function tags."),
    format_=options.one_of(
        "text tsv", "--format", "-f", help="With --against: aligned text, the default, or tab-separated values."
    ),
)  # fmt: skip
def stats_command(
    treebank: str, held_out: str | None = None, with_top: bool = False, against: str | None = None,
    number: int | None = None, kinds: list[str] | None = None, functions: bool = False, format_: str | None = None,
    skip_bad: bool = False, no_tags: bool = False, separators: str | None = None, dialect: str | None = None,
    output: Path | None = None,
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
    options.keep_inputs(output, treebank, held_out, against)
    how: dict[str, Any] = {"skip_bad": skip_bad, "no_tags": no_tags, "separators": separators, "dialect": dialect}
    open_treebank = partial(options.open_treebank, **how)
    if against is None and (kinds or functions or number or format_):
        raise IncparseError(
            "--kind, --functions, --number and --format compare two treebanks: name the other one with --against"
        )
    if against is not None:
        if held_out is not None or with_top:
            raise IncparseError("--against excludes HELD_OUT and --with-top: they are about one treebank's grammar")
        steps = WITH_FUNCTIONS if functions else None
        read = partial(open_treebank, steps=steps)
        one, other = read(treebank), read(against)
        found = annotation_differences(one, other, kinds=kinds or list(DECISIONS))[: number or 50]
        for line in _tsv_lines(found) if format_ == "tsv" else _text_lines(found):
            echo(line)
        options.write_json(output, {"differences": [asdict(row) for row in found]})
        return
    read = partial(open_treebank, for_grammar=True)
    table = grammar_table(read(treebank), None if held_out is None else read(held_out), with_top=with_top)
    echo(table.format())
    options.write_json(output, table.to_dict())


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


@options.takes(
    sources=Argument(metavar="SRC...", help="Bracket files, folders or globs."),
    output=Argument(metavar="OUT", help="The file to write: .spacy, .mrg, or the suffix of a format."),
    to=options.one_of(
        f"penn {' '.join(one.name for one in FORMATS)}", "--to", help="The format. Default: by the suffix of OUT."
    ),
    as_published=Option(
        "--as-published", help="Keep wrappers, functions and traces. By default, trees are normalised."
    ),
    detokenize=Option("--detokenize", help="Put spaces where a text has them. By default, spaces are unknown."),
    n_sents=Option("--n-sents", min=1, metavar="N", help="Number of sentences per Doc."),
)
def convert_command(
    sources: list[str], output: Path, to: str | None = None, as_published: bool = False, detokenize: bool = False,
    n_sents: int = 1, skip_bad: bool = False, no_tags: bool = False, separators: str | None = None,
    dialect: str | None = None,
) -> None:  # fmt: skip
    """Convert treebanks to a .spacy file with trees, to one clean bracket file, or to another format.

    The Docs have the treebank's words, tags, sentence boundaries and trees (doc._.trees). Trees are stored in the user
    data. To write such a file yourself, use DocBin(store_user_data=True). A bracket file has a tree per line. Other
    formats are NEGRA export, TIGER XML, discontinuous brackets, CoNLL-2012 and CoNLL-U with brackets.

    \b
    Examples:
      spacy-incparse convert train.mrg train.spacy
      spacy-incparse convert "wsj/*/*.mrg" wsj.mrg --skip-bad
      spacy-incparse convert wsj/ "more/*.mrg.gz" corpus.spacy --detokenize --n-sents 10
      spacy-incparse convert tiger.xml tiger.mrg --as-published
      spacy-incparse convert train.mrg train.export --as-published
    """
    # Imported here, as in the other commands, so that commands that do not need spaCy start quickly.
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_incparse.documents.gold import trees_to_docs

    other = next((one for one in FORMATS if (one.name == to if to else output.name.endswith(one.suffixes))), None)
    if not (to or other) and output.suffix not in (".spacy", *SUFFIXES):
        raise IncparseError(
            f"{output}: the last argument is the file to write: its name must end in .spacy, in .mrg, or in the suffix "
            f"of another format; or name the format with --to"
        )
    is_text = bool(to or other) or output.suffix != ".spacy"
    if is_text and output.exists():
        raise IncparseError(f"{output}: the last argument is the file to write, and this one exists: name a new one")
    if as_published and (not is_text or separators):
        raise IncparseError("--as-published is for files of trees, and leaves labels as they are: omit --separators")
    if is_text and (detokenize or n_sents > 1):
        raise IncparseError(f"--detokenize and --n-sents are for .spacy files: {output} will have trees, and no texts")
    options.check_output(output)
    options.keep_inputs(output, *sources)
    if is_text:
        more = () if separators is None else (reader.with_separators(separators),)
        steps = () if as_published else (*more, *STANDARD)
        _convert_text(sources, output, other, steps, skip_bad=skip_bad, tags=not no_tags, dialect=dialect)
        return
    trees = options.open_treebank(sources, skip_bad=skip_bad, no_tags=no_tags, separators=separators, dialect=dialect)
    docs, n_words = DocBin(store_user_data=True), sum(len(tree.words) for tree in trees)
    for doc in trees_to_docs(trees, Vocab(), natural_spacing=detokenize, n_sents=n_sents):
        docs.add(doc)
    write_file(output, docs.to_disk)
    echo(f"{output}: {len(trees):,} sentences, {n_words:,} words in {len(docs):,} Docs")


def _convert_text(
    sources: list[str], output: Path, other: Format | None, steps: Sequence[Step], *, skip_bad: bool, **how: Any
) -> None:
    """Write trees one by one, so that a large file needs no more memory than a small one."""
    log, n_trees, n_words = SkipLog() if skip_bad else None, 0, 0

    def trees() -> Iterator[TreeOfFile]:
        nonlocal n_trees, n_words
        for one in reader.read_sentences(sources, skip_bad=log, **how):
            tree = reader.normalize(one.tree, steps)
            if tree is not None:
                n_trees, n_words = n_trees + 1, n_words + len(tree.words)
                yield one._replace(tree=tree)

    def write(path: Path) -> None:
        with path.open("w", encoding="utf8", newline="") as file:
            file.writelines((f"{one.tree}\n" for one in trees()) if other is None else written(trees(), other))
        if log:
            echo(str(log), err=True)
        if not n_trees:
            raise IncparseError(f"{' '.join(sources)}: no trees with words were found")

    write_file(output, write)
    echo(f"{output}: {n_trees:,} trees, {n_words:,} words")


@options.takes(
    treebank=Argument(metavar="INPUT", help="Bracket file, folder or glob of a treebank."),
    output=Argument(metavar="[OUTPUT]", help="The file for the repaired trees."),
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
    ptb: bool = False, dialect: str | None = None,
) -> None:  # fmt: skip
    """Repair a treebank by rules, and by a parser.

    A rule has a pattern, which finds what is wrong, and an action, which mends it (docs/training.md). They apply in
    order until none finds anything, so a second run changes nothing. Each change is a line of the report, with the
    subtree before and after it. Traces, function tags and wrappers stay, and in files of other
    dialects than Penn's also mark-up, and all trees without a change as they were.

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
        raise IncparseError("name a file for the repaired trees, or pass --dry-run and --report FILE")
    report = report or Path(f"{output}.changes.tsv")
    if output is not None and output.absolute() == report.absolute():
        raise IncparseError(f"{output} is named for the trees and for the report: they need two files")
    for path in (output, report):
        options.check_output(path)
        options.keep_inputs(path, treebank)
        if path is not None and options.is_within(path, treebank):
            raise IncparseError(
                f"{path} is inside the treebank {treebank}, and would be read as a part of it next time"
            )
    found = find_all_rules(rules or ())
    if pairs is not None and parser is None:
        raise IncparseError("--pairs is for --parser: rules name their labels themselves")
    if sure is not None and parser is None:
        raise IncparseError("--sure is for --parser: rules are always applied")
    relabeller = None if parser is None else _open_relabeller(parser, sure or 0.95, pairs)
    repair(treebank, None if dry_run else output, found, report, relabeller, ptb=ptb, dialect=dialect)


def repair(
    treebank: str, output: Path | None, rules: Sequence[Rule], report: Path, relabeller: Relabeller | None = None,
    *, ptb: bool = False, dialect: str | None = None,
) -> None:  # fmt: skip
    """Write the report, then the repaired trees unless `output` is None, and show the counts of each rule."""
    changed, files, n_left, dialects = [], list[TreebankFile](), 0, options.dialects(dialect)
    for path in treebank_files(treebank):
        try:
            file = TreebankFile(path, dialect=dialects)
            if file.format:
                refuse_other_formats(file.text, path)
            trees = list(file.forest())
        except UntaggedError as error:  # without tags, a rule would find what it should not, such as a missing phrase
            what = f"{error.problem}; `repair` looks at parts of speech, and needs brackets that have them"
            raise TreebankError(error.path, error.line, error.column, what) from None
        found, changes = repair_trees(trees, rules, str(path))
        if relabeller is not None:
            relabelled = relabel_trees(found, relabeller, rules)
            found, changes, n_left = relabelled.trees, changes + relabelled.changes, n_left + relabelled.n_left
        n_phrases = sum(len(tree.arrays.sizes) - len(tree.words) for tree in trees)
        changed.append(FileChanges(path, len(trees), n_phrases, changes))
        for number, tree in enumerate(found):
            if tree != trees[number]:
                file.put(number, tree)
        files.append(file)
    dialects.report()
    write_bytes(report, "".join(f"{line}\n" for line in report_lines(changed)).encode())
    if output is not None:
        data = b"".join(_file_data(file, ptb) for file in files)
        write_bytes(output, data)
    reasons = {rule.name: rule.reason for rule in rules}
    if relabeller is not None:
        reasons[PARSER] = f"The parser gives the label a probability of at least {relabeller.sure:g}."
    for line in summary_lines(changed, reasons):
        echo(line)
    if n_left:
        n_trees = sum(map(len, files))
        what = f"{n_left:,} of {n_trees:,} trees, for which the parser finds no tree with all of their phrases"
        echo(f"left as they are: {what}", err=True)


def _file_data(file: TreebankFile, ptb: bool) -> bytes:
    """Return what is written of a file: all that is in it, and of one of the Penn dialect only trees, one a line."""
    if ptb or file.dialect.name == PENN:
        return "".join(f"{file.tree(k).to_string(ptb=ptb)}\n" for k in range(len(file))).encode()
    data = file.data()
    return data if data.endswith((b"\n", b"\r")) else data + b"\n"


def _open_relabeller(model: str, sure: float, pairs: str | None) -> Relabeller:
    """Return the parser of a pipeline, given its name or path, as one that relabels phrases.

    pairs: the changes that it may make, such as "NP>WHNP ADVP>PRN"; None: all. Raises ModelError if the pipeline cannot
    be loaded, and IncparseError for other pairs, if it has no probabilities of phrases, or does not know a label.
    """
    changes = [tuple(pair.split(">")) for pair in (pairs or "").split()]
    if pairs is not None and not (changes and all(len(pair) == 2 and all(pair) for pair in changes)):
        raise IncparseError(f"--pairs {pairs!r}: pass pairs of labels separated by blanks, such as 'NP>WHNP ADVP>PRN'")
    nlp, component = options.open_pipeline(model)
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
    for label in (label for pair in changes for label in pair):
        if label not in known:
            raise IncparseError(
                f"--pairs: {model} does not know the label {label!r} (it has {', '.join(sorted(known))})"
            )
    allowed = None if pairs is None else frozenset((old, new) for old, new in changes)
    return Relabeller(partial(_posteriors, nlp, component), known, allowed, sure)


def find_all_rules(names: Sequence[str]) -> list[Rule]:
    """Return the rules of several files, in their order. Raises IncparseError if two rules have the same name."""
    rules = [rule for name in names for rule in find_rules(name)]
    for number, rule in enumerate(rules):
        if any(rule.name == other.name for other in rules[:number]):
            raise IncparseError(f"two of the rules are named {rule.name!r}: the report could not tell them apart")
    return rules


def _posteriors(nlp: Language, component: TreePipe, sentences: Sequence[Sentence]) -> Iterator[Posterior | None]:
    """Yield the probabilities of the phrases of sentences, as the repair package asks for them."""
    parser = component.decoder.parser
    with (
        tree_sentences(nlp, component, [tree for tree, _ in sentences], gold_tags=True) as found,
        options.progress_bar(total=len(sentences), unit=" trees") as progress,
    ):
        for (_, constraints), sentence in zip(sentences, found, strict=True):
            posterior = None
            if sentence is not None:
                words, tags, _, *more = component.input_of(sentence)
                best = parser.parse(words, tags, constraints, *more)
                if not best.unmet and best.source not in ("flat", "relaxed"):
                    posterior = parser.posterior(words, tags, constraints, *more)
            yield posterior
            progress.update()
