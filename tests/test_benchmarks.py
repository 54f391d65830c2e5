import importlib
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.training.settings import parser_config
from spacy_incparse.treebanks.reader import read_treebank

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = (
    "accuracy", "gains", "model_accuracy", "english", "speed", "pipeline_speed", "footprint", "grammar_tables",
    "tree_speed", "calibration", "search_speed", "measures",
    "paper_tables", "reranking", "list_speed", "chart_papers", "neural_accuracy", "chart_pruning", "combiner_accuracy",
    "benepar_comparison", "rerank_training",
)  # fmt: skip
SMALL = {"n_folds": 2, "table_bits": 14, "tagger": {"n_epochs": 2}}
RESULTS = (FOLDER / "results.tsv").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def load():
    """Import a module of the benchmarks as their scripts do; they set environment variables when imported."""
    with patch.object(sys, "path", [str(FOLDER), *sys.path]), patch.dict(os.environ):
        yield importlib.import_module


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """A pipeline that was trained in no time."""
    from spacy_incparse.cli.train import BEST

    folder = tmp_path_factory.mktemp("benchmarks")
    trees = read_treebank(FOLDER.parent / "assets" / "sample-train.mrg")
    read_recipe("paper", max_epochs=1).train_pipeline(trees, trees[:10], folder)
    return folder / BEST


@pytest.fixture
def small_tables(load, monkeypatch):
    """Train with small tables of weights: to fill and copy large ones takes longer than to learn from a few trees."""

    def read_small(*arguments, **options):
        recipe = read_recipe(*arguments, **options)
        is_generative = recipe.kind.trains_in_one_pass
        return recipe if is_generative else replace(recipe, training=recipe.training | SMALL)

    for module in ("accuracy", "paper_sides", "training_run", "base_lists"):
        monkeypatch.setattr(load(module), "read_recipe", read_small)


@pytest.fixture
def in_this_process(load, small_tables, monkeypatch):
    """Train all seeds in this process, and with small tables."""

    @contextmanager
    def pool(*_, **__):
        yield SimpleNamespace(apply=lambda function, arguments: function(*arguments))

    monkeypatch.setattr(load("accuracy"), "get_context", lambda _: SimpleNamespace(Pool=pool))


@pytest.fixture
def run(load, tmp_path):
    """Run a script; give its rows by their names, each a dict by column."""

    def _run(script, *arguments):
        path, results = tmp_path / "results.tsv", load("results")
        load(script).main([*map(str, arguments), "--results", str(path)])
        return {name: row | results.figures_of(row) for name, row in results.read_rows(path).items()}

    return _run


def test_accuracy(run):
    options = ["--features", "paper", "--epochs", 1, "--seeds", "0,1", "--limit", 20]
    rows = run("accuracy", "sample", *options)
    assert float(rows["acc-sample-predicted-paper"]["F"]) <= 100
    row = rows["acc-sample-gold-paper"]
    low, high = map(float, row["F range"].split(" - "))
    assert low <= float(row["F"]) <= high
    assert (row["sentences"], row["passes"], row["seed"], row["flat"]) == ("20", "1", "0,1", "0")
    assert float(row["peak MB"]) > 0


@pytest.mark.usefixtures("in_this_process")
def test_accuracy_goes_on_with_the_seeds_that_are_missing(run, tmp_path):
    options = ["--config", "paper", "--epochs", 1, "--limit", 20, "--trees", tmp_path]
    first = run("accuracy", "sample", "--seeds", "0", *options)["acc-sample-gold-paper"]
    kept = (tmp_path / "acc-sample-gold-paper.0.mrg").stat().st_mtime_ns
    both = run("accuracy", "sample", "--seeds", "0,1", *options)["acc-sample-gold-paper"]
    assert (tmp_path / "acc-sample-gold-paper.0.mrg").stat().st_mtime_ns == kept
    assert first["F"] in both["F range"]
    run("accuracy", "sample", "--seeds", "0", *options[:2], "--epochs", 2, *options[4:])
    assert (tmp_path / "acc-sample-gold-paper.0.mrg").stat().st_mtime_ns != kept


