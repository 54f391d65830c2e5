"""The options of `train` that no other command has, and which of them belong to which parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from spacy_incparse.cli.options import progress_bar
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable
from spacy_incparse.parsing.catalogue import recipes

if TYPE_CHECKING:
    from tqdm import tqdm

    from spacy_incparse.training.loop import PassReport


NEURAL = "neural"  # for --config; the others are recipes
NO_ENCODER = "none"  # for --encoder
DEFAULT_CONFIG = "rich"


def config_names() -> tuple[str, ...]:
    """Return the names that --config takes; it also takes files."""
    return (*recipes(), NEURAL)


Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        "-c",
        metavar="|".join((*config_names(), "PATH")),
        help="Recipe, or a .cfg or .json file with settings. Default: rich.",
    ),
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", "-l", help="Language code of spaCy's tokenizer. Default: the config's, or en."),
]
Heads = Annotated[
    Path | None, typer.Option("--heads", metavar="FILE.json", help="Head rules. Default: the language's table.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder", metavar="FOLDER|none", help="Pre-trained transformer for --config neural. Default: none, a CNN."
    ),
]
InitTok2vec = Annotated[
    Path | None,
    typer.Option(
        "--init-tok2vec", metavar="FILE", exists=True, dir_okay=False,
        help="Weights of the CNN from `spacy pretrain`, for --config neural.",
    ),
]  # fmt: skip
Gpu = Annotated[int, typer.Option("--gpu", metavar="ID", min=-1, help="GPU for a neural parser; -1: the CPU.")]
MixedPrecision = Annotated[
    bool, typer.Option("--mixed-precision", help="With --encoder and --gpu: compute partly in half precision, faster.")
]
FromModel = Annotated[
    str | None,
    typer.Option("--from", metavar="MODEL", help="Fine-tune a pipeline: embedded (en), installed, or a folder."),
]
Processes = Annotated[
    int, typer.Option("--n-process", min=1, metavar="N", help="Processes that train the taggers of jackknifing.")
]
Extra = Annotated[
    str | None,
    typer.Option(
        "--extra", metavar="FILE", help="More trees to learn from: a bracket file, folder or glob, often parsed text."
    ),
]
ExtraWeight = Annotated[
    float, typer.Option("--extra-weight", metavar="W", help="The part of the extra trees that each pass sees.")
]
ResumeOrStart = Annotated[
    bool, typer.Option("--resume-or-start", help="Resume the training in OUT_DIR if there is one; else start one.")
]

# What options are if they are not given, and why some parsers do not have them.
_NOT_NEURAL = {
    "clusters": (None, "a neural parser does not read word clusters"),
    "n_process": (1, "a neural parser is trained in one process"),
}
_ONLY_NEURAL = {
    "encoder": (None, "it is for --config neural"),
    "init_tok2vec": (None, "it is for --config neural"),
    "gpu": (-1, "it is for neural parsers"),
    "mixed_precision": (False, "it is for --config neural"),
}
_NOT_FINE_TUNED = {
    "config": (None, "a pipeline that is fine-tuned keeps its settings, except --max-epochs and --seed"),
    "lang": (None, "a pipeline that is fine-tuned keeps its language"),
    "heads": (None, "a pipeline that is fine-tuned keeps its head rules"),
    "n_process": (1, "a pipeline that is fine-tuned is trained in one process"),
    "clusters": (None, "a pipeline that is fine-tuned keeps its word clusters, or has none"),
    "encoder": (None, "a pipeline that is fine-tuned keeps its encoder"),
    "init_tok2vec": (None, "a pipeline that is fine-tuned has weights"),
    "mixed_precision": (False, "a pipeline that is fine-tuned keeps its precision"),
}


def check_options(given: Mapping[str, Any], *, is_neural: bool) -> None:
    """Raise IncparseError for an option that the parser of a config, or a trained one, does not have.

    given: the values of options. is_neural: the parser is a neural one.
    """
    beside = f"--config {given['config'] or DEFAULT_CONFIG}"
    if given["from"] is not None:
        beside = f"--from {given['from']}"
        _refuse(given, _NOT_FINE_TUNED, beside)
    _refuse(given, _NOT_NEURAL if is_neural else _ONLY_NEURAL, beside)
    if given["mixed_precision"] and (given["gpu"] < 0 or given["encoder"] in (None, NO_ENCODER)):
        raise IncparseError("--mixed-precision is for a transformer on a GPU: it goes with --encoder and --gpu")


def _refuse(given: Mapping[str, Any], options: Mapping[str, tuple[Any, str]], beside: str) -> None:
    for name, (default, reason) in options.items():
        if given[name] != default:
            value = "" if given[name] is True else f" {given[name]}"
            option = f"--{name.replace('_', '-')}{value}"
            raise IncparseError(f"{option} cannot be used with {beside}: {reason}")


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
