import gzip
import json
import re
import shlex
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import pytest
import spacy
from spacy.util import load_config

from spacy_incparse.cli.parse import paragraphs, split_tag
from spacy_incparse.corpora.readers import Fields, InputFile, read_conllu
from spacy_incparse.rerank.lists import read_lists
from spacy_incparse.treebanks.formats import sentences_of_text
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.tree import Tree
from tests.viz.markup import elements, texts

TEXT = "The cook chopped the onions.\nShe (the cook) was  tired.\n\n \nWhere are my gloves?\n"
STILL = "The rain stopped. It (still) is cold."


@pytest.mark.parametrize(
    ("text", "seem_sentences"),
    [
        ("The cat slept.\n'Stop!' he cried.\nIs it (late?)", True),
        ("we saw a heron\nit flew over the lake at dusk\nnobody spoke\n\n", True),
        ("The Heron\n\nIt flew.\nWe saw it.", False),  # a blank line parts them
        ("Dear Ann,\nThank you for the two maps of the lake.\nYours, Bo", False),
        ("The heron flew over the lake at dusk.\n", False),
        ("The heron that we had seen flew\nover the lake at dusk, and after\nthat, nobody spoke.", False),
    ],
)
def test_a_text_whose_lines_seem_to_be_sentences_is_told_so(capsys, text, seem_sentences):
    list(paragraphs(text.split("\n")))
    assert ("--lines" in capsys.readouterr().err) is seem_sentences


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(run, model, tmp_path, end):
    """Also in a file that is gzipped, whatever its name is; and a byte order mark is no word."""
    text = f"\ufeffThe rain{end}stopped.{end}{end}It is cold.{end}".encode()
    (tmp_path / "a.txt").write_bytes(gzip.compress(text))
    result = run("parse", "--format", "json", "--model", model, stdin=text)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["paragraph"], row["text"]) for row in rows] == [(1, "The rain\nstopped."), (2, "It is cold.")]
    zipped = run("parse", "--format", "json", "--model", model, "--input", tmp_path / "a.txt")
    assert zipped.stdout == result.stdout


@pytest.mark.parametrize("n_process", [1, 2])
def test_raw_input_as_json(run, model, write, n_process):
    arguments = ["--model", model, "--input", write("in.txt", TEXT), "--format", "json", "--n-process", n_process]
    rows = [json.loads(line) for line in run("parse", *arguments).stdout.splitlines()]
    assert [(row["sent"], row["paragraph"]) for row in rows] == [(1, 1), (2, 1), (3, 2)]
    assert [row["text"] for row in rows][1] == "She (the cook) was  tired."
    paragraph = next(paragraphs(TEXT.splitlines()))
    for row in rows[:2]:
        assert paragraph[row["start"] :].startswith(row["text"])
    for row in rows:
        assert all(row["text"][token["start"] : token["end"]] == token["text"] for token in row["tokens"])
        (tree,) = parse_bracketed(row["tree"])
        assert list(tree.words) == [token["text"] for token in row["tokens"]]
        assert list(tree.tags) == [token["tag"] for token in row["tokens"]]
        assert [(span["label"], span["start"], span["end"]) for span in row["spans"]] == tree.spans()
        assert row["source"] in ("beam", "relaxed", "flat")
        assert isinstance(row["score"], float)
        assert "nbest" not in row


def test_same_trees_as_the_pipeline_in_python(run, model):
    nlp = spacy.load(model)
    lines = run("parse", "--model", model, stdin=TEXT).stdout.splitlines()
    assert run("parse", "-", "--model", model, stdin=TEXT).stdout.splitlines() == lines
    expected = [str(tree) for text in paragraphs(TEXT.splitlines()) for tree in nlp(text)._.trees]
    assert lines == expected