@pytest.mark.usefixtures("in_this_process")
def test_gains_compare_the_trees_that_accuracy_keeps(run, tmp_path):
    options = ["--seeds", "0,1", "--limit", 40, "--trees", tmp_path / "trees"]
    for epochs, config in ((1, "paper"), (4, "rich")):
        run("accuracy", "sample", "--config", config, "--epochs", epochs, *options)
    names = ["acc-sample-gold-paper", "acc-sample-gold-rich"]
    rows = run("gains", "sample", *names, "--trees", tmp_path / "trees", "--limit", 40)
    row = rows["gain-sample-gold-paper-to-gold-rich"]
    assert row["seed"] == "0,1"
    assert float(row["gain"]) == pytest.approx(float(row["F after"]) - float(row["F before"]), abs=0.011)
    assert 0 < float(row["p"]) <= 1


def test_gain_of_one_pipeline_over_another(run, model):
    row = run("model_gain", "sample", "--before", model, "--after", "en")["gain-sample-model-best-to-en"]
    assert row["sentences"] == "50"
    assert float(row["gain"]) == pytest.approx(float(row["F after"]) - float(row["F before"]), abs=0.011)
    repaired = run("model_gain", "sample", "--before", "en", "--after", "en", "--rules", "sample=english")
    assert float(repaired["gain-sample-repaired-en-to-en"]["gain"]) == 0


@pytest.mark.slow
def test_neural_accuracy(run, model, tmp_path):
    rows = run("neural_accuracy", "sample", "--epochs", 2, "--limit", 40, "--output", tmp_path / "out", "--name", "cnn")
    row = rows["neural-sample-cnn"]
    assert (row["passes"], row["sentences"]) == ("2", "40")
    assert 0 <= float(row["F"]) <= 100
    assert (tmp_path / "out" / "model-best").is_dir()
    assert not (tmp_path / "out" / "model-last").exists()
    neural = tmp_path / "out" / "model-best"
    row = run("combiner_accuracy", "sample", "--models", neural, model, neural, "--limit", 30, "--name", "x")
    figures = row["combiner-sample-x"]
    members = [float(f) for f in figures["F of the parsers"].split(", ")]
    assert len(members) == 3
    assert members[0] == members[2]
    assert float(figures["F"]) > 0
    assert float(figures["gain"]) == pytest.approx(float(figures["F"]) - max(members), abs=0.02)
    options = ["--parser", tmp_path / "out", "--limit", 30, "--name", "x", "--runs", 1]
    memory = run("neural_footprint", "sample", *options)["footprint-sample-x"]
    assert memory["sentences"] == "30"
    assert 50 < float(memory["peak MB"]) < 1000
    assert float(memory["load s"]) > 0 < float(memory["parsing words/s"])


def test_model_accuracy(run, model):
    options = ["--rules", "english", "--label", "NP", "--label", "ODD"]
    repaired = run("model_accuracy", "sample", "--model", model, *options)
    assert repaired["model-sample-repaired-model-best"]["sentences"] == "50"
    assert 0 < float(repaired["label-NP-sample-repaired-model-best"]["recall"]) <= 100
    assert repaired["label-ODD-sample-repaired-model-best"]["recall"] == "-"
    rows = run("model_accuracy", "sample", "--model", model)
    assert 0 < float(rows["model-sample-model-best"]["F"]) <= 100
    narrow = run("model_accuracy", "sample", "--model", model, "--wide", "gamma=0", "beam_size=1")
    assert float(narrow["model-sample-model-best-wide"]["F"]) <= float(rows["model-sample-model-best"]["F"])


def test_english_by_construction(load, run, model, monkeypatch, capsys):
    gold = read_treebank(FOLDER.parent / "tests" / "english" / "seen.mrg")
    flat = [tree.from_string(f"(TOP (X {' '.join(map(str, tree.preterminals()))}))") for tree in gold]
    monkeypatch.setattr(load("english"), "parsed_trees", lambda _, docs: gold[:4] + flat[4 : len(docs)])
    rows = run("english", "--models", model, "--limit", 6)
    row, table = rows["english-seen-model-best"], capsys.readouterr().out
    assert (row["exact"], row["sentences"], row["tags"]) == ("66.67", "6", "100.00")
    assert "| questions (4) | 100.00 / 4 |" in table
    assert "| long-distance questions (2) | 0.00 / 0 |" in table


