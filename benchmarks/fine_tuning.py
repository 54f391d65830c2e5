"""What fine-tuning a pipeline on the first trees of a new treebank gains there, and what it loses on its own.

Training is that of `spacy-incparse train --from`: the pass is kept that is best on the new treebank's dev part.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from results import Table, percent, publish

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.preparation import TrainedModel
from spacy_incparse.training.training_loop import PassReport, score_parser
from spacy_incparse.trees.tree import Tree

TABLE = Table("Fine-tuning", ("F before", "F after", "F of the old bank before", "after", "trees", "best pass"))


def main(argv: Sequence[str] | None = None) -> None:
    """Fine-tune one pipeline on stretches of a treebank."""
    parser = common.argument_parser(__doc__, bank="wsj", model="en")
    parser.add_argument("--old", default="gum", help="the pipeline's own treebank; default: gum")
    parser.add_argument("--trees", type=int, nargs="+", default=[200, 1000], help="default: 200 1000")
    parser.add_argument("--epochs", type=int, default=5, help="default: 5")
    arguments = parser.parse_args(argv)
    train, dev = (common.read_part(arguments, arguments.bank, part) for part in ("train", "dev"))
    old_dev = common.read_part(arguments, arguments.old, "dev")
    rows = {}
    for n_trees in arguments.trees:
        base, tuned, number = fine_tune(arguments.model, train[:n_trees], dev, arguments.epochs)
        figures = [_f(model, trees) for trees in (dev, old_dev) for model in (base, tuned)]
        rows[f"fine-tuning-{arguments.bank}-{n_trees}"] = [*map(percent, figures), str(n_trees), str(number)]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def fine_tune(
    name: str, trees: Sequence[Tree], dev: Sequence[Tree], n_epochs: int
) -> tuple[TrainedModel, TrainedModel, int]:
    """Return a model before and after fine-tuning, and the number of its best pass."""
    recipe = read_recipe("rich", base=name, max_epochs=n_epochs)
    assert recipe.base is not None
    best: list[tuple[TrainedModel, int]] = []

    def keep_best(report: PassReport, tagger: Tagger | None, parser: ConstituencyParser) -> None:
        if report.is_best:
            best.append((TrainedModel(tagger, parser), report.number))

    recipe.train(trees, dev, on_pass=keep_best)
    return recipe.base, *best[-1]


def _f(model: TrainedModel, trees: Sequence[Tree]) -> float:
    return score_parser(model.parser, trees, model.tags_of(trees))["const_f"]


if __name__ == "__main__":
    main()
