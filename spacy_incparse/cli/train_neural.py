"""`train --config neural`: a neural parser, trained by the config in `configs/`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

import spacy_incparse
from spacy_incparse.cli.options import open_pipeline
from spacy_incparse.cli.recipe import add_splitter, blank_pipeline, save_pipeline
from spacy_incparse.cli.train import BEST, NO_ENCODER, STATE, PassTable
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import INSTALL_TRANSFORMERS, ConfigError, IncparseError, ModelError, has_transformers
from spacy_incparse.training.passes import NO_EXTRA, ExtraTrees, PassSelection
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from confection import Config
    from spacy.language import Language

    from spacy_incparse.neural.training import Finished


SAVE_SECONDS = 900.0  # between two saved states within a pass
_BASE_WIDTH = 768  # of an encoder of base size

NO_PHRASE = (
    "Warning: no pass has found a phrase of the dev trees: a network needs many more steps than a linear parser. Raise "
    "--max-epochs, or take --config rich for a small treebank"
)


@dataclass(frozen=True)
class NeuralRecipe:
    """All settings of the training of a neural parser, used by the command as a `Recipe`.

    config, base, gpu, description: as for `train_neural`.
    """

    REFUSED: ClassVar[Mapping[str, str]] = {
        "clusters": "a neural parser does not read word clusters",
        "n_process": "a neural parser is trained in one process",
    }
    FOR_GRAMMAR: ClassVar[bool] = False

    config: Config
    base: str | None
    gpu: int
    description: str

    @classmethod
    def of_options(cls, given: Mapping[str, Any], description: str) -> NeuralRecipe:
        """Read the settings that the options of the command name. Raises IncparseError for wrong ones."""
        if given["mixed_precision"] and (given["gpu"] < 0 or given["encoder"] in (None, NO_ENCODER)):
            raise IncparseError("--mixed-precision is for a transformer on a GPU: it goes with --encoder and --gpu")
        names = ("encoder", "lang", "heads", "max_epochs", "seed", "init_tok2vec", "mixed_precision")
        base = given["from_model"]
        config = neural_config(base=base, gpu=given["gpu"], **{name: given[name] for name in names})
        if base is not None:
            found = find_pipeline(base).resolve()
            description += f", after {found.parent.name if found.name == BEST else found.name}"
        return cls(config, base, given["gpu"], description)

    def is_begun(self, folder: Path) -> bool:
        """Return whether a folder has the state of such a training, which can be resumed."""
        from spacy_incparse.neural.training import is_begun

        return is_begun(folder)

    def train_pipeline(
        self, trees: Sequence[Tree], dev: Sequence[Tree], out_dir: Path, *, resume: bool, extra: ExtraTrees
    ) -> None:
        """Train on normalized trees; print a line for each pass and keep the best in `out_dir`."""
        run: dict[str, Any] = {"base": self.base, "gpu": self.gpu, "description": self.description}
        train_neural(trees, dev, out_dir, self.config, resume=resume, extra=extra, **run)


def train_neural(
    trees: Sequence[Tree], dev: Sequence[Tree], out_dir: Path, config: Config, *, base: str | None = None,
    extra: ExtraTrees = NO_EXTRA, gpu: int = -1, description: str = "", keep_last: bool = False, resume: bool = False,
) -> Finished:  # fmt: skip
    """Train on normalized trees; print a line for each pass, keep the best in `out_dir`, and return what was done.

    base: a neural pipeline to fine-tune; None: a new one, by the config. extra: more trees, of which each pass sees a
    part. gpu: the number of a GPU, -1 for the CPU. keep_last: keep the pipeline of the last pass in the place of the
    best. resume: go on after what is finished of the same training.
    """
    from spacy.training.initialize import init_nlp

    from spacy_incparse.corpora.records import folder_hash
    from spacy_incparse.neural.training import PART, Finished, NeuralPasses, NeuralState
    from spacy_incparse.training.loop import PassReport, fingerprint, forget

    _use_gpu(gpu, config)
    best, all_trees = out_dir / BEST, [*trees, *extra.trees]
    settings = {"config": config.to_str(), "last": keep_last, "n_own": len(trees), "extra_weight": extra.weight}
    if base is not None:
        settings["base"] = folder_hash(find_pipeline(base))
    state = NeuralState(out_dir / STATE, fingerprint([*all_trees, *dev], settings))
    done, table = state.finished() if resume else Finished(), PassTable(trees, extra, dev)
    with _corpora(out_dir, {"train": all_trees, "dev": dev}) as paths, table.interruptible(resume=resume) as on_kept:
        config["paths"].update(paths)
        nlp = init_nlp(config, use_gpu=gpu) if base is None else _base_pipeline(base, config, all_trees)
        nlp.meta.update(name="incparse", description=f"Constituency parser, {description}")
        selection = PassSelection(len(trees), len(extra.trees), extra.weight, config["system"]["seed"])
        passes = NeuralPasses(nlp, selection)
        if resume:
            state.restore(passes, done)
        else:
            state.begin()
        on_kept(done.n_passes)
        before, saved = done._replace(n_parts=0, n_updates=done.n_updates - done.n_parts * PART), time.monotonic()
        seconds = time.process_time() - done.seconds

        def on_part(n_parts: int, n_updates: int) -> None:
            nonlocal saved
            if time.monotonic() - saved >= SAVE_SECONDS:
                n_all, n_seconds = before.n_updates + n_updates, time.process_time() - seconds
                state.save(passes, before._replace(n_parts=n_parts, n_updates=n_all, seconds=n_seconds))
                saved = time.monotonic()

        for number in range(done.n_passes + 1, passes.number + 1):
            started, n_parts = time.perf_counter(), done.n_parts if number == done.n_passes + 1 else 0
            n_updates = passes.learn(number, partial(table.show_progress, f"pass {number}"), n_parts, on_part)
            score, scores = passes.scores()
            is_best = score > before.best or not (keep_last or best.exists())
            if number == passes.number if keep_last else is_best:
                passes.save(scores, partial(save_pipeline, path=best))
            table.add(PassReport(number, n_updates, scores, time.perf_counter() - started, is_best))
            n_all, best_score = before.n_updates + n_updates, max(score, before.best)
            before, saved = Finished(number, n_all, best_score, time.process_time() - seconds), time.monotonic()
            state.save(passes, before)
            on_kept(number)
    if before.best <= 0:
        typer.echo(NO_PHRASE, err=True)
    forget(out_dir / STATE)  # more passes would need another learning rate from the beginning
    return before


@contextmanager
def _corpora(out_dir: Path, parts: Mapping[str, Sequence[Tree]]) -> Iterator[dict[str, str]]:
    """Write trees for the time of a training, as spaCy's configs name files; return their paths by part."""
    folder = out_dir / "corpora"
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.mrg" for name in parts}
    try:
        for name, trees in parts.items():
            paths[name].write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
        yield {name: str(path) for name, path in paths.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _use_gpu(gpu: int, config: Config) -> None:
    """Choose the processor or a GPU. Raises IncparseError if there is no such GPU, or no CuPy."""
    from spacy.cli._util import setup_gpu
    from thinc.api import set_gpu_allocator

    try:
        setup_gpu(gpu, silent=True)
        if gpu >= 0 and "transformer" in config["components"]:
            config["system"]["gpu_allocator"] = "pytorch"  # one pool of memory for CuPy and PyTorch
            set_gpu_allocator("pytorch")
    except (ValueError, RuntimeError, AssertionError) as error:  # AssertionError: from a PyTorch for processors only
        raise IncparseError(
            f"--gpu {gpu}: {error}. A GPU needs CUDA, CuPy (such as pip install cupy-cuda12x), and, for an encoder, a "
            f"PyTorch with CUDA"
        ) from None


def neural_config(
    *, encoder: str | None = None, lang: str | None = None, heads: Path | None = None, max_epochs: int | None = None,
    seed: int | None = None, init_tok2vec: Path | None = None, mixed_precision: bool = False, base: str | None = None,
    gpu: int = -1,
) -> Config:  # fmt: skip
    """Return the config of a training run, without the paths of trees.

    encoder: the folder of a pre-trained transformer; None or "none": spaCy's convolutional layer. init_tok2vec: weights
    of that layer, from `spacy pretrain`. mixed_precision: whether the transformer computes partly in half precision,
    which it does on a GPU only. base: a neural pipeline to fine-tune. gpu: as for `train_neural`; on the CPU, half of
    the layers of an encoder of base size stay as they are. Raises ConfigError or ModelError for wrong settings.
    """
    from spacy.util import load_config

    is_pretrained = is_transformer = encoder not in (None, NO_ENCODER)
    if base is not None:  # a transformer's training needs other settings; it is in the names of layers or packages
        is_transformer = "transformer" in str(last_parser(base).get("model")).lower()
    package = Path(spacy_incparse.__file__).parent
    folder = next(root / "configs" for root in (package, package.parent) if (root / "configs").is_dir())
    config = load_config(folder / ("neural_transformer.cfg" if is_transformer else "neural.cfg"))
    if is_pretrained:
        if not has_transformers():
            raise ConfigError(f"an encoder needs more packages: {INSTALL_TRANSFORMERS}")
        _set_encoder(config, str(encoder), on_cpu=gpu < 0)
        config["components"]["transformer"]["model"]["mixed_precision"] = mixed_precision
    if lang:
        blank_pipeline(lang)
        config["nlp"]["lang"] = lang
    if heads is not None:
        config["components"]["incparse_neural"]["heads"] = str(heads)
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


def _set_encoder(config: Config, folder: str, *, on_cpu: bool) -> None:
    from spacy_incparse.neural.encoder import encoder_sizes

    sizes, pieces = encoder_sizes(folder)
    config["paths"]["encoder"] = folder
    model = config["components"]["transformer"]["model"]
    if "type_vocab_size" not in sizes:  # an MPNet
        del model["type_vocab_size"]
    model.update(sizes)
    model["piece_encoder"]["pieces"]["@architectures"] = pieces
    window = min(model["with_spans"]["window"], sizes["model_max_length"])
    model["with_spans"] |= {"window": window, "stride": window * 3 // 4}  # windows overlap by a quarter
    parser = config["components"]["incparse_neural"]
    parser["model"]["tok2vec"]["width"] = sizes["hidden_width"]
    if sizes["hidden_width"] >= _BASE_WIDTH:
        config["training"]["optimizer"]["learn_rate"]["initial_rate"] = 8e-5
        parser["learn_rate_scale"] = 25.0  # so that the layers above learn as fast as on a small encoder
        config["training"]["batcher"]["size"] = 320  # wide layers are faster with more words
        if on_cpu:
            model["with_spans"]["frozen_layers"] = sizes["num_hidden_layers"] // 2


def _check_weights(config: Config, path: Path) -> None:
    """Raise ModelError if a file does not have weights of the config's layer of word vectors."""
    from spacy.util import registry

    layer = registry.resolve({"layer": config["components"]["incparse_neural"]["model"]["tok2vec"]})["layer"]
    try:
        layer.from_bytes(path.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path}: these are no weights of the parser's layer: make them with `spacy pretrain` from its config"
        ) from error


def last_parser(base: str) -> dict[str, Any]:
    """Return the settings of the last parser of a pipeline, without loading it; {}: it has none.

    Raises ModelError if there is no such pipeline.
    """
    from spacy_incparse.pipeline.model import read_components

    parsers = ("incparse", "incparse_combiner", "incparse_neural")
    found = [settings for settings in read_components(find_pipeline(base)) if settings.get("factory") in parsers]
    return found[-1] if found else {}


def _base_pipeline(base: str, config: Config, trees: Sequence[Tree]) -> Language:
    """Return the parser of a trained pipeline with what it needs, ready to learn from trees as a config says.

    The model gets outputs for those labels and tags of the trees that it does not know. The pipeline keeps its own
    components: `config` gives the sections for training, and the paths of its corpora.
    """
    from spacy_incparse.documents.gold import const_score

    nlp, found = open_pipeline(base)
    parser: Any = found
    parser.decoder  # noqa: B018  # raises its error if there are no weights
    if parser.scorer is None:  # each pass would have a score of 0
        parser.scorer = const_score
    bounds = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in ("sentencizer", "incparse_senter")]
    _leave_out_others(nlp, parser, bounds, base)
    if not bounds:
        typer.echo("Sentence boundaries in the new pipeline are learnt from the trees", err=True)
        add_splitter(nlp, trees)
    parser.add_labels_of(trees)
    own, paths = nlp.config, config["paths"]
    own.update({section: config[section] for section in ("training", "corpora")})
    own["training"]["annotating_components"] = bounds or ["senter"]
    own["paths"] = paths | own["paths"] | {name: paths[name] for name in ("train", "dev")}
    own["system"].update(config["system"])
    nlp.config = own
    return nlp


def _leave_out_others(nlp: Language, parser: Any, bounds: Sequence[str], base: str) -> None:
    """Remove the components that the parser does not need, and say so; it needs those for sentence boundaries."""
    needed = [  # the parser, the layer that it listens to, and the splitter
        name
        for name, component in nlp.pipeline
        if component is parser or name in bounds or parser.name in getattr(component, "listening_components", ())
    ]
    left_out = [name for name in nlp.component_names if name not in needed]
    if not left_out:
        return
    typer.echo(f"The new pipeline will not have the components {', '.join(left_out)} of {base}", err=True)
    settings = nlp.config.interpolate()["components"]  # they may refer to those of components that are left out
    has_tags = any("token.tag" in nlp.get_pipe_meta(name).assigns for name in left_out)
    for name in left_out:
        nlp.remove_pipe(name)
    for name in needed:
        nlp.get_pipe_config(name).update({key: value for key, value in settings[name].items() if key != "factory"})
    if has_tags and parser.tags == "doc":
        parser.tags, parser.set_tags = "own", True
        nlp.get_pipe_config(parser.name).update(tags="own", set_tags=True)