def test_a_program_that_writes_gets_each_tree_before_it_goes_on(model):
    command = [sys.executable, "-m", "spacy_incparse", "parse", "--model", str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for text, n_words in (("It is cold.", 4), ("The rain stopped.", 4)):
            process.stdin.write(text + "\n\n")
            process.stdin.flush()
            (tree,) = parse_bracketed(process.stdout.readline())
            assert len(tree.words) == n_words
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize("option", ["--lines", "--tokenized", "--tagged"])
def test_line_n_of_the_output_is_the_tree_of_line_n(run, model, tmp_path, option):
    """Whatever a line says, it is one sentence, and an empty one has its place: null in JSON, elsewhere a number."""
    text = "The U.S. economy grew . It did .\n\n \t\nno\u00a0break here\n\n"
    arguments = ("parse", "--model", model, option, "--input", "-")
    words = [tree and next(parse_bracketed(tree)).words for tree in run(*arguments, stdin=text).stdout.split("\n")]
    last = ("no", "break", "here") if option == "--lines" else ("no\u00a0break", "here")
    assert words == [("The", "U.S.", "economy", "grew", ".", "It", "did", "."), "", "", last, "", ""]
    rows = run(*arguments, "--format", "json", "--nbest", 2, stdin=text).stdout.splitlines()
    trees = [json.loads(row)["tree"] for row in rows]
    assert [tree is None for tree in trees] == [False, True, True, False, True]
    if option != "--lines":
        return
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    assert run("search", "TOP", tmp_path / "rows.jsonl", "--format", "tree").stdout.count("(TOP") == 2
    assert "# sent 4 parse 1" in run(*arguments, "--nbest", 2, stdin=text).stdout
    for format_, number in (("lists", '{"sent":2,"nbest":null}'), ("bllip", "1 4"), ("json", '"sent":4')):
        lists = run(*arguments, "--format", format_, "--nbest", 1 + (format_ == "json"), stdin=text).stdout
        assert number in lists
        (tmp_path / "lists").write_text(lists)
        assert [len(found.words) for found in read_lists(tmp_path / "lists")] == [8, len(last)]
    for format_ in ("pretty", "draw", "svg", "html"):
        assert "economy" in run(*arguments, "--format", format_, stdin=text).stdout


def test_penn_spelling_both_ways(run, model):
    result = run("parse", "--model", model, "--tokenized", "--ptb", stdin="`` It -LRB- 1\\/2 -RRB- rained '' .\n")
    words = re.findall(r" ([^ ()]+)\)", result.stdout)
    assert words == ["``", "It", "-LRB-", "1\\/2", "-RRB-", "rained", "''", "."]
    (tree,) = parse_bracketed(result.stdout)
    assert tree.words == ('"', "It", "(", "1/2", ")", "rained", '"', ".")
    for lines in ([], ["--lines"]):
        result = run("parse", "--model", model, "--ptb", *lines, stdin="`` It -LRB- 1\\/2 -RRB- rained '' .\n")
        assert [found.words for found in parse_bracketed(result.stdout)] == [tree.words]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = run("parse", "--model", model, "--tokenized", stdin="It -LRB- rained .\n" * 2)
    assert len(re.findall(r"words such as '-LRB-' are .* --ptb", result.stderr)) == 1


def test_nbest_lists(run, model):
    arguments = ["parse", "The old man saw the boy with the dog. It rained.", "--model", model, "--nbest", 4]
    lines = run(*arguments).stdout.splitlines()
    headings = [re.fullmatch(r"# sent (\d+) parse (\d+) score (-?\d[\d.e+]*)", line) for line in lines[::2]]
    assert all(headings)
    trees = list(parse_bracketed("\n".join(lines)))  # the headings are comments
    assert len(trees) == len(headings)
    for number in ("1", "2"):
        found = [heading for heading in headings if heading[1] == number]
        assert [heading[2] for heading in found] == [str(k + 1) for k in range(len(found))]
        scores = [float(heading[3]) for heading in found]
        assert scores == sorted(scores, reverse=True)
    (best,) = [json.loads(line) for line in run(*arguments, "--format", "json").stdout.splitlines()[:1]]
    assert best["tree"] == best["nbest"][0]["tree"] == str(trees[0])
    assert best["tree"] == run("parse", arguments[1], "--model", model).stdout.splitlines()[0]


@pytest.mark.parametrize("n_process", [1, 2])
def test_input_that_is_not_utf8(run, model, tmp_path, n_process):
    (tmp_path / "latin.txt").write_bytes("one\n\ncafé\n".encode("latin-1"))
    result = run("parse", "--model", model, "--input", tmp_path / "latin.txt", "--n-process", n_process)
    assert result.exit_code == 1
    assert "latin.txt:3: byte 0xe9 is not UTF-8" in result.stderr
    assert result.stdout.startswith("(TOP ")  # what came before is parsed


def test_a_file_as_text_is_no_silent_mistake(run, model, write):
    path = write("in put.txt", TEXT)
    result = run("parse", path, "--model", model)
    assert result.exit_code == 0
    assert shlex.split(result.stderr)[-2:] == ["--input", str(path)]
    assert run("parse", "no\x00file", "--model", model).stderr == ""


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:12] + b"\xff" * 20])
def test_damaged_gzip_file(refused, model, tmp_path, damage):
    (tmp_path / "text.gz").write_bytes(damage(gzip.compress(TEXT.encode())))
    assert "text.gz: the gzip file is damaged" in refused("parse", "--model", model, "--input", tmp_path / "text.gz")


