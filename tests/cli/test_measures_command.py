import csv
import gzip
import json
import os
import subprocess
import sys

import pytest
import spacy
from typer.testing import CliRunner

import spacy_incparse
from spacy_incparse.cli import app
from spacy_incparse.cli.measures import COLUMNS, displayed_words, read_stimuli
from spacy_incparse.generative.measures import MEASURES
from spacy_incparse.measuring.complexity import word_depths
from spacy_incparse.trees.tree import Tree
from tests.cli.conftest import table

ASSETS = "assets"


@pytest.fixture(scope="module")
def model(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("generative")
    assets = request.config.rootpath / ASSETS
    result = run("train", assets / "sample-train.mrg", assets / "sample-dev.mrg", out, "--config", "generative")
    assert result.exit_code == 0, result.output
    assert "  *" in result.output
    return out / "model-best"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_words_are_those_that_are_written(model, tmp_path):
    stimuli = tmp_path / "stimuli.txt"
    stimuli.write_text("The old train was late.\n\nWe didn't  see it.\n", encoding="utf8")
    result = run("measures", stimuli, "--model", model, "--beam", 50)
    rows = table(result.stdout)
    assert tuple(rows[0]) == COLUMNS
    assert [row["text"] for row in rows] == ["The", "old", "train", "was", "late.", "We", "didn't", "see", "it."]
    assert [(row["sent"], row["word"]) for row in rows[4:7]] == [("1", "5"), ("3", "1"), ("3", "2")]  # their lines
    line = "We didn't  see it."
    assert all(line[int(row["start"]) : int(row["end"])] == row["text"] for row in rows[5:])
    assert ["joined" in row["flag"] for row in rows] == [False] * 4 + [True, False, True, False, True]
    last = rows[4]
    assert float(last["prefix_logprob"]) == pytest.approx(-sum(float(row["surprisal"]) for row in rows[:5]), abs=1e-4)


def test_penn_spelling_is_told_and_read(model, tmp_path):
    for name, text in (("penn.txt", "We -LRB- the  boys -RRB- slept ."), ("raw.txt", "We ( the  boys ) slept .")):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf8")
    options = ["--model", model, "--beam", 50]
    told, penn, raw = (
        run("measures", tmp_path / name, *options, *more)
        for name, more in (("penn.txt", []), ("penn.txt", ["--ptb"]), ("raw.txt", []))
    )
    assert "'-LRB-'" in told.stderr
    assert "--ptb" in told.stderr
    assert penn.stderr == raw.stderr == ""
    assert [row["text"] for row in table(penn.stdout)] == ["We", "-LRB-", "the", "boys", "-RRB-", "slept", "."]
    assert [row["start"] for row in table(penn.stdout)] == ["0", "3", "9", "14", "19", "25", "31"]
    surprisals = [[row["surprisal"] for row in table(result.stdout)] for result in (penn, raw)]
    assert surprisals[0] == surprisals[1]


def test_columns_of_the_input_are_kept_and_renamed(model, tmp_path):
    stimuli, output = tmp_path / "stimuli.tsv", tmp_path / "out" / "table.tsv"
    stimuli.write_text('item\ttext\tword\tflag\n\n7\tThe train "stopped".\tx\ty\n', encoding="utf8")
    assert run("measures", stimuli, "-m", model, "--beam", "5,50", "--lags", 2, "--trees", "-o", output).exit_code == 0
    rows = table(output.read_text(encoding="utf8"))
    assert [row["beam"] for row in rows] == ["5", "5", "5", "50", "50", "50"]
    text = 'The train "stopped".'
    assert {row["sent"] for row in rows} == {"2"}
    assert {(r["item"], r["in_text"], r["in_word"], r["in_flag"]) for r in rows} == {("7", text, "x", "y")}
    assert rows[2]["surprisal_lag2"] == rows[0]["surprisal"]
    assert rows[1]["surprisal_lag2"] == ""
    assert "lag" in rows[1]["flag"]
    assert rows[2]["flag"].split(",").count("lag") == 0
    assert rows[1]["tree"].startswith("(TOP ")
    assert rows[1]["tree"].count("train") == 1
    settings = json.loads((tmp_path / "out" / "table.tsv.json").read_text(encoding="utf8"))
    assert [filter_["beam_size"] for filter_ in settings["beams"]] == [5, 50]
    assert [filter_["log10_gamma"] for filter_ in settings["beams"]] == [-8.693820, -11.693820]
    assert settings["settings"]["context_min_count"] == 1


def test_depths_are_those_of_the_written_words(model, write):
    stimuli = write("a.txt", "We didn't see it.\n")
    rows = table(run("measures", stimuli, "-m", model, "--complexity", "--trees").stdout)
    tree = Tree.from_string(rows[3]["tree"])
    we, did, nt, see, it, _ = word_depths(tree.arrays)
    assert [float(rows[k]["frazier"]) for k in range(4)] == [
        we.frazier,
        did.frazier + nt.frazier,
        see.frazier,
        it.frazier,
    ]
    assert int(rows[1]["yngve"]) == max(did.yngve, nt.yngve)
    assert sum(int(row["nodes_closed"]) for row in rows[:4]) == sum(int(row["nodes_opened"]) for row in rows[:4])


def test_a_table_in_a_csv_is_separated_by_commas(model, write, tmp_path):
    stimuli = write("a.csv", 'item,text\n1,"Well, ""no""."\n')
    for name in ("out.csv", "out.tsv"):
        assert run("measures", stimuli, "-m", model, "-o", tmp_path / name).exit_code == 0
    with (tmp_path / "out.csv").open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == table((tmp_path / "out.tsv").read_text(encoding="utf8"))
    assert [(row["text"], row["item"], row["in_text"]) for row in rows] == [
        ("Well,", "1", 'Well, "no".'), ('"no".', "1", 'Well, "no".')
    ]  # fmt: skip


def test_the_last_parser_with_probabilities_measures(model, tmp_path):
    nlp = spacy.load(model)
    nlp.add_pipe("incparse", name="second", source=spacy_incparse.load("en"))
    nlp.add_pipe("incparse_combiner")
    nlp.to_disk(tmp_path / "both")
    (tmp_path / "stimuli.txt").write_text("The rain stopped.\n")
    found = [run("measures", tmp_path / "stimuli.txt", "--model", name).stdout for name in (model, tmp_path / "both")]
    assert found[0] == found[1]
    assert "surprisal" in found[0]


def test_a_parser_without_probabilities_has_no_surprisal(refused, write):
    assert "gives no probabilities" in refused("measures", write("a.txt", "It rained.\n"), "--model", "en")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.doc", "text\nx\n", "a .txt"),
        ("a.tsv", "item\n1\n", "a.tsv:1: the header has no column 'text'"),
        ("a.tsv", 'text\titem\n"x\ny"\t1\n', "a.tsv:2: 1 cells in a table of 2 columns; a cell in quotes must end on"),
        ("a.tsv", "text\titem\nx\t1\n \t2\n", "a.tsv:3: the column 'text' is empty"),
        ("a.tsv", "text,item\nx,1\n", "(it has text,item)"),
        ("a.tsv", "", "a.tsv:1: the header has no column 'text' (it has nothing)"),
        ("a.tsv", "text\n", "a.tsv: the file contains no sentences"),
        ("a.txt", "\n \n", "a.txt: the file contains no sentences"),
        ("a.txt", "item\ttext\n1\tx\n", "a.txt:1: this is the header of a table: save it in a file whose name"),
        ("a.tsv", "text\titem\ttext\n1\tx\t2\n", "a.tsv:1: two columns have the name 'text'"),
        ("a.tsv", '"text"\t"item"\n"1"\t"x"\t"2"\n', "a.tsv:2: 3 cells in a table of 2 columns; if R wrote the table"),
        (
            "a.tsv",
            "text\titem\nx\t1\t\t2\n",
            "a.tsv:2: 4 cells in a table of 2 columns; no cell may have the separator in it",
        ),
    ],
)
def test_wrong_stimuli_are_told(refused, model, write, name, content, message):
    assert message in refused("measures", write(name, content), "--model", model)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('text\n"Stop" he said\n', '"Stop" he said'),
        ('text\n"""Stop"" he said"\n', '"Stop" he said'),  # as Excel and pandas write it
        ('"text"\n"Stop"\n', "Stop"),  # as R does
        ('"text"\n"\\"Stop\\" he said"\n', '"Stop" he said'),
        ('"text"\n"""Stop"" he said"\n', '"Stop" he said'),
        ("\ufefftext\r\nStop\r\n", "Stop"),
        ('item\ttext\n1\t"If it rains, we stay."\n', "If it rains, we stay."),  # as Excel does
        ('item\ttext\na,b\t"Stay," he said, "here"\n', '"Stay," he said, "here"'),
        ('item\ttext\na,b\t"Well, stay."\n', '"Well, stay."'),  # with Excel a,b would have quotes too
    ],
)
def test_quotes_of_a_table_are_told_from_those_of_a_sentence(tmp_path, content, text):
    path = tmp_path / "a.tsv"
    path.write_bytes(content.encode())
    assert [stimulus.text for stimulus in read_stimuli(path)[0] if stimulus.text] == [text]


