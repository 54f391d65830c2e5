"""`rerank-train`: from a pipeline and a treebank to a pipeline with a reranker."""

import json
from statistics import median

import pytest
import spacy
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.pipeline.registered import TreebankReader
from spacy_incparse.rerank.lists import read_lists
from tests.small_pipeline import SMALL

PATHS = ["assets/sample-train.mrg", "assets/sample-dev.mrg"]
LITTLE = ["--folds", 2, "--n", 6, "--n-process", 1, "--families", "rules,heavy", "--passes", 1]


def run_once(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    """A small pipeline from `train`."""
    folder = tmp_path_factory.mktemp("small")
    config = folder / "small.json"
    config.write_text(json.dumps(SMALL | {"max_epochs": 2}), encoding="utf8")
    assert run_once("train", *PATHS, folder, "-c", config).exit_code == 0
    return folder / "model-best"


@pytest.fixture(scope="module")
def reranked(small_model, tmp_path_factory):
    """The new pipeline, what was printed, and the figures."""
    folder = tmp_path_factory.mktemp("reranked")
    result = run_once("rerank-train", small_model, *PATHS, folder / "out", *LITTLE, "--output", folder / "figures.json")
    assert result.exit_code == 0, result.output
    return folder / "out", result.stdout, json.loads((folder / "figures.json").read_text(encoding="utf8"))


def test_the_pipeline_has_both(reranked):
    nlp = spacy.load(reranked[0])
    assert nlp.pipe_names == ["sentencizer", "incparse_tagger", "incparse", "incparse_reranker"]
    config = nlp.get_pipe("incparse_reranker").model.reranker.config
    assert config.families == ("rules", "heavy")
    assert config.n == 6
    assert list(nlp.get_pipe("incparse_reranker").model.reranker.others) == ["generative"]
    assert nlp("The rain stopped before noon.")._.parses(6)


def test_it_prints_folds_cross_validation_and_gain(reranked):
    _, printed, figures = reranked
    assert "234 sentences in 2 folds, perceptron parsers, 1 pass\n" in printed
    assert "  fold 2: 117 sentences, " in printed
    assert "risk: " in printed
    assert "Difference in F" in printed
    assert f"{100 * figures['reranked']['const_f']:.2f}" in printed
    assert figures["gain"]["difference"] == pytest.approx(figures["reranked"]["const_f"] - figures["base"]["const_f"])


def test_the_figures_are_those_of_the_pipeline(reranked, run, tmp_path):
    out, _, figures = reranked
    assert run("evaluate", out, "assets/sample-dev.mrg", "--output", tmp_path / "dev.json").exit_code == 0
    evaluated = json.loads((tmp_path / "dev.json").read_text(encoding="utf8"))
    assert evaluated["const_f"] == pytest.approx(figures["reranked"]["const_f"])
    assert spacy.load(out).meta["performance"]["const_f"] == pytest.approx(evaluated["const_f"])


def test_the_held_out_trees_do_not_scale_the_parsers_scores(reranked):
    """The temperature is that of the parts' parsers; the parser's own was fitted on the trees of the figures."""
    nlp, lists = spacy.load(reranked[0]), reranked[0].with_name("out.lists")
    temperatures = [one.temperature for path in sorted(lists.glob("*.jsonl.gz")) for one in read_lists(path)]
    config = nlp.get_pipe("incparse_reranker").model.reranker.config
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


def test_another_loss_reuses_the_lists(reranked, small_model, run, tmp_path):
    paths = [*PATHS, tmp_path / "boosted"]
    lists = reranked[0].with_name("out.lists")
    result = run("rerank-train", small_model, *paths, *LITTLE, "--loss", "perceptron", "--work", lists)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("finished before") == 2
    more = ["--loss", "risk", "--loss", "log", "--families", "rules"]
    again = run("rerank-train", tmp_path / "boosted", *paths, *LITTLE, *more, "--work", lists, "--force")
    assert again.exit_code == 0, again.output  # of a pipeline that has a reranker: it is replaced
    assert [again.stdout.count(f"features of {names}\n") for names in ("rules, heavy", "rules")] == [1, 1]
    assert min(again.stdout.count(f"  {loss}: ") for loss in ("risk", "log")) > 1
    assert "learn without it" not in again.stdout
    assert spacy.load(tmp_path / "boosted").pipe_names.count("incparse_reranker") == 1


def test_losses_that_weigh_no_scores_take_them_from_the_others(reranked, small_model, run, tmp_path):
    paths = [*PATHS, tmp_path / "mixed"]
    options = ["--loss", "log", "--loss", "perceptron", "--families", "rules"]
    result = run("rerank-train", small_model, *paths, *LITTLE, *options, "--work", reranked[0].with_name("out.lists"))
    assert result.exit_code == 0, result.output
    assert "perceptron cannot weigh the generative score: all losses learn without it" in result.stdout
    assert spacy.load(tmp_path / "mixed").get_pipe("incparse_reranker").model.reranker.others == {}


def test_scores_are_added_to_lists_that_are_there(reranked, small_model, run, tmp_path):
    paths = [*PATHS, tmp_path / "plain"]
    result = run("rerank-train", small_model, *paths, *LITTLE, "--with", "")
    assert result.exit_code == 0, result.output
    assert spacy.load(tmp_path / "plain").get_pipe("incparse_reranker").model.reranker.others == {}
    result = run("rerank-train", small_model, *paths, *LITTLE, "--force")
    assert "finished before" not in result.stdout
    lists = reranked[0].with_name("out.lists")
    for number in (1, 2):
        name = f"fold-{number:03d}.jsonl.gz"
        assert (tmp_path / "plain.lists" / name).read_bytes() == (lists / name).read_bytes()
    names = ["plain/incparse_reranker/model", "out/incparse_reranker/model"]
    assert (tmp_path / names[0]).read_bytes() == (reranked[0].parent / names[1]).read_bytes()


def test_mistakes_are_told_in_a_line(reranked, small_model, run, tmp_path):
    mine, new, file = tmp_path / "mine", tmp_path / "new", tmp_path / "file"
    mine.mkdir()
    (mine / "notes.txt").touch()
    file.touch()
    lists = reranked[0].with_name("out.lists")

    def check(message, *arguments):
        result = run("rerank-train", small_model, *PATHS, *arguments)
        assert result.exit_code == 1
        assert message in result.stderr

    check("there is already something in", reranked[0])
    check("is no pipeline, so --force does not replace it", mine, "--force")
    for name in ("config.cfg", "meta.json"):
        (mine / name).write_text("{}")
    check(f"{mine / 'notes.txt'} is not of the pipeline, and would be lost", mine, "--force")
    check("unknown family of features 'nonsense'", new, "--families", "rules,nonsense")
    check("was made with other trees or settings", new, *LITTLE, "--n", 7, "--work", lists)
    assert not new.exists()
    check(f"{file / 'new'} cannot be written: {file} is a file, not a folder", file / "new")
    check(f"{file / 'lists'} cannot be written", new, "--work", file / "lists")


def test_spacy_train_learns_from_the_lists(reranked, small_model, tmp_path):
    from spacy.cli.train import train as spacy_train

    lists = reranked[0].with_name("out.lists")
    overrides = {
        "paths.parser": str(small_model),
        "paths.lists": str(lists),
        "paths.train": "assets/sample-train.mrg",
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
