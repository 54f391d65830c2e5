import gzip
import json
import re
from importlib.util import find_spec

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

import spacy_incparse
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.patterns import compile
from spacy_incparse.treebanks.reader import parse_bracketed, read_treebank, read_trees

TREES = """( (S (NP-SBJ-1 (DT the) (JJ old) (NN gardener)) (VP (VBD grew) (NP (NP (DT a) (NN pumpkin)) (PP (IN on) (NP
(DT the) (NN roof)))) (PP-TMP (IN in) (NP (NNP May)))) (. .)) )
( (SQ (VBD was) (NP-SBJ-2 (PRP it)) (VP (VBN eaten) (NP (-NONE- *-2))) (. ?)) )
"""


@pytest.fixture
def file(write):
    return write("some.mrg", TREES)


def lines(result):
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def squeezed(result):
    return [re.sub(r" +", " ", line) for line in lines(result)]


def test_context_by_words(run, file):
    for n_words, line in [
        (0, "1 [NP a pumpkin]"),
        (2, "1 gardener grew [NP a pumpkin] on the"),
        (5, "1 the old gardener grew [NP a pumpkin] on the roof in May"),
        (50, "1 the old gardener grew [NP a pumpkin] on the roof in May ."),
    ]:
        assert squeezed(run("search", "NP < (NN < pumpkin)", file, "--context", n_words)) == [line]


def test_trees(run, file):
    result = run("search", "NP=whole < (NP=head $+ PP)", file, "--format", "tree")
    whole = "(NP (NP (DT a) (NN pumpkin)) (PP (IN on) (NP (DT the) (NN roof))))"
    assert lines(result)[0] == f"# some.mrg:1  whole={whole}  head=(NP (DT a) (NN pumpkin))"
    (match,) = compile("NP < PP").search(read_trees(file))
    assert [str(tree) for tree in parse_bracketed(result.stdout)] == [str(match.node)]  # the heading is a comment


def test_spans_to_annotate(run, file, tmp_path):
    def spans(*args):
        found = [json.loads(line) for line in lines(run("search", *args, "--format", "spans"))]
        return found, [[(one["text"][s["start"] : s["end"]], s["label"]) for s in one["spans"]] for one in found]

    found, texts = spans("NP=whole < PP", file)
    assert found[0]["meta"] == {"file": str(file), "number": 1}
    assert found[0]["text"] == "the old gardener grew a pumpkin on the roof in May ."
    assert texts == [[("a pumpkin on the roof", "NP"), ("a pumpkin on the roof", "whole")]]
    _, texts = spans("-e", "subject: NP > S|SQ", "-e", "in: PP", file)
    assert texts == [[("the old gardener", "subject"), ("on the roof", "in"), ("in May", "in")], [("it", "subject")]]
    assert spans("NP << /NONE/", file)[0] == []
    (doc,) = trees_to_docs(read_treebank(file), Vocab(), n_sents=2, natural_spacing=True)
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "docs.spacy")
    found, texts = spans("NN|NNP|PRP=pronoun", tmp_path / "docs.spacy")
    assert [one["text"] for one in found] == [sentence.text for sentence in doc.sents]
    assert [one["meta"]["start_char"] for one in found] == [sentence.start_char for sentence in doc.sents]
    assert texts[1] == [("it", "PRP"), ("it", "pronoun")]


def test_lines_by_a_template(run, file, refused):
    result = run("search", "PP < NP=n", file, "--template", r"T{hit}\t{label} {start}\t{n} {{}}")
    assert lines(result) == ["T1\tPP 6\tthe roof {}", "T2\tPP-TMP 9\tMay {}"]
    assert "there is no {lable}: choose from hit, file, " in refused("search", "PP", file, "--template", "{lable}")
    assert "write {{ and }} for braces" in refused("search", "PP", file, "--template", "{")
    assert "--template excludes" in refused("search", "PP", file, "--template", "x", "--count")


def test_count(run, file):
    assert run("search", "NP", file, "--count").stdout == "7\n"
    assert run("search", "NP", file, "--count", "--raw-labels").stdout == "5\n"
    assert run("search", "NP", file, "--count", "--normalize").stdout == "6\n"
    assert run("search", "XP", file, "--count").stdout == "0\n"