def test_list_speed(run, model):
    rows = run("list_speed", "sample", "--model", model, "--runs", 1, "--limit", 3)
    row, oracle = rows["lists-sample-model-best"], rows["oracle-sample-model-best"]
    best = [float(oracle[f"{n} trees: F"]) for n in (10, 20, 50)]
    assert best == sorted(best)
    assert 1 < float(oracle["50 trees: mean length"]) <= 50
    assert float(row["50 trees: words/s"].replace(",", "")) > 0
    assert row["reranked: sentences/s"] == "-"


def test_calibration(run, model):
    row = run("calibration", "sample", "--model", model)["calibration-sample-model-best"]
    assert row["sentences"] == "50"
    assert all(0 <= float(row[column]) <= 100 for column in ("error, trees", "error, phrases", "trees right"))
    assert float(row["temperature"]) > 0
    name = "calibration-sample-model-best-temperature-1000"
    other = run("calibration", "sample", "--model", model, "--temperature", "1000")[name]
    assert other["temperature"] == "1000"
    assert float(other["trees: mean confidence"]) < float(row["trees: mean confidence"])


@pytest.fixture(scope="module")
def generative_model(tmp_path_factory) -> Path:
    from spacy_incparse.cli.train import BEST

    folder, assets = tmp_path_factory.mktemp("generative"), FOLDER.parent / "assets"
    words = ["train", assets / "sample-train.mrg", assets / "sample-dev.mrg", folder, "--config", "generative"]
    assert CliRunner().invoke(app, [str(word) for word in words]).exit_code == 0
    return folder / BEST


@pytest.mark.parametrize(
    ("script", "options", "row", "column", "least", "most"),
    [
        ("pipeline_speed", "--model {model} --runs 1 --limit 5", "pipeline-sample-model-best", "ratio", 1e-9, 1e3),
        ("footprint", "--model {model} --runs 1 --limit 2", "footprint-model-best", "peak MB", 10, 1e4),
        ("tree_speed", "--tokens 60 --runs 2", "trees-sample", "tokens", 60, 200),
        ("search_speed", "--rounds 1 --limit 30 --without-nltk", "search-sample-2", "hits", 1, 1e3),
        ("grammar_tables", "--with-top --limit 50", "grammar-sample-with-top", "round trip", 0, 0),
        ("measures", "--model {generative} --sentences 2 --grammars 2", "measures-twin", "largest difference", 0, 1e-6),
    ],
)
def test_a_figure(run, model, generative_model, script, options, row, column, least, most):
    rows = run(script, "sample", *options.format(model=model, generative=generative_model).split())
    assert least <= float(rows[row][column]) <= most
    if script == "footprint":
        assert float(rows[row]["MB with spaCy alone"]) <= float(rows[row]["resident MB"]) <= float(rows[row]["peak MB"])


def test_speed(run):
    rows = run("speed", "sample", "--epochs", 1, "--limit", 20, "--rounds", 1, "--fast", "beam_size=2", "gamma=1e3")
    assert list(rows) == ["speed-sample-default", "speed-sample-narrow", "speed-sample-fast"]
    assert rows["speed-sample-fast"]["search"].startswith("beam_size=2 gamma=1000.0 ")


