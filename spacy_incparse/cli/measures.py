"""`measures`: write a table of surprisal and other measures of each word of stimuli."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option, echo

from spacy_incparse import __version__
from spacy_incparse.cli import options
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import STDIN, write_bytes
from spacy_incparse.generative.measures import MEASURES, WordMeasures, joined, measuring_parser
from spacy_incparse.tokens import penn_spelled, penn_to_text
from spacy_incparse.treebanks.reader import read_text

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.generative.parser import GenerativeParser


COLUMNS = ("sent", "word", "text", "start", "end", *MEASURES, "flag")
DIGITS = 6
MAX_LAGS = 1000


def _check_outputs(path: Path | None) -> Path | None:
    """Raise IncparseError if the table or its settings cannot be written; otherwise return the path."""
    if path is not None and path.suffix.lower() == ".gz":
        raise IncparseError(f"{path}: the table is not compressed: name a file such as {path.with_suffix('').name}")
    if path is not None and (path.is_file() or not path.exists()):
        options.check_output(_side_file(path))
    return options.check_output(path)


@options.takes(
    stimuli=Argument(
        metavar="STIMULI", help="A .txt or - (standard input), one sentence per line, or a .tsv with a column text."
    ),
    model=Option("--model", "-m", metavar="NAME_OR_PATH", help="A pipeline with a generative model."),
    beam=Option("--beam", "-b", metavar="N,N,...", help="Beam size, in hypotheses; several: a row for each."),
    lags=Option(
        "--lags", min=0, max=MAX_LAGS, metavar="N", help="Add columns with the measures of the N previous words."
    ),
    trees=Option("--trees", help="Add a column with the best partial tree after each word."),
    ptb=Option("--ptb", help="Words are in Penn Treebank spelling, such as -LRB-."),
    output=options.output_option("FILE", "Write the table to FILE, its settings to FILE.json.", _check_outputs),
)
def measures_command(
    stimuli: Path, model: str = "en_generative", beam: str | None = None, lags: int = 0, trees: bool = False,
    ptb: bool = False, output: Path | None = None,
) -> None:  # fmt: skip
    """Measure surprisal, entropy and more, word by word.

    Writes a tab-separated table with one row per written word: clitics and punctuation belong to the word that they are
    attached to. docs/measures.md describes the columns. Figures are in bits and come from the probabilities of a
    generative model. Missing values are empty cells, and `flag` says why.

    \b
    Examples:
      spacy-incparse measures stimuli.txt > measures.tsv
      spacy-incparse measures items.tsv --beam 500,2000 --lags 2 --output measures.tsv
    """
    beams = [] if beam is None else options.read_numbers("--beam", beam, example="500,2000")
    options.keep_inputs(output, stimuli)
    sentences, extra = read_stimuli(stimuli)
    odd = None if ptb else penn_spelled(word for one in sentences for word in one.text.split())
    if odd is not None:
        echo(f"Warning: words such as {odd!r} look like the spelling of the Penn Treebank: --ptb reads it", err=True)
    nlp, parser = _open(model)
    lagged = [f"{name}_lag{k}" for k in range(1, lags + 1) for name in MEASURES]
    header = [*COLUMNS, *lagged, *(["tree"] if trees else []), *(["beam"] if len(beams) > 1 else [])]
    for name in extra:  # of the input's columns
        while name in header:
            name = f"in_{name}"
        header.append(name)
    rows = _rows(nlp, parser, sentences, beams, lags, trees, ptb)
    options.write_lines(output, map("\t".join, chain([header], rows)))  # a tab cannot be in a word
    if output is not None and output.is_file():  # not a device, which gets no settings file
        filters = [parser.config.measures_filter(beam) for beam in beams or (None,)]
        settings = {
            "program": f"spacy-incparse {__version__}",
            "stimuli": str(stimuli),
            "model": model,
            "meta": {key: nlp.meta.get(key) for key in ("lang", "name", "version", "description")},
            "beams": [
                {"beam_size": size, "log10_gamma": round(log10(gamma), 6) if gamma else None} for size, gamma in filters
            ],
            "settings": parser.config.to_dict(),
            "columns": list(COLUMNS),
            "lags": lags,
            "trees": trees,
            "ptb": ptb,
        }
        write_bytes(_side_file(output), (json.dumps(settings, indent=2) + "\n").encode("utf8"))


def _side_file(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _rows(
    nlp: Language,
    parser: GenerativeParser,
    sentences: Sequence[Stimulus],
    beams: Sequence[int],
    lags: int,
    trees: bool,
    ptb: bool,
) -> Iterator[list[str]]:
    """Yield the rows of the table, with the sentences' own cells at the end."""
    for number, sentence in enumerate(sentences, start=1):
        for beam in beams or (None,):
            words = displayed_words(nlp, parser, sentence.text, beam, ptb=ptb)
            measures = [joined(word.parts) for word in words]
            for k, word in enumerate(words):
                before = [measures[k - lag] if k >= lag else None for lag in range(1, lags + 1)]
                yield [
                    str(number), str(k + 1), sentence.text[word.start : word.end], str(word.start), str(word.end),
                    *_cells(measures[k], before),
                    *([str(word.session.best().tree)] if trees else []),
                    *([str(beam)] if len(beams) > 1 else []),
                    *sentence.cells,
                ]  # fmt: skip


