"""Measure how reliable the confidence of a trained pipeline's trees and phrases is.

The dev part of a treebank goes through `nlp.pipe` with gold tokens and sentence boundaries and the pipeline's own tags.
A tree is right if it has exactly the phrases of the gold tree; a phrase is right if the gold tree has it. Roots do not
count as phrases. The error is the expected calibration error over ten bins. The temperature is the model's, and nothing
is fitted here; `--temperature 1` shows what another one does to a component `incparse`
(`calibration-BANK-MODEL-temperature-1`).
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, sentence_docs, short_name

from spacy_incparse.documents.doc_tree import score_confidence
from spacy_incparse.pipeline.loading import find_parser

TABLE = Table(
    "Confidence",
    (
        "error, trees", "error, phrases", "trees: mean confidence", "trees right", "phrases: mean confidence",
        "phrases right", "temperature", "sentences", "phrases",
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline on treebanks."""
    parser = common.argument_parser(__doc__, banks=["gum"], model="en")
    parser.add_argument("--temperature", type=float, help="instead of the model's")
    arguments = parser.parse_args(argv)
    nlp = open_pipeline(arguments.model)
    component = find_parser(nlp, arguments.model)
    if arguments.temperature:
        component.model.temperature = arguments.temperature
    suffix = f"-temperature-{arguments.temperature:g}" if arguments.temperature else ""
    rows = {}
    for bank in arguments.banks:
        dev = common.read_part(arguments, bank, "dev")
        scores = score_confidence(dev, nlp.pipe(sentence_docs(nlp, dev)))
        if scores is None:
            continue
        rows[f"calibration-{bank}-{short_name(arguments.model)}{suffix}"] = [
            *(percent(found.error) for found in (scores.trees, scores.phrases)),
            *(percent(figure) for found in (scores.trees, scores.phrases) for figure in (found.mean, found.right)),
            f"{component.decoder.temperature:.4g}",
            *(str(found.n) for found in (scores.trees, scores.phrases)),
        ]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


if __name__ == "__main__":
    main()
