"""`measures`: write a table of surprisal and other measures of each word of stimuli."""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option, echo

from spacy_incparse import __version__
from spacy_incparse.cli import options
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import STDIN, csv_line, table_rows, write_bytes
from spacy_incparse.generative.measures import MEASURES, WordMeasures, joined, measuring_parser
from spacy_incparse.measuring.complexity import WordDepth, word_depths
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
        metavar="STIMULI",
        help="A .txt or - (standard input), one sentence per line; or a .tsv or .csv with a column text.",
    ),
    by=Option("--sentence", metavar="COLUMN", help="Rows with the same value here are one sentence; may be repeated."),
    model=Option("--model", "-m", metavar="NAME_OR_PATH", help="A pipeline with a generative model."),
    by_word=Option("--by-word", help="With --sentence: a row for each word, with columns for its region."),
    word_list=Option("--word-list", metavar="FILE", help="Words and their counts, for unknown words: word TAB count."),
    beam=Option("--beam", "-b", metavar="N,N,...", help="Beam size, in hypotheses; several: a row for each."),
    lags=Option(
        "--lags", min=0, max=MAX_LAGS, metavar="N", help="Add columns with the measures of the N previous words."
    ),
    trees=Option("--trees", help="Add a column with the best partial tree after each word."),
    complexity=Option("--complexity", help="Add columns with the word's measures in the tree of the sentence."),
    ptb=Option("--ptb", help="Words are in Penn Treebank spelling, such as -LRB-."),
    output=options.output_option("FILE", "Write the table to FILE, its settings to FILE.json.", _check_outputs),
)
def measures_command(
    stimuli: Path, model: str = "en_generative", text_field: str = "text", separator: str | None = None,
    by: list[str] | None = None, by_word: bool = False, word_list: str | None = None, beam: str | None = None,
    lags: int = 0, trees: bool = False, complexity: bool = False, ptb: bool = False, output: Path | None = None,
) -> None:  # fmt: skip
    """Measure surprisal, entropy and more, word by word.

    Writes a table, tab-separated unless --output ends in .csv, with one row per written word: clitics and punctuation
    belong to the word that they are attached to. docs/measures.md describes the columns. Figures are in bits and come
    from the probabilities of a generative model. Missing values are empty cells, and `flag` says why.

    \b
    Examples:
      spacy-incparse measures stimuli.txt > measures.tsv
      spacy-incparse measures items.csv --column stimulus --beam 500,2000 --lags 2 --output measures.tsv
      spacy-incparse measures regions.tsv --column word --sentence item --sentence condition
    """
    beams = [] if beam is None else options.read_numbers("--beam", beam, example="500,2000")
    if by_word and not by:
        raise IncparseError("--by-word is for rows that are regions: name the columns of sentences with --sentence")
    options.keep_inputs(output, stimuli, *filter(None, [word_list]))
    sentences, extra = read_stimuli(stimuli, text_field, separator, by or ())
    odd = None if ptb else penn_spelled(word for one in sentences for word in one.text.split())
    if odd is not None:
        echo(f"Warning: words such as {odd!r} look like the spelling of the Penn Treebank: --ptb reads it", err=True)
    nlp, parser = _open(model)
    if word_list is not None:
        parser = parser.with_search(word_list=word_list)
    lagged = [f"{name}_lag{k}" for k in range(1, lags + 1) for name in MEASURES]
    more = ["region", *(f"region_{name}" for name in MEASURES)] if by_word else []
    more += [*(WordDepth._fields if complexity else []), *(["tree"] if trees else [])]
    header = [*COLUMNS, *lagged, *more, *(["beam"] if len(beams) > 1 else [])]
    for name in extra:  # of the input's columns
        while name in header:
            name = f"in_{name}"
        header.append(name)
    how: dict[str, Any] = {"lags": lags, "trees": trees, "complexity": complexity, "ptb": ptb, "by_word": by_word}
    rows = _rows(nlp, parser, sentences, beams, **how)
    line = csv_line if output is not None and output.suffix.lower() == ".csv" else "\t".join  # no word has a tab
    options.write_lines(output, map(line, chain([header], rows)))
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
            **how,
        }
        write_bytes(_side_file(output), (json.dumps(settings, indent=2) + "\n").encode("utf8"))