def test_by_label(run, file):
    assert lines(run("search", "__ < IN|DT | /^M/", file, "--by-label")) == [
        "NP             3  50.00 %    187,500.0 per million words",
        "PP             2  33.33 %    125,000.0 per million words",
        "May            1  16.67 %     62,500.0 per million words",
        "total          6 100.00 %    375,000.0 per million words",
    ]
    assert [line.split()[0] for line in lines(run("search", "@NP > S", file, "--by-label"))] == ["NP", "total"]
    raw = lines(run("search", "@NP > S", file, "--by-label", "--raw-labels"))
    assert [line.split()[0] for line in raw] == ["NP-SBJ-1", "total"]
    nothing = "total          0   0.00 %          0.0 per million words\n"
    assert run("search", "XP", file, "--by-label").stdout == nothing


def test_limit_and_every(run, file):
    assert len(lines(run("search", "NP", file, "--limit", "2"))) == 2
    assert len(lines(run("search", "S << NN=noun", file))) == 1
    assert len(lines(run("search", "S << NN=noun", file, "--every"))) == 3


def test_heads(run, file, write):
    assert run("search", "NP <# DT", file, "--count").stdout == "0\n"
    table = write("heads.json", '{"rules": {"NP": [["left", ["DT", "*"]]]}}')
    assert run("search", "NP <# DT", file, "--count", "--heads", table).stdout == "3\n"


def test_folders_and_kinds_of_files(run, tmp_path, write):
    write("a.mrg", TREES)
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(TREES.encode()))
    assert run("convert", tmp_path / "a.mrg", tmp_path / "c.spacy").exit_code == 0
    write("notes.md", "(not a tree")
    hit = "gardener grew a [NN pumpkin] on the roof in May ."
    found = squeezed(run("search", "NN < /^p/", tmp_path))
    assert [line.split(" ", 1)[0] for line in found] == ["a.mrg:1", "b.mrg.gz:1", "c.spacy:1"]
    assert all(line.endswith(hit) for line in found)
    assert run("search", "NN", tmp_path, "--count").stdout == "9\n"
    assert run("search", "NP", tmp_path / "c.spacy", "--count").stdout == "6\n"  # as normalized by `convert`
    assert run("search", "NN", tmp_path / "*.mrg", tmp_path / "c.spacy", "--count").stdout == "6\n"