@pytest.mark.usefixtures("small_tables")
def test_paper_tables(run, load, tmp_path):
    small = ["--limit", 30, "--epochs", 2, "--tags", "gold", "--weights", "5", "--output", tmp_path / "paper"]
    paper = partial(run, "paper_tables", "sample", *small)
    rows = paper("--seeds", "0,1", "--only", "table4,figure5")
    names = ("generative", "punctuation", "hybrid", "full", "perceptron", "repeated")
    assert {f"paper-sample-gold-{name}" for name in names} < set(rows)
    f = {name: float(rows[f"paper-sample-gold-{name}"]["F"]) for name in names}
    searches = [rows[f"paper-sample-gold-hybrid{end}"]["search"] for end in ("", "-risk")]
    assert searches[1].startswith(f"{searches[0]} choose=expected_f choose_trees=50 choose_temperature=")
    gain = rows["paper-sample-gold-hybrid-gain"]
    assert float(gain["difference in F"]) == pytest.approx(
        f["hybrid"] - max(f["generative"], f["punctuation"]), abs=0.02
    )
    assert float(gain["its F"]) == f[gain["over"]]
    for name in ("full", "perceptron", "repeated"):
        row = rows[f"paper-sample-gold-{name}"]
        assert row["F by pass"].split()[int(row["passes"]) - 1] == row["F"]
    assert [rows[f"paper-sample-gold-{name}"]["seed"] for name in ("hybrid", "generative")] == ["0,1", "-"]
    assert (tmp_path / "paper" / "figure5.svg").read_text(encoding="utf8").count("<circle") == 6

    # What is finished is not made again, and the rows are the same; what is missing is.
    with patch.object(load("paper_sides"), "train_passes", side_effect=AssertionError):
        assert paper("--seeds", "0,1", "--only", "table4,figure5") == rows
        with pytest.raises(AssertionError):
            paper("--seeds", "2", "--only", "figure5")


@pytest.mark.usefixtures("small_tables")
def test_reranking(run, load, monkeypatch, tmp_path):
    sides = load("rerank_sides")
    for name in ("BOOST", "RISK"):  # one setting of each
        side = getattr(sides, name)
        small = replace(side, grid={key: values[:1] for key, values in side.grid.items()})
        monkeypatch.setitem(sides.SIDES, side.name, small)
    small = ["--config", "paper", "--epochs", 1, "--limit", 30, "--folds", 2, "--rounds", 8, "--cost-rounds", 8]
    reranking = partial(run, "reranking", "sample", *small, "--output", tmp_path / "reranking")
    options = ["--n", "5,10", "--learners", "boost,risk,risk+generative", "--greedy-rounds", 2]
    rows = reranking(*options)
    kinds = "own most-probable expected-f boost boost-expected-f risk risk+generative risk-expected-f oracle".split()
    found = {kind: rows[f"rerank-sample-paper-{kind}"] for kind in kinds}
    base, best = (float(found[kind]["F"]) for kind in ("most-probable", "oracle"))
    for kind in kinds:
        assert float(found[kind]["F"]) <= best
    for kind in kinds[3:]:
        assert float(found[kind]["gain"]) == pytest.approx(float(found[kind]["F"]) - base, abs=0.011)
    efficient, naive = (rows[f"rerank-sample-paper-cost-{name}"] for name in ("efficient", "naive"))
    assert int(efficient["additions a round"]) < int(naive["additions a round"])
    assert {"table3.txt", "rounds.svg"} <= {path.name for path in (tmp_path / "reranking").iterdir()}
    rounds = rows["rerank-sample-paper-rounds-boost"]
    chosen, gain = rounds["rounds"].split().index("8"), rounds["gain by round"].split()
    assert gain[chosen] == found["boost"]["gain"]

    # What is finished is not made again, and the rows are the same.
    never = patch.object(load("rerank_study"), "cross_validate", side_effect=AssertionError)
    with never, patch("spacy_incparse.training.settings.train_parser", side_effect=AssertionError):
        again = reranking(*options, "--only", "table3,rounds,families")
        figures, before = ({name: row.get("F") for name, row in made.items()} for made in (again, rows))
        assert figures == {name: before[name] for name in figures}
        with pytest.raises(AssertionError):
            reranking("--n", "5,10", "--learners", "log", "--only", "table3")


def test_chart_papers(run, load, monkeypatch, tmp_path):
    monkeypatch.setattr(load("chart_sides"), "TABLE_BITS", 14)
    monkeypatch.setattr(load("chart_sides"), "MAX_PASSES", 4)
    chart_papers = partial(run, "chart_papers", "sample", "--limit", 60, "--output", tmp_path / "charts")
    options = ["--protocols", "taskar-head,finkel,product", "--kinds", "gold"]
    rows = chart_papers(*options, "--sides", "generative,lexical+aux,discriminative,max-margin", "--only", "systems")
    assert len(rows) == 6
    assert rows["chart-sample-taskar-head-15-gold-lexical+aux"]["paper's F"] == "89.12"
    assert all(50 < float(row["F"]) <= 100 for row in rows.values())
    assert "taskar-head-15-gold-generative" in (tmp_path / "charts" / "figures.json").read_text(encoding="utf8")

    # What is finished is not made again.
    with patch.object(load("chart_papers"), "Lab", side_effect=AssertionError):
        again = chart_papers(*options, "--sides", "generative", "--only", "systems")
    assert {name: row["F"] for name, row in again.items()} == {name: rows[name]["F"] for name in again}


