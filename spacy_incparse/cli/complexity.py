"""`complexity`: a table of measures of syntactic complexity, of trees or of texts that are parsed first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, groupby, islice
from pathlib import Path

from typer import Argument, Option, echo

from spacy_incparse.cli import options
from spacy_incparse.cli.search import expand_path, read_forest
from spacy_incparse.corpora.readers import SUFFIXES, Fields, input_files, read_files
from spacy_incparse.corpora.records import Document, Unreadable
from spacy_incparse.errors import IncparseError, TreebankError, UntaggedError
from spacy_incparse.files import STDIN, csv_line
from spacy_incparse.measuring.complexity import MEASURES, Sums, cells, measures, sentence_sums
from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.dialects import Dialects
from spacy_incparse.treebanks.reader import NO_TREE, STAND_IN, SkipLog, read_text
from spacy_incparse.trees.forest import Symbols

Sentence = tuple[str, str, str, Sums]  # file, id of the document or "", id or number (in the file) of the sentence
UNITS = ("all", "file", "document", "sentence")  # what a row is about; its first columns are those up to it


@options.takes(
    paths=Argument(metavar="FILE...", help="Trees: what `search` reads, or - (brackets). With --model: texts."),
    model=Option("--model", "-m", metavar="NAME_OR_PATH", help="Parse texts, which `annotate` would read, or -."),
    by=options.one_of(" ".join(UNITS), "--by", help="What a row is about. Default: document, or else file."),
    no_fragments=Option("--no-fragments", help="Leave out sentences without a T-unit: headings, items of lists."),
    output=options.output_option("FILE.csv", "Write to this file instead of standard output."),
)
def complexity_command(
    paths: list[str], model: str | None = None, by: str | None = None, no_fragments: bool = False,
    skip_bad: bool = False, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Measure the syntactic complexity of treebanks and texts.

    Writes a table with commas; docs/complexity.md defines the measures. A cell is empty where there is nothing to
    divide by. The column without_tree has the number of sentences without a tree, or that could not be parsed.

    \b
    Examples:
      spacy-incparse complexity essays/ --model en > essays.csv
      spacy-incparse complexity train.mrg --by sentence --output train.csv
      spacy-incparse parse --input letter.txt | spacy-incparse complexity - --no-fragments
    """
    log, n_keys = SkipLog(), UNITS.index(by or "document")
    expand = expand_path if model is None else lambda path: [STDIN] if path == "-" else input_files([path], SUFFIXES)
    files = [file for path in paths for file in expand(path)]
    options.keep_inputs(output, *files)
    dialects = options.dialects(dialect)
    stored = (_stored(file, log if skip_bad else None, dialects) for file in files)
    sentences = chain.from_iterable(stored) if model is None else _parsed(files, model)
    options.write_lines(output, map(csv_line, _rows(sentences, n_keys, fragments=not no_fragments)))
    dialects.report()
    if skip_bad:
        echo(str(log), err=True)


def _rows(sentences: Iterator[Sentence], n_keys: int, *, fragments: bool) -> Iterator[Sequence[str]]:
    """Yield the header and the rows of the table, the header only once a sentence can be read."""
    first = list(islice(sentences, 1))
    yield [*UNITS[1 : n_keys + 1], *MEASURES]
    for key, group in groupby(chain(first, sentences), lambda one: one[:n_keys]):
        yield [*map(str, key), *cells(measures((one[3] for one in group), fragments=fragments))]


def _stored(path: Path, skip_bad: SkipLog | None, dialects: Dialects) -> Iterator[Sentence]:
    """Yield the sentences of a file with trees."""
    try:
        forest, origins = read_forest(
            path, BracketReader(Symbols()), skip_bad, True, dialects=dialects, failed=STAND_IN
        )
    except UntaggedError as error:
        what = f"{error.problem}; measures need brackets with parts of speech"
        raise TreebankError(error.path, error.line, error.column, what) from None
    except TreebankError as error:
        advice = "" if path.suffix.lower() != ".txt" else "; if this is a text, name a pipeline for it: --model en"
        raise IncparseError(f"{error}{advice}") from None
    found = sentence_sums(None if tree.label == NO_TREE else tree for tree in forest)
    for origin, sums in zip(origins, found, strict=True):
        yield str(path), origin.document or "", origin.id or str(origin.number), sums


def _parsed(files: Sequence[Path], model: str) -> Iterator[Sentence]:
    """Yield the sentences of texts, parsed by a pipeline; say on standard error which documents cannot be read."""
    # Imported here, so that trees are measured without spaCy.
    from spacy_incparse.corpora.worker import Annotator
    from spacy_incparse.documents.complexity import sentence_trees

    annotator = Annotator(model)
    for file in files:
        numbers = count(1)
        whole = [(Document("", "-", read_text(file)), 0)] if file == STDIN else ()
        for item, _ in whole or read_files([file], None, Fields()):
            outcome = item.reason if isinstance(item, Unreadable) else next(annotator.annotate([item]))[1]
            if isinstance(outcome, str):
                echo(f"Warning: {item.id} is left out: {outcome}", err=True)
                continue
            for sums in sentence_sums(sentence_trees(outcome)):
                yield item.file, item.id, str(next(numbers)), sums