@dataclass
class Displayed:
    """A written word, with its tokens and the session after the last of them."""

    start: int
    end: int
    parts: list[WordMeasures] = field(default_factory=list)
    session: Any = None


def displayed_words(
    nlp: Language, parser: GenerativeParser, text: str, beam: int | None, *, ptb: bool = False
) -> list[Displayed]:
    """Measure the tokens of a sentence, and group them into written words, separated by blanks."""
    words, raw = [Displayed(*match.span()) for match in re.finditer(r"\S+", text)], penn_to_text(text) if ptb else text
    ends = [match.end() for match in re.finditer(r"\S+", raw)]
    session, k = parser.start(beam_size=beam), 0
    for token in nlp.make_doc(raw):
        if token.is_space:
            continue
        while token.idx >= ends[k]:
            k += 1
        session = words[k].session = session.push(token.text)
        words[k].parts.append(session.measures())
    return [word for word in words if word.parts]


def _cells(measures: WordMeasures, before: Sequence[WordMeasures | None]) -> list[str]:
    """Return the cells of the measures, the flag, and the measures of the previous words, if any."""
    flags = [measures.flag] if measures.flag else []
    if any(word is None or word.surprisal is None for word in before):
        flags.append("lag")
    lagged = [_cell(None if word is None else getattr(word, name)) for word in before for name in MEASURES]
    return [*(_cell(getattr(measures, name)) for name in MEASURES), ",".join(flags), *lagged]


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:.{DIGITS}f}".replace("-0.000000", "0.000000")


def _open(model: str) -> tuple[Language, GenerativeParser]:
    """Return a pipeline, and its last parser that has measures. Raises IncparseError if there is none."""
    from spacy_incparse.generative.parser import GenerativeParser
    from spacy_incparse.pipeline.parser import IncParser

    nlp, component = options.open_pipeline(model)
    parsers = [pipe.decoder.parser for _, pipe in reversed(nlp.pipeline) if isinstance(pipe, IncParser)]
    parser = next((one for one in parsers if isinstance(one, GenerativeParser)), component.decoder.parser)
    measuring_parser(parser, model)
    assert isinstance(parser, GenerativeParser)  # it also has settings for measures
    return nlp, parser


TEXT = "text"  # the column of a .tsv with the sentences


@dataclass(frozen=True)
class Stimulus:
    """A sentence, and the cells of its row in the input."""

    text: str  # without words for an empty line, which has a number and no rows
    cells: tuple[str, ...] = ()


