"""Train the embedded English parsers: docs/english.md says what comes before.

    python benchmarks/train_embedded.py SOURCES PARSED &
    python benchmarks/train_embedded.py SOURCES PARSED --recipe accurate --output .../data/en_accurate &
    wait

SOURCES is the folder of `embedded_sources.py`, PARSED that of `embedded_teacher.py`. Each pass goes over the trees of
GUM and MASC, and a part of those of CRAFT and of the parsed text. The held-out trees choose the pass and the
temperature; no dev part is used. Each pipeline is trained in one process, and the two side by side on two cores. An
interrupted training continues with the same command.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spacy_incparse.cli.recipe import Recipe, read_recipe, save_pipeline
from spacy_incparse.generative.hybrid import HybridModel
from spacy_incparse.generative.model import GenerativeModel
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.repair.compare import count_decisions
from spacy_incparse.tagging.tagger import SparseWeights, Tagger
from spacy_incparse.training.loop import PassReport, is_begun
from spacy_incparse.training.passes import ExtraTrees
from spacy_incparse.training.preparation import tags_of
from spacy_incparse.training.temperature import fit_temperature
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

SEED = 0


@dataclass(frozen=True)
class Plan:
    """How a pipeline is made.

    extra_weight: the part of the trees of CRAFT and of the parsed text that a pass goes over. step: weights are rounded
    to its multiples. search: the settings of the search; choose: which of the trees that it finds is the answer.
    """

    table_bits: int
    n_folds: int
    passes: int
    extra_weight: float
    step: int
    search: Mapping[str, Any]
    choose: str = "score"


# The weights of `accurate` are rounded less: with multiples of 16, it loses 0.4 F.
PLANS = {
    "rich": Plan(23, 5, 7, 0.33, 16, {"gamma": 1e5, "outcome_filter_min_share": 0.01}),
    "accurate": Plan(23, 5, 7, 0.15, 4, {"gamma": 1e8, "outcome_filter_min_share": 0.002}, "recombined"),
}
LEAST_SHARE = 0.001  # of a tag's words are under a phrase, or that is unusual
OUTPUT = Path(__file__).parents[1] / "spacy_incparse" / "data" / "en"
LICENSE = "CC BY-SA 4.0"
GUM = {
    "name": "GUM, the Georgetown University Multilayer corpus (train part, seven genres that allow commercial use)",
    "url": "https://gucorpling.org/gum/",
    "author": "Amir Zeldes and contributors",
    "license": "annotations CC BY 4.0; texts CC BY, CC BY-SA, United Nations",
}
CRAFT = {
    "name": "CRAFT, the Colorado Richly Annotated Full-Text corpus (treebank, train part)",
    "url": "https://github.com/UCDenver-ccp/CRAFT",
    "author": "K. Bretonnel Cohen, Karin Verspoor and others",
    "license": "CC BY 3.0",
}
MASC = {
    "name": "MASC, the Manually Annotated Sub-Corpus of the American National Corpus (treebank, train part)",
    "url": "https://anc.org/data/masc/",
    "author": "Nancy Ide and others",
    "license": "free for any use",
}
PARSED = [
    {"name": f"Parsed text: {name}", "url": url, "author": author, "license": terms}
    for name, url, author, terms in (
        (
            "MASC (written part); Voice of America (as in the Groningen Meaning Bank), presidents' addresses and "
            "speeches, 18F, Digital.gov, PEPs, stories of P. G. Wodehouse and F. Scott Fitzgerald",
            "https://anc.org/data/masc/", "the American National Corpus Consortium and the authors",
            "free for any use; public domain in the US",
        ),
        (
            "OpenStax (sociology, philosophy, government, business), MedQuAD, Open Source Guides, Taskmaster, "
            "Banking77, Wikinews", "https://openstax.org", "their contributors", "CC BY 4.0; CC BY 2.5 (Wikinews)",
        ),
        (
            "English Wikipedia (excerpts in GAP and QED), English Web Treebank (texts of the train part), "
            "Schema-Guided Dialogue", "https://en.wikipedia.org", "their contributors", "CC BY-SA 3.0 and 4.0",
        ),
    )
]  # fmt: skip
ENCODERS = [
    {
        "name": f"{name} (encoder of a neural parser that parsed the text; not contained in this pipeline)",
        "url": f"https://huggingface.co/sentence-transformers/{name}",
        "author": "sentence-transformers",
        "license": "Apache 2.0",
    }
    for name in ("all-mpnet-base-v2", "all-MiniLM-L6-v2")
]
CLUSTERS = {
    "name": "Word clusters of spacy-lookups-data",
    "url": "https://github.com/explosion/spacy-lookups-data",
    "author": "Explosion",
    "license": "MIT",
}
META: dict[str, Any] = {
    "name": "incparse",
    "version": "0.4.0",
    "spacy_version": ">=3.8,<4",
    "description": "English constituency parser (tagger and trees), trained on GUM, MASC, CRAFT and parsed text",
    "author": "The spacy-incparse developers",
    "license": LICENSE,
    "sources": [GUM, MASC, CRAFT, *PARSED, *ENCODERS, CLUSTERS],
}


def main() -> None:
    """Train, fit the temperature, and write the pipeline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("sources", type=Path, help="folder of embedded_sources.py")
    arguments.add_argument(
        "parsed", type=Path, nargs="?", help="folder of embedded_teacher.py; without it, only trees of treebanks"
    )
    arguments.add_argument("--recipe", choices=tuple(PLANS), default="rich")
    arguments.add_argument("--extra-weight", type=float, help="default: that of the recipe")
    arguments.add_argument("--seed", type=int, default=SEED)
    arguments.add_argument("--output", type=Path, default=OUTPUT)
    given = arguments.parse_args()
    gold, held_out = (read_treebank(given.sources / name) for name in ("gold.mrg", "held-out.mrg"))
    others = read_folder(given.sources / "extra")
    parsed = usual([*gold, *others], read_folder(given.parsed)) if given.parsed else []
    plan = PLANS[given.recipe]
    if given.extra_weight is not None:
        plan = replace(plan, extra_weight=given.extra_weight)
    extra = ExtraTrees([*others, *parsed], plan.extra_weight)
    recipe = planned_recipe(given.recipe, plan, given.seed)
    state = given.output.with_name(f"{given.output.name}-state")
    number, tagger, parser = train(gold, held_out, extra, recipe, state)
    tagger, parser = with_less_to_store(tagger, parser, [*gold, *extra.trees], plan.step)
    parser = parser.with_search(**plan.search)
    rows = tags_of(tagger, parser.tag_request, held_out)
    given_tags = [(tree.words, row) for tree, row in zip(held_out, rows, strict=True)]
    parser.temperature = fit_temperature(parser, held_out, given_tags)
    parser = parser.with_search(choose=plan.choose)
    others_read = f"{plan.extra_weight:g} of {len(extra.trees)} others each"
    notes = f"{number} passes over {len(gold)} trees of GUM and MASC and {others_read}"
    write(tagger, parser, given.output, recipe, f"{notes}, seed {given.seed}.")


