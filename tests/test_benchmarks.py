import importlib
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import spacy

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.cli.train import BEST
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

FOLDER = Path(__file__).parents[1] / "benchmarks"
TRAIN, DEV = (FOLDER.parent / "assets" / f"sample-{part}.mrg" for part in ("train", "dev"))
SCRIPTS = (
    "accuracy", "gains", "model_accuracy", "english", "speed", "pipeline_speed", "footprint", "grammar_tables",
    "tree_speed", "calibration", "search_speed", "measures", "paper_tables", "reranking", "list_speed", "chart_papers",
    "neural_accuracy", "chart_pruning", "combiner_accuracy", "benepar_comparison", "rerank_training",
)  # fmt: skip


@contextmanager
def _pool(*_, **__):
    yield SimpleNamespace(apply=lambda function, arguments: function(*arguments))


@pytest.fixture(scope="module")
def load():
    """Import a module of the benchmarks as their scripts do; they set environment variables when imported.

    They train in this process, with small tables of weights, since large ones take longer to fill and copy, and try one
    setting of each learner of the reranker.
    """

    def read_small(*arguments, **options):
        recipe = read_recipe(*arguments, **options)
        small = {} if recipe.kind.trains_in_one_pass else {"n_folds": 2, "table_bits": 14, "tagger": {"n_epochs": 2}}
        return replace(recipe, training=recipe.training | small)

    with patch.object(sys, "path", [str(FOLDER), *sys.path]), patch.dict(os.environ), pytest.MonkeyPatch.context() as m:
        for module in ("accuracy", "paper_sides", "training_run", "base_lists"):
            m.setattr(importlib.import_module(module), "read_recipe", read_small)
        m.setattr("accuracy.get_context", lambda _: SimpleNamespace(Pool=_pool))
        m.setattr("chart_sides.TABLE_BITS", 14)
        m.setattr("chart_sides.MAX_PASSES", 2)
        for name, side in importlib.import_module("rerank_sides").SIDES.items():
            grid = {key: values[:1] for key, values in side.grid.items()}
            m.setitem(importlib.import_module("rerank_sides").SIDES, name, replace(side, grid=grid))
        yield importlib.import_module


@pytest.fixture(scope="module")
def models(load, tmp_path_factory) -> dict[str, Path]:
    """Pipelines that were trained in no time."""
    trees = read_treebank(TRAIN)
    folders = {name: tmp_path_factory.mktemp(name) for name in ("paper", "generative")}
    for name, folder in folders.items():
        load("training_run").read_recipe(name, max_epochs=1).train_pipeline(trees[:60], trees[:5], folder)
    return {name: folder / BEST for name, folder in folders.items()}


@pytest.fixture
def run(load, models, tmp_path):
    """Run a script, given in words, on the sample treebank; give its rows by their names, each a dict by column."""

    def _run(command):
        path, results = tmp_path / "results.tsv", load("results")
        script, *arguments = command.split()
        arguments = [argument.format(tmp=tmp_path, **models) for argument in arguments]
        bank = [] if script == "english" else ["sample"]
        load(script).main([*bank, *arguments, "--results", str(path)])
        return {name: row | results.figures_of(row) for name, row in results.read_rows(path).items()}

    return _run


