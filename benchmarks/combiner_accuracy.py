"""Measure the accuracy of two trained parsers, and of their combination by the component `incparse_combiner`.

The dev part of a treebank goes through a pipeline with the components of `--model`, a neural parser, followed by
`incparse` of `--linear` and the combiner, with gold tokens and sentence boundaries and the pipelines' own tags. Weights
are 1 unless `--weight` says how much the first one's probabilities count. Scores are EVALB's with COLLINS.prm on all
sentences. The gain is that over the better one of the two, with a paired bootstrap over sentences: the probability that
the combination is not better. Nothing is chosen on the dev part, unless you choose a weight or a threshold by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import common
from gains import N_SAMPLES
from results import Table, percent, publish
from saved_pipeline import open_pipeline, parsed_trees, sentence_docs, short_name
from spacy.language import Language

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.significance import compare
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Combination of a neural and a linear parser",
    ("F", "precision", "recall", "exact", "tags", "F of the neural", "F of the linear", "gain", "p", "words/s"),
)
PARSERS = ("incparse_chart", "incparse", "incparse_combiner")


def main(argv: Sequence[str] | None = None) -> None:
    """Score a combination and its members on one treebank."""
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.add_argument("--model", required=True, metavar="FOLDER", help="a pipeline with incparse_chart")
    parser.add_argument("--linear", required=True, metavar="FOLDER", help="a pipeline with incparse")
    parser.add_argument("--name", help="of the row; default: those of the folders")
    parser.add_argument("--weight", type=float, default=1.0, help="of the neural parser; default: 1")
    parser.add_argument("--threshold", type=float, default=0.45)
    arguments = parser.parse_args(argv)
    dev = common.read_part(arguments, arguments.bank, "dev")
    nlp = combined(arguments.model, arguments.linear, arguments.weight, arguments.threshold)
    trees, speed = _parsed(nlp, dev)
    scores = {name: score_trees(dev, found) for name, found in trees.items()}
    best = max(PARSERS[:2], key=lambda name: scores[name].to_dict()["const_f"])
    found = compare(scores[best], scores["incparse_combiner"], n=N_SAMPLES)
    figures = {name: of_part.to_dict() for name, of_part in scores.items()}
    own = figures["incparse_combiner"]
    name = arguments.name or f"{short_name(arguments.model)}-{short_name(arguments.linear)}"
    cells = [
        *(percent(own[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
        *(percent(figures[member]["const_f"]) for member in PARSERS[:2]),
        *(f"{100 * (own['const_f'] - figures[best]['const_f']):+.2f}", f"{found.p_value:.4f}", f"{speed:.0f}"),
    ]
    publish(TABLE, {f"combiner-{arguments.bank}-{name}": cells}, common.results_file(arguments), argv=argv)


def combined(neural: str, linear: str, weight: float, threshold: float) -> Language:
    """Return the first pipeline with the parser of the second one and a combiner."""
    nlp = open_pipeline(neural)
    nlp.add_pipe("incparse", source=open_pipeline(linear))
    settings = {"members": {"incparse_chart": weight, "incparse": 1.0}, "search": {"threshold": threshold}}
    nlp.add_pipe("incparse_combiner", config=settings)
    return nlp


def _parsed(nlp: Language, dev: Sequence[Tree]) -> tuple[dict[str, list[Tree]], float]:
    """Return the trees of each member and of the combination, and the words per CPU second of the combination."""
    found, seconds = {}, 0.0
    for name in PARSERS:
        with nlp.select_pipes(disable=[other for other in PARSERS if other != name]):
            docs = sentence_docs(nlp, dev)
            started = time.process_time()
            found[name] = parsed_trees(nlp, docs)
            seconds = time.process_time() - started
    return found, sum(len(tree.words) for tree in dev) / seconds


if __name__ == "__main__":
    main()