def test_the_documented_settings_are_the_grammar_of_taskar_et_al(load, tmp_path):
    text = (FOLDER.parent / "docs" / "training.md").read_text(encoding="utf8")
    (block,) = [found for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if "max_margin" in found]
    path = tmp_path / "settings.json"
    path.write_text(block, encoding="utf8")
    recipe, published = read_recipe(str(path)), read_recipe("max-margin")
    config, other = (parser_config(found.training | found.search) for found in (recipe, published))
    changed = {field.name for field in fields(config) if getattr(config, field.name) != getattr(other, field.name)}
    assert changed == {"grammar"}
    assert recipe.max_epochs == published.max_epochs

    trees = read_treebank(FOLDER.parent / "assets" / "sample-train.mrg")
    trees = [tree for tree in trees if len(tree.words) <= 12][:30]
    tags = [tree.tags for tree in trees]
    learner = recipe.kind.learner(trees, tags, config, recipe.heads, None)
    lab = load("chart_lab")
    built = lab.Lab(trees, load("chart_sides").TASKAR, recipe.heads, lab.WORDS).grammar
    assert (learner.grammar.rules, learner.grammar.states) == (built.rules, built.states)
    examples = [learner.encode(tree.words, row, tree) for tree, row in zip(trees, tags, strict=True)]
    assert None not in examples
    parses = learner.parser().parse_batch([(tree.words, [None] * len(tree.words)) for tree in trees])
    assert {parse.source for parse in parses} == {"chart"}


def test_chart_pruning(run, tmp_path):
    options = ["--unpruned", 12, "--lengths", "10,20,1000", "--sentences", 2, "--epochs", 1, "--tenths", 2]
    rows = run("chart_pruning", "sample", "--limit", 100, "--output", tmp_path / "pruning", *options)
    kinds = ("normal", "loose", "normal-short", "loose-short", "off-short")
    pruned = [rows[f"pruning-sample-{kind}"] for kind in kinds]
    for group in (pruned[:2], pruned[2:]):
        for less, more in pairwise(group):
            assert float(less["oracle F"]) <= float(more["oracle F"]) <= 100
            assert int(less["edges/word"]) < int(more["edges/word"])
            assert (less["sentences"], less["words"]) == (more["sentences"], more["words"])
    assert all(float(row["oracle F"]) > float(row["F"]) > 50 for row in pruned)
    assert int(pruned[2]["most words"]) <= 12 < int(pruned[0]["most words"])
    assert int(rows["lengths-sample-10"]["edges"]) < int(rows["lengths-sample-20"]["edges"])
    thresholds = [rows[f"thresholds-sample-{name}"] for name in ("0.001", "0.0003", "0.0001", "3e-05", "1.2e-05")]
    for strict, loose in pairwise(thresholds):
        assert float(strict["loss of oracle F"]) >= float(loose["loss of oracle F"]) >= 0
        assert int(strict["edges/word"]) <= int(loose["edges/word"])


def test_the_dev_part_chooses_nothing(load, tmp_path):
    study, sides, parts = load("paper_study"), load("paper_sides"), load("parts")
    train = read_treebank(FOLDER.parent / "assets" / "sample-train.mrg")[:30]
    other = read_treebank(FOLDER.parent / "assets" / "sample-dev.mrg")
    choices = []
    for number, dev in enumerate((other[:5], train[:5])):
        made = study.Study(train, dev, parts.Parts(tmp_path / f"{number}.json"), epochs=3)
        choices.append(made.result(sides.PERCEPTRON, "gold").choice)
    assert choices[0] == choices[1]


