import gzip
import os
import re
import subprocess

import pytest

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.treebanks.reader import SkipLog, forest_of, parse_bracketed, read_text, read_treebank, read_trees
from spacy_incparse.trees.tree import Tree

RAIN = "(S (NP (NN Rain)) (VP (VBZ falls)))"


def brackets(text, **options):
    return [str(tree) for tree in parse_bracketed(text, **options)]


def message(text):
    with pytest.raises(TreebankError) as caught:
        list(parse_bracketed(text, path="x.mrg"))
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"{RAIN} {RAIN}",
        f"{RAIN}{RAIN}",
        f"{RAIN}\n\n{RAIN}\n",
        "\n".join(2 * ["(S\n    (NP (NN Rain) )\n    (VP\n\t(VBZ\n falls)))"]),
        f"\r\n{RAIN}\r\n{RAIN}\r\n".replace(" (", "\r\n   ("),
        f"*x*x*x*x*x*\n*x* Copyright (c) nobody *x*\n\n{RAIN}\n# another (one\n{RAIN}",
        f"( S (NP (NN Rain)) (VP ( VBZ  falls ) ) ) {RAIN}",
    ],
)
def test_trees_are_found_however_they_are_laid_out(text):
    assert brackets(text) == [RAIN, RAIN]


@pytest.mark.parametrize("wrapper", ["", "ROOT", "TOP", "VROOT"])
def test_wrappers_are_kept_as_published(wrapper):
    assert brackets(f"( {wrapper} {RAIN} (. .))") == [f"({wrapper}{' ' if wrapper else ''}{RAIN} (. .))"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"(S (-LRB- \() (NN cat) (-RRB- \)))", "( cat )"),
        (r"(S (-RRB- \)) (NN x\)))", ") x)"),
        (r"(S (-LRB- \() (NN a\(b\)) (SYM \\))", "( a(b) \\\\"),
        (r"(S (SYM \) (NN cat))", "\\ cat"),
        (r"(S (NN 1\/2) (SYM \))", "1/2 \\"),
    ],
)
def test_backslashes_before_brackets_are_those_of_nltk(text, words, tmp_path):
    (tmp_path / "a.mrg").write_text(f"{text}\n( {text})\n")
    assert [" ".join(tree.words) for tree in read_trees(tmp_path / "a.mrg")] == [words] * 2
    forest = forest_of(read_text(tmp_path / "a.mrg"), tmp_path / "a.mrg")
    assert [" ".join(tree.words) for tree in (forest[0], Tree.from_string(text), *parse_bracketed(text))] == [words] * 3


def test_a_word_may_have_blanks_in_it():
    tree = next(parse_bracketed("(NP (NN per \t cent) (NN a\u00a0b))"))
    assert tree.words == ("per cent", "a\u00a0b")
    assert next(parse_bracketed(str(tree))) == tree


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (f"{RAIN}\n(S (NP (NN Rain)", "2:1", "2 closing brackets are missing in the tree that begins here"),
        (f"{RAIN}\n{RAIN})", "2:36", "')' without a '(' before it"),
        (f"{RAIN} falls", "1:37", "the word 'falls' outside a tree; expected '('"),
        ("(S (NP ) (VP (VB go)))", "1:8", "the node (NP) is empty"),
        ("\n(())", "2:3", "the node () is empty"),
        ("(S (NP (NN Rain) falls))", "1:18", "the node NP has the word 'falls' next to other nodes"),
        ("(S (NP Rain (NN falls)))", "1:8", "the node NP has both the word 'Rain' and nodes in it"),
        ("(S (NP (NN Rain", "1:12", "the text ends after the word 'Rain'; expected ')'"),
        (
            "(VROOT (S (NN Rain))\n(VROOT (S (NN Sun)))\n(VROOT (S (NN Snow))))\n",
            "1:1",
            "1 closing bracket is missing in the tree that begins here; expected ')' before line 2, where another tree "
            "seems to begin",
        ),
        (f"( {RAIN}\n( {RAIN} )\n( {RAIN} ))\n", "1:1", "expected ')' before line 2"),
        ("(S ((NN Rain)))", "1:4", "a node without a label under S; expected a label after '('"),
        ("rain", "1:1", "the word 'rain' outside a tree"),
    ],
)
def test_errors_name_place_and_what_was_expected(text, place, what):
    assert message(text).startswith(f"x.mrg:{place}: ")
    assert what in message(text)


IN_LEVELS = """\
(TOP
  (S
    (NP (NN {}))
    (VP
      (VBZ falls)
      (ADVP (RB there))))
  (. .))"""


