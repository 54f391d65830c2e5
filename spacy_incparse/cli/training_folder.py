"""The folder that `train` writes to, and how a training starts where that already has something."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import srsly
import typer

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable

BEST, STATE = "model-best", "state"  # folders in OUT_DIR


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


def check_base(base: str | None, out_dir: Path) -> None:
    """Raise IncparseError if a training would write into the folder of the pipeline that it starts from, if any."""
    if base is None:
        return
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
    no_pipeline = IncparseError(f"{folder} is no pipeline, so --force does not replace it: name another folder")
    if not all((folder / name).is_file() for name in ("config.cfg", "meta.json")):
        raise no_pipeline
    try:
        meta = dict(srsly.read_json(folder / "meta.json"))
    except (ValueError, TypeError):
        raise no_pipeline from None
    own = {"config.cfg", "meta.json", "tokenizer", "vocab", *meta.get("pipeline", ()), *meta.get("disabled", ())}
    foreign = next((path for path in sorted(folder.iterdir()) if not own & {path.name, path.stem}), None)
    if foreign is not None:
        raise IncparseError(f"{foreign} is not of the pipeline, and would be lost: move it, or name another folder")
