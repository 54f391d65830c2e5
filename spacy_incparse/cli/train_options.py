"""Where a training writes and how it starts there, and the table that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import srsly
import typer

from spacy_incparse.cli.options import progress_bar
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable
from spacy_incparse.parsing.catalogue import recipes
from spacy_incparse.training.passes import ExtraTrees
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from tqdm import tqdm

    from spacy_incparse.training.loop import PassReport

NEURAL = "neural"  # for --config; the others are recipes
NO_ENCODER = "none"  # for --encoder
BEST, STATE = "model-best", "state"  # folders in OUT_DIR


def config_names() -> tuple[str, ...]:
    """Return the names that --config takes; it also takes files."""
    return (*recipes(), NEURAL)


class PassTable:
    """The printed table: two lines when training starts, then a line for each pass; on a terminal also the progress."""

    def __init__(self, trees: Sequence[Tree], extra: ExtraTrees, dev: Sequence[Tree]):
        self._head = f"{len(trees):,} sentences{extra} to train on, {len(dev):,} to choose the best pass\n"
        self._head += "pass  updates   dev P   dev R   dev F   tags  seconds\n"
        self._bar: tqdm | None = None

    def add(self, report: PassReport) -> None:
        """Print the line of a pass."""
        self._begin()
        self._clear_progress()
        typer.echo(pass_line(report))

    def show_progress(self, what: str, done: int, total: int) -> None:
        """Show the progress of a task in place of the previous one."""
        self._begin()
        if self._bar is None or self._bar.desc != what:
            self._clear_progress()
            self._bar = progress_bar(total=total, desc=what)
            self._bar.desc = what
        self._bar.update(done - self._bar.n)

    @contextmanager
    def interruptible(self, *, resume: bool) -> Iterator[Callable[[int | None], object]]:
        """Let a training run that calls what is given as `training.loop.OnKept`, and say what an interruption leaves.

        resume: whether the training is a resumed one.
        """
        kept: list[int | None] = []  # what --resume can continue after, each time it changes
        try:
            yield kept.append
        except KeyboardInterrupt:
            if not kept:
                rest = "nothing has changed" if resume else "nothing is saved yet, start the training again"
            elif kept[-1] is None:
                rest = "the preparation is not finished, --resume starts it again"
            elif not kept[-1]:
                rest = "no pass is finished yet, --resume continues with the first one"
            else:
                rest = "finished passes are saved, --resume continues after them"
            raise KeyboardInterrupt(rest) from None
        finally:
            self._clear_progress()

    def _begin(self) -> None:
        typer.echo(self._head, nl=False)
        self._head = ""

    def _clear_progress(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def pass_line(report: PassReport) -> str:
    """Return the line of a pass."""
    scores = report.scores or {}
    figures = [100 * scores.get(key, 0.0) for key in ("const_p", "const_r", "const_f", "tag_acc")]
    columns = " ".join(f"{figure:7.2f}" for figure in figures[:3])
    end = "  *" * report.is_best + f"  {report.note}" * bool(report.note)
    return f"{report.number:4d} {report.n_updates:8,d} {columns} {figures[3]:6.2f} {report.seconds:8.1f}{end}"


@dataclass(frozen=True)
class Start:
    """How to start; without an option, only where there is no pipeline. Raises IncparseError for several options."""

    resume: bool = False
    resume_or_start: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if self.resume + self.resume_or_start + self.force > 1:
            raise IncparseError("--resume, --resume-or-start and --force exclude each other")

    def resumes(self, out_dir: Path, *, has_state: bool) -> bool:
        """Return whether to resume a training; has_state: the folder has the state of one that can be resumed.

        If there is only a pipeline to start or resume, says that the training is finished, and raises typer.Exit.
        Raises IncparseError if a folder cannot be written, and rather than overwrite a pipeline, which may have taken
        hours, unless that is wanted.
        """
        best = out_dir / BEST
        for folder in (out_dir, best, out_dir / STATE):
            check_writable(folder)
        resume = has_state if self.resume_or_start else self.resume
        if self.force:
            check_replaceable(best)
        if resume or self.force or is_free(best):
            return resume
        if not (best / "config.cfg").is_file():
            raise IncparseError(f"there is already something in {best} that is no pipeline: name another folder")
        if self.resume_or_start:
            typer.echo(f"The training is finished: the pipeline is in {best}")
            raise typer.Exit
        go_on = ", continue with --resume," if has_state else ""
        raise IncparseError(
            f"there is already a pipeline in {best}: name another folder{go_on} or replace it with --force"
        )


def check_base(base: str, out_dir: Path) -> None:
    """Raise IncparseError if a training would write into the folder of the pipeline that it starts from."""
    folder, out_dir = find_pipeline(base).resolve(), out_dir.resolve()
    if folder == out_dir / BEST or out_dir.is_relative_to(folder):
        raise IncparseError(
            f"the training would write into {folder}, the pipeline that it starts from: name another OUT_DIR"
        )


def is_free(folder: Path) -> bool:
    """Return whether there is nothing at a path, or an empty folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def check_replaceable(folder: Path) -> None:
    """Raise IncparseError if something in a folder would be lost: all that is not of a saved pipeline."""
    if is_free(folder):
        return
    try:
        meta = dict(srsly.read_json(folder / "meta.json"))
        is_pipeline = (folder / "config.cfg").is_file()
    except (OSError, ValueError, TypeError):
        is_pipeline = False
    if not is_pipeline:
        raise IncparseError(f"{folder} is no pipeline, so --force does not replace it: name another folder")
    own = {"config.cfg", "meta.json", "tokenizer", "vocab", *meta.get("pipeline", ()), *meta.get("disabled", ())}
    foreign = next((path for path in sorted(folder.iterdir()) if not own & {path.name, path.stem}), None)
    if foreign is not None:
        raise IncparseError(f"{foreign} is not of the pipeline, and would be lost: move it, or name another folder")