@pytest.mark.parametrize(
    ("name", "content", "more", "texts"),
    [
        ("a.csv", 'item,text\n1,"Well, ""stay""."\n\n2,It rained.\n', {}, ['Well, "stay".', "", "It rained."]),
        ("a.csv", 'text;n\n"It rained\nall day.";1\n', {"separator": ";"}, ["It rained all day."]),
        ("a.txt", "n|stimulus\n1|It rained.\n", {"separator": "|", "column": "stimulus"}, ["It rained."]),
        ("a.tsv", "w\ti\nThe old\t1\ntrain\t1\nIt\t2\n", {"column": "w", "by": ["i"]}, ["The old train", "It"]),
    ],
)
def test_tables_of_stimuli(write, name, content, more, texts):
    assert [stimulus.text for stimulus in read_stimuli(write(name, content), **more)[0]] == texts


def test_own_regions_keep_their_rows(model, write, refused):
    header, regions = "item,cond,word,region", ["The old,np", "train,np", "wasn't,verb", "late.,rest"]
    content = "\n".join([header, *(f"1,{cond},{region}" for cond in "ab" for region in regions)])
    path = write("a.csv", content)
    options = ["--model", model, "--beam", 5, "--column", "word", "--sentence", "item"]
    rows = table(run("measures", path, *options, "--sentence", "cond").stdout)
    assert [(row["sent"], row["word"], row["text"], row["cond"], row["region"]) for row in rows[2:5]] == [
        ("1", "3", "wasn't", "a", "verb"), ("1", "4", "late.", "a", "rest"), ("2", "1", "The old", "b", "np")
    ]  # fmt: skip
    words = table(run("measures", write("a.txt", "The old train wasn't late.\n"), "-m", model, "--beam", 5).stdout)
    surprisals = [float(word["surprisal"]) for word in words]
    assert float(rows[0]["surprisal"]) == pytest.approx(sum(surprisals[:2]), abs=1e-5)
    assert [row["surprisal"] for row in rows[1:4]] == [word["surprisal"] for word in words[2:]]
    assert "a.csv:6: the rows of region np are in two places" in refused("measures", path, *options[:-1], "region")
    message = refused("measures", path, *options[:-1], "itm")
    assert "a.csv:1: the header has no column 'itm'" in message
    assert "--column" not in message
    assert "pass one character" in refused("measures", path, "--sep", ";;")


