"""Train the embedded English parsers.

    python benchmarks/train_embedded.py TRAIN
    python benchmarks/train_embedded.py TRAIN --recipe accurate --clusters en --passes 6 --output .../data/en_accurate

No dev file is used: the number of passes is chosen, and the temperature fitted, on a held-out tenth of the training
trees; then the parser is trained on all trees. The dev figures in the model card come from `spacy-incparse evaluate`
afterwards (see benchmarks/RESULTS.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_incparse.cli.recipe import Recipe, read_recipe, save_pipeline
from spacy_incparse.perceptron.perceptron_parser import PerceptronParser
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.temperature import fit_temperature
from spacy_incparse.training.training_loop import PassReport, tags_of, train_parser
from spacy_incparse.treebanks.penn_reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

SEED = 0
MAX_EPOCHS = 10
# The first recipe is three times as fast as the defaults.
SEARCHES: dict[str, dict[str, float]] = {
    "rich": {"gamma": 1e5, "outcome_filter_min_share": 0.01},
    "accurate": {"gamma": 2.5e5, "outcome_filter_min_share": 0.01},
}
SILVER = "GUM's trees are another parser's output on gold tags."
OUTPUT = Path(__file__).parents[1] / "spacy_incparse" / "data" / "en"
META: dict[str, Any] = {
    "name": "incparse_gum",
    "version": "0.1.0",
    "spacy_version": ">=3.8,<4",
    "description": "English constituency parser (tagger and trees), trained on the train part of the GUM corpus",
    "author": "The spacy-incparse developers",
    "license": "CC BY-NC-SA 4.0",
    "sources": [
        {
            "name": "GUM, the Georgetown University Multilayer corpus (train part without reddit)",
            "url": "https://gucorpling.org/gum/",
            "author": "Amir Zeldes and contributors",
            "license": "annotations CC BY 4.0; texts CC BY, CC BY-SA, and some CC BY-NC-SA",
        }
    ],
}

CLUSTERS = {
    "name": "spacy-lookups-data (word clusters)",
    "url": "https://github.com/explosion/spacy-lookups-data",
    "author": "Explosion",
    "license": "MIT",
}


def main() -> None:
    """Choose the number of passes, train on everything, write the pipeline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("treebank", type=Path, help="the training trees of GUM")
    arguments.add_argument("--recipe", choices=tuple(SEARCHES), default="rich")
    arguments.add_argument("--clusters", help="word clusters, see docs/training.md")
    arguments.add_argument("--output", type=Path, default=OUTPUT)
    arguments.add_argument("--passes", type=int, help="do not choose: train this many passes")
    arguments.add_argument(
        "--temperature", type=float, help="with --passes: use this temperature instead of fitting one"
    )
    given = arguments.parse_args()
    trees = read_treebank(given.treebank)
    recipe = read_recipe(given.recipe, clusters=given.clusters, seed=SEED)
    search = SEARCHES[given.recipe]
    n_passes, temperature = given.passes, given.temperature
    if n_passes is None or temperature is None:
        n_passes, temperature = choose(trees, recipe, search, n_passes)
    tagger, parser = train(trees, recipe, n_passes)
    parser = parser.with_search(**search)
    parser.temperature = temperature
    notes = f"{n_passes} passes over {len(trees)} trees, seed {SEED}"
    write(tagger, parser, given.output, given.recipe, recipe.training, notes)


def choose(
    trees: list[Tree], recipe: Recipe, search: dict[str, float], n_passes: int | None = None
) -> tuple[int, float | None]:
    """Return the best pass on the held-out tenth, or the given one, and its temperature."""
    rest, held_out = split(trees)
    best: list[tuple[int, Tagger, PerceptronParser]] = []

    def note(report: PassReport, tagger: Tagger, parser: PerceptronParser) -> None:
        if report.is_best or n_passes:
            best[:] = [(report.number, tagger, parser)]
        f = report.scores["const_f"] if report.scores else 0.0
        print(f"held-out tenth, pass {report.number}: F {100 * f:.2f}", flush=True)

    train_parser(
        rest, held_out, config=recipe.parser_config, heads=recipe.heads, max_epochs=n_passes or MAX_EPOCHS, seed=SEED,
        on_pass=note,
    )  # fmt: skip
    best_pass, tagger, parser = best[0]
    tags = tags_of(tagger, parser.tag_request, held_out)
    temperature = fit_temperature(parser.with_search(**search), held_out, tags)
    print(f"temperature {temperature}", flush=True)
    return best_pass, temperature


def split(trees: list[Tree]) -> tuple[list[Tree], list[Tree]]:
    """Hold out every tenth stretch of 20 sentences; return the rest and the held-out tenth."""
    rest = [tree for k, tree in enumerate(trees) if k // 20 % 10 != 9]
    return rest, [tree for k, tree in enumerate(trees) if k // 20 % 10 == 9]


def train(trees: list[Tree], recipe: Recipe, n_passes: int) -> tuple[Tagger, PerceptronParser]:
    """Train on all trees for a fixed number of passes."""
    last: list[tuple[Tagger, PerceptronParser]] = []

    def note(report: PassReport, tagger: Tagger, parser: PerceptronParser) -> None:
        last[:] = [(tagger, parser)]
        print(f"all trees, pass {report.number}: {report.n_updates} updates, {report.seconds:.0f} s", flush=True)

    config = recipe.parser_config
    train_parser(trees, [], config=config, heads=recipe.heads, max_epochs=n_passes, seed=SEED, on_pass=note)
    return last[0]


def heads() -> HeadRules:
    """Return the head rules of English."""
    return HeadRules.from_name("en")


def write(
    tagger: Tagger, parser: PerceptronParser, folder: Path, recipe: str, training: dict[str, Any], notes: str
) -> None:
    """Save a pipeline with sentencizer and parser; the parser's own tagger sets the tags."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component = nlp.add_pipe("incparse", config={"set_tags": True, "training": training})
    component.model.set_weights(tagger, parser)
    name = META["name"] if recipe == "rich" else f"{META['name']}_{recipe}"
    sources = [*META["sources"], CLUSTERS] if tagger.clusters else META["sources"]
    nlp.meta.update(META | {"name": name, "sources": sources, "notes": f"{notes}. {SILVER}"})
    save_with_card(nlp, folder)


def save_with_card(nlp: Language, folder: Path) -> None:
    """Save a pipeline, replacing an existing one but keeping its model card."""
    card = folder / "README.md"
    kept = card.read_text(encoding="utf8") if card.exists() else None
    save_pipeline(nlp, folder)
    if kept is not None:
        card.write_text(kept, encoding="utf8")


if __name__ == "__main__":
    main()
