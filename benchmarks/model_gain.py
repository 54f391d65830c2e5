"""Compare two trained pipelines on the dev parts of treebanks, with a paired bootstrap over sentences.

    python benchmarks/model_gain.py wsj gum --before control-en --after en --rules gum=english

Both pipelines get the words and sentences of the trees, and set their own tags. With `--rules BANK=RULES`, the gold
trees of a treebank are repaired first. The row is named `gain-BANK-BEFORE-to-AFTER`.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from gains import TABLE, gain_cells
from results import publish
from saved_pipeline import open_pipeline, parsed_trees, sentence_docs, short_name
from spacy.language import Language

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.summaries import Scores
from spacy_incparse.repair.repair import find_rules, repair_trees
from spacy_incparse.trees.tree import Tree


def main(argv: Sequence[str] | None = None) -> None:
    """Write a row for each treebank."""
    parser = common.argument_parser(__doc__)
    parser.add_argument("banks", nargs="+", metavar="BANK")
    parser.add_argument("--before", required=True, help="name or folder of a pipeline")
    parser.add_argument("--after", required=True, help="name or folder of another one")
    parser.add_argument("--rules", action="append", default=[], metavar="BANK=RULES", help="repair gold trees")
    arguments = parser.parse_args(argv)
    rules = dict(given.split("=", 1) for given in arguments.rules)
    models = arguments.before, arguments.after
    pipelines = [open_pipeline(model) for model in models]
    for bank in arguments.banks:
        gold = common.read_part(arguments, bank, "dev")
        if bank in rules:
            gold = list(repair_trees(gold, find_rules(rules[bank]))[0])
        before, after = ([_scores(nlp, gold)] for nlp in pipelines)
        first, second = map(short_name, models)
        name = f"gain-{bank}{'-repaired' if bank in rules else ''}-{first}-to-{second}"
        publish(TABLE, {name: gain_cells(before, after)}, common.results_file(arguments), argv=argv)


def _scores(nlp: Language, gold: Sequence[Tree]) -> Scores:
    """Return the scores of a pipeline's trees."""
    return score_trees(gold, parsed_trees(nlp, sentence_docs(nlp, gold)))


if __name__ == "__main__":
    main()
