"""The command `train`: from bracket files to a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option, echo

from spacy_incparse.cli.options import open_treebank, takes
from spacy_incparse.cli.train_options import BEST, NEURAL, STATE, Start, check_base, config_names
from spacy_incparse.errors import IncparseError
from spacy_incparse.training.passes import ExtraTrees, check_weight

if TYPE_CHECKING:
    from spacy_incparse.cli.recipe import Recipe
    from spacy_incparse.cli.train_neural import NeuralRecipe

DEFAULT_CONFIG = "rich"

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
    extra_weight=Option("--extra-weight", metavar="W", help="The part of the extra trees that each pass sees."),
)  # fmt: skip
def train_command(
    train: str, dev: str, out_dir: Path, config: str | None = None, lang: str | None = None, heads: Path | None = None,
    clusters: str | None = None, max_epochs: int | None = None, seed: int | None = None, encoder: str | None = None,
    init_tok2vec: Path | None = None, gpu: int = -1, mixed_precision: bool = False, from_model: str | None = None,
    resume: bool = False, resume_or_start: bool = False, force: bool = False, skip_bad: bool = False,
    no_tags: bool = False, n_process: int = 1, extra: str | None = None, extra_weight: float = 1.0,
) -> None:  # fmt: skip
    """Train a spaCy pipeline on your treebank.

    You can use any treebank in Penn brackets; traces and function tags are dropped. The best pass is in
    OUT_DIR/model-best, for spacy.load(). OUT_DIR/state is for --resume, and you can delete it at the end.

    \b
    Examples:
      spacy-incparse train train.mrg dev.mrg out
      spacy-incparse train "de/*.mrg" de-dev.mrg out-de --lang de --max-epochs 15
    """
    given = dict(locals())
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
    read = partial(open_treebank, skip_bad=skip_bad, no_tags=no_tags)
    learned = partial(read, for_grammar=recipe.FOR_GRAMMAR)
    more = ExtraTrees(() if extra is None else learned(extra), extra_weight)
    recipe.train_pipeline(learned(train), read(dev), out_dir, resume=resumes, extra=more)
    echo(f"The pipeline is in {out_dir / BEST}")


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
