"""The options of `train` that no other command has, and which of them belong to which parser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.catalogue import recipes
from spacy_incparse.training.extra_trees import check_weight

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
    int,
    typer.Option(
        "--n-process", min=1, metavar="N", help="Processes for the taggers of the training tags: same result."
    ),
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


def check_extra_weight(extra: str | None, weight: float) -> None:
    """Raise ConfigError or IncparseError for a weight that is out of range, or without extra trees."""
    if extra is None and weight != 1:
        raise IncparseError(f"--extra-weight {weight:g}: there are no extra trees: name a file of them with --extra")
    check_weight(weight)


def _refuse(given: Mapping[str, Any], options: Mapping[str, tuple[Any, str]], beside: str) -> None:
    for name, (default, reason) in options.items():
        if given[name] != default:
            value = "" if given[name] is True else f" {given[name]}"
            option = f"--{name.replace('_', '-')}{value}"
            raise IncparseError(f"{option} cannot be used with {beside}: {reason}")
