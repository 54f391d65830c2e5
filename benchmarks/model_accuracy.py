"""Measure the accuracy of a trained pipeline, by default the embedded one.

The dev part of a treebank goes through `nlp.pipe` with gold tokens and sentence boundaries and the pipeline's own tags.
Scores are EVALB's with COLLINS.prm on all sentences; the gold tags are put into the finished trees so that every
sentence counts. With `--wide gamma=1e8 beam_size=400`, the parser searches with these settings, and the row's name ends
in `-wide`, or in `-recombined` for `--wide choose=recombined`. With `--rules english`, the gold trees are repaired by
these rules first, and the row's name ends in `-repaired`. `--label WHNP` writes a row for the brackets of this label,
too. With `--doc-sentences 20`, each Doc has so many sentences instead of one, and the row's name ends in
`-docs-20`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, score_docs, sentence_docs, short_name

from spacy_incparse.repair.repair import find_rules, repair_trees

TABLE = Table(
    "Accuracy of a trained pipeline",
    ("F", "precision", "recall", "exact", "tags", "flat", "relaxed", "sentences"),
)

LABELS = Table("Accuracy of one label", ("recall", "precision", "F", "gold brackets", "found brackets"))


def main(argv: Sequence[str] | None = None) -> None:
    """Score one pipeline on treebanks."""
    parser = common.argument_parser(__doc__, banks=["gum"], model="en")
    parser.add_argument(
        "--wide", nargs="+", type=common.search_setting, default=(), metavar="NAME=VALUE", help="settings of the search"
    )
    parser.add_argument("--rules", help="rules that repair the gold trees, such as english")
    parser.add_argument("--label", action="append", default=[], help="a row for this label, too; may be repeated")
    parser.add_argument("--doc-sentences", type=int, default=1, metavar="N", help="of each Doc; default: 1")
    arguments = parser.parse_args(argv)
    settings = dict(arguments.wide)
    nlp = open_pipeline(arguments.model, settings)
    suffix = f"-{settings.get('choose', 'wide')}" if settings else ""
    suffix += f"-docs-{arguments.doc_sentences}" * (arguments.doc_sentences > 1)
    rows, label_rows = {}, {}
    for bank in arguments.banks:
        dev = common.read_part(arguments, bank, "dev")
        if arguments.rules:
            dev, _ = repair_trees(dev, find_rules(arguments.rules))
        scores = score_docs(dev, list(nlp.pipe(sentence_docs(nlp, dev, arguments.doc_sentences))))
        name = f"{bank}{'-repaired' if arguments.rules else ''}-{short_name(arguments.model)}{suffix}"
        rows[f"model-{name}"] = [
            *(percent(scores[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
            *(str(scores[key]) for key in ("flat", "relaxed", "n_sents")),
        ]
        for label in arguments.label:
            label_rows[f"label-{label}-{name}"] = label_cells(scores["per_label"].get(label))
    publish(TABLE, rows, common.results_file(arguments), argv=argv)
    if label_rows:
        publish(LABELS, label_rows, common.results_file(arguments), argv=argv)


def label_cells(found: dict[str, Any] | None) -> list[str]:
    """Return the cells of a row for one label."""
    if found is None:
        return ["-", "-", "-", "0", "0"]
    return [*(percent(found[key]) for key in "rpf"), str(found["n_gold"]), str(found["n_parsed"])]


if __name__ == "__main__":
    main()
