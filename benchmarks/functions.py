"""Measure function tags and empty categories learnt from treebanks, on gold trees and on a pipeline's.

Function tags: F on the phrases that a tree has right (Blaheta & Charniak 2000), and end to end, where label, words and
tag must be right. Empty categories: F of label, type and place, and F of these and the antecedent (Johnson 2002). The
annotator learns from gold trees, repaired by rules except in wsj, and from the trees that the pipeline `--parses` has
for their sentences; of craft beside others, every third stretch of 20. What rules add
to it (`functions.rules.completed`) counts, as in a pipeline. `--output` writes its model: this is how the embedded one
is made,

    python benchmarks/functions.py --learn masc craft --clusters en --keep SBJ LGS PRD NOM --output FILE
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import common
from embedded_sources import repaired, stretches
from results import Table, percent, publish
from saved_pipeline import open_pipeline, sentence_docs, short_name

from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.evaluation.annotations import GROUPS, AnnotationScores
from spacy_incparse.functions.annotator import Annotator
from spacy_incparse.functions.rules import completed
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.linear.words import as_clusters
from spacy_incparse.pipeline.model import FunctionsModel
from spacy_incparse.treebanks.reader import ANNOTATED, normalize, one_top, read_trees
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

SHOWN = ("all", "grammatical", "semantic", "SBJ", "LGS", "PRD", "NOM", "TMP", "LOC")
TABLE = Table(
    "Function tags and empty categories",
    (*(f"{name}{where}" for where in ("", " matched") for name in SHOWN), "empties", "with antecedents"),
)
EN = LanguageTable.find("en")
RULES = {"wsj": None, "craft": "craft"}  # of the others: english


def main(argv: Sequence[str] | None = None) -> None:
    """Train an annotator and write the rows of treebanks."""
    parser = common.argument_parser(__doc__, banks=["wsj"], model="en_accurate")
    parser.add_argument("--learn", nargs="+", default=["wsj"], help="treebanks to learn from")
    parser.add_argument("--parses", default="en", help="the pipeline whose trees are learnt from, too; none: gold only")
    parser.add_argument("--keep", nargs="+", help="function tags to give; without it, all")
    parser.add_argument("--clusters", help="word clusters: a language or a file")
    parser.add_argument("--annotator", type=Path, help="the file of an earlier --output, to measure it again")
    parser.add_argument("--output", type=Path, help="file for the model")
    arguments = parser.parse_args(argv)
    model = FunctionsModel()
    if arguments.annotator:
        model.from_disk(arguments.annotator)
    else:
        model.learnt = learnt(arguments)
    if arguments.output:
        model.to_disk(arguments.output)
    rows, name = {}, "-".join(arguments.learn) + ("-gold" if arguments.parses == "none" else "")
    for bank in arguments.banks:
        gold = gold_trees(arguments, bank, "dev")
        rows[f"functions-{bank}-by-{name}-gold"] = figures(model.learnt, gold, gold)
        rows[f"functions-{bank}-by-{name}-{short_name(arguments.model)}"] = figures(
            model.learnt, gold, parsed(arguments.model, gold)
        )
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def learnt(arguments: argparse.Namespace) -> Annotator:
    """Return an annotator that has learnt from treebanks."""
    trees: list[Tree] = []
    for bank in arguments.learn:
        found = gold_trees(arguments, bank, "train")
        trees += stretches(found, 3, 0) if bank == "craft" and len(arguments.learn) > 1 else found
    parses = [] if arguments.parses == "none" else parsed(arguments.parses, trees)
    return Annotator.train(
        trees, parses, heads=HeadRules.from_name("en"), clusters=as_clusters(arguments.clusters), keep=arguments.keep
    )


def gold_trees(arguments: argparse.Namespace, bank: str, part: str) -> list[Tree]:
    """Return the annotated trees of a part after repair."""
    trees = [one_top(tree) for tree in read_trees(common.part_path(arguments, bank, part))][: arguments.limit]
    rules = RULES.get(bank, "english")
    found = (normalize(tree, ANNOTATED) for tree in (repaired(trees, rules) if rules else trees))
    return [tree for tree in found if tree is not None]


def parsed(model: str, trees: Sequence[Tree]) -> list[Tree]:
    """Return a pipeline's trees for the sentences of trees."""
    nlp = open_pipeline(model, {})
    docs = nlp.pipe(sentence_docs(nlp, [tree.strip_functions() for tree in trees]))
    return [Tree(anchored_trees(doc)[0].tree.arrays) for doc in docs]


def figures(annotator: Annotator, gold: Sequence[Tree], given: Sequence[Tree]) -> list[str]:
    """Return the figures of the table for the annotations of given trees."""
    scores = AnnotationScores()
    for right, tree in zip(gold, given, strict=True):
        scores.add(right, Tree(completed(annotator.annotate(tree).arrays, EN)))
    names = [None if name == "all" else GROUPS.get(name, (name,)) for name in SHOWN]
    counts = [tally.total(some) for tally in (scores.whole, scores.matched) for some in names]
    return [percent(one.f) for one in (*counts, scores.empties.total(), scores.linked.total())]


if __name__ == "__main__":
    main()
