"""Measure the accuracy of trained parsers, and of their combination by the component `incparse_combiner`.

The dev part of a treebank goes through a pipeline with all components of the first of `--models`, the parsers of the
others, each with a copy of the layer that it listens to, and the combiner, with gold tokens and sentence boundaries
and the pipelines' own tags. The probabilities of all parsers count the same unless `--weights` are given. Scores are
EVALB's with COLLINS.prm on all sentences. The gain is that over the best of the parsers, with a paired bootstrap over
sentences: the probability that the combination is not better. Nothing is chosen on the dev part, unless you choose
weights or a threshold by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import common
from gains import N_SAMPLES
from results import Table, percent, publish
from saved_pipeline import open_pipeline, parsed_trees, sentence_docs, short_name
from spacy.language import Language

from spacy_incparse.evaluation.evalb import compare, score_trees
from spacy_incparse.pipeline.loading import find_parser
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Combination of trained parsers",
    ("F", "precision", "recall", "exact", "tags", "F of the parsers", "gain", "p", "words/s"),
)
COMBINER = "incparse_combiner"


def main(argv: Sequence[str] | None = None) -> None:
    """Score a combination and its members on one treebank."""
    parser = common.argument_parser(__doc__, bank="wsj")
    parser.add_argument("--models", nargs="+", required=True, metavar="MODEL", help="two or more pipelines")
    parser.add_argument("--name", help="of the row; default: those of the pipelines")
    parser.add_argument("--weights", type=float, nargs="+", default=[], help="of the parsers; default: 1 each")
    parser.add_argument("--threshold", type=float, default=0.45)
    arguments = parser.parse_args(argv)
    dev = common.read_part(arguments, arguments.bank, "dev")
    nlp, members = combined(arguments.models, arguments.weights, arguments.threshold)
    trees, speed = _parsed(nlp, [*members, COMBINER], dev)
    scores = {name: score_trees(dev, found) for name, found in trees.items()}
    figures = {name: of_part.to_dict() for name, of_part in scores.items()}
    best = max(members, key=lambda name: figures[name]["const_f"])
    found = compare(scores[best], scores[COMBINER], n=N_SAMPLES)
    own = figures[COMBINER]
    name = arguments.name or "-".join(map(short_name, arguments.models))
    cells = [
        *(percent(own[key]) for key in ("const_f", "const_p", "const_r", "const_exact", "tag_acc")),
        ", ".join(percent(figures[member]["const_f"]) for member in members),
        *(f"{100 * (own['const_f'] - figures[best]['const_f']):+.2f}", f"{found.p_value:.4f}", f"{speed:.0f}"),
    ]
    publish(TABLE, {f"combiner-{arguments.bank}-{name}": cells}, common.results_file(arguments), argv=argv)


def combined(models: Sequence[str], weights: Sequence[float], threshold: float) -> tuple[Language, list[str]]:
    """Return the first pipeline with the parsers of the others and a combiner, and the names of all parsers.

    models: names or folders. weights: of the parsers' probabilities; empty: 1 each.
    """
    first, *others = models
    nlp = open_pipeline(first)
    members = [find_parser(nlp, first).name]
    for number, model in enumerate(others, start=2):
        other = open_pipeline(model)
        name = find_parser(other, model).name
        _copy_layers(other, name)
        members.append(name if name not in nlp.pipe_names else f"{name}_{number}")
        nlp.add_pipe(name, name=members[-1], source=other)
    shares = dict(zip(members, weights or [1.0] * len(members), strict=True))
    nlp.add_pipe(COMBINER, config={"members": shares, "search": {"threshold": threshold}})
    return nlp, members


def _copy_layers(nlp: Language, parser: str) -> None:
    """Give a parser a copy of the layer that it listens to, if any, so that it can leave the pipeline."""
    for layer, component in nlp.pipeline:
        if parser in getattr(component, "listening_components", ()):
            nlp.replace_listeners(layer, parser, ["model.tok2vec"])


def _parsed(nlp: Language, parsers: Sequence[str], dev: Sequence[Tree]) -> tuple[dict[str, list[Tree]], float]:
    """Return the trees of each parser, and the words per CPU second of the last one, the combination."""
    found, seconds = {}, 0.0
    for name in parsers:
        with nlp.select_pipes(disable=[other for other in parsers if other != name]):
            docs = sentence_docs(nlp, dev)
            started = time.process_time()
            found[name] = parsed_trees(nlp, docs)
            seconds = time.process_time() - started
    return found, sum(len(tree.words) for tree in dev) / seconds


if __name__ == "__main__":
    main()
