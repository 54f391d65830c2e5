import json
from itertools import islice
from statistics import median

import pytest
import spacy
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.pipeline.registered import TreebankReader
from spacy_incparse.rerank.lists import read_lists
from spacy_incparse.treebanks.reader import read_trees
from tests.small_pipeline import ASSETS, SMALL

N_TREES = 100
LITTLE = ["--folds", 2, "--n", 6, "--n-process", 1, "--families", "rules,heavy", "--passes", 1]


def run_once(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Some trees to train on, and some to measure the gain on."""
    trees = islice(read_trees(ASSETS / "sample-train.mrg"), N_TREES)
    path = tmp_path_factory.mktemp("trees") / "train.mrg"
    path.write_text("\n".join(map(str, trees)), encoding="utf8")
    return path, ASSETS / "sample-dev.mrg"


@pytest.fixture(scope="module")
def small_model(tmp_path_factory, paths):
    """A small pipeline from `train`."""
    folder = tmp_path_factory.mktemp("small")
    config = folder / "small.json"
    config.write_text(json.dumps(SMALL | {"max_epochs": 2}), encoding="utf8")
    assert run_once("train", *paths, folder, "-c", config).exit_code == 0
    return folder / "model-best"


@pytest.fixture(scope="module")
def reranked(small_model, paths, tmp_path_factory):
    """The new pipeline, what was printed, and the figures."""
    folder = tmp_path_factory.mktemp("reranked")
    result = run_once("rerank-train", small_model, *paths, folder / "out", *LITTLE, "--output", folder / "figures.json")
    assert result.exit_code == 0, result.output
    return folder / "out", result.stdout, json.loads((folder / "figures.json").read_text(encoding="utf8"))


def test_the_pipeline_has_both(reranked):
    nlp = spacy.load(reranked[0])
    assert nlp.pipe_names == ["senter", "incparse_tagger", "incparse", "incparse_reranker"]
    config = nlp.get_pipe("incparse_reranker").model.learnt.config
    assert config.families == ("rules", "heavy")
    assert config.n == 6
    assert list(nlp.get_pipe("incparse_reranker").model.learnt.others) == ["generative"]
    assert nlp("The rain stopped before noon.")._.parses(6)


def test_the_figures_are_those_of_the_pipeline(reranked, run, tmp_path):
    out, printed, figures = reranked
    assert f"{100 * figures['reranked']['const_f']:.2f}" in printed
    assert figures["gain"]["difference"] == pytest.approx(figures["reranked"]["const_f"] - figures["base"]["const_f"])
    assert run("evaluate", out, "assets/sample-dev.mrg", "--output", tmp_path / "dev.json").exit_code == 0
    evaluated = json.loads((tmp_path / "dev.json").read_text(encoding="utf8"))
    assert evaluated["const_f"] == pytest.approx(figures["reranked"]["const_f"])
    assert spacy.load(out).meta["performance"]["const_f"] == pytest.approx(evaluated["const_f"])


def test_the_held_out_trees_do_not_scale_the_parsers_scores(reranked):
    """The temperature is that of the parts' parsers; the parser's own was fitted on the trees of the figures."""
    nlp, lists = spacy.load(reranked[0]), reranked[0].with_name("out.lists")
    temperatures = [one.temperature for path in sorted(lists.glob("*.jsonl.gz")) for one in read_lists(path)]
    config = nlp.get_pipe("incparse_reranker").model.learnt.config
    assert config.base_temperature == median(temperatures)
    assert config.base_temperature != nlp.get_pipe("incparse").model.temperature


def test_other_commands_use_the_reranker(reranked, run):
    out, nlp = reranked[0], spacy.load(reranked[0])
    text = "The rain stopped before noon."
    expected = [str(parse.tree) for parse in nlp(text)._.parses(3)[0]]
    lines = run("parse", "--model", out, "--nbest", "3", text, "--format", "penn").stdout.splitlines()
    assert lines[1::2] == expected
    assert run("parse", "--model", out, "--format", "penn", text).stdout.splitlines() == expected[:1]
    assert run("score-trees", "assets/sample-dev.mrg", "--model", out).exit_code == 0


def test_another_loss_reuses_the_lists(reranked, small_model, paths, run, tmp_path):
    out, lists = tmp_path / "out", ["--work", reranked[0].with_name("out.lists")]
    result = run("rerank-train", small_model, *paths, out, *LITTLE, "--loss", "perceptron", *lists)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("finished before") == 2
    more = ["--loss", "risk", "--loss", "log", "--families", "rules", "--force"]
    again = run("rerank-train", out, *paths, out, *LITTLE, *more, *lists)
    assert again.exit_code == 0, again.output  # of a pipeline that has a reranker: it is replaced
    assert [again.stdout.count(f"features of {names}\n") for names in ("rules, heavy", "rules")] == [1, 1]
    assert min(again.stdout.count(f"  {loss}: ") for loss in ("risk", "log")) > 1
    assert "learn without it" not in again.stdout
    assert spacy.load(out).pipe_names.count("incparse_reranker") == 1


def test_losses_that_weigh_no_scores_take_them_from_the_others(reranked, small_model, paths, run, tmp_path):
    lists = ["--work", reranked[0].with_name("out.lists")]
    options = ["--loss", "log", "--loss", "perceptron", "--families", "rules"]
    result = run("rerank-train", small_model, *paths, tmp_path / "out", *LITTLE, *options, *lists)
    assert result.exit_code == 0, result.output
    assert "perceptron cannot weigh the generative score: all losses learn without it" in result.stdout
    assert spacy.load(tmp_path / "out").get_pipe("incparse_reranker").model.learnt.others == {}


def test_scores_are_added_to_lists_that_are_there(reranked, small_model, paths, run, tmp_path):
    result = run("rerank-train", small_model, *paths, tmp_path / "plain", *LITTLE, "--with", "")
    assert result.exit_code == 0, result.output
    assert spacy.load(tmp_path / "plain").get_pipe("incparse_reranker").model.learnt.others == {}
    result = run("rerank-train", small_model, *paths, tmp_path / "plain", *LITTLE, "--force")
    assert "finished before" not in result.stdout
    lists = reranked[0].with_name("out.lists")
    for number in (1, 2):
        name = f"fold-{number:03d}.jsonl.gz"
        assert (tmp_path / "plain.lists" / name).read_bytes() == (lists / name).read_bytes()
    names = ["plain/incparse_reranker/model", "out/incparse_reranker/model"]
    assert (tmp_path / names[0]).read_bytes() == (reranked[0].parent / names[1]).read_bytes()


def test_mistakes_are_told_in_a_line(reranked, small_model, paths, run, tmp_path):
    mine, new, file = tmp_path / "mine", tmp_path / "new", tmp_path / "file"
    mine.mkdir()
    (mine / "notes.txt").touch()
    file.touch()
    lists = reranked[0].with_name("out.lists")

    def check(message, *arguments):
        result = run("rerank-train", small_model, *paths, *arguments)
        assert result.exit_code == 1
        assert message in result.stderr

    check("there is already something in", reranked[0])
    check("is no pipeline, so --force does not replace it", mine, "--force")
    check("is no pipeline, so --force does not replace it", mine)  # and is not advised
    for name in ("config.cfg", "meta.json"):
        (mine / name).write_text("{}")
    check(f"{mine / 'notes.txt'} is not of the pipeline, and would be lost", mine, "--force")
    check("unknown family of features 'nonsense'", new, "--families", "rules,nonsense")
    check("was made with other trees or settings", new, *LITTLE, "--n", 7, "--work", lists)
    assert not new.exists()
    check(f"{file / 'new'} cannot be written: {file} is a file, not a folder", file / "new")
    check(f"{file / 'lists'} cannot be written", new, "--work", file / "lists")


def test_spacy_train_learns_from_the_lists(reranked, small_model, paths, tmp_path):
    from spacy.cli.train import train as spacy_train

    lists = reranked[0].with_name("out.lists")
    overrides = {
        "paths.parser": str(small_model),
        "paths.lists": str(lists),
        "paths.train": str(paths[0]),
        "paths.dev": "assets/sample-dev.mrg",
        "corpora.train.limit": 10,
        "components.incparse_reranker.training.n": 6,
        "components.incparse_reranker.training.families": ["rules", "heavy"],
    }
    spacy_train("configs/rerank.cfg", tmp_path, overrides=overrides)
    nlp, one = spacy.load(tmp_path / "model-best"), spacy.load(reranked[0])
    component = nlp.get_pipe("incparse_reranker")
    assert component.model.temperature > 0
    component.model.temperature = one.get_pipe("incparse_reranker").model.temperature
    assert component.model.to_bytes() == one.get_pipe("incparse_reranker").model.to_bytes()
    parser = spacy.load(small_model).get_pipe("incparse")
    assert nlp.get_pipe("incparse").model.to_bytes() == parser.model.to_bytes()  # frozen
    assert 0 < nlp.evaluate(list(TreebankReader("assets/sample-dev.mrg", limit=9)(nlp)))["const_f"] <= 1


BRIEF = {"tagger": {"n_epochs": 1}, "n_folds": 2, "max_epochs": 1}
BEAM = {"table_bits": 16, "train_beam_size": 8, "beam_size": 8}
RECIPES = {
    "generative": ("generative", {"max_epochs": 1}),
    "accurate": ("perceptron", BRIEF | BEAM | {"train_generative_weight": 5.0}),
    "chart": ("chart", BRIEF | {"table_bits": 14, "clusters": None}),
    "best": ("combined", BRIEF | {"clusters": None, "members": {"paper": BEAM, "chart": {"table_bits": 14}}}),
}
FEW = ["--folds", 2, "--n", 5, "--n-process", 1, "--families", "rules", "--with", "", "--choose", "score"]
TEXTS = ["The rain stopped before noon.", "She grows beans (and peas)."]


@pytest.fixture(scope="module")
def few_paths(paths, tmp_path_factory):
    folder = tmp_path_factory.mktemp("few")
    for path, n in zip(paths, (40, 8), strict=True):
        lines = path.read_text(encoding="utf8").splitlines(keepends=True)
        (folder / path.name).write_text("".join(lines[:n]), encoding="utf8")
    return [folder / path.name for path in paths]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_parser_of_any_kind_is_reranked(recipe, few_paths, run, tmp_path):
    kind, settings = RECIPES[recipe]
    config, parser, out = tmp_path / "small.json", tmp_path / "parser", tmp_path / "out"
    config.write_text(json.dumps({"kind": kind} | settings), encoding="utf8")
    result = run("train", *few_paths, parser, "--config", config)
    assert result.exit_code == 0, result.output
    result = run("rerank-train", parser / "model-best", *few_paths, out, *FEW)
    assert result.exit_code == 0, result.output
    assert f"40 sentences in 2 folds, {kind} parsers, 1 pass\n" in result.stdout
    nlp = spacy.load(out)
    found = [doc._.parses(5)[0] for doc in nlp.pipe(TEXTS)]
    assert sum(map(len, found)) > len(TEXTS)
    for text, parses in zip(TEXTS, found, strict=True):
        assert nlp(text)._.trees[0] == parses[0].tree
        assert [parse.score for parse in parses] == sorted((parse.score for parse in parses), reverse=True)
        assert sum(parse.probability for parse in parses) == pytest.approx(1)