def test_text_may_be_gzipped_and_its_lines_end_where_an_editor_ends_them(tmp_path):
    text = "One\x0c two\u2028 three.\r\n\r\nFour."
    for name in ("a.txt.gz", "a.TSV.GZ", "a.TXT"):
        content = ("text\r\nFour." if "TSV" in name else text).encode("utf-8-sig")
        (tmp_path / name).write_bytes(gzip.compress(content) if name != "a.TXT" else content)
        found = [stimulus.text for stimulus in read_stimuli(tmp_path / name)[0]]
        assert found == (["Four."] if "TSV" in name else ["One\x0c two\u2028 three.", "", "Four."])


def test_stimuli_from_standard_input(model, tmp_path):
    text = "\ufeffIt rained.\r\n\nShe left.\n"
    result = CliRunner().invoke(app, ["measures", "-", "--model", str(model), "--beam", "5"], input=text.encode())
    assert result.exit_code == 0
    assert [row["text"] for row in table(result.stdout)] == ["It", "rained.", "She", "left."]
    output = tmp_path / "table.tsv"
    for _ in range(2):
        arguments = ["measures", "-", "--model", str(model), "--beam", "5", "--output", str(output)]
        assert CliRunner().invoke(app, arguments, input=text.encode()).exit_code == 0
    assert output.read_text(encoding="utf8") == result.stdout
    wrong = CliRunner().invoke(app, ["measures", "-", "--model", str(model)], input=b"It rained.\n\xe9\n")
    assert (
        wrong.stderr
        == "Error: -:2:1: byte 0xe9 is not UTF-8: convert the file to UTF-8 first, for example with iconv\n"
    )


