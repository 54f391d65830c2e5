"""Measure grammatical relations and dependencies on dev parts: from gold trees and from a pipeline's trees.

Gold relations are read off gold trees with their functions and traces; modifiers do not count. A relation is right if
verb, name and head are. It is nonlocal if it is understood in the gold tree. Nothing is trained: what the trees lack is
found by rules, so that the rows of gold trees (`relations-BANK-rules`) say what the rules can do. `--dependencies`
compares with GUM's own dependencies instead, from its trees with functions and from the pipeline's trees; punctuation
does not count, and the labels have their subtypes.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, sentence_docs, short_name

from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.functions.dependencies import Dependency, dependencies
from spacy_incparse.functions.relations import MODIFIER, RELATIONS, Relation, read_relations
from spacy_incparse.functions.rules import with_rules
from spacy_incparse.functions.tables import LanguageTable
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
    arguments = parser.parse_args(argv)
    nlp = open_pipeline(arguments.model, {})
    name, rows = short_name(arguments.model), {}
    for bank in ["gum"] if arguments.dependencies else arguments.banks:
        path = common.part_path(arguments, bank, "dev")
        gold = read_treebank(path, steps=ANNOTATED)[: arguments.limit]
        docs = nlp.pipe(sentence_docs(nlp, [tree.strip_functions() for tree in gold]))
        parsed = [anchored_trees(doc)[0].tree.arrays for doc in docs]
        if arguments.dependencies:
            known = gold_dependencies(path.with_name("dev.conllu.gz"))[: len(gold)]
            rows["dependencies-gum-gold"] = attachment([tree.arrays for tree in gold], known)
            rows[f"dependencies-gum-{name}"] = attachment(parsed, known)
        else:
            plain = [replace(tree.arrays, annotation=None) for tree in gold]
            rows[f"relations-{bank}-rules"] = agreement(gold, plain)
            rows[f"relations-{bank}-{name}"] = agreement(gold, parsed)
    publish(DEPENDENCIES if arguments.dependencies else TABLE, rows, common.results_file(arguments), argv=argv)


Key = tuple[int, str, int]


def keyed(relations: Iterable[Relation]) -> dict[Key, bool]:
    """Return verb, name and head of relations, each with whether it is understood."""
    return {(one.verb, one.relation, one.head): one.understood for one in relations if one.relation != MODIFIER}


def agreement(gold: Sequence[Tree], found: Sequence[TreeArrays]) -> list[str]:
    """Return the cells of a row of `TABLE` for trees, compared with the gold trees of the same sentences."""
    n_gold, n_found, n_right, n_nonlocal, n_nonlocal_right = Counter(), Counter(), Counter(), 0, 0
    for tree, arrays in zip(gold, found, strict=True):
        known, own = keyed(read_relations(tree.arrays, EN)), keyed(read_relations(with_rules(arrays, EN), EN))
        n_gold.update(name for _, name, _ in known)
        n_found.update(name for _, name, _ in own)
        n_right.update(name for _, name, _ in known.keys() & own.keys())
        n_nonlocal += sum(known.values())
        n_nonlocal_right += sum(is_understood for key, is_understood in known.items() if key in own)
    right, all_gold, all_found = n_right.total(), n_gold.total(), n_found.total()
    cells = [2 * right / (all_gold + all_found), right / all_found, right / all_gold, n_nonlocal_right / n_nonlocal]
    cells += [2 * n_right[name] / max(1, n_gold[name] + n_found[name]) for name in NAMES]
    return [*map(percent, cells), str(all_gold), str(n_nonlocal)]


def gold_dependencies(path: Path) -> list[list[tuple[int, str]]]:
    """Return head and label of each word of each sentence of a CoNLL-U file; the head of a root is -1."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        blocks = file.read().strip().split("\n\n")
    rows = [[line.split("\t") for line in block.splitlines() if line[:1].isdigit()] for block in blocks]
    return [[(int(row[6]) - 1, row[7]) for row in sentence if row[0].isdigit()] for sentence in rows]


def attachment(trees: Sequence[TreeArrays], known: Sequence[Sequence[tuple[int, str]]]) -> list[str]:
    """Return the cells of a row of `DEPENDENCIES`."""
    pairs: list[tuple[tuple[int, str], Dependency]] = []
    for arrays, gold in zip(trees, known, strict=True):
        pairs += zip(gold, dependencies(arrays, EN), strict=True)
    counted = [(gold, own) for gold, own in pairs if gold[1] != "punct"]
    n_heads = sum(gold[0] == own.head for gold, own in counted)
    n_both = sum(gold == tuple(own) for gold, own in counted)
    return [percent(n_heads / len(counted)), percent(n_both / len(counted)), str(len(counted))]


if __name__ == "__main__":
    main()