@pytest.mark.parametrize(
    "layout",
    [
        lambda text: re.sub(r"\n *", " ", text),
        lambda text: re.sub(r"^|\n *", " ", text),
        lambda text: text,
        lambda text: re.sub("^", "    ", text, flags=re.MULTILINE),
        lambda text: re.sub("\n *", "\n", text),
    ],
    ids=["a line each", "indented lines", "levels", "indented levels", "lines without indent"],
)
@pytest.mark.parametrize("root", ["TOP", "", "S"])
@pytest.mark.parametrize(
    ("right", "wrong", "n_words"),
    [
        ("(NN Ice)", "", 3),
        ("(NN Ice)", "(NN Ice) Ice", 5),
        ("(NN Ice))", "(NN Ice)", 4),
        ("(NN Ice))", "(NN Ice)))", 4),
        ("(NP (NN Ice))", "NP (NN Ice))", 5),
        ("(VBZ falls)", "(VBZ )", 3),
        ("(RB there)))", "(RB there)", 4),
    ],
)
def test_skipping_a_tree_loses_no_other_and_takes_no_part_for_one(layout, root, right, wrong, n_words):
    text = IN_LEVELS.replace("TOP", root)
    if root == "S" and layout(text).count("\n(S") == 1:
        pytest.skip("nobody can tell these clauses from sentences")
    good = [next(parse_bracketed(text.format(word))) for word in ("Rain", "Hail", "Snow")]
    texts, bad = [layout(text.format(word)) for word in ("Rain", "Hail", "Snow")], text.format("Ice")
    bad = layout(bad.replace(right, wrong))
    for place in range(4):
        skipped = SkipLog()
        found = list(parse_bracketed("\n".join([*texts[:place], bad, *texts[place:]]), skip_bad=skipped))
        assert found == good
        assert (skipped.n_trees, skipped.n_lines, skipped.n_words) == (1, bad.count("\n") + 1, n_words)


def test_an_unclosed_tree_is_named_where_it_begins_whatever_comes_behind_it():
    bad, empty = "(S (NP (NN Rain)) (VP (VBZ falls))", "(S (NP ))"
    text = "\n".join([bad, RAIN, RAIN, empty, RAIN, bad, f"( {RAIN} )", RAIN + ")", f"(TOP\n  {RAIN})"])
    skipped = SkipLog()
    assert brackets(text, path="x.mrg", skip_bad=skipped) == [RAIN, RAIN, RAIN, f"({RAIN})", RAIN, f"(TOP {RAIN})"]
    assert [(error.line, error.column) for error in skipped] == [(1, 1), (4, 8), (6, 1), (8, 36)]
    assert skipped.n_trees == 3  # a bracket too many is no tree
    assert f"x.mrg:1:1: {message(text).partition(': ')[2]}" in str(skipped)


@pytest.mark.parametrize("end", ["", "(S (NP ))", "b"])
def test_many_unclosed_trees_are_skipped_in_linear_time(end):
    skipped, n = SkipLog(), 8_000
    assert brackets("(S (NP (NN Rain))\n" * n + end, skip_bad=skipped) == []
    assert skipped.n_trees == n + (end[:1] == "(")
    assert [error.line for error in skipped][:9] == [*range(1, 10)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("%% word\tlemma\ttag\n#BOS 1 1\nRain\t--\tNN\n", "NEGRA export"),
        ("#FORMAT 4\n#BOT WORDTAG\n", "NEGRA export"),
        ("#BOS 1\nRain NN -- HD 0\n#EOS 1\n", "NEGRA export"),
        ('<?xml version="1.0"?>\n<corpus id="x"><body>', "TIGER XML"),
        ('<?xml version="1.0"?>\n<text>', "XML"),
        ("(ROOT (S (VB 1=falls) (NN 0=rain)))", "discontinuous brackets"),
        ("(S (UH 0=Yes))\n(S (VP (VB 0=Go) (NP (NN 2=home))) (RB 1=now))", "discontinuous brackets"),
    ],
)
def test_other_formats_are_refused_by_name(text, name):
    assert re.fullmatch(rf"x.mrg:1:1: this file .*{name}.*(brackets are expected|not supported).*", message(text))
    assert message('{"document": 0, "text": "Rain."}\n').startswith("x.mrg:1:1: this file is JSON")
    numbers = "(NP (CD 0) (CD 1))"
    assert brackets(f"{numbers}\n{numbers}") == [numbers, numbers]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.mrg").write_text(f"({RAIN})\n", encoding="utf-8-sig", newline="\r\n")
    (tmp_path / "sub").mkdir()
    with gzip.open(tmp_path / "sub" / "b.ptb.gz", "wt", encoding="utf-8") as file:
        file.write("(NP (NN été))")
    (tmp_path / "README.txt").write_text("No trees here.", encoding="utf-8")
    (tmp_path / "c.pdf").write_bytes(b"\xff\xfe")
    return tmp_path