@pytest.mark.parametrize(
    ("command", "row", "column", "least", "most"),
    [
        ("model_gain --before {paper} --after en", "gain-sample-model-best-to-en", "gain", 0, 100),
        ("model_accuracy --model {paper} --rules english", "model-sample-repaired-model-best", "F", 1, 100),
        ("english --models {paper} --limit 6", "english-seen-model-best", "sentences", 6, 6),
        ("list_speed --model {paper} --runs 1 --limit 3", "oracle-sample-model-best", "50 trees: F", 1, 100),
        ("calibration --model {paper}", "calibration-sample-model-best", "error, trees", 0, 100),
        ("pipeline_speed --model {paper} --runs 1 --limit 5", "pipeline-sample-model-best", "ratio", 1e-9, 1e3),
        ("footprint --model {paper} --runs 1 --limit 2", "footprint-model-best", "peak MB", 10, 1e4),
        ("tree_speed --tokens 60 --runs 2", "trees-sample", "tokens", 60, 200),
        ("search_speed --rounds 1 --limit 30 --without-nltk", "search-sample-2", "hits", 1, 1e3),
        ("grammar_tables --with-top --limit 50", "grammar-sample-with-top", "round trip", 0, 0),
        ("measures --model {generative} --sentences 1 --grammars 1", "measures-twin", "largest difference", 0, 1e-6),
        ("chart_pruning --limit 15 --unpruned 8 --lengths 9 --epochs 1", "lengths-sample-9", "edges", 1, 9e4),
        ("speed --epochs 1 --limit 20 --rounds 1 --fast beam_size=2", "speed-sample-fast", "F", 0, 100),
        ("paper_tables --limit 15 --epochs 1 --tags gold --weights 5 --seeds 0 --only table4,figure5 "
         "--output {tmp}/out", "paper-sample-gold-hybrid-gain", "its F", 1, 100),
        ("reranking --config paper --epochs 1 --limit 15 --folds 2 --rounds 2 --cost-rounds 2 --n 5 "
         "--only table3,rounds --learners boost,risk+generative --greedy-rounds 1 --output {tmp}/out",
         "rerank-sample-paper-oracle", "F", 1, 100),
        ("chart_papers --limit 30 --protocols taskar-head,finkel,product --kinds gold --only systems "
         "--sides generative,lexical+aux,max-margin --output {tmp}/out",
         "chart-sample-taskar-head-15-gold-lexical+aux", "F", 1, 100),
    ],
)  # fmt: skip
def test_a_figure(run, command, row, column, least, most):
    assert least <= float(run(command)[row][column]) <= most


def test_gains_compare_the_trees_that_accuracy_keeps(run):
    for epochs, config in ((1, "paper"), (2, "rich")):
        run(f"accuracy --seeds 0,1 --limit 20 --trees {{tmp}}/trees --config {config} --epochs {epochs}")
    row = run("gains acc-sample-gold-paper acc-sample-gold-rich --trees {tmp}/trees --limit 20")[
        "gain-sample-gold-paper-to-gold-rich"
    ]
    assert row["seed"] == "0,1"
    assert float(row["gain"]) == pytest.approx(float(row["F after"]) - float(row["F before"]), abs=0.011)


@pytest.mark.slow
def test_neural_parsers_and_combinations(run):
    rows = run("neural_accuracy --epochs 1 --limit 20 --output {tmp}/out --name cnn")
    assert (rows["neural-sample-cnn"]["passes"], rows["neural-sample-cnn"]["sentences"]) == ("1", "20")
    neural = "{tmp}/out/model-best"
    row = run(f"combiner_accuracy --models {neural} {{paper}} {neural} --limit 10 --name x")["combiner-sample-x"]
    first, _, last = row["F of the parsers"].split(", ")
    assert first == last
    row = run("neural_footprint --parser {tmp}/out --limit 10 --name x --runs 1")["footprint-sample-x"]
    assert 50 < float(row["peak MB"]) < 1000


def test_the_dev_part_chooses_nothing(load, tmp_path):
    study, sides, parts = load("paper_study"), load("paper_sides"), load("parts")
    train, other = read_treebank(TRAIN)[:30], read_treebank(DEV)
    choices = []
    for number, dev in enumerate((other[:5], train[:5])):
        made = study.Study(train, dev, parts.Parts(tmp_path / f"{number}.json"), epochs=3)
        choices.append(made.result(sides.PERCEPTRON, "gold").choice)
    assert choices[0] == choices[1]


def test_finished_parts_of_a_changed_package_are_forgotten(load, tmp_path):
    parts, path, exact = load("parts"), tmp_path / "figures.json", {"f": 0.1 + 0.2, "by_pass": [2 / 3, 1e-17]}
    assert parts.Parts(path).get("a", "1", lambda: exact) == parts.Parts(path).get("a", "1", dict) == exact
    assert parts.Parts(path).get("a", "2", dict) == {}
    with patch.object(parts, "package_checksum", lambda packages: "other"):
        assert parts.Parts(path).get("a", "2", lambda: {"f": 0.7}) == {"f": 0.7}


