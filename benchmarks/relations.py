"""Measure grammatical relations and dependencies on dev parts: from gold trees and from a pipeline's trees.

Gold relations are read off gold trees with their functions and traces; modifiers do not count. A relation is right if
verb, name and head are. It is nonlocal if it is understood in the gold tree. Nothing is trained: what the trees lack is
found by rules, so that the rows of gold trees (`relations-BANK-rules`) say what the rules can do. With `--functions`, a
model finds functions and empty categories first; its name is part of those of the rows. `--dependencies` compares with
GUM's own dependencies instead, from its trees with functions and from the pipeline's trees; punctuation does not count,
and the labels have their subtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, sentence_docs, short_name

from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.functions.dependencies import Dependency
from spacy_incparse.functions.relations import MODIFIER, RELATIONS
from spacy_incparse.functions.rules import completed
from spacy_incparse.functions.scoring import NONLOCAL, RelationScores, aligned, read_conllu
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.pipeline.model import FunctionsModel
from spacy_incparse.treebanks.reader import ANNOTATED, read_treebank
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree

NAMES = [name for name in RELATIONS if name != MODIFIER]
TABLE = Table(
    "Grammatical relations", ("F", "precision", "recall", "nonlocal recall", *NAMES, "relations", "nonlocal relations")
)
DEPENDENCIES = Table("Dependencies", ("UAS", "LAS", "words"))
EN = LanguageTable.find("en")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the rows of treebanks, or those of GUM's dependencies."""
    parser = common.argument_parser(__doc__, banks=["wsj"], model="en_accurate")
    parser.add_argument("--dependencies", action="store_true", help="measure the dependencies of gum")
    parser.add_argument("--functions", type=Path, help="a model of benchmarks/functions.py, to use beside the rules")
    arguments = parser.parse_args(argv)
    annotator = FunctionsModel().from_disk(arguments.functions).learnt if arguments.functions else None
    nlp = open_pipeline(arguments.model, {})
    name, rows = short_name(arguments.model), {}
    for bank in ["gum"] if arguments.dependencies else arguments.banks:
        path = common.part_path(arguments, bank, "dev")
        gold = read_treebank(path, steps=ANNOTATED)[: arguments.limit]
        docs = nlp.pipe(sentence_docs(nlp, [tree.strip_functions() for tree in gold]))
        parsed = [anchored_trees(doc)[0].tree.arrays for doc in docs]
        if arguments.dependencies:
            file = path.with_name("dev.conllu.gz")
            known = aligned(read_conllu(file), gold, file)
            rows["dependencies-gum-gold"] = attachment([tree.arrays for tree in gold], known)
            rows[f"dependencies-gum-{name}"] = attachment(parsed, known)
        else:
            plain = [replace(tree.arrays, annotation=None) for tree in gold]
            if annotator is not None:
                plain, parsed = (
                    [completed(annotator.annotate(Tree(one)).arrays, EN) for one in some] for some in (plain, parsed)
                )
            how = f"-{arguments.functions.stem}" if annotator else ""
            rows[f"relations-{bank}{how or '-rules'}"] = agreement(gold, plain)
            rows[f"relations-{bank}-{name}{how}"] = agreement(gold, parsed)
    publish(DEPENDENCIES if arguments.dependencies else TABLE, rows, common.results_file(arguments), argv=argv)


def agreement(gold: Sequence[Tree], found: Sequence[TreeArrays]) -> list[str]:
    """Return the cells of a row of `TABLE` for trees, compared with the gold trees of the same sentences."""
    scores = RelationScores(EN)
    for tree, arrays in zip(gold, found, strict=True):
        scores.add(tree.arrays, arrays)
    whole, nonlocal_ = scores.relations.total(), scores.places.total([NONLOCAL])
    cells = [whole.f, whole.precision, whole.recall, nonlocal_.recall]
    cells += [scores.relations.total([name]).f for name in NAMES]
    return [*map(percent, cells), str(whole.n_gold), str(nonlocal_.n_gold)]


def attachment(trees: Sequence[TreeArrays], known: Sequence[Sequence[Dependency]]) -> list[str]:
    """Return the cells of a row of `DEPENDENCIES`."""
    scores = RelationScores(EN)
    for arrays, gold in zip(trees, known, strict=True):
        scores.add_dependencies(gold, arrays)
    counts = scores.attached["UAS"]
    return [percent(counts.f), percent(scores.attached["LAS"].f), str(counts.n_gold)]


if __name__ == "__main__":
    main()
