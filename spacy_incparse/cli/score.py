"""`score`: compare parsed trees with gold trees, as EVALB does."""

from __future__ import annotations

from typing import Annotated

import typer

from spacy_incparse.cli.options import EvalbFile, NoTags, OutputFile, keep_inputs, write_json
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, read_params
from spacy_incparse.evaluation.report import report_scores
from spacy_incparse.treebanks.reader import read_trees


def score_command(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Bracket file with the gold trees.")],
    parsed: Annotated[
        str, typer.Argument(metavar="PARSED", help="Bracket file with a parser's trees, in the same order.")
    ],
    parsed2: Annotated[
        str | None, typer.Argument(metavar="[PARSED2]", help="Another parser's trees, for comparison.")
    ] = None,
    prm: EvalbFile = None,
    as_evalb: Annotated[
        bool, typer.Option("--as-evalb", help="Print exactly what the EVALB program prints, including its errors.")
    ] = False,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, metavar="N", help="Test the difference of two parsers on N samples.")
    ] = 0,
    no_tags: NoTags = False,
    output: OutputFile = None,
) -> None:
    """Score parsed trees against gold trees with EVALB's measures.

    The files are compared tree by tree, without normalization, and must have the same words. Without --as-evalb, every
    sentence counts: the gold tags decide what is punctuation on both sides.

    \b
    Examples:
      spacy-incparse score gold.mrg parsed.mrg
      spacy-incparse score gold.mrg mine.mrg theirs.mrg --bootstrap 1000 --output scores.json
    """
    keep_inputs(output, gold, parsed, parsed2, prm)
    gold_trees, parsed_trees, *others = [
        list(read_trees(path, tags=not no_tags)) for path in (gold, parsed, parsed2) if path is not None
    ]
    other_trees = others[0] if others else None
    params = COLLINS if prm is None else read_params(prm)
    try:
        report = report_scores(
            gold_trees, parsed_trees, other_trees, params=params, as_evalb=as_evalb, n_bootstrap=bootstrap
        )
    except IncparseError as error:
        raise IncparseError(f"{', '.join(filter(None, (gold, parsed, parsed2)))}: {error}") from None
    typer.echo(report.format())
    write_json(output, report.to_dict())