def test_a_table_that_cannot_be_written_is_not_begun(refused, write, tmp_path):
    stimuli, output = write("a.txt", "It rained.\n"), tmp_path / "out.tsv"
    message = refused("measures", stimuli, "--output", tmp_path / "out.tsv.gz")
    assert "out.tsv.gz: the table is not compressed: name a file such as out.tsv\n" in message
    (tmp_path / "out.tsv.json").mkdir()
    assert "out.tsv.json is a folder" in refused("measures", stimuli, "--output", output)
    assert not output.exists()


def test_an_interrupted_table_has_the_rows_so_far(model, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("It rained.\nIt snowed.\n", encoding="utf8")
    words = []

    def stop(nlp, parser, text, *more, **options):
        words.append(text)
        if len(words) > 1:
            raise KeyboardInterrupt
        return displayed_words(nlp, parser, text, *more, **options)

    monkeypatch.setattr("spacy_incparse.cli.measures.displayed_words", stop)
    result = run("measures", tmp_path / "a.txt", "--model", model, "--output", tmp_path / "b.tsv")
    assert result.exit_code == 130
    assert result.stderr == f"Interrupted: {tmp_path / 'b.tsv'} only has the rows written so far\n"
    assert len((tmp_path / "b.tsv").read_text(encoding="utf8").splitlines()) == 3
    assert not (tmp_path / "b.tsv.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are another thing elsewhere")
def test_too_little_memory_for_a_beam_is_told(tmp_path):
    """The search raises what the allocator does, and does not go on with half of its hypotheses."""
    text = "The man who lived near the river said that the letter which she wrote was in the desk in the hall .\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf8")
    command = [sys.executable, "-m", "spacy_incparse", "measures", str(tmp_path / "a.txt"), "--beam", "1000000000"]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 1500000 && exec "$@"', "sh", *command],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Error: out of memory: use fewer processes, a smaller beam, or shorter sentences\n"


def test_wrong_beams_are_told(model, tmp_path):
    (tmp_path / "a.txt").write_text("It rained.\n", encoding="utf8")
    for beam in ("10,x", "0", "-5", "", "1,,2", "1000000001", "3000000000", "9" * 5000):
        result = run("measures", tmp_path / "a.txt", "--model", model, f"--beam={beam}")
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"--beam '{beam}': pass numbers from 1 to 1000000000" in result.stderr
    assert run("measures", tmp_path / "a.txt", "--model", model, "--beam", 1_000_000_000).exit_code == 0


def test_words_and_their_regions_in_one_table(model, write, tmp_path):
    regions = write("a.csv", "item,region\n1,The old\n1,train\n1,was late.\n2,It rained.\n")
    arguments = ("measures", regions, "-m", model, "--beam", 50, "--column", "region", "--sentence", "item")
    by_region, by_word = table(run(*arguments).stdout), table(run(*arguments, "--by-word").stdout)
    assert [(row["text"], row["region"], row["in_region"]) for row in by_word] == [
        ("The", "1", "The old"), ("old", "1", "The old"), ("train", "2", "train"), ("was", "3", "was late."),
        ("late.", "3", "was late."), ("It", "1", "It rained."), ("rained.", "1", "It rained."),
    ]  # fmt: skip
    firsts = [row for k, row in enumerate(by_word) if k == 0 or row["region"] != by_word[k - 1]["region"]]
    for name in MEASURES:
        assert [row[f"region_{name}"] for row in firsts] == [row[name] for row in by_region]
    assert float(by_word[0]["region_surprisal"]) == pytest.approx(
        float(by_word[0]["surprisal"]) + float(by_word[1]["surprisal"]), abs=1e-5
    )
    assert "--by-word is for rows" in run("measures", regions, "--by-word").stderr


def test_a_word_list_makes_its_words_less_surprising(model, write, refused):
    stimuli, words = write("a.txt", "It flurbishes.\n"), write("list.tsv", "flurbishes\t9000\nother\t2\n")
    plain, listed = (
        table(run("measures", stimuli, "-m", model, "--beam", 50, *more).stdout)
        for more in ((), ("--word-list", words))
    )
    assert plain[0] == listed[0]
    assert float(listed[1]["surprisal"]) < float(plain[1]["surprisal"]) - 5
    for content, message in (
        ("a b\t1\n", "list.tsv:1: expected one word TAB its count"),
        ("a\t1\nb\t-1\n", "list.tsv:2: the count '-1' is not a whole number"),
        ("\n", "the file has no word counts"),
    ):
        assert message in refused("measures", stimuli, "-m", model, "--word-list", write("list.tsv", content))