def test_a_pipeline_without_the_parser_or_a_damaged_one_is_refused(refused, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "plain")
    assert "has no component 'incparse' (it has sentencizer)" in refused("parse", "x", "--model", tmp_path / "plain")
    (tmp_path / "plain" / "config.cfg").write_text("[nlp\n")
    damaged = refused("parse", "x", "--model", tmp_path / "plain")
    assert ("cannot be loaded" in damaged, "pip install" in damaged) == (True, False)
    (tmp_path / "plain").rename(tmp_path / "model-best")
    assert f"has one in it: {tmp_path / 'model-best'}" in refused("parse", "x", "--model", tmp_path)


def test_a_package_that_a_pipeline_needs_is_named(refused, tmp_path, monkeypatch):
    spacy.blank("en").to_disk(tmp_path)
    config = load_config(tmp_path / "config.cfg")
    config["nlp"]["pipeline"] = ["transformer"]
    config["components"] = {"transformer": {"factory": "no_curated_transformer"}}
    config.to_disk(tmp_path / "config.cfg")
    monkeypatch.setattr("spacy_incparse.errors.find_spec", lambda name: None)
    message = refused("parse", "x", "--model", tmp_path)
    assert 'cannot be loaded: it needs pip install "spacy-incparse[transformers]". [E002]' in message


def test_pictures_and_pages(run, model):
    def printed(format_, *options):
        result = run("parse", STILL, "--model", model, "--format", format_, *options)
        assert result.exit_code == 0
        return result.stdout

    trees = list(parse_bracketed(printed("penn")))
    for format_, drawn in (("draw", Tree.draw), ("latex", Tree.to_latex), ("forest", Tree.to_latex)):
        assert printed(format_).split() == " ".join(map(drawn, trees)).split()
        assert "sent 1 parse 1 score " in printed(format_, "--nbest", 2).splitlines()[0]
    assert "\\Tree\n[.{TOP}" in printed("qtree")
    assert "-LRB- still -RRB-" in printed("draw", "--ptb")
    assert {"rain", "cold", "("} <= set(texts(printed("svg")))
    assert {"2 · score ", "-LRB-"} <= {text[:10] for text in texts(printed("svg", "--nbest", 2, "--ptb"))}
    ElementTree.fromstring(run("parse", "", "--model", model, "--format", "svg").stdout)
    for nbest in (1, 2):
        page = printed("html", "--nbest", nbest)
        assert (page.count("<section"), page.count("<figure") >= 2 * nbest - 1) == (2, True)
        assert ("figure", "data-sizes") in elements(page)


def test_tokens_are_parted_at_the_last_underscore():
    for token, word, tag in [
        ("fish_NN", "fish", "NN"), ("fish", "fish", ""), ("fish_", "fish", ""), ("_", "_", ""), ("__NN", "_", "NN"),
        ("snake_case_NN", "snake_case", "NN"), (r"snake\_case", "snake_case", ""),
        (r"snake\_case_NN", "snake_case", "NN"), (r"\_", "_", ""), (r"\__NN", "_", "NN"), (r"C:\\_NN", "C:\\", "NN"),
        (r"C:\_NN", "C:_NN", ""), ("C:\\", "C:\\", ""), (r"1\/2_CD", r"1\/2", "CD"), ("(_-LRB-", "(", "-LRB-"),
        ("_NN", "", "NN"),
    ]:  # fmt: skip
        assert split_tag(token) == (word, tag)


