"""The command `rerank-train`: from a pipeline with a parser to one with a reranker behind it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typer import Argument, Option, echo

from spacy_incparse.cli.options import keep_inputs, one_of, open_pipeline, open_treebank, takes, write_json
from spacy_incparse.cli.train import check_replaceable, is_free
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.pipeline.tree_pipe import TreePipe
    from spacy_incparse.rerank.reranker import Reranker
    from spacy_incparse.rerank.training import RerankReport
    from spacy_incparse.training.settings import ParserRecipe

_N_PASSES = 10  # of a parser whose pipeline does not say how many it was trained for, at most


@takes(
    pipeline=Argument(metavar="PIPELINE", help="The parser: a trained pipeline."),
    train=Argument(metavar="TRAIN", help="The trees that the parser was trained on."),
    dev=Argument(metavar="DEV", help="Other trees, to measure the gain on."),
    out=Argument(metavar="OUT", file_okay=False, help="Folder for the new pipeline."),
    loss=one_of(
        "risk log boost log-greedy perceptron", "--loss", several=True,
        help="What is learned: risk is expected F. Of several, the best is taken.",
    ),
    n=Option("--n", min=2, max=100, help="Trees of each sentence to choose from."),
    folds=Option("--folds", min=2, help="Parts of TRAIN, each parsed by its own parser."),
    with_scores=Option("--with", metavar="A,B", help="Other scores: generative (default), chart."),
    families=Option("--families", metavar="A,B", help="Families of features. Of several choices, the best is taken."),
    choose=one_of("score expected_f", "--choose", help="How a tree is chosen. Default: the better way."),
    passes=Option("--passes", min=1, help="Passes of the parsers. Default: those of PIPELINE."),
    n_process=Option("--n-process", min=1, help="Processes. Default: one for each core."),
    work=Option("--work", file_okay=False, help="Folder for the lists. Default: OUT.lists."),
    force=Option("--force", "-F", help="Replace the pipeline in OUT."),
)  # fmt: skip
def rerank_train_command(
    pipeline: str, train: str, dev: str, out: Path, loss: list[str] = ["risk"], n: int = 20, folds: int = 10,  # noqa: B006  typer copies it
    with_scores: str | None = None, families: list[str] | None = None, choose: str | None = None,
    passes: int | None = None, n_process: int | None = None, work: Path | None = None, force: bool = False,
    skip_bad: bool = False, no_tags: bool = False, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Train a reranker, which chooses among the best trees of a parser.

    The parser is trained anew on parts of TRAIN, because a reranker has to learn from trees of a parser that has not
    seen the sentences. The lists of finished parts are kept in OUT.lists: the same command continues after them, and
    you can delete them at the end. OUT is for spacy.load(): PIPELINE with a component incparse_reranker.

    \b
    Examples:
      spacy-incparse rerank-train parser/model-best train.mrg dev.mrg reranked
      spacy-incparse rerank-train parser/model-best train.mrg dev.mrg boosted --loss boost --work reranked.lists
    """
    from spacy_incparse.cli.recipe import save_pipeline
    from spacy_incparse.documents.live_parsers import components_of
    from spacy_incparse.rerank.list_folders import TrainingLists
    from spacy_incparse.rerank.training import learn_reranker

    keep_inputs(None, train, dev)
    work = work or out.with_name(f"{out.name}.lists")
    for folder in (out, work):
        check_writable(folder)
    check_replaceable(out)
    if not (force or is_free(out)):
        raise IncparseError(f"there is already something in {out}: name another folder, or replace it with --force")
    settings = _settings(loss, n, choose, families, with_scores)
    trees = open_treebank(train, skip_bad=skip_bad, for_grammar=True, no_tags=no_tags, dialect=dialect)
    held_out = open_treebank(dev, skip_bad=skip_bad, no_tags=no_tags, dialect=dialect)
    nlp, parser = open_pipeline(pipeline)
    for old in [component.name for component in components_of(nlp) if component.is_reranker]:
        nlp.remove_pipe(old)
    component: Any = nlp.add_pipe("incparse_reranker", after=parser.name, config={"training": settings})
    _make_lists(trees, parser_recipe(nlp, parser, passes), work, settings, folds, n_process or os.cpu_count() or 1)
    reranker = learn_reranker(TrainingLists(work), parser.decoder.model_parser.heads, settings, echo)
    report = _measured(reranker, parser, held_out)
    component.model.learnt = reranker
    nlp.meta["performance"] = dict(nlp.meta.get("performance", {})) | report.reranked.to_dict()
    save_pipeline(nlp, out)
    echo(f"\n{report.format()}\nThe pipeline is in {out}")
    write_json(output, {"pipeline": pipeline, "train": train, "dev": dev} | settings | report.to_dict())


