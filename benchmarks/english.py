"""Measure pipelines on the English people write: the trees of tests/english, by construction.

Each of `seen` (the default) and `unseen` goes through `nlp.pipe` with its words and sentences, and each pipeline's own
tags. Scores are EVALB's with COLLINS.prm; a construction has three or four sentences a part, so that only the rows of a
whole part are written. Nothing may be chosen by the trees of `unseen`: measure them once a pipeline is finished.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, parsed_trees, sentence_docs, short_name

from spacy_incparse.data import embedded_names
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.summaries import Summary
from spacy_incparse.treebanks.reader import read_treebank

TABLE = Table("Accuracy by construction", ("F", "exact", "tags", "sentences"))
TREES = common.CHECKOUT / "tests" / "english"
HEADING = "# construction: "


def main(argv: Sequence[str] | None = None) -> None:
    """Score pipelines on the parts, and print a table of each."""
    parser = common.argument_parser(__doc__)
    parser.add_argument("parts", nargs="*", default=["seen"], metavar="seen|unseen", help="default: seen")
    text = "embedded pipelines' names or folders; default: all embedded ones"
    parser.add_argument("--models", nargs="+", default=embedded_names(), help=text)
    arguments = parser.parse_args(argv)
    pipelines = {short_name(model): open_pipeline(model) for model in arguments.models}
    rows = {}
    for part in arguments.parts:
        path = TREES / f"{part}.mrg"
        trees = read_treebank(path)[: arguments.limit]
        lines = path.read_text(encoding="utf8").splitlines()
        names = [line.removeprefix(HEADING) for line in lines if line.startswith(HEADING)][: arguments.limit]
        table = {name: [f"{name} ({names.count(name)})"] for name in names}
        for model, nlp in pipelines.items():
            scores = score_trees(trees, parsed_trees(nlp, sentence_docs(nlp, trees)))
            rows[f"english-{part}-{model}"] = [
                *map(percent, (scores.all.f, scores.all.exact, scores.all.tag_accuracy)),
                str(scores.all.n_sents),
            ]
            for name, cells in table.items():
                found = Summary.of(s for s, own in zip(scores.per_sentence, names, strict=True) if own == name)
                cells.append(f"{percent(found.f)} / {found.n_exact}")
        header = [f"{part}: F / exact", *pipelines]
        for cells in [header, ["---"] * len(header), *table.values()]:
            print("|", " | ".join(cells), "|", flush=True)
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


if __name__ == "__main__":
    main()