def test_finished_parts_of_a_changed_package_are_forgotten(load, tmp_path):
    parts, path = load("parts"), tmp_path / "figures.json"
    assert parts.Parts(path).get("a", "1", lambda: {"f": 0.5}) == {"f": 0.5}
    assert parts.Parts(path).get("a", "1", dict) == {"f": 0.5}
    exact = {"f": 0.1 + 0.2, "by_pass": [2 / 3, 1e-17]}
    assert parts.Parts(path).get("b", "1", lambda: exact) == parts.Parts(path).get("b", "1", dict) == exact
    assert parts.Parts(path).get("a", "2", dict) == {}
    with patch.object(parts, "package_checksum", lambda packages: "other"):
        assert parts.Parts(path).get("a", "2", lambda: {"f": 0.7}) == {"f": 0.7}
    path.write_text("{}", encoding="utf8")
    with pytest.raises(ValueError, match=r"figures\.json is damaged \(KeyError\('parts'\)\): delete it"):
        parts.Parts(path)


def test_a_row_is_replaced_and_all_else_stays(load, tmp_path):
    results, path = load("results"), tmp_path / "results.tsv"
    table, other = results.Table("Mine", ("figure", "F range")), results.Table("Other", ("figure",))
    results.write(table, {"a": ["1", "1 - 2"], "b": ["2", "0 - 3"]}, path, seed="0,1", argv=["wsj"])
    results.write(other, {"c": ["3"]}, path)
    before = results.read_rows(path)
    assert (before["a"]["table"], before["a"]["seed"]) == ("Mine", "0,1")
    assert before["a"]["command"].endswith(" wsj")
    assert results.figures_of(before["a"]) == {"figure": "1", "F range": "1 - 2"}
    results.write(table, {"a": ["4", '1 " 2']}, path)
    after = results.read_rows(path)
    assert results.figures_of(after["a"]) == {"figure": "4", "F range": '1 " 2'}
    assert {name: after[name] for name in ("b", "c")} == {name: before[name] for name in ("b", "c")}


def test_figures_of_rows_are_written_into_documents(load, tmp_path):
    results, path = load("results"), tmp_path / "results.tsv"
    results.write(results.Table("Mine", ("F", "share")), {"x": ["1.50", "2"]}, path)
    rows = results.read_rows(path)
    table = "| what | share / F | row |\n|---|---|---|\n| one | | `x` |\n| other | | `y` |\n"
    filled = "| what | share / F | row |\n|---|---|---|\n| one | 2 / 1.50 | `x` |\n"
    filled += "| other | not measured yet / not measured yet | `y` |\n"
    document = f"{table}<!-- results -->\n{table}<!-- /results -->\n"
    assert results.with_figures(document, rows) == f"{table}<!-- results -->\n{filled}<!-- /results -->\n"


def test_documents_have_the_figures_of_the_results(load):
    results = load("results")
    rows = results.read_rows(FOLDER / "results.tsv")
    for document in results.DOCUMENTS:
        text = document.read_text(encoding="utf8")
        assert results.with_figures(text, rows) == text, "write it anew with `python benchmarks/results.py`"
        assert results.MISSING not in text


@pytest.mark.parametrize("script", SCRIPTS)
def test_results_have_the_tables_of_each_script(load, script):
    tables = [value for value in vars(load(script)).values() if isinstance(value, load("results").Table)]
    assert tables
    rows = load("results").read_rows(FOLDER / "results.tsv").values()
    for table in tables:
        assert any(
            row["table"] == table.heading and set(table.columns) == set(load("results").figures_of(row)) for row in rows
        )


def test_results_name_no_folder_of_the_machine():
    assert not re.findall(r"(?<![\w.])/(?:home|root|tmp|usr|work|mnt|data|Users)\b", RESULTS)


def test_house(load, capsys):
    """The counts of the sources, and of what a traced call enters."""
    house = load("house")
    house.main(["--static"])
    table = capsys.readouterr().out
    assert len(re.findall(r"^\| \S.* \|$", table, re.MULTILINE)) == 5
    assert re.search(r"settings that users can write \| .* \| \d+ \(\d+\) \|", table)
    assert house.lines_before_definitions(["import os", "", "@cache", "def f():", "    pass"]) == 2
    assert house.lines_before_definitions(['"""Text."""', "import os"]) == 2
    assert house.traced("pipe")["frames"] > 1