def _settings(
    loss: Sequence[str], n: int, choose: str | None, families: Sequence[str] | None, with_scores: str | None
) -> dict[str, Any]:
    """Return the settings of training that were given as options. Raises ConfigError for scores of a wrong name."""
    from spacy_incparse.rerank.data import SECOND_SCORES
    from spacy_incparse.rerank.learner import find_learner
    from spacy_incparse.rerank.training import DEFAULT_SCORES, check_reranking

    names = list(map(str, loss))
    unweighted = [name for name in names if not find_learner(name).WEIGHS_SCORES]
    scores = [] if unweighted else list(DEFAULT_SCORES)
    if with_scores is None and 0 < len(unweighted) < len(names):
        left_out = " and ".join(DEFAULT_SCORES)
        echo(f"{', '.join(unweighted)} cannot weigh the {left_out} score: all losses learn without it")
    elif with_scores is not None:
        scores = [name for name in with_scores.split(",") if name and with_scores != "none"]
        for name in scores:
            check_choice("--with", name, tuple(SECOND_SCORES))
    loss = names if len(names) > 1 else names[0]
    settings: dict[str, Any] = {"loss": loss, "scores": scores, "n": n, "choose": choose and str(choose)}
    if families:
        choices = [[name for name in names.split(",") if name] for names in families]
        settings["families"] = choices if len(choices) > 1 else choices[0]
    check_reranking(settings)
    return settings


def parser_recipe(nlp: Language, parser: TreePipe, passes: int | None = None) -> ParserRecipe:
    """Return how a pipeline's parser was trained, from its settings; `passes` overrides their number.

    Raises IncparseError for a component that parsers like it cannot be trained for: a neural one, or a combiner.
    """
    from spacy_incparse.pipeline.parser import IncParser
    from spacy_incparse.training.settings import ParserRecipe, parser_config

    if not isinstance(parser, IncParser):
        raise IncparseError(
            f"the trees come from the component {parser.name!r}, but rerank-train has to train a parser for each part "
            f"of the treebank, and can only do so for an 'incparse'"
        )
    model, config = parser.decoder.model_parser, cast("dict[str, Any]", nlp.config.get("training", {}))
    trained_for = nlp.meta.get("performance", {}).get("passes") or config.get("max_epochs") or _N_PASSES
    return ParserRecipe(
        kind=model.kind,
        config=getattr(model, "config", None) or parser_config(parser.training | dict(parser.search)),
        heads=model.heads,
        n_tag_folds=parser.training["n_folds"],
        tagger_settings=parser.training["tagger"],
        seed=parser.training["seed"],
        n_passes=passes or trained_for,
        search=dict(parser.search),
    )


def _make_lists(
    trees: Sequence[Tree], recipe: ParserRecipe, work: Path, settings: Mapping[str, Any], n_folds: int, n_process: int
) -> None:
    """Make the lists of all folds, with a line for each. settings: of the reranker's training."""
    from spacy_incparse.rerank.list_folders import make_lists

    passes = "1 pass" if recipe.n_passes == 1 else f"{recipe.n_passes} passes"
    echo(f"{len(trees):,} sentences in {n_folds} folds, {recipe.kind} parsers, {passes}")
    n_done = 0
    made = {"n_folds": n_folds, "n": settings["n"], "scores": settings["scores"]}
    try:
        for report in make_lists(trees, recipe, work, **made, n_process=n_process):
            n_done += 1
            what = "finished before"
            if report.seconds:
                what = f"{report.mean_length:.1f} trees each, parser F {100 * report.f:.2f}, "
                what += f"best trees {100 * report.oracle_f:.2f}, {report.seconds:.0f} seconds"
            echo(f"  fold {report.number}: {report.n_sentences:,} sentences, {what}")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{n_done} folds are finished, the same command continues after them") from None


def _measured(reranker: Reranker, parser: TreePipe, trees: Sequence[Tree]) -> RerankReport:
    """Fit the temperature on lists of held-out trees, and score the choices from them."""
    # The parser's lists of the sentences of trees, as the reranker gets them.
    from spacy_incparse.rerank.lists import CandidateList
    from spacy_incparse.rerank.reranker import base_temperature, candidate_search
    from spacy_incparse.rerank.training import fit_reranker_temperature, rerank_report
    from spacy_incparse.training.preparation import tags_of

    decoder = parser.decoder
    tags = tags_of(decoder.tagger, decoder.parser.tag_request, trees)
    search, n = candidate_search(decoder.nbest_search, reranker), reranker.config.n
    found = [search.analyses(tree.words, row, n=n) for tree, row in zip(trees, tags, strict=True)]
    temperature = base_temperature(reranker, decoder.model_parser)
    lists = [CandidateList(tuple(parses), temperature, tree) for parses, tree in zip(found, trees, strict=True)]
    reranker.temperature = fit_reranker_temperature(reranker, lists)
    return rerank_report(reranker, lists)