def planned_recipe(name: str, plan: Plan, seed: int) -> Recipe:
    """Return a recipe with the settings of a plan."""
    recipe = read_recipe(name, max_epochs=plan.passes, seed=seed)
    changed = {"table_bits": plan.table_bits, "n_folds": plan.n_folds, "clusters": "en"}
    return replace(recipe, training=recipe.training | changed)


def read_folder(folder: Path) -> list[Tree]:
    """Return the trees of the files in a folder."""
    return [tree for path in sorted(folder.glob("*.mrg")) for tree in read_treebank(path)]


def usual(gold: Sequence[Tree], parsed: Sequence[Tree]) -> list[Tree]:
    """Return the parsed trees without those in which a tag has a parent that it has hardly ever in the gold trees.

    Span scores that are summed over a tree do not see that a phrase around a preposition or a verb is missing.
    """
    counts = count_decisions(gold, "tag")
    n_tags = Counter(tag for tree in gold for tag in tree.tags)

    def is_usual(tree: Tree) -> bool:
        found = count_decisions([tree], "tag")
        return all(counts[pair] >= LEAST_SHARE * max(n_tags[pair.context], 1) for pair in found)

    found = [tree for tree in parsed if is_usual(tree)]
    print(f"{len(found):,} of {len(parsed):,} parsed trees have no unusual parent of a tag", flush=True)
    return found