def tags_of(text):
    return [tree.tags for tree in parse_bracketed(text)]


def test_given_tags_are_those_of_the_tree(run, model):
    lines = "The_DT rain_NN stopped_VBD ._.\n\nIt_PRP is_VBZ cold_NN ._.\n"
    result = run("parse", "--model", model, "--tagged", stdin=lines)
    assert tags_of(result.stdout) == [("DT", "NN", "VBD", "."), ("PRP", "VBZ", "NN", ".")]
    row, empty, _ = run(
        "parse", "--model", model, "--tagged", "--nbest", 3, "--format", "json", stdin=lines
    ).stdout.splitlines()
    assert [tags_of(parse["tree"]) for parse in json.loads(row)["nbest"]] == [[("DT", "NN", "VBD", ".")]] * 3
    assert json.loads(empty)["nbest"] is None
    assert run("parse", "--model", model, "--tokenized", "--tagged", stdin=lines).stdout == result.stdout


@pytest.mark.parametrize("n_process", [1, 2])
def test_words_without_a_tag_have_the_taggers(run, model, n_process):
    plain = run("parse", "--model", model, "--tokenized", stdin="The rain stopped .\n").stdout
    ((first, second, *rest),) = tags_of(plain)
    other = "NNP" if second != "NNP" else "NN"
    lines = f"The rain_{other} stopped .\nThe rain stopped .\n"
    result = run("parse", "--model", model, "--tagged", "--n-process", n_process, stdin=lines)
    assert tags_of(result.stdout) == [(first, other, *rest), (first, second, *rest)]
    assert result.stdout.splitlines()[1] + "\n" == plain


def test_unknown_tags_are_named_with_their_place(run, model, write):
    path = write("in.txt", "The_DT rain_NN\n\nIt_PRP rained_VDB\n")
    result = run("parse", "--model", model, "--tagged", "--input", path)
    assert result.exit_code == 1
    assert f"{path}:3: the word 'rained' has the tag 'VDB', which the model does not know" in result.stderr
    assert "VBD" in result.stderr
    assert len(tags_of(result.stdout)) == 1  # what came before is parsed
    result = run("parse", "--model", model, "--tagged", stdin="snake_case\n")
    assert "the text:1: the word 'snake' has the tag 'case'" in result.stderr
    assert "write an underscore as '\\_'" in result.stderr


def test_a_tag_needs_a_word(refused, model):
    assert "the text:2: the word before the tag is missing in '_VBD'" in refused(
        "parse", "--model", model, "--tagged", stdin="It_PRP\n_VBD\n"
    )


@pytest.mark.parametrize("name", ["conll", "tiger"])
def test_formats_of_treebanks(run, write, refused, name):
    text = "The cat (a tom) sleeps. It rained."
    written = run("parse", text, "--format", name).stdout
    trees = [one.tree for one in sentences_of_text(written, "x")]
    plain = map(Tree.from_string, run("parse", text).stdout.splitlines())
    assert [[span for span in tree.spans() if span[0] not in ("TOP", "VROOT")] for tree in trees] == [
        tree.spans()[1:] for tree in plain
    ]
    assert "omit --nbest" in refused("parse", text, "--format", name, "--nbest", 2)


def test_conllu(run, write):
    """Words, spaces and brackets come back; the heads are those of the head table, without labels."""
    text = "The cat (a tom) sleeps."
    written = run("parse", text, "--format", "conllu").stdout
    (found,) = read_conllu(InputFile(write("a.conllu", written)), Fields())
    assert found.text.rstrip() == text
    rows = [line.split("\t") for line in written.splitlines() if line[:1].isdigit()]
    assert [row[6] for row in rows].count("0") == 1
    assert {row[7] for row in rows} == {row[8] for row in rows} == {"_"}
    tree = Tree.from_string(run("parse", text).stdout)
    pieces = [row[9].rpartition("Tree=")[2].replace("*", "(X x)") for row in rows]
    assert Tree.from_string("".join(pieces)).spans() == tree.spans()
