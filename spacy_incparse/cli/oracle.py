"""`oracle`: measure what n-best lists hold, and how far the parser's probabilities can be trusted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_incparse.cli.options import (
    EvalbFile,
    GoldTags,
    NoTags,
    OutputFile,
    SkipBad,
    keep_inputs,
    open_pipeline,
    open_treebank,
    read_numbers,
    write_json,
)
from spacy_incparse.cli.progress import progress_bar
from spacy_incparse.cli.tree_sentences import tree_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.oracle import Oracle, OracleReport
from spacy_incparse.evaluation.params import COLLINS, EvalbParams, read_params
from spacy_incparse.parsers.nbest import N_ANALYSES, probabilities
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_files import read_lists
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.pipeline.tree_pipe import TreePipe

SIZES = "1,2,5,10,20,50"


def oracle_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|LISTS", help="A pipeline: embedded (en), installed, or a folder; or a file of n-best lists."
        ),
    ],
    treebank: Annotated[
        str | None,
        typer.Argument(
            metavar="[TREEBANK]", help="Bracket file, folder or glob with the gold trees. Optional if LISTS has them."
        ),
    ] = None,
    n: Annotated[
        str, typer.Option("--n", "-n", metavar="N,N,...", help="The numbers of trees to choose from.")
    ] = SIZES,
    gold_tags: GoldTags = False,
    prm: EvalbFile = None,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    output: OutputFile = None,
) -> None:
    """Measure n-best lists: the F of the best tree of each list, which no reranker can exceed.

    The lists come from a pipeline, which parses the treebank's sentences, or from a file, also of another parser (JSON
    lines, brackets with scores, lists of BLLIP). For each n, the table has the F of the oracle, which chooses the best
    of the first n trees, the mean rank of these trees, the share of lists that contain the gold tree, and the mean
    length of the lists. The second table shows how often the first tree is right, by its probability.

    \b
    Examples:
      spacy-incparse oracle en dev.mrg
      spacy-incparse oracle out/model-best dev.mrg --n 1,10,100 --output oracle.json
      spacy-incparse oracle lists.jsonl.gz dev.mrg
    """
    sizes = sorted(read_numbers("--n", n, example=SIZES))
    keep_inputs(output, treebank, prm, source if os.path.isfile(source) else None)
    params = COLLINS if prm is None else read_params(prm)
    settings: dict[str, Any] = {"source": source, "treebank": treebank, "gold_tags": gold_tags}
    if os.path.isfile(source):
        report = _of_file(source, treebank, sizes, params, gold_tags=gold_tags, skip_bad=skip_bad, no_tags=no_tags)
        typer.echo(report.format())
    else:
        from spacy_incparse.documents.live_parsers import deciding_parser

        trees = _gold_trees(source, treebank, sizes, gold_tags=gold_tags, skip_bad=skip_bad, no_tags=no_tags)
        nlp, parser = open_pipeline(source)
        settings["temperature"] = deciding_parser(nlp).decoder.temperature
        report = measure(model_lists(nlp, parser, trees, sizes[-1], gold_tags=gold_tags), sizes, params, len(trees))
        typer.echo(report.format())
        if report.n_lists < len(trees):
            n_left_out = f"{len(trees) - report.n_lists:,} of {len(trees):,} sentences"
            typer.echo(f"left out because a word is whitespace: {n_left_out}", err=True)
    write_json(output, settings | report.to_dict())


def measure(
    lists: Iterable[tuple[CandidateList, float | None]],
    sizes: Sequence[int],
    params: EvalbParams = COLLINS,
    n_lists: int | None = None,
) -> OracleReport:
    """Return the oracle's figures of lists with gold trees, with a progress bar.

    lists: each with the probability of its first tree, if it is known. n_lists: the number of lists, if known.

    Raises IncparseError if a list has no gold tree.
    """
    oracle = Oracle(sizes, params)
    with progress_bar(total=n_lists, unit=" lists") as progress:
        for number, (found, probability) in enumerate(lists, start=1):
            if found.gold is None:
                raise IncparseError(
                    f"list {number} has no gold tree: also name the treebank, as in oracle LISTS TREEBANK"
                )
            oracle.add(found.gold, [parse.tree for parse in found.parses], probability)
            progress.update()
    return oracle.report()


def model_lists(
    nlp: Language, component: TreePipe, trees: Sequence[Tree], n: int, *, gold_tags: bool = False
) -> Iterator[tuple[CandidateList, float | None]]:
    """Yield the n-best lists of a pipeline for the sentences of normalized trees, except those with a blank word.

    Each has the probability of its first tree among the trees of one search, as on a Doc, if there is a temperature. If
    the pipeline has a reranker, the lists are in its order.
    """
    from spacy_incparse.documents.live_parsers import deciding_parser

    analyser = deciding_parser(nlp)
    with tree_sentences(nlp, component, trees, gold_tags=gold_tags, analyser=analyser) as sentences:
        for tree, sentence in zip(trees, sentences, strict=True):
            if sentence is not None:
                parses, temperature = analyser.nbest_parses(sentence, None), analyser.decoder.temperature
                probability = _first_probability(parses, temperature) if temperature else None
                if len(parses) < n and analyser is component:  # a reranker has no more than it chooses from
                    parses = analyser.nbest_parses(sentence, n)
                yield CandidateList(tuple(parses), temperature or 1.0, tree), probability


def _of_file(
    source: str,
    treebank: str | None,
    sizes: Sequence[int],
    params: EvalbParams,
    *,
    gold_tags: bool,
    skip_bad: bool,
    no_tags: bool,
) -> OracleReport:
    if gold_tags:
        raise IncparseError(f"--gold-tags needs a pipeline: the lists of {source} are already parsed")
    gold = None if treebank is None else open_treebank(treebank, skip_bad=skip_bad, no_tags=no_tags)
    lists = ((found, _first_probability(found.parses, found.temperature)) for found in read_lists(source, gold))
    return measure(lists, sizes, params, None if gold is None else len(gold))


def _gold_trees(
    source: str, treebank: str | None, sizes: Sequence[int], *, gold_tags: bool, skip_bad: bool, no_tags: bool
) -> list[Tree]:
    if treebank is None:
        raise IncparseError(
            f"{source!r} is no file of n-best lists, so name a treebank to parse: oracle MODEL TREEBANK"
        )
    if gold_tags and no_tags:
        raise IncparseError("--gold-tags and --no-tags exclude each other")
    if sizes[-1] > N_ANALYSES:
        raise IncparseError(f"--n {sizes[-1]}: a pipeline's lists have at most {N_ANALYSES} trees")
    return open_treebank(treebank, skip_bad=skip_bad, no_tags=no_tags)


def _first_probability(parses: Sequence[Parse], temperature: float) -> float | None:
    """Return the probability of the first tree; None if the parser failed."""
    if parses[0].source == "flat":
        return None
    return probabilities([parse.score for parse in parses], temperature)[0]