def _side_file(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _rows(
    nlp: Language, parser: GenerativeParser, sentences: Sequence[Stimulus], beams: Sequence[int], *, lags: int,
    by_word: bool, trees: bool, complexity: bool, ptb: bool,
) -> Iterator[list[str]]:  # fmt: skip
    """Yield the rows of the table, with the sentences' own cells at the end."""
    for number, sentence in enumerate(sentences, start=1):
        for beam in beams or (None,):
            regions = [] if by_word else [region[:2] for region in sentence.regions]
            words = displayed_words(nlp, parser, sentence.text, beam, regions, ptb=ptb)
            measures = [joined(word.parts) for word in words]
            owners = [next((i for i, one in enumerate(sentence.regions) if word.start < one[1]), 0) for word in words]
            inside: defaultdict[int, list[WordMeasures]] = defaultdict(list)
            for word, owner in zip(words, owners, strict=True):
                inside[owner] += word.parts
            whole = words[-1].session.best(complete=True).tree if complexity and words else None
            depths = iter(word_depths(whole.arrays) if whole else ())
            for k, word in enumerate(words):
                before = [measures[k - lag] if k >= lag else None for lag in range(1, lags + 1)]
                yield [
                    str(number), str(k + 1), sentence.text[word.start : word.end], str(word.start), str(word.end),
                    *_cells(measures[k], before),
                    *([str(owners[k] + 1), *_values(joined(inside[owners[k]]))] if by_word else []),
                    *(_depth_cells(islice(depths, len(word.parts))) if complexity else []),
                    *([str(word.session.best().tree)] if trees else []),
                    *([str(beam)] if len(beams) > 1 else []),
                    *(sentence.regions[owners[k]][2] if sentence.regions else sentence.cells),
                ]  # fmt: skip


@dataclass
class Displayed:
    """A written word, with its tokens and the session after the last of them."""

    start: int
    end: int
    parts: list[WordMeasures] = field(default_factory=list)
    session: Any = None


def displayed_words(
    nlp: Language, parser: GenerativeParser, text: str, beam: int | None, regions: Sequence[tuple[int, int]] = (),
    *, ptb: bool = False,
) -> list[Displayed]:  # fmt: skip
    """Measure the tokens of a sentence, and group them into the given regions, or written words between blanks."""
    places, raw = [match.span() for match in re.finditer(r"\S+", text)], penn_to_text(text) if ptb else text
    words = [Displayed(*place) for place in regions or places]
    owners = [next(word for word in words if start < word.end) for start, _ in places]
    ends = [match.end() for match in re.finditer(r"\S+", raw)]
    session, k = parser.start(beam_size=beam), 0
    for token in nlp.make_doc(raw):
        if token.is_space:
            continue
        while token.idx >= ends[k]:
            k += 1
        session = owners[k].session = session.push(token.text)
        owners[k].parts.append(session.measures())
    return [word for word in words if word.parts]


def _cells(measures: WordMeasures, before: Sequence[WordMeasures | None]) -> list[str]:
    """Return the cells of the measures, the flag, and the measures of the previous words, if any."""
    flags = [measures.flag] if measures.flag else []
    if any(word is None or word.surprisal is None for word in before):
        flags.append("lag")
    lagged = [_cell(None if word is None else getattr(word, name)) for word in before for name in MEASURES]
    return [*_values(measures), ",".join(flags), *lagged]


def _values(measures: WordMeasures) -> list[str]:
    return [_cell(getattr(measures, name)) for name in MEASURES]


def _depth_cells(parts: Iterable[WordDepth | None]) -> list[str]:
    """Return the cells of the largest depth and the sums of the counts of a word's tokens."""
    depths, *counts = list(zip(*filter(None, parts), strict=True)) or [()]
    return [f"{value:g}" for value in (max(depths), *map(sum, counts))] if depths else [""] * len(WordDepth._fields)


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


TEXT = "text"  # the column of a table with the sentences


@dataclass(frozen=True)
class Stimulus:
    """A sentence, and the cells of its row in the input; or its regions, each with characters and the row's cells."""

    text: str  # without words for an empty line, which has a number and no rows
    cells: tuple[str, ...] = ()
    regions: tuple[tuple[int, int, tuple[str, ...]], ...] = ()


def read_stimuli(
    path: Path, column: str = TEXT, separator: str | None = None, by: Sequence[str] = ()
) -> tuple[list[Stimulus], tuple[str, ...]]:
    """Return the sentences of a .txt, or of a table, which may be gzipped, and the names of the table's columns.

    Standard input ("-") has one sentence per line, unless there is anything about a table. column: of the sentences.
    by: the columns that tell sentences apart, if each row is a region. Raises IncparseError naming file and line.
    """
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    is_table = kind in (".tsv", ".csv") or bool(separator or by) or column != TEXT
    if not is_table and kind != ".txt" and path != STDIN:
        raise IncparseError(
            f"{path}: stimuli must be a .txt (one sentence per line), or a .tsv or .csv (with a column {TEXT!r})"
        )
    text = read_text(path)
    first = text.partition("\n")[0]
    if is_table:
        stimuli, header = _read_table(text, str(path), separator or ("," if kind == ".csv" else "\t"), column, by)
    elif TEXT in first.replace('"', "").split("\t") and "\t" in first:
        raise IncparseError(f"{path}:1: this is the header of a table: save it in a file whose name ends in .tsv")
    else:
        stimuli, header = list(map(Stimulus, text.split("\n"))), ()
    if not any(stimulus.text.strip() for stimulus in stimuli):
        raise IncparseError(f"{path}: the file contains no sentences")
    return stimuli, header


def _read_table(
    text: str, name: str, separator: str, column: str, by: Sequence[str]
) -> tuple[list[Stimulus], tuple[str, ...]]:
    rows: Iterator[tuple[int, list[str] | str]]
    if separator != "\t" or _has_quotes(text):  # R's are escaped with a backslash
        escaped = text.replace('\\"', '""') if text.startswith('"') else text
        rows = table_rows(io.StringIO(escaped), separator)
    else:
        rows = ((number, line.split("\t")) for number, line in enumerate(text.split("\n"), start=1))
    stimuli, header, keys = list[Stimulus](), tuple[str, ...](), list[tuple[str, ...]]()
    for number, cells in rows:
        if isinstance(cells, str):
            raise IncparseError(f"{name}:{number}: {cells}")
        row = tuple(re.sub(r"[\t\n]+", " ", cell) for cell in cells)
        if not header:
            header = row or ("",)
            for wanted in (column, *by):
                if wanted not in header:
                    found = ", ".join(filter(None, header)) or "nothing"
                    advice = "use this name for the column with the sentences, or name yours with --column"
                    if wanted != column:
                        advice = "repeat --sentence for each column that tells sentences apart"
                    raise IncparseError(
                        f"{name}:1: the header has no column {wanted!r} (it has {found}): {advice}, and name what "
                        f"separates columns with --sep"
                    )
                if header.count(wanted) > 1:
                    raise IncparseError(f"{name}:1: two columns have the name {wanted!r}: rename one of them")
            continue
        if not any(map(str.strip, row)):
            stimuli += [] if by else [Stimulus("")]
            continue
        if len(row) != len(header):
            hint, n_more = "", len(row) - len(header)
            if sum(cell.count('"') for cell in row) % 2:
                hint = "; a cell in quotes must end on the same line"
            elif n_more > 0:
                hint = "; if R wrote the table, pass row.names = FALSE there" if n_more == 1 else ""
                hint += "; no cell may have the separator in it without quotes around it"
            raise IncparseError(f"{name}:{number}: {len(row)} cells in a table of {len(header)} columns{hint}")
        region = row[header.index(column)]
        if not region.strip():
            raise IncparseError(f"{name}:{number}: the column {column!r} is empty: add a sentence, or delete the row")
        key = tuple(row[header.index(one)] for one in by)
        if not by or key not in keys:
            keys.append(key)
            stimuli.append(Stimulus(region, row, ((0, len(region), row),) if by else ()))
        elif key == keys[-1]:
            text, start = f"{stimuli[-1].text} {region}", len(stimuli[-1].text) + 1
            regions = (*stimuli[-1].regions, (start, len(text), row))
            stimuli[-1] = Stimulus(text, (), regions)
        else:
            what = ", ".join(f"{one} {value}" for one, value in zip(by, key, strict=True))
            raise IncparseError(f"{name}:{number}: the rows of {what} are in two places: bring them together")
    return stimuli, header


def _has_quotes(text: str) -> bool:
    """Return whether quotes around cells belong to the table, and not to the sentence.

    They do if the header has them, as R writes tables, if a cell has doubled quotes inside, as Excel and pandas write
    them, or if all cells with a comma have them, as Excel does.
    """
    cells = set(re.split(r"[\t\n]", text))
    wrapped = {c for c in cells if len(c) > 1 and c[0] == c[-1] == '"' and '"' not in c[1:-1].replace('""', "")}
    with_comma, has_doubled = {cell for cell in cells if "," in cell}, any('""' in cell[1:-1] for cell in wrapped)
    return text.startswith('"') or has_doubled or (bool(with_comma) and with_comma <= wrapped)
