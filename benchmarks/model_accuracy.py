"""Measure the accuracy of a trained pipeline, by default the embedded one.

The dev part of a treebank goes through `nlp.pipe` with gold tokens and sentence boundaries and the pipeline's own tags.
Scores are EVALB's with COLLINS.prm on all sentences; the gold tags are put into the finished trees so that every
sentence counts. With `--wide gamma=1e8 beam_size=400`, the parser searches with these settings, and the row's name ends
in `-wide`, or in `-recombined` for `--wide choose=recombined`.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, score_docs, sentence_docs, short_name

TABLE = Table(
    "Accuracy of a trained pipeline",
    ("F", "precision", "recall", "exact", "tags", "flat", "relaxed", "sentences"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Score one pipeline on treebanks."""
    parser = common.argument_parser(__doc__, banks=["gum"], model="en")
    parser.add_argument(
        "--wide", nargs="+", type=common.search_setting, default=(), metavar="NAME=VALUE", help="settings of the search"
    )
    arguments = parser.parse_args(argv)
    settings = dict(arguments.wide)
    nlp = open_pipeline(arguments.model, settings)
    suffix = f"-{settings.get('choose', 'wide')}" if settings else ""
    rows = {}
    for bank in arguments.banks:
        dev = common.read_part(arguments, bank, "dev")
        scores = score_docs(dev, list(nlp.pipe(sentence_docs(nlp, dev))))
        rows[f"model-{bank}-{short_name(arguments.model)}{suffix}"] = [
            *(percent(scores[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
            *(str(scores[key]) for key in ("flat", "relaxed", "n_sents")),
        ]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


if __name__ == "__main__":
    main()