def train(
    trees: list[Tree], held_out: list[Tree], extra: ExtraTrees, recipe: Recipe, state: Path
) -> tuple[int, Tagger, PerceptronParser]:
    """Return the number of the best pass, and its tagger and parser."""
    best: list[Any] = []

    def note(report: PassReport, tagger: Tagger, parser: PerceptronParser) -> None:
        if report.is_best or not best:
            best[:] = [report.number, tagger, parser]
        scores = report.scores or {}
        figures = " ".join(f"{name} {100 * scores[f'const_{name}']:.2f}" for name in "prf")
        print(f"pass {report.number}: {report.n_updates} updates, {figures}, {report.seconds:.0f} s", flush=True)

    given = {"extra": extra, "on_pass": note, "state_dir": state, "resume": is_begun(state)}
    recipe.train(trees, held_out, has_best=False, **given)
    if not best:
        raise SystemExit(f"{state} is of a training that has all its passes: remove it to train again")
    return best[0], best[1], best[2]


def with_less_to_store(
    tagger: Tagger, parser: PerceptronParser, trees: Sequence[Tree], step: int
) -> tuple[Tagger, PerceptronParser]:
    """Return both with rounded weights, and without contexts that the generative model has seen once.

    Held-out F stays the same, and files have two thirds of their size.
    """
    weights, model, config = parser.weights, parser.model, parser.config
    cells = np.asarray(weights.view()).view(np.int16)
    cells[:] = rounded(cells, step)
    if np.mean(np.abs(cells) > 127 * step) < 1e-6:  # the search reads weights of 8 bits faster
        cells[:] = cells.clip(-127 * step, 127 * step)
    if isinstance(model, HybridModel):
        settings = replace(model.generative_config, context_min_count=2)
        generative = GenerativeModel.train(trees, settings, model.heads, model.grammar)
        model = replace(model, generative=generative, generative_config=settings)
    moves = model.moves(*config.outcome_filter)
    return coarse_tagger(tagger, step), PerceptronParser(model, weights, config, moves)


def coarse_tagger(tagger: Tagger, step: int) -> Tagger:
    """Return a tagger with rounded weights."""
    old = tagger.weights
    values = rounded(old.values, step)
    kept = values != 0
    contexts = np.repeat(np.arange(len(old.keys)), old.lengths)[kept]
    lengths = np.bincount(contexts, minlength=len(old.keys)).astype(old.lengths.dtype)
    used = lengths > 0
    weights = SparseWeights(old.keys[used], lengths[used], old.tags[kept], values[kept])
    return Tagger(tagger.settings, weights, tagger.clusters)


def rounded(values: np.ndarray, step: int) -> np.ndarray:
    """Return integers rounded to multiples of a step."""
    return (np.round(values / step) * step).astype(values.dtype)


def heads() -> HeadRules:
    """Return the head rules of English."""
    return HeadRules.from_name("en")


def blank_english() -> Language:
    """Return a pipeline without components, with the words of the Penn Treebank."""
    import spacy

    return spacy.blank("en", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_incparse.PennTokenizer.v1"}}})


def write(tagger: Tagger, parser: PerceptronParser, folder: Path, recipe: Recipe, notes: str) -> None:
    """Save a pipeline with the parser alone; its own tagger sets the tags. `train_splitter.py` adds the splitter."""
    nlp = blank_english()
    component = nlp.add_pipe("incparse", config={"set_tags": True, "noun_chunks": True, "training": recipe.training})
    component.model.set_weights(tagger, parser)
    nlp.meta.update(META | {"name": f"{META['name']}{folder.name.removeprefix('en')}", "notes": notes})
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
