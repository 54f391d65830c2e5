"""The table of the options that several commands have, and what commands share to read, write and show progress."""

from __future__ import annotations

import glob
import gzip
import os
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_origin, get_type_hints

import srsly
import typer
from typer import Argument, Option, echo
from typer.core import TyperCommand, TyperGroup

from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable, removed_when_full, whole_lines, write_file
from spacy_incparse.settings import MOST
from spacy_incparse.transforms.left_corner import slash_problem
from spacy_incparse.treebanks.dialects import Dialect, Dialects
from spacy_incparse.treebanks.reader import (
    STANDARD,
    SkipLog,
    Step,
    read_treebank,
    treebank_files,
    with_separators,
)
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from tqdm import tqdm

    from spacy_incparse.pipeline.tree_pipe import TreePipe


AnyCommand = TypeVar("AnyCommand", bound=Callable[..., None])


def takes(**own: Any) -> Callable[[AnyCommand], AnyCommand]:
    """Describe the parameters of a command: each is in `own` or in `OPTIONS`, or annotated in the signature."""

    def described(command: AnyCommand) -> AnyCommand:
        hints = get_type_hints(command, include_extras=True)
        for name in hints.keys() - {"return"}:
            if get_origin(hints[name]) is not Annotated:
                found = own[name] if name in own else OPTIONS[name]
                hints[name] = found if get_origin(found) is Annotated else Annotated[hints[name], found]
        command.__annotations__ = hints
        return command

    return described


class _Choice(str, Enum):
    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]


SAME = (("penn", "brackets", "tree"), ("json", "jsonl"), ("latex", "forest"))
"""The names of formats that are one; each command takes all of them for the one that it has."""


def one_of(values: str, *names: str, several: bool = False, **settings: Any) -> Any:
    """Return an option that has one of some values, or `several`; for the command, they are texts."""
    known = dict(zip(values.split(), values.split(), strict=True))
    for same in SAME:
        if own := next((name for name in same if name in known), None):
            known |= {name: own for name in same if name not in known}
    kind: Any = cast("Any", _Choice)("Choice", {value: value for value in known})
    if not several:
        settings |= {"metavar": f"<{values.replace(' ', '|')}>", "callback": lambda value: value and known[value]}
    return cast("Any", Annotated)[(list[kind] if several else kind) | None, Option(*names, **settings)]


def check_output(path: Path | None) -> Path | None:
    """Raise IncparseError early if the path cannot be written; otherwise return the path."""
    if path is not None:
        if path.is_dir():
            raise IncparseError(f"{path} is a folder: name a file to write")
        check_writable(path)
    return path


def output_option(metavar: str, help: str, check: Callable[[Path | None], Path | None] = check_output) -> Any:
    """Return the option --output of a command; `check` raises IncparseError before anything is read."""
    return Option("--output", "-o", metavar=metavar, help=help, callback=lambda path: check(path))


def _separator(text: str | None) -> str | None:
    character = {"\\t": "\t", "tab": "\t"}.get(text or "", text)
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise IncparseError(f"--sep {text!r}: pass one character, such as ';', or tab")
    return character


OPTIONS: dict[str, Any] = {  # by the name of the parameter
    "text_field": Option("--text-field", "--column", metavar="NAME", help="Field or column with the text."),
    "separator": Option("--sep", metavar="C", help="What separates columns. Default: , or tab.", callback=_separator),
    "model": Option("--model", "-m", metavar="NAME_OR_PATH", help="A pipeline: embedded, installed or a folder."),
    "skip_bad": Option("--skip-bad", help="List malformed trees and skip them, instead of stopping at the first."),
    "no_tags": Option("--no-tags", help="The brackets have no parts of speech: each word gets the tag X."),
    "dialect": Option("--dialect", metavar="NAME|FILE.toml", help="How brackets are read. Default: as they look."),
    "separators": Option("--separators", metavar="CHARS", help="What separates functions, as _* in NP_SB and ADJP*OC."),
    "gold_tags": Option("--gold-tags", help="Parse with the treebank's tags instead of predicted tags."),
    "prm": Option("--prm", metavar="FILE", help="EVALB parameter file. Default: COLLINS.prm, built in."),
    "output": output_option("FILE.json", "Also write all figures to this file."),
    "clusters": Option(
        "--clusters",
        metavar="LANG|FILE",
        help='Word clusters: en, de or es from pip install "spacy-incparse[clusters]", or your own file.',
    ),
    "trees": Argument(metavar="TREES", help="Bracket files, folders or globs."),
}


