"""`rerank-train` and its component behind parsers of several kinds."""

import json

import pytest
import spacy

from spacy_incparse.parsing.nbest import NBestSearch
from tests.parsing.small_combination import MEMBERS
from tests.small_pipeline import ASSETS

SMALL = {"tagger": {"n_epochs": 1}, "n_folds": 2, "max_epochs": 1}
BEAM = {"table_bits": 16, "train_beam_size": 8, "beam_size": 8}
RECIPES = {
    "generative": ("generative", {"max_epochs": 1}),
    "accurate": ("perceptron", SMALL | BEAM | {"train_generative_weight": 5.0}),
    "chart": ("chart", SMALL | {"table_bits": 14, "clusters": None}),
    "best": ("combined", SMALL | {"clusters": None, "members": {n: MEMBERS[n] for n in ("one", "chart")}}),
}
LITTLE = ["--folds", 2, "--n", 5, "--n-process", 1, "--families", "rules", "--with", "", "--choose", "score"]
TEXTS = ["The rain stopped before noon.", "She grows beans (and peas)."]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """A few trees to train on, and a few to measure the gain on."""
    folder = tmp_path_factory.mktemp("trees")
    for part, n in (("train", 40), ("dev", 8)):
        lines = (ASSETS / f"sample-{part}.mrg").read_text(encoding="utf8").splitlines()
        (folder / f"{part}.mrg").write_text("\n".join(lines[:n]) + "\n", encoding="utf8")
    return folder / "train.mrg", folder / "dev.mrg"


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_parser_of_any_kind_is_reranked(recipe, paths, run, tmp_path):
    kind, settings = RECIPES[recipe]
    config, parser, out = tmp_path / "small.json", tmp_path / "parser", tmp_path / "out"
    config.write_text(json.dumps({"kind": kind} | settings), encoding="utf8")
    result = run("train", *paths, parser, "--config", config)
    assert result.exit_code == 0, result.output
    result = run("rerank-train", parser / "model-best", *paths, out, *LITTLE)
    assert result.exit_code == 0, result.output
    assert f"40 sentences in 2 folds, {kind} parsers, 1 pass\n" in result.stdout
    nlp = spacy.load(out)
    n_trees = 0
    for doc in nlp.pipe(TEXTS):
        (found,), expected = doc._.parses(5), ranked(nlp, doc)
        assert doc._.trees[0] == found[0].tree
        assert [(str(parse.tree), parse.score) for parse in found] == expected
        assert sum(parse.probability for parse in found) == pytest.approx(1)
        n_trees += len(found)
    assert n_trees > len(TEXTS)


def ranked(nlp, doc):
    """The trees of a sentence, by the slow way: list, scores, order."""
    parser, reranker = nlp.get_pipe("incparse"), nlp.get_pipe("incparse_reranker").model.reranker
    (sentence,) = parser.sentences_of(doc)
    search = NBestSearch(parser.decoder.parser, with_better=reranker.config.with_better)
    parses = search.analyses(*parser.input_of(sentence), n=5)
    scores = reranker.scores(parses, reranker.config.base_temperature)
    order = sorted(range(len(parses)), key=lambda i: -scores[i])
    return [(str(parses[i].tree), pytest.approx(scores[i], rel=1e-5)) for i in order]
