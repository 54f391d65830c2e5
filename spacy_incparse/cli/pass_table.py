"""What `train` prints: a line for each pass, the progress within it, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from spacy_incparse.cli.progress import progress_bar

if TYPE_CHECKING:
    from tqdm import tqdm

    from spacy_incparse.training.training_loop import PassReport

HEADER = "pass  updates   dev P   dev R   dev F   tags  seconds"


class PassTable:
    """The printed table: two lines when training starts, then a line for each pass; on a terminal also the progress."""

    def __init__(self, title: str):
        self._title, self._has_begun = title, False
        self._bar: tqdm | None = None

    def add(self, report: PassReport) -> None:
        """Print the line of a pass."""
        self._begin()
        self.clear_progress()
        typer.echo(pass_line(report))

    def show_progress(self, what: str, done: int, total: int) -> None:
        """Show the progress of a task in place of the previous one."""
        self._begin()
        if self._bar is None or self._bar.desc != what:
            self.clear_progress()
            self._bar = progress_bar(total=total, desc=what)
            self._bar.desc = what
        self._bar.update(done - self._bar.n)

    def clear_progress(self) -> None:
        """Remove the progress bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    @contextmanager
    def interruptible(self, *, resume: bool) -> Iterator[Callable[[int | None], object]]:
        """Let a training run that calls what is given as `training_loop.OnKept`, and say what an interruption leaves.

        resume: whether the training is a resumed one.
        """
        kept: list[int | None] = []  # what --resume can continue after, each time it changes
        try:
            yield kept.append
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_what_is_kept(kept, resume=resume)) from None
        finally:
            self.clear_progress()

    def _begin(self) -> None:
        if not self._has_begun:
            typer.echo(f"{self._title}\n{HEADER}")
            self._has_begun = True


def pass_line(report: PassReport) -> str:
    """Return the line of a pass."""
    scores = report.scores or {}
    figures = [100 * scores.get(key, 0.0) for key in ("const_p", "const_r", "const_f", "tag_acc")]
    columns = " ".join(f"{figure:7.2f}" for figure in figures[:3])
    star = "  *" if report.is_best else ""
    note = f"  {report.note}" if report.note else ""
    return f"{report.number:4d} {report.n_updates:8,d} {columns} {figures[3]:6.2f} {report.seconds:8.1f}{star}{note}"


def _what_is_kept(kept: Sequence[int | None], *, resume: bool) -> str:
    if not kept:
        return "nothing has changed" if resume else "nothing is saved yet, start the training again"
    if kept[-1] is None:
        return "the preparation is not finished, --resume starts it again"
    if not kept[-1]:
        return "no pass is finished yet, --resume continues with the first one"
    return "finished passes are saved, --resume continues after them"