def read_numbers(option: str, text: str, example: str) -> list[int]:
    """Return the different numbers in the text of an option, such as 500,2000. Raises IncparseError for other texts."""
    numbers = [part.strip() for part in text.split(",")]
    for digits in numbers:
        is_short = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MOST))
        if not (is_short and 1 <= int(digits) <= MOST):
            raise IncparseError(
                f"{option} {text!r}: pass numbers from 1 to {MOST} separated by commas, such as {example}"
            )
    return list(dict.fromkeys(map(int, numbers)))


def open_treebank(
    paths: str | Sequence[str],
    *,
    skip_bad: bool = False,
    for_grammar: bool = False,
    no_tags: bool = False,
    steps: Sequence[Step] | None = None,
    separators: str | None = None,
    dialect: str | None = None,
) -> list[Tree]:
    """Return the normalized trees of bracket files; with `skip_bad`, report skipped trees on standard error.

    for_grammar: also treat trees that cannot be used for a grammar as malformed. no_tags: the brackets have no POS
    nodes. steps: replaces the standard normalization. separators: those of functions besides - and =. dialect: a name
    or a TOML file; by default that which files look like, which is reported on standard error unless it is Penn's.
    """
    if separators is not None:
        steps = (with_separators(separators), *(steps or STANDARD))
    log = SkipLog() if skip_bad else None
    check = slash_problem if for_grammar else None
    given_paths = [paths] if isinstance(paths, str) else list(paths)
    trees = read_treebank(
        given_paths, skip_bad=log, check=check, tags=not no_tags, steps=steps, dialect=dialects(dialect)
    )
    if log:
        echo(str(log), err=True)
    if not trees:
        raise IncparseError(f"{' '.join(given_paths)}: no trees with words were found")
    return trees


def dialects(given: str | Dialect | None) -> Dialects:
    """Return what finds the dialects of treebank files and reports them on standard error; `given`: of all files."""
    return Dialects(given, partial(echo, err=True))


def open_pipeline(name: str) -> tuple[Language, TreePipe]:
    """Return a pipeline, given its name or path, and its parser. Raises ModelError if it cannot be loaded."""
    from spacy_incparse.pipeline.loading import find_parser, load_for_texts

    nlp = load_for_texts(name)
    return nlp, find_parser(nlp, name)


def keep_inputs(output: Path | None, *inputs: str | Path | None) -> None:
    """Raise IncparseError if the output is also an input, under any name, or if two inputs are standard input.

    Inputs are files, folders and globs.
    """
    if sum(str(path) == "-" for path in inputs) > 1:
        raise IncparseError("standard input (-) can only be read once: name a file for the other trees")
    if output is None or not output.is_file():
        return
    for file in treebank_files([path for path in inputs if path is not None]):
        if file.is_file() and file.samefile(output):
            raise IncparseError(f"{output} is the input {file}, which would be lost: name another file for the output")


def is_within(output: Path, folder: str) -> bool:
    """Return whether an output would be in an input folder, which may be read again as a whole."""
    return Path(folder).is_dir() and output.resolve().is_relative_to(Path(folder).resolve())