def test_json_lines_of_annotate_and_parse(run, write, tmp_path):
    text = write("a.txt", "It rained all day.\n\nThe old bakery closed.\n")
    assert run("annotate", text, tmp_path / "out", "--format", "jsonl").exit_code == 0
    lines = write("b.jsonl", run("parse", "--input", text, "--format", "json").stdout)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    (tmp_path / "d.json").write_bytes(lines.read_bytes())
    place = f"{text}:1:20-34"
    for name in ("b.jsonl", "c.jsonl.gz", "d.json", "out", "out/documents/part-000000.jsonl"):
        (line,) = squeezed(run("search", "NP << /^b/", tmp_path / name, "--context", 3))
        assert line == f"{place if 'out' in name else 'paragraph 2:2:0-14'} [NP The old bakery] closed."
    assert run("search", "S", tmp_path / "out", "--n-process", "2", "--count").stdout == "2\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "It rained."}', "expected an object with trees, as `annotate --format jsonl` and"),
        ("It rained.", "expected an object with trees"),
        ('{"sentences": [{"brackets": null}]}', "expected an object with trees"),
        ('{"tree": "(S (NP"}', "a tree of this line is damaged"),
        ('{"tree": "(S (NN hail)) (S (NN fog))"}', "a tree of this line is damaged"),
    ],
)
def test_lines_without_trees(run, write, line, message):
    path = write("a.ndjson", '{"tree": "(S (NN rain))"}\n\n' + line + '\n{"tree": "(S (NN snow))"}\n')
    result = run("search", "NN", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {path}:3:1: {message}")
    result = run("search", "NN", path, "--skip-bad", "--count")
    assert (result.exit_code, result.stdout) == (0, "2\n")
    assert result.stderr.startswith(f"1 malformed tree skipped:\n  {path}:3:1: {message}")


def test_json_lines(run, file):
    (row,) = [json.loads(line) for line in lines(run("search", "VP < VBN=verb", file, "--format", "json"))]
    unknown = dict.fromkeys(["id", "document", "sentence", "written", "start_char", "end_char"])
    written = dict.fromkeys(["written", "start_char", "end_char"])
    assert row == unknown | {
        "file": str(file), "number": 2, "label": "VP", "start": 2, "end": 4, "text": "eaten",
        "tree": "(VP (VBN eaten) (NP (-NONE- *-2)))", "is_word": False, "pattern": "VP < VBN=verb",
        "groups": {"verb": written | {"label": "VBN", "start": 2, "end": 3, "text": "eaten", "tree": "(VBN eaten)"}},
        "before": "was it", "after": "?", "sentence_text": "was it eaten ?",
        "sentence_tree": str(list(read_trees(file))[1]), "tokens": ["was", "it", "eaten", "*-2", "?"],
    }  # fmt: skip


def test_hits_in_corpora_say_where_they_are_in_the_texts(run, write, tmp_path):
    text = 'Well.  She said "no"\tto  the dogs. It ate.'
    source = write("a.jsonl", json.dumps({"id": "letter 1", "text": text}) + '\n{"id": 2, "text": "The dogs ate."}\n')
    for format_ in ("jsonl", "docbin", "brackets", *(["parquet"] if find_spec("pyarrow") else [])):
        assert run("annotate", source, tmp_path / format_, "--format", format_).exit_code == 0
        command = ["search", "NP < NNS=head", tmp_path / format_]
        rows = [json.loads(line) for line in lines(run(*command, "-f", "json"))]
        assert [(row["document"], row["sentence"]) for row in rows] == [("letter 1", 1), ("2", 0)]
        if format_ != "brackets":  # which have no texts
            assert [(row["start_char"], row["end_char"], row["written"]) for row in rows] == [
                (25, 33, "the dogs"), (0, 8, "The dogs")
            ]  # fmt: skip
            assert rows[0]["sentence_text"].strip() == text[7:34]
            assert text[slice(rows[0]["groups"]["head"]["start_char"], rows[0]["groups"]["head"]["end_char"])] == "dogs"
        assert [line.split("\t")[:3] for line in lines(run(*command, "--by", "document", "-f", "tsv"))] == [
            ["document", "hits", "words"], ["2", "1", "4"], ["letter 1", "1", "14"]
        ]  # fmt: skip
    header, row, _ = lines(run("search", "NP < NNS=head", tmp_path / "jsonl", "-f", "tsv", "--context", 2))
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (cells["before"], cells["written"], cells["after"], cells["head"]) == ('"no" to', "the dogs", ".", "dogs")


def test_ids_of_sentences(run, write):
    trees = "# newdoc id = d\n# sent_id = d-1\n(S (NN a))\n(S (NN b))\n# sent_id = d-3\n(S (NN c)\n(S (NN d))\n"
    trees += "( (S (NN e)) (ID e,1.2))\n"
    path = write("a.mrg", trees)
    for normalize in ([], ["--normalize"]):
        found = run("search", "NN", path, "-f", "json", "--skip-bad", *normalize).stdout.splitlines()
        rows = [json.loads(line) for line in found]
        assert [(row["number"], row["id"], row["text"]) for row in rows] == [
            (1, "d-1", "a"), (2, None, "b"), (4, None, "d"), (5, "e,1.2", "e")
        ]  # fmt: skip
    assert run("search", "NN < a", path, "--skip-bad").stdout.split()[0] == "d-1"
    rest = "\t_" * 8
    sentences = (f"# sent_id = d-{k}\n1\tRain{rest}\n2\tfell{rest}\n\n" for k in (1, 2))
    conllu = write("c.conllu", "# newdoc id = d\n" + "".join(sentences))
    for format_ in ("jsonl", "docbin"):
        assert run("annotate", conllu, path.with_name(format_), "-f", format_).exit_code == 0
        found = run("search", "NN|NNP", path.with_name(format_), "-f", "json").stdout.splitlines()
        assert [json.loads(line)["id"] for line in found] == ["d-1", "d-2"]
    write("b.jsonl", '{"id": 7, "tree": "(S (NN a))"}\n')
    assert json.loads(run("search", "NN", path.with_name("b.jsonl"), "-f", "json").stdout)["id"] == "7"


def test_ids_of_other_formats(run, write):
    sentence = "#BOS {0}\n{1}\tNN\t--\t--\t0\n#EOS {0}\n"
    path = write("a.export", sentence.format(12, "Rain") + "#BOS 13\n#EOS 13\n" + sentence.format(17, "Sun"))
    for normalize in ([], ["--normalize"]):
        found = run("search", "NN", path, "-f", "json", "--skip-bad", *normalize).stdout.splitlines()
        assert [(row["number"], row["id"], row["text"]) for row in map(json.loads, found)] == [
            (1, "12", "Rain"), (3, "17", "Sun")
        ]  # fmt: skip


def test_several_patterns_and_counts(run, file, write, tmp_path):
    patterns = write("p.txt", "# nouns\nphrase: NP < DT\n\nNP < NNP=name\n")
    commands = (["-e", "phrase: NP < DT", "-e", "NP < NNP=name"], ["--patterns", patterns])
    for given in commands:
        rows = [json.loads(line) for line in lines(run("search", *given, file, "-f", "json"))]
        assert [row["pattern"] for row in rows] == ["phrase"] * 3 + ["NP < NNP=name"]
        table = [line.split("\t") for line in lines(run("search", *given, file, "--count", "-f", "tsv"))]
        assert table[1:] == [["phrase", "3", "16", "187500.00"], ["NP < NNP=name", "1", "16", "62500.00"]]
    write("none.mrg", "(S (NP (NNS b)))\n")
    for by, expected in {
        "name": ["(none) 3", "May 1"],
        "=name": ["(none) 3", "May 1"],
        "word": ["May 1", "a pumpkin 1", "the old gardener 1", "the roof 1"],
        "file": [f"{file} 4", f"{tmp_path / 'none.mrg'} 0"],
    }.items():
        found = squeezed(run("search", *given, file, tmp_path / "none.mrg", "--by", by))
        assert [line.rsplit(" ", 6)[0] for line in found[:-1]] == expected
    assert run("search", "NP", file, "--whole", "--count").stdout == "2\n"
    whole = lines(run("search", "NP=n", file, "--whole", "-f", "tree"))
    assert list(parse_bracketed("\n".join(whole))) == list(read_trees(file))
    output = tmp_path / "out.tsv"
    assert run("search", "NP", file, "-f", "tsv", "-o", output).exit_code == 0
    assert len(output.read_text().splitlines()) == 8
    for wrong, message in {
        ("--patterns", write("bad.txt", "NP\n\nNP < )\n")): "bad.txt:3: the pattern is wrong at column 6",
        ("-e", "a: NP", "-e", "a: VP"): "two patterns with the name 'a'",
        ("NP=x", "--by", "y"): "choose one of label, word, file, document, pattern, x",
    }.items():
        assert message in run("search", *wrong, file).stderr


def test_same_hits_as_in_python(run, train_file):
    for arguments, trees in (([], read_trees(train_file)), (["--normalize"], read_treebank(train_file))):
        expected = [(m.number + 1, str(m.node)) for m in compile("NP < PP").search(trees)]
        rows = [json.loads(line) for line in lines(run("search", "NP < PP", train_file, "-f", "json", *arguments))]
        assert [(row["number"], row["tree"]) for row in rows] == expected


def test_skip_bad(run, write):
    path = write("bad.mrg", f"{TREES}(S (NN a)\n(S (NN b))\n")
    assert "bad.mrg:4:1: " in run("search", "NN", path).stderr
    result = run("search", "NN", path, "--skip-bad", "--count")
    assert (result.exit_code, result.stdout) == (0, "4\n")
    assert "1 malformed tree skipped" in result.stderr
    result = run("search", "NN", write("worse.mrg", "  (S (NN a) b)\n"), "--skip-bad")
    assert (result.exit_code, "passed over: 1 line with 2 words\nError: " in result.stderr) == (1, True)


@pytest.mark.parametrize("normalize", [[], ["--normalize"]])
def test_trees_that_are_left_out_count(run, write, normalize):
    """The number of a hit is that of its tree in the file."""
    trees = "(S (NN a))\n(S (NN b)\n(S (-NONE- *))\n(S (NN c))\n"
    for text, expected in ((trees, [1, 4]), (trees.replace("(NN b)\n", "(NN b))\n"), [1, 2, 4])):
        found = run("search", "NN", write("left-out.mrg", text), "--skip-bad", "-f", "json", *normalize)
        assert [json.loads(line)["number"] for line in found.stdout.splitlines()] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NP < )", "x.mrg"], "wrong at column 6: expected a node after '<', found ')'\n  NP < )\n       ^"),
        (["NP"], "Missing argument 'FILE...'"),
        (["NP", "x.mrg", "--count", "--by-label"], "exclude each other"),
        (["NP", "x.mrg", "--format", "json", "--context", "3"], "--context is for --format kwic and tsv, not for json"),
        (["NP", "x.mrg", "--heads", "missing.json"], "missing.json"),
    ],
)
def test_wrong_arguments(run, arguments, message):
    result = run("search", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr


def test_a_docbin_with_a_blank_doc(run, tmp_path):
    nlp = spacy_incparse.load("en")
    DocBin(docs=list(nlp.pipe(["It rained.", " \n"])), store_user_data=True).to_disk(tmp_path / "docs.spacy")
    assert run("search", "NP", tmp_path / "docs.spacy", "--count").stdout == "1\n"
    assert run("search", "{LOWER:it}", tmp_path / "docs.spacy", "--count").stdout == "1\n"


def test_a_folder_without_trees_and_a_damaged_docbin(refused, tmp_path):
    assert "no file with trees found; looked for .mrg " in refused("search", "NP", tmp_path)
    (tmp_path / "x.spacy").write_bytes(b"no DocBin")
    assert "x.spacy: the file is not a DocBin, or is damaged" in refused("search", "NP", tmp_path)


def test_the_time_for_regular_expressions_is_limited(run, file):
    result = run("search", "NN < /o/", file, "--timeout", "0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "more than 0 seconds" in result.stderr
    assert len(lines(run("search", "NN < /o/", file, "--timeout", "1000"))) == 1


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        (["np < pp", "--count"], ["'np': did you mean 'NP'?", "'pp': did you mean 'PP'?"]),
        (["NP !< pp", "-n", "1", "--n-process", "2"], ["'pp': did you mean 'PP'?"]),
        (["SQ|SINV !< (S|XYZ < zebra)", "--by-label"], ["'XYZ': docs/labels.md"]),
        (["NP-SBJ-2", "--normalize"], ["these trees have no function tags"]),
        (["ROOT < SQ"], []),
        (["/^np/ < /^PP/", "--n-process", "2"], ["nothing here fits /^np/"]),
    ],
)
def test_labels_that_no_file_has_are_warned_of(run, write, arguments, warned):
    first, second = TREES.replace(" )\n( (SQ", " )\n|( (SQ").split("|")
    result = run("search", *arguments, write("1.mrg", first), write("2.mrg", second))
    found = result.stderr.splitlines()
    assert (result.exit_code, len(found)) == (0, len(warned))
    assert all(text in line for text, line in zip(warned, found, strict=True))
    assert "did you mean 'SINV'" not in result.stderr


@pytest.mark.parametrize("root", ["ROOT", "TOP", "S1", '""', "_ROOT_"])
def test_the_root_is_found_whatever_a_file_calls_it(run, write, root):
    trees = "(ROOT (S (NN rain)))\n(S1 (S (NN rain)))\n(TOP (S (NN rain)))\n( (S (NN rain)))\n(S (NN rain))\n"
    for name in ("trees.mrg", "trees.jsonl"):
        text = trees if name == "trees.mrg" else "".join(f'{{"tree": "{line}"}}\n' for line in trees.splitlines())
        assert lines(run("search", f"S > {root}", write(name, text), "--count")) == ["5"]
        assert lines(run("search", f"NN !>> {root}", write(name, text), "--count")) == ["0"]
