"""The command `train`: from bracket files to a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
import typer
from typer import Argument, Option, echo

from spacy_incparse.cli.options import keep_inputs, open_treebank, progress_bar, takes
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable
from spacy_incparse.parsing.catalogue import recipes
from spacy_incparse.training.passes import ExtraTrees, check_weight
from spacy_incparse.treebanks.reader import ANNOTATED
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from tqdm import tqdm

    from spacy_incparse.cli.recipe import Recipe
    from spacy_incparse.cli.train_neural import NeuralRecipe
    from spacy_incparse.training.loop import PassReport


DEFAULT_CONFIG = "rich"
NEURAL = "neural"  # for --config; the others are recipes
NO_ENCODER = "none"  # for --encoder
BEST, STATE = "model-best", "state"  # folders in OUT_DIR

_KEEPS = "a pipeline that is fine-tuned keeps its"
_NOT_FINE_TUNED = {  # options that do not go with --from, and why
    "config": f"{_KEEPS} settings, except --max-epochs and --seed",
    "lang": f"{_KEEPS} language",
    "heads": f"{_KEEPS} head rules",
    "n_process": "a pipeline that is fine-tuned is trained in one process",
    "clusters": f"{_KEEPS} word clusters, or has none",
    "encoder": f"{_KEEPS} encoder",
    "init_tok2vec": "a pipeline that is fine-tuned has weights",
    "mixed_precision": f"{_KEEPS} precision",
}


def config_names() -> tuple[str, ...]:
    """Return the names that --config takes; it also takes files."""
    return (*recipes(), NEURAL)


@takes(
    train=Argument(metavar="TRAIN", help="Bracket file, folder or glob to learn from."),
    dev=Argument(metavar="DEV", help="Other trees, which choose the best pass."),
    out_dir=Argument(metavar="OUT_DIR", file_okay=False, help="Folder for the pipeline (in model-best)."),
    config=Option(
        "--config", "-c", metavar="|".join((*config_names(), "PATH")),
        help="Recipe, or a .cfg or .json file with settings. Default: rich.",
    ),
    lang=Option("--lang", "-l", help="Language code of spaCy's tokenizer. Default: the config's, or en."),
    heads=Option("--heads", metavar="FILE.json", help="Head rules. Default: the language's table."),
    max_epochs=Option("--max-epochs", min=1, metavar="N", help="Passes. Default: the config's, or 10."),
    seed=Option("--seed", metavar="N", help="Same seed, same model. Default: 0."),
    encoder=Option(
        "--encoder", metavar="FOLDER|none", help="Pre-trained transformer for --config neural. Default: none, a CNN."
    ),
    init_tok2vec=Option(
        "--init-tok2vec", metavar="FILE", exists=True, dir_okay=False,
        help="Weights of the CNN from `spacy pretrain`, for --config neural.",
    ),
    gpu=Option("--gpu", metavar="ID", min=-1, help="GPU for a neural parser; -1: the CPU."),
    mixed_precision=Option(
        "--mixed-precision", help="With --encoder and --gpu: compute partly in half precision, faster."
    ),
    from_model=Option("--from", metavar="MODEL", help="Fine-tune a pipeline: embedded (en), installed, or a folder."),
    resume=Option("--resume", help="Continue after the last finished pass."),
    resume_or_start=Option("--resume-or-start", help="Resume the training in OUT_DIR if there is one; else start one."),
    force=Option("--force", "-F", help="Replace the pipeline in OUT_DIR."),
    n_process=Option("--n-process", min=1, metavar="N", help="Processes that train the taggers of jackknifing."),
    extra=Option(
        "--extra", metavar="FILE", help="More trees to learn from: a bracket file, folder or glob, often parsed text."
    ),
    functions=Option("--functions", help="Also learn function tags and traces, if TRAIN has them."),
    clitics=Option(
        "--clitics", metavar="WORDS",
        help='Learn a tokenizer from TRAIN: its abbreviations, and words written at the end of others ("nya ku").',
    ),
    extra_weight=Option("--extra-weight", metavar="W", help="The part of the extra trees that each pass sees."),
)  # fmt: skip
def train_command(
    train: str, dev: str, out_dir: Path, config: str | None = None, lang: str | None = None, heads: Path | None = None,
    clusters: str | None = None, max_epochs: int | None = None, seed: int | None = None, encoder: str | None = None,
    init_tok2vec: Path | None = None, gpu: int = -1, mixed_precision: bool = False, from_model: str | None = None,
    resume: bool = False, resume_or_start: bool = False, force: bool = False, skip_bad: bool = False,
    no_tags: bool = False, separators: str | None = None, n_process: int = 1, extra: str | None = None,
    extra_weight: float = 1.0, functions: bool = False, clitics: str | None = None, dialect: str | None = None,
) -> None:  # fmt: skip
    """Train a spaCy pipeline on your treebank.

    You can use any treebank in Penn brackets; parsers learn without traces and function tags. The best pass is in
    OUT_DIR/model-best, for spacy.load(). OUT_DIR/state is for --resume, and you can delete it at the end.

    \b
    Examples:
      spacy-incparse train train.mrg dev.mrg out
      spacy-incparse train "de/*.mrg" de-dev.mrg out-de --lang de --max-epochs 15
    """
    given = dict(locals())
    keep_inputs(None, train, dev, extra)
    start = Start(resume=resume, resume_or_start=resume_or_start, force=force)
    recipe_type = _recipe_type(config, from_model)
    _check_options(given, recipe_type.REFUSED)
    if extra is None and extra_weight != 1:
        raise IncparseError(
            f"--extra-weight {extra_weight:g}: there are no extra trees: name a file of them with --extra"
        )
    check_weight(extra_weight)
    if from_model is not None:
        check_base(from_model, out_dir)
    recipe = recipe_type.of_options(given | {"config": config or DEFAULT_CONFIG}, f"trained on {Path(train).name}")
    resumes = start.resumes(out_dir, has_state=recipe.is_begun(out_dir / STATE))
    read = partial(open_treebank, skip_bad=skip_bad, no_tags=no_tags, separators=separators, dialect=dialect)
    learned = partial(read, for_grammar=recipe.FOR_GRAMMAR)
    more = ExtraTrees(() if extra is None else learned(extra), extra_weight)
    trees = learned(train, steps=ANNOTATED if functions else None)
    recipe.train_pipeline(trees, read(dev), out_dir, resume=resumes, extra=more)
    if clitics is not None:
        learn_words(out_dir / BEST, trees, clitics.split())
    if functions:
        learn_functions(out_dir / BEST, trees, heads)
    echo(f"The pipeline is in {out_dir / BEST}")


def learn_words(folder: Path, trees: Sequence[Tree], clitics: Sequence[str]) -> None:
    """Give a saved pipeline a tokenizer that has learnt the words of trees, see `TreebankTokenizer`."""
    from spacy_incparse.documents.gold import examples
    from spacy_incparse.pipeline.loading import load
    from spacy_incparse.pipeline.tokenizer import create_treebank_tokenizer

    nlp = load(folder)
    tokenizer = create_treebank_tokenizer()(nlp)
    tokenizer.initialize(lambda: examples(nlp, trees), nlp=nlp, clitics=clitics)
    nlp.tokenizer = tokenizer
    nlp.config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_incparse.TreebankTokenizer.v1"}
    nlp.to_disk(folder)


def learn_functions(folder: Path, trees: Sequence[Tree], heads: Path | None = None) -> None:
    """Add `incparse_functions` to a saved pipeline, or train it anew, on trees with functions and empty categories."""
    from spacy_incparse.documents.gold import examples
    from spacy_incparse.pipeline.loading import load

    name = "incparse_functions"
    nlp = load(folder, exclude=[name])
    finder = nlp.add_pipe(name, config={"training": {"heads": heads and str(heads)}})
    finder.initialize(lambda: examples(nlp, trees), nlp=nlp)  # type: ignore[attr-defined]
    nlp.to_disk(folder)


def _recipe_type(config: str | None, base: str | None) -> type[Recipe | NeuralRecipe]:
    """Return how the parser of a config is trained, or how one goes on; the only place where kinds are told apart.

    Raises ModelError if there is no pipeline `base`.
    """
    from spacy_incparse.cli.recipe import Recipe
    from spacy_incparse.cli.train_neural import NeuralRecipe, last_parser

    is_neural = config == NEURAL if base is None else last_parser(base).get("factory") == "incparse_neural"
    return NeuralRecipe if is_neural else Recipe


def _check_options(given: dict[str, Any], refused: Mapping[str, str]) -> None:
    """Raise IncparseError for an option that is not for such a parser, or not for one that is fine-tuned."""
    defaults = inspect.signature(train_command).parameters
    beside, base = f"--config {given['config'] or DEFAULT_CONFIG}", given["from_model"]
    reasons = list(refused.items())
    if base is not None:
        beside, reasons = f"--from {base}", [*_NOT_FINE_TUNED.items(), *reasons]
    for name, reason in reasons:
        if given[name] != defaults[name].default:
            value = "" if given[name] is True else f" {given[name]}"
            raise IncparseError(f"--{name.replace('_', '-')}{value} cannot be used with {beside}: {reason}")


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