def decoded(lines: IO[bytes], source: str | None) -> Iterator[str]:
    """Yield decoded lines without newlines, one by one, so that errors have line numbers and slow input is streamed."""
    try:
        for number, line in enumerate(whole_lines(lines), start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                place = "the text" if source is None else f"{source}:{number}"
                raise IncparseError(f"{place}: byte 0x{line[error.start]:02x} is not UTF-8: convert it first") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise IncparseError(f"{source}: the gzip file is damaged: {error}") from None


def write_lines(output: Path | None, lines: Iterable[str]) -> None:
    """Write lines to a file or to standard output; after an interruption, the file keeps the lines written so far."""
    if output is None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with removed_when_full(output), output.open("w", encoding="utf8", newline="") as file:
        try:
            file.writelines(f"{line}\n" for line in lines)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{output} only has the rows written so far") from None


def write_json(path: Path | None, content: dict[str, Any]) -> None:
    """Write figures to a JSON file, unless `path` is None."""
    if path is not None:
        write_file(path, lambda unfinished: srsly.write_json(unfinished, content))


def progress_bar(*, is_shown: bool = True, **settings: Any) -> tqdm:
    """Return a bar on standard error that disappears when it is closed; it is only shown on a terminal."""
    from tqdm import tqdm

    return tqdm(file=sys.stderr, leave=False, disable=not (is_shown and sys.stderr.isatty()), **settings)


# Wrong arguments. Typer took this class from click, and recent versions have their own copy: this is the one in use.
_UsageError: Any = typer.BadParameter.__mro__[1]

_RAY_ADDRESS = re.compile(r"local|auto|[^-].*://.+|[^-].*:\d+")


class CommandGroup(TyperGroup):
    """The group of our commands, which reports errors in the same way in every command line that includes it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before the command's name."""
        with _reported_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Parse the command's arguments and run the command.

        Files and pipes get UTF-8, which our readers expect, unless a user sets PYTHONIOENCODING, and a terminal gets
        `?` for what it does not know.
        """
        output: Any = sys.stdout
        if "PYTHONIOENCODING" not in os.environ and hasattr(output, "reconfigure"):
            if output.isatty():
                output.reconfigure(errors="replace")
            else:  # file names may be in other encodings: where Python keeps their bytes, they are written as they are
                output.reconfigure(encoding="utf-8", errors=output.errors)
        with _reported_errors():
            return super().invoke(ctx)


class Command(TyperCommand):
    """A command of ours, whose option --ray may stand without an address, which Typer's options cannot."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments after the command's name."""
        return super().parse_args(ctx, with_local_ray(args))


def with_local_ray(args: Sequence[str]) -> list[str]:
    """Return arguments in which `--ray` has a value: `local`, where nothing, another option or an input follows it."""
    end = args.index("--") if "--" in args else len(args)
    found: list[str] = []
    for k, argument in enumerate(args):
        found.append(argument)
        if argument == "--ray" and k < end:
            value = args[k + 1] if k + 1 < end else "-"
            is_other = value.startswith("-") or os.path.exists(value) or glob.has_magic(value)
            if is_other and not _RAY_ADDRESS.fullmatch(value):
                found.append("local")
    return found


@contextmanager
def _reported_errors() -> Iterator[None]:
    """Report errors that a user can cause as `Error: ...` with exit code 1, and warnings as `Warning: ...`.

    Other exceptions are bugs and keep their traceback.
    """
    # spaCy warns of worker processes that were interrupted together with this one, possibly after everything else.
    warnings.filterwarnings("ignore", message=r"\[W127\]")
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: echo(f"Warning: {message}", err=True)
        try:
            yield
            sys.stdout.flush()
        except _UsageError as error:
            message = re.sub(r"Value error, |, unable to parse.*", "", str(error.format_message()))
            message = message.replace("Input should be", "it must be")
            if re.fullmatch("-[^-].*", getattr(error, "option_name", "")):  # such as the pattern -NONE-
                message += ". Put an argument that begins with a dash after `--`"
            _fail(message if error.ctx is None else f"{message}\nSee `{error.ctx.command_path} --help`.")
        except BrokenPipeError:  # the reader, such as `head`, stopped reading
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            _fail(f"{place}{error.strerror}" if error.strerror else str(error))
        except (IncparseError, UnicodeError) as error:
            _fail(str(error))
        except MemoryError:
            _fail("out of memory: use fewer processes, a smaller beam, or shorter sentences")
        except KeyboardInterrupt as interrupt:
            warnings.simplefilter("ignore")  # spaCy's, about interrupted worker processes
            echo(": ".join(["Interrupted", *map(str, interrupt.args)]), err=True)
            raise typer.Exit(130) from None


def _fail(message: str) -> None:
    echo(f"Error: {message}", err=True)
    raise typer.Exit(1) from None