def test_folders_globs_and_lists_of_files(folder):
    both = [f"({RAIN})", "(NP (NN été))"]
    assert [str(tree) for tree in read_trees(folder)] == both
    assert [str(tree) for tree in read_trees(str(folder))] == both
    assert [str(tree) for tree in read_trees(f"{folder}/**/*.[mp][rt]*")] == both
    assert [str(tree) for tree in read_trees([folder / "sub", folder / "a.mrg"])] == both[::-1]


def test_a_treebank_is_read_and_normalised(folder):
    (folder / "d.mrg").write_text("(S (NP-SBJ (-NONE- *)))", encoding="utf-8")
    assert [str(tree) for tree in read_treebank(folder)] == [f"(TOP {RAIN})", "(TOP (NP (NN été)))"]
    assert [str(tree) for tree in read_treebank(folder / "d.mrg", steps=())] == ["(S (NP-SBJ (-NONE- *)))"]


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("empty.mrg", b"", "empty.mrg:1:1: the file has no trees"),
        ("blank.mrg", b"\n# nothing\n", "blank.mrg:1:1: the file has no trees"),
        ("docs.spacy", b"x\x9c\xe9", "docs.spacy:1:2: a file of spaCy's Docs, for `search` and the configs of"),
        ("latin.mrg", b"(NN Rain)\n(NN \xe9t\xe9)", "latin.mrg:2:5: byte 0xe9 is not UTF-8"),
        ("broken.mrg.gz", gzip.compress(b"(NN Rain)" * 99)[:30], "broken.mrg.gz:1:1: the gzip file is damaged"),
    ],
)
def test_unreadable_files_are_named(tmp_path, name, data, what):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TreebankError, match=re.escape(what)):
        list(read_trees(tmp_path / name))


def test_missing_files_are_named(tmp_path):
    with pytest.raises(IncparseError, match=r"nowhere\.mrg: no such file"):
        list(read_trees(tmp_path / "nowhere.mrg"))
    with pytest.raises(IncparseError, match="no treebank file found; looked for"):
        list(read_trees(tmp_path))
    with pytest.raises(IncparseError, match="no treebank file found"):
        list(read_trees(f"{tmp_path}/*.mrg"))
    with pytest.raises(IncparseError, match="no treebank file is given"):
        list(read_trees([]))


@pytest.mark.treebanks
@pytest.mark.parametrize(("name", "n_trees", "n_words"), [("wsj", 550, 12_759), ("gum", 1_575, 28_119)])
def test_real_treebanks_have_the_published_size(treebanks, name, n_trees, n_words):
    trees = read_treebank(treebanks / name / "dev.mrg")
    assert (len(trees), sum(len(tree.words) for tree in trees)) == (n_trees, n_words)


def test_a_check_of_normalised_trees_finds_malformed_ones(tmp_path):
    path = tmp_path / "x.mrg"
    path.write_text(f"{RAIN}\n\n  (S (X-SBJ (NN Ice))) {RAIN}\n", encoding="utf8")

    def check(tree):
        return "an X" if "X" in tree.arrays.labels else None

    with pytest.raises(TreebankError, match=re.escape(f"{path}:3:3: an X")):
        read_treebank(path, check=check)
    skipped = SkipLog()
    assert len(read_treebank(path, check=check, skip_bad=skipped)) == 2
    assert (str(skipped.entries[0]), skipped.n_trees) == (f"{path}:3:3: an X", 1)


def test_a_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"printf '{RAIN}' > {tmp_path}/pipe"]):
        assert [str(tree) for tree in read_trees(tmp_path / "pipe")] == [RAIN]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(tmp_path, end):
    path = tmp_path / "trees.mrg"
    path.write_bytes(end.join(["# one", "(S (NN rain))", "# two", "(S", " (NN snow))", "(S (NN hail)"]).encode())
    log = SkipLog()
    assert [tree.words for tree in read_treebank(path, skip_bad=log)] == [("rain",), ("snow",)]
    assert [error.line for error in log] == [6]
