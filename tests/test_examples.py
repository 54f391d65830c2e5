import importlib.util
from collections import Counter

import pytest

import spacy_incparse
from spacy_incparse import Tree
from tests.commands import run_command
from tests.readme import CHECKOUT

EXAMPLES = CHECKOUT / "examples"
TEXTS = sorted((EXAMPLES / "data" / "texts").glob("*.txt"))
README = (EXAMPLES / "README.md").read_text(encoding="utf8")


def example(name):
    """Import an example."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def nlp():
    return spacy_incparse.load("en")


@pytest.fixture(scope="module")
def docs(nlp):
    return [nlp(path.read_text(encoding="utf8")) for path in TEXTS]


def test_the_table_has_all_noun_phrases_and_clauses_in_their_places(docs):
    program = example("phrase_table")
    for doc in docs:
        rows = [dict(zip(program.COLUMNS, row, strict=True)) for row in program.rows(doc)]
        assert Counter(row["label"] for row in rows)["NP"] == sum(len(list(t.phrases("NP"))) for t in doc._.trees)
        for row in rows:
            assert doc.text[row["start"] : row["end"]].replace("\n", " ") == row["text"]
            assert row["head"] in row["text"]
            around = [r for r in rows if r["start"] <= row["start"] and row["end"] <= r["end"]]
            assert row["depth"] < len(around)


@pytest.mark.parametrize(
    ("tree", "clauses"),
    [
        (
            "(S (NP (NP (NNP Ann)) (, ,) (SBAR (WHNP (WP who)) (S (VP (VBZ fishes)))) (, ,)) (VP (VBZ sings)) (. .))",
            ["0 Ann , ... sings .", "1 who fishes ,"],
        ),
        (
            "(TOP (S (S (NP (PRP He)) (VP (VBD came))) (, ,) (CC and) (S (NP (PRP he)) (VP (VBD left))) (. .)))",
            ["0 He came ,", "0 and he left ."],
        ),
        ("(TOP (NP (NN Rain)) (. .))", ["0 Rain ."]),
    ],
)
def test_clauses_of_a_tree(tree, clauses):
    program, tree = example("split_clauses"), Tree.from_string(tree)
    assert [f"{clause.depth} {program.text(clause, tree.words)}" for clause in program.split(tree)] == clauses


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        (
            "(S (NP (NN tea)) (VP (VBZ has) (VP (VBN been) (VP (VBN made) (PP (IN by) (NP (PRP us)))))))",
            [("PASSIVE", "made", "tea", "by us")],
        ),
        ("(NP (NP (NN tea)) (VP (VBN sold) (PP (IN by) (NP (PRP us)))))", [("REDUCED", "sold", "tea", "by us")]),
        ("(S (NP (PRP We)) (VP (VBP have) (VP (VBN sold) (NP (NN tea)))))", []),
    ],
)
def test_passives_of_a_tree(nlp, tree, found):
    from spacy_incparse.documents.gold import trees_to_docs

    program = example("passives")
    (doc,) = trees_to_docs([Tree.from_string(f"(TOP {tree})")], nlp.vocab)
    rows = list(program.passives(doc, program.passive_matcher(nlp)))
    columns = ("kind", "participle", "subject", "agent")
    assert [tuple(row.get(column) for column in columns) for row in rows] == found


def test_a_corpus_gives_the_same_hits_with_any_number_of_processes(docs):
    program = example("corpus_search")
    rows = list(program.search(EXAMPLES / "data" / "texts", {"np": "NP", "pp": "PP=p"}, n_process=1))
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert Counter(row[1] for row in rows)["np"] == sum(
        len(list(tree.phrases("NP"))) for doc in docs for tree in doc._.trees
    )
    printed = run_command(f"python '{EXAMPLES}/corpus_search.py' '{EXAMPLES}/data/texts' NP PP=p").splitlines()
    assert [line.split("\t")[2:] for line in printed[1:]] == [[str(cell) for cell in row[2:]] for row in rows]


def test_settings_of_ones_own_can_be_trained(tmp_path):
    for name in ("sample-train.mrg", "sample-dev.mrg"):
        lines = (CHECKOUT / "assets" / name).read_text(encoding="utf8").splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:30]), encoding="utf8")
    few = f"'{tmp_path}/sample-train.mrg' '{tmp_path}/sample-dev.mrg' '{tmp_path}'"
    run_command(f"spacy-incparse train {few} --config '{EXAMPLES}/small.json' --max-epochs 1")
    assert (tmp_path / "model-best" / "config.cfg").exists()
    run_command(f"spacy-incparse train {few} --config '{EXAMPLES}/chart-margin.json' --max-epochs 1 --force")
    component = spacy_incparse.load(tmp_path / "model-best").get_pipe("incparse")
    assert (component.model.parser.kind, component.model.parser.config.softmax_margin) == ("mira", 0.0)
    assert component.model.temperature > 0  # fitted: its scores are no log probabilities