def read_stimuli(path: Path) -> tuple[list[Stimulus], tuple[str, ...]]:
    """Return the sentences of a .txt or .tsv, which may be gzipped, and the names of the other columns.

    Standard input ("-") has one sentence per line. Raises IncparseError naming file and line.
    """
    kind = ".txt" if path == STDIN else Path(path.name.lower().removesuffix(".gz")).suffix
    if kind not in (".txt", ".tsv"):
        raise IncparseError(
            f"{path}: stimuli must be a .txt (one sentence per line) or a .tsv (with a column {TEXT!r})"
        )
    lines = read_text(path).split("\n")
    if kind == ".tsv":
        stimuli, header = _read_table(lines, str(path))
    else:
        if TEXT in _Quotes.of(lines[:1]).split(lines[0]) and "\t" in lines[0]:
            raise IncparseError(f"{path}:1: this is the header of a table: save it in a file whose name ends in .tsv")
        stimuli, header = list(map(Stimulus, lines)), ()
    if not any(stimulus.text.strip() for stimulus in stimuli):
        raise IncparseError(f"{path}: the file contains no sentences")
    return stimuli, header


def _read_table(lines: Sequence[str], name: str) -> tuple[list[Stimulus], tuple[str, ...]]:
    quotes = _Quotes.of(lines)
    header = quotes.split(lines[0])
    if TEXT not in header:
        found = ", ".join(header) if lines[0].strip() else "nothing"
        raise IncparseError(
            f"{name}:1: the header has no column {TEXT!r} (it has {found}): use this name for the column with the "
            f"sentences, and separate columns by tabs"
        )
    if header.count(TEXT) > 1:
        raise IncparseError(f"{name}:1: two columns have the name {TEXT!r}: rename the one without the sentences")
    place = header.index(TEXT)
    stimuli = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            stimuli.append(Stimulus(""))
            continue
        row = quotes.split(line)
        if len(row) != len(header):
            hint, n_more = "", len(row) - len(header)
            if (line.count('"') % 2) or (lines[number - 2].count('"') % 2):
                hint = "; a cell in quotes must end on the same line"
            elif n_more == 1:
                hint = "; if R wrote the table, pass row.names = FALSE there, and no cell may have a tab in it"
            elif n_more > 0:
                hint = "; no cell may have a tab in it"
            raise IncparseError(f"{name}:{number}: {len(row)} cells in a table of {len(header)} columns{hint}")
        if not row[place].strip():
            raise IncparseError(f"{name}:{number}: the column {TEXT!r} is empty: add a sentence, or delete the row")
        stimuli.append(Stimulus(row[place], row))
    return stimuli, header


@dataclass(frozen=True)
class _Quotes:
    """The rule for which quotes around cells belong to the table, and not to the sentence.

    all_cells: all quotes, including the header's, as R writes tables. commas: quotes around cells that contain a comma,
    as Excel writes them; if some cell with a comma has no quotes, they belong to the sentence. Otherwise, only quotes
    around cells with doubled quotes inside, as Excel and pandas write cells with quotes.
    """

    all_cells: bool
    commas: bool

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Quotes:
        with_comma = [cell for line in lines for cell in line.split("\t") if "," in cell]
        return cls(lines[0].startswith('"'), all(map(_is_wrapped, with_comma)))

    def split(self, line: str) -> tuple[str, ...]:
        """Return the cells of a line without the table's quotes."""
        cells = []
        for cell in line.split("\t"):
            inside = cell[1:-1]
            if self.all_cells and len(cell) > 1 and cell[0] == cell[-1] == '"':
                cell = re.sub(r'["\\]"', '"', inside)
            elif _is_wrapped(cell) and ('""' in inside or ("," in inside and self.commas)):
                cell = inside.replace('""', '"')
            cells.append(cell)
        return tuple(cells)


def _is_wrapped(cell: str) -> bool:
    """Return whether a cell is in quotes and all quotes inside it, if any, are doubled."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")
