"""`train --config neural`: a neural parser, trained by spaCy from the config in `configs/`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spacy_incparse.cli.options import open_treebank
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from confection import Config

NAME = "neural"  # for --config
NO_ENCODER = "none"
BEST, LAST = "model-best", "model-last"
WARM_UP = 0.05  # the part of training in which a pre-trained encoder's learning rate grows


@dataclass(frozen=True)
class TrainingFiles:
    """Bracket files to learn from and to choose the best pass, and how to read them."""

    train: str
    dev: str
    skip_bad: bool = False
    no_tags: bool = False

    def read(self, *, for_grammar: bool = False) -> tuple[list[Tree], list[Tree]]:
        """Return the normalized trees of both; for_grammar: those to learn from have to be good for a grammar."""
        train = open_treebank(self.train, skip_bad=self.skip_bad, for_grammar=for_grammar, no_tags=self.no_tags)
        return train, open_treebank(self.dev, skip_bad=self.skip_bad, no_tags=self.no_tags)


def train_from_files(files: TrainingFiles, out_dir: Path, *, force: bool, gpu: int, **settings: Any) -> None:
    """Train on bracket files, and say where the pipeline is; `settings` as in `neural_config`.

    Raises IncparseError if there is a pipeline already, unless `force`, or if none was good enough to keep.
    """
    best = out_dir / BEST
    if best.exists() and not force:
        raise IncparseError(f"there is already a pipeline in {best}: name another folder or replace it with --force")
    config = neural_config(**settings)
    train_neural(*files.read(), out_dir, config, gpu=gpu, description=f"trained on {Path(files.train).name}")
    if not best.exists():
        raise IncparseError(f"{out_dir}: no pipeline was kept: train longer")
    typer.echo(f"The pipeline is in {best}")


def train_neural(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    out_dir: Path,
    config: Config,
    *,
    gpu: int = -1,
    description: str = "",
    keep_last: bool = False,
) -> None:
    """Train on normalized trees with spaCy's training loop, which prints a table, and keep the best in `out_dir`.

    gpu: the number of a GPU, -1 for the CPU. keep_last: keep the pipeline of the last pass in the place of the best.
    """
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train

    _use_gpu(gpu, config)
    n_words = sum(len(tree.words) for tree in trees)
    corpora = out_dir / "corpora"
    corpora.mkdir(parents=True, exist_ok=True)
    try:
        for name, found in (("train", trees), ("dev", dev)):
            path = corpora / f"{name}.mrg"
            path.write_text("".join(f"{tree}\n" for tree in found), encoding="utf8")
            config["paths"][name] = str(path)
        _set_steps(config, n_words, len(trees))
        nlp = init_nlp(config, use_gpu=gpu)
        nlp.meta.update(name="incparse", description=f"Constituency parser, {description}")
        train(nlp, out_dir, use_gpu=gpu, stdout=sys.stdout, stderr=sys.stderr)
    finally:
        shutil.rmtree(corpora, ignore_errors=True)
    shutil.rmtree(out_dir / (BEST if keep_last else LAST), ignore_errors=True)
    if keep_last:
        (out_dir / LAST).rename(out_dir / BEST)


def _use_gpu(gpu: int, config: Config) -> None:
    """Choose the processor or a GPU. Raises IncparseError if there is no such GPU, or no CuPy."""
    from spacy.cli._util import setup_gpu

    if gpu >= 0 and "transformer" in config["components"]:
        config["system"]["gpu_allocator"] = "pytorch"  # one pool of memory for CuPy and PyTorch
    try:
        setup_gpu(gpu, silent=True)
    except ValueError as error:
        raise IncparseError(f'--gpu {gpu}: {error}. A GPU needs CUDA and CuPy: pip install "spacy[cuda12x]"') from None


def neural_config(
    *,
    encoder: str | None = None,
    lang: str | None = None,
    heads: Path | None = None,
    max_epochs: int | None = None,
    seed: int | None = None,
    init_tok2vec: Path | None = None,
) -> Config:
    """Return the config of a training run, without the paths of trees.

    encoder: the folder of a pre-trained transformer; None or "none": spaCy's convolutional layer. init_tok2vec: weights
    of that layer, from `spacy pretrain`. Raises ConfigError or ModelError for wrong settings.
    """
    from spacy.util import load_config

    is_pretrained = encoder not in (None, NO_ENCODER)
    config = load_config(Path(__file__).with_name("neural_transformer.cfg" if is_pretrained else "neural.cfg"))
    if is_pretrained:
        _check_transformers()
        _set_encoder(config, str(encoder))
    if lang is not None:
        config["nlp"]["lang"] = lang
    if heads is not None:
        config["components"]["incparse_chart"]["heads"] = str(heads)
    if max_epochs is not None:
        config["training"]["max_epochs"] = max_epochs
    if seed is not None:
        config["system"]["seed"] = seed
    if init_tok2vec is not None:
        if is_pretrained:
            raise ConfigError("--init-tok2vec has weights of the convolutional layer: it does not go with --encoder")
        _check_weights(config, init_tok2vec)
        config["paths"]["init_tok2vec"] = str(init_tok2vec)
    return config


def refuse(**given: Any) -> None:
    """Raise IncparseError if an option is given that a neural parser does not have."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise IncparseError(f"{option} cannot be used with --config neural, which trains from the beginning")


def check_encoder_options(config: str, encoder: str | None, init_tok2vec: Path | None = None) -> None:
    """Raise IncparseError if an encoder or the weights of one are given to a parser that has none."""
    for option, value in (("--encoder", encoder), ("--init-tok2vec", init_tok2vec)):
        if value is not None and config != NAME:
            raise IncparseError(f"{option} is for --config neural; a parser of the kind {config!r} has no encoder")


def _set_encoder(config: Config, folder: str) -> None:
    from spacy_incparse.pipeline.encoder_folder import encoder_sizes

    sizes = encoder_sizes(folder)
    config["paths"]["encoder"] = folder
    model = config["components"]["transformer"]["model"]
    model.update(sizes)
    window = min(model["with_spans"]["window"], sizes["model_max_length"])
    model["with_spans"] |= {"window": window, "stride": window * 3 // 4}  # windows overlap by a quarter
    config["components"]["incparse_chart"]["model"]["tok2vec"]["width"] = sizes["hidden_width"]


def _check_weights(config: Config, path: Path) -> None:
    """Raise ModelError if a file does not have weights of the config's layer of word vectors."""
    from spacy.util import registry

    layer = registry.resolve({"layer": config["components"]["incparse_chart"]["model"]["tok2vec"]})["layer"]
    try:
        layer.from_bytes(path.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path}: these are no weights of the parser's layer: make them with `spacy pretrain` from its config"
        ) from error


def _set_steps(config: Config, n_words: int, n_trees: int) -> None:
    """Evaluate about once a pass, and let a learning rate that falls reach 0 at the end."""
    training = config["training"]
    steps = max(1, round(n_words / training["batcher"]["size"]))
    training["eval_frequency"] = steps
    rate = training["optimizer"]["learn_rate"]
    if isinstance(rate, dict):
        rate["total_steps"] = steps * training["max_epochs"]
        rate["warmup_steps"] = max(1, round(WARM_UP * rate["total_steps"]))


def _check_transformers() -> None:
    from importlib.util import find_spec

    if find_spec("spacy_curated_transformers") is None:
        raise ConfigError('an encoder needs more packages: pip install "spacy-incparse[transformers]"')
