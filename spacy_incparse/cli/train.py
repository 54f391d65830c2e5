"""The command `train`: from bracket files to a pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from spacy_incparse.cli.options import takes
from spacy_incparse.cli.train_neural import TrainingFiles, is_neural_pipeline, train_from_files
from spacy_incparse.cli.train_options import (
    BEST,
    DEFAULT_CONFIG,
    NEURAL,
    STATE,
    Config,
    Encoder,
    Extra,
    ExtraWeight,
    FromModel,
    Gpu,
    Heads,
    InitTok2vec,
    Lang,
    MixedPrecision,
    PassTable,
    Processes,
    ResumeOrStart,
    Start,
    check_base,
    check_options,
)
from spacy_incparse.errors import IncparseError
from spacy_incparse.training.passes import NO_EXTRA, ExtraTrees

if TYPE_CHECKING:
    from spacy_incparse.cli.recipe import Recipe
    from spacy_incparse.parsing.parser import Parser
    from spacy_incparse.tagging.tagger import Tagger
    from spacy_incparse.training.loop import PassReport
    from spacy_incparse.trees.tree import Tree


@takes()
def train_command(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Bracket file, folder or glob to learn from.")],
    dev: Annotated[str, typer.Argument(metavar="DEV", help="Other trees, which choose the best pass.")],
    out_dir: Annotated[
        Path, typer.Argument(metavar="OUT_DIR", file_okay=False, help="Folder for the pipeline (in model-best).")
    ],
    config: Config = None,
    lang: Lang = None,
    heads: Heads = None,
    clusters: str | None = None,
    max_epochs: Annotated[
        int | None, typer.Option("--max-epochs", min=1, metavar="N", help="Passes. Default: the config's, or 10.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Same seed, same model. Default: 0.")] = None,
    encoder: Encoder = None,
    init_tok2vec: InitTok2vec = None,
    gpu: Gpu = -1,
    mixed_precision: MixedPrecision = False,
    from_model: FromModel = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after the last finished pass.")] = False,
    resume_or_start: ResumeOrStart = False,
    force: Annotated[bool, typer.Option("--force", "-F", help="Replace the pipeline in OUT_DIR.")] = False,
    skip_bad: bool = False,
    no_tags: bool = False,
    n_process: Processes = 1,
    extra: Extra = None,
    extra_weight: ExtraWeight = 1.0,
) -> None:
    """Train a spaCy pipeline on your treebank.

    You can use any treebank in Penn brackets; traces and function tags are dropped. The best pass is in
    OUT_DIR/model-best, for spacy.load(). OUT_DIR/state is for --resume, and you can delete it at the end.

    \b
    Examples:
      spacy-incparse train train.mrg dev.mrg out
      spacy-incparse train "de/*.mrg" de-dev.mrg out-de --lang de --max-epochs 15
    """
    from spacy_incparse.cli.recipe import read_recipe

    start = Start(resume=resume, resume_or_start=resume_or_start, force=force)
    neural: dict[str, Any] = {"encoder": encoder, "init_tok2vec": init_tok2vec}
    neural |= {"gpu": gpu, "mixed_precision": mixed_precision}
    others = {"clusters": clusters, "n_process": n_process}
    settings: dict[str, Any] = {"lang": lang, "heads": heads, "max_epochs": max_epochs, "seed": seed}
    is_neural = config == NEURAL if from_model is None else is_neural_pipeline(from_model)
    check_options(neural | others | settings | {"config": config, "from": from_model}, is_neural=is_neural)
    files = TrainingFiles(train, dev, extra, extra_weight, skip_bad=skip_bad, no_tags=no_tags)
    check_base(from_model, out_dir)
    if is_neural:
        return train_from_files(files, out_dir, start, base=from_model, **neural, **settings)
    settings |= {"clusters": clusters, "description": f"trained on {Path(train).name}"}
    recipe = read_recipe(config or DEFAULT_CONFIG, base=from_model, **settings)
    resumes = start.resumes(out_dir, has_state=_can_resume(out_dir, recipe))
    if n_process > 1 and recipe.kind.needs(recipe.parser_config).tag_request is None:
        raise IncparseError(f"--n-process {n_process}: a {recipe.kind.name} parser is trained in one process")
    _check_passes(recipe, extra_weight)
    more = files.read_extra(for_grammar=True)
    train_pipeline(*files.read(for_grammar=True), out_dir, recipe, resume=resumes, n_process=n_process, extra=more)
    typer.echo(f"The pipeline is in {out_dir / BEST}")


def _check_passes(recipe: Recipe, extra_weight: float) -> None:
    """Raise IncparseError if a parser would learn from a part of the extra trees, but is trained in one pass."""
    if extra_weight != 1 and recipe.kind.trains_in_one_pass:
        raise IncparseError(
            f"--extra-weight {extra_weight:g}: a {recipe.kind.name} parser is trained in one pass, on all trees"
        )


def _can_resume(out_dir: Path, recipe: Recipe) -> bool:
    from spacy_incparse.training.state import is_begun

    return is_begun(out_dir / STATE) and not recipe.kind.trains_in_one_pass


def train_pipeline(
    trees: list[Tree],
    dev: list[Tree],
    out_dir: Path,
    recipe: Recipe,
    *,
    resume: bool = False,
    n_process: int = 1,
    extra: ExtraTrees = NO_EXTRA,
) -> None:
    """Train on normalized trees; print a line for each pass and keep the best in `out_dir`.

    Nothing is printed before training starts, so that errors in the arguments are printed alone. Raises IncparseError
    if a training with another language would go on, or all passes are finished and the best one's pipeline is gone.
    """
    from spacy_incparse.cli.recipe import save_pipeline
    from spacy_incparse.training.state import forget

    one_pass, best, state = recipe.kind.trains_in_one_pass, out_dir / BEST, out_dir / STATE
    if resume and one_pass:
        raise IncparseError(f"--resume: a {recipe.kind.name} parser is trained in one pass: there is nothing to resume")
    if resume:
        _check_language(best, recipe.lang)
    if not resume:
        state.mkdir(parents=True, exist_ok=True)  # fails now, not after hours, if it cannot be written
    if notice := recipe.kind.notice(recipe.parser_config, trees):
        typer.echo(notice, err=True)
    table = PassTable(f"{len(trees):,} sentences{extra} to train on, {len(dev):,} to choose the best pass")

    def on_pass(report: PassReport, tagger: Tagger | None, parser: Parser) -> None:
        if report.is_best:
            performance = (report.scores or {}) | {"passes": report.number}
            save_pipeline(recipe.pipeline(tagger, parser, performance), best)
        table.add(report)

    with table.interruptible(resume=resume) as on_kept:
        recipe.train(
            trees,
            dev,
            n_process=n_process,
            extra=extra,
            state_dir=None if one_pass else state,
            resume=resume,
            has_best=best.exists(),
            on_pass=on_pass,
            on_kept=on_kept,
            progress=table.show_progress,
        )
    if one_pass:
        forget(state)  # of an older training: --resume would replace this pipeline by the older one
    if not best.exists():
        raise IncparseError(
            f"all {recipe.max_epochs} passes are finished, but their pipeline is no longer in {best}:"
            " continue with a higher --max-epochs, or start again without --resume"
        )


def _check_language(pipeline: Path, lang: str) -> None:
    """Raise IncparseError if a training would go on with another tokenizer than that of its pipeline, if any."""
    try:
        known = srsly.read_json(pipeline / "meta.json")["lang"]
    except (OSError, ValueError, TypeError, KeyError):  # no pipeline, or a damaged one, which will be replaced
        return
    if known != lang:
        raise IncparseError(
            f"--resume: the training was begun with the language {known!r}, not {lang!r}: pass --lang {known}, or "
            f"start again without --resume"
        )
