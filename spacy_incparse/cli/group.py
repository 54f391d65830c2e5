"""The common behavior of all commands: a user's mistake ends in one line on standard error and exit code 1."""

from __future__ import annotations

import glob
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:
    from tqdm import tqdm


# Wrong arguments. Typer took this class from click, and recent versions have their own copy: this is the one in use.
_UsageError: Any = typer.BadParameter.__mro__[1]

_RAY_ADDRESS = re.compile(r"local|auto|[^-].*://.+|[^-].*:\d+")


class CommandGroup(TyperGroup):
    """The group of our commands, which reports errors in the same way in every command line that includes it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before the command's name."""
        with reported_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Parse the command's arguments and run the command."""
        _write_utf8()
        with reported_errors():
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
        if argument == "--ray" and k < end and not (k + 1 < end and _may_be_address(args[k + 1])):
            found.append("local")
    return found


def _may_be_address(argument: str) -> bool:
    """Return whether an argument behind `--ray` is its value, be it a right or a wrong one."""
    if _RAY_ADDRESS.fullmatch(argument):
        return True
    return not (argument.startswith("-") or os.path.exists(argument) or glob.has_magic(argument))


@contextmanager
def reported_errors() -> Iterator[None]:
    """Report errors that a user can cause as `Error: ...` with exit code 1, and warnings as `Warning: ...`.

    Other exceptions are bugs and keep their traceback.
    """
    # spaCy warns of worker processes that were interrupted together with this one, possibly after everything else.
    warnings.filterwarnings("ignore", message=r"\[W127\]")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
            sys.stdout.flush()
        except _UsageError as error:
            _fail(_usage_message(error))
        except BrokenPipeError:  # the reader, such as `head`, stopped reading
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except (IncparseError, OSError, UnicodeError) as error:
            _fail(_message(error))
        except MemoryError:
            _fail("out of memory: use a smaller beam or shorter sentences")
        except KeyboardInterrupt as interrupt:
            warnings.simplefilter("ignore")  # spaCy's, about interrupted worker processes
            typer.echo(": ".join(["Interrupted", *map(str, interrupt.args)]), err=True)
            raise typer.Exit(130) from None


def _write_utf8() -> None:
    """Write UTF-8 to files and pipes, which our readers expect, and what a terminal does not know as `?`.

    PYTHONIOENCODING is what a user wants.
    """
    output: Any = sys.stdout
    if "PYTHONIOENCODING" in os.environ or not hasattr(output, "reconfigure"):
        return
    if output.isatty():
        output.reconfigure(errors="replace")
    else:  # file names may be in other encodings: where Python keeps their bytes, they are written as they are
        output.reconfigure(encoding="utf-8", errors=output.errors)


def _fail(message: str) -> None:
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(1) from None


def _usage_message(error: Any) -> str:
    message = str(error.format_message())
    if re.fullmatch("-[^-].*", getattr(error, "option_name", "")):  # such as the pattern -NONE-
        message += ". Put an argument that begins with a dash after `--`"
    return message if error.ctx is None else f"{message}\nSee `{error.ctx.command_path} --help`."


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"Warning: {message}", err=True)


def progress_bar(*, is_shown: bool = True, **settings: Any) -> tqdm:
    """Return a bar on standard error that disappears when it is closed; it is only shown on a terminal."""
    from tqdm import tqdm

    return tqdm(file=sys.stderr, leave=False, disable=not (is_shown and sys.stderr.isatty()), **settings)