def test_embedded_pipelines_learn_from_what_they_may(load, tmp_path):
    sources, table = load("embedded_sources"), tmp_path / "documents.tsv"
    rows = ["train\ta\tnews\t1\t2", "dev\tb\tnews\t1\t3", "train\tc\twhow\t3\t1", "train\td\tbio\t4\t2"]
    table.write_text("\n".join(["part\tdocument\tgenre\tfirst_tree\tn_trees", *rows]) + "\n", encoding="utf8")
    given = [Tree.from_string(f"(TOP (S (NP (NN rain{k})) (VP (VBZ falls))))") for k in range(1000)]
    assert sources.allowed(given[:6], sources.documents(table)) == [given[0], given[1], given[3], given[4]]
    held_out, rest = sources.stretches(given, 20, 9), sources.rest(given, 20, 9)
    assert held_out == [*given[180:200], *given[580:600], *given[980:]]  # stretches 9, 29 and 49 of 50
    assert sorted(map(str, held_out + rest)) == sorted(map(str, given))
    assert not set(map(str, sources.rest(given, 10, 9))) & set(map(str, held_out))


def test_sentences_count_if_both_ends_are_right(load):
    score = load("sentences").sentence_f
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert score(nlp, [("It rained. We  left.", ["It rained.", "We left."])]) == 1
    assert score(nlp, [("It rained. We left.", ["It", "rained.", "We left."])]) == pytest.approx(2 / 5)


def test_a_row_is_replaced_and_all_else_stays_and_fills_tables_of_documents(load, tmp_path):
    results, path = load("results"), tmp_path / "results.tsv"
    mine, other = results.Table("Mine", ("F", "share")), results.Table("Other", ("figure",))
    results.write(mine, {"a": ["1", "1 - 2"], "x": ["2", "0 - 3"]}, path, seed="0,1", argv=["wsj"])
    results.write(other, {"c": ["3"]}, path)
    before = results.read_rows(path)
    assert (before["a"]["table"], before["a"]["seed"], before["a"]["command"][-4:]) == ("Mine", "0,1", " wsj")
    results.write(mine, {"a": ["1.50", '1 " 2']}, path)
    rows = results.read_rows(path)
    assert results.figures_of(rows["a"]) == {"F": "1.50", "share": '1 " 2'}
    assert [rows[name] for name in "xc"] == [before[name] for name in "xc"]
    table = "| what | share / F | row |\n|---|---|---|\n| one | | `a` |\n| other | | `y` |\n"
    filled = '| what | share / F | row |\n|---|---|---|\n| one | 1 " 2 / 1.50 | `a` |\n'
    filled += "| other | not measured yet / not measured yet | `y` |\n"
    document = f"{table}<!-- results -->\n{table}<!-- /results -->\n"
    assert results.with_figures(document, rows) == f"{table}<!-- results -->\n{filled}<!-- /results -->\n"


def test_documents_have_the_figures_of_the_results_which_have_the_tables_of_each_script(load):
    results, path = load("results"), FOLDER / "results.tsv"
    rows = results.read_rows(path)
    for document in results.DOCUMENTS:
        text = document.read_text(encoding="utf8")
        assert results.with_figures(text, rows) == text, "write it anew with `python benchmarks/results.py`"
        assert results.MISSING not in text
    written = {(row["table"], frozenset(results.figures_of(row))) for row in rows.values()}
    for script in SCRIPTS:
        tables = [value for value in vars(load(script)).values() if isinstance(value, results.Table)]
        assert tables, script
        assert {(table.heading, frozenset(table.columns)) for table in tables} <= written, script
    text = path.read_text(encoding="utf8")
    assert not re.findall(r"(?<![\w.])/(?:home|root|tmp|usr|work|mnt|data|Users)\b", text)  # of the machine
