import csv
import io
import json

import pytest

from spacy_incparse import Tree, complexity
from spacy_incparse.measuring.complexity import MEASURES, cells

TREES = [
    "(TOP (S (NP (PRP We)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))) (. .)))",
    "(TOP (NP (NNS Results)))",
    "(TOP (S (VP (VB Go) (ADVP (RB home))) (. !)))",
]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def row_of(*trees, **options):
    found = complexity([tree and Tree.from_string(tree) for tree in trees], **options)
    return dict(zip(MEASURES, cells(found), strict=True))


@pytest.fixture
def bank(tmp_path):
    """Files of each kind, with documents where the kind has them, and sentences without a tree."""
    first, second, third = TREES
    (tmp_path / "a.mrg").write_text(f"# newdoc id = one\n{first}\n()\n# newdoc id = two\n{second}\n{third}\n")
    sentences = [{"sentence": k, "brackets": tree, "source": "beam"} for k, tree in enumerate(TREES[1:])]
    document = {"id": "three", "sentences": [*sentences, {"sentence": 2, "brackets": first, "source": "flat"}]}
    (tmp_path / "b.jsonl").write_text(json.dumps(document) + "\n")
    return tmp_path


def test_rows_are_documents_files_or_sentences(run, bank):
    first, second, third = TREES
    a, b = bank / "a.mrg", bank / "b.jsonl"
    found = rows(run("complexity", a, b).stdout)
    assert [(row.pop("file"), row.pop("document")) for row in found] == [
        (str(a), "one"), (str(a), "two"), (str(b), "three")
    ]  # fmt: skip
    assert found == [row_of(first, None), row_of(second, third), row_of(second, third, None)]
    (whole,) = rows(run("complexity", a, b, "--by", "all", "--no-fragments").stdout)
    assert whole == row_of(first, None, second, third, second, third, None, fragments=False)
    assert whole["without_tree"] == whole["fragments"] == "2"
    assert run("complexity", bank, "--by", "file", "-o", bank / "x.csv").stdout == ""
    assert [row["S"] for row in rows((bank / "x.csv").read_text())] == ["3"]  # in folders, .jsonl may be anything
    by_sentence = rows(run("complexity", a, "--by", "sentence").stdout)
    assert [row["sentence"] for row in by_sentence] == ["1", "2", "3", "4"]
    assert rows(run("complexity", "-", stdin=third).stdout)[0]["VP"] == "1"


def test_docs_keep_sentences_without_trees(run, tmp_path):
    import spacy
    from spacy.tokens import DocBin

    from spacy_incparse.documents.gold import trees_to_docs

    (doc,) = trees_to_docs(map(Tree.from_string, TREES), spacy.blank("en").vocab, n_sents=3)
    doc._.trees = [Tree.from_string(TREES[0]), None, Tree.from_string(TREES[2])]
    doc.user_data["id"] = "d"
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    (row,) = rows(run("complexity", tmp_path).stdout)
    assert (row.pop("file"), row.pop("document")) == (str(tmp_path / "a.spacy"), "d")
    assert row == row_of(TREES[0], None, TREES[2])


def test_texts_are_parsed_first(run, model, tmp_path):
    (tmp_path / "a.txt").write_text("It rained. We went home.", encoding="utf8")
    (tmp_path / "b.jsonl").write_text('{"id": "x", "text": "It rained."}\n5\n', encoding="utf8")
    result = run("complexity", tmp_path, "--model", model)
    found = [(row["document"], row["S"], row["W"]) for row in rows(result.stdout)]
    assert found == [(str(tmp_path / "a.txt"), "2", "5"), ("x", "1", "2")]
    assert "is left out" in result.stderr
    assert rows(run("complexity", "-", "-m", model, stdin="It rained.").stdout)[0]["W"] == "2"


def test_mistakes_have_messages(run, refused, tmp_path):
    text, bad = tmp_path / "a.txt", tmp_path / "a.mrg"
    text.write_text("It rained.\n")
    bad.write_text(f"{TREES[0]}\n(S (NN\n")
    assert "name a pipeline for it: --model en" in refused("complexity", text)
    assert f"{bad}:2:" in refused("complexity", bad)
    assert "no such file" in refused("complexity", tmp_path / "none")
    assert "need brackets with parts of speech" in refused("complexity", "-", stdin="(S (NP the cat) (VP slept))")
    assert "would be lost" in refused("complexity", bad, "-o", bad)
    result = run("complexity", bad, "--skip-bad")
    assert (rows(result.stdout)[0]["S"], "1 malformed tree skipped" in result.stderr) == ("1", True)
