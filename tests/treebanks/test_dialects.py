"""Dialects of brackets: each file is read as what it looks like, without mark-up, and mistakes have their place."""

import os
import random
import re
import warnings
from pathlib import Path

import pytest

from spacy_incparse.errors import ConfigError, IncparseError, TreebankError
from spacy_incparse.treebanks import dialects
from spacy_incparse.treebanks.dialects import Dialects, detect, find_dialect, rewritten, shipped
from spacy_incparse.treebanks.reader import SkipLog, normalize, read_numbered_trees, read_treebank, read_trees
from tests.treebanks.damage import damaged
from tests.treebanks.dialect_files import SAMPLES

N_FUZZED = int(os.environ.get("INCPARSE_FUZZED", "500"))  # mutated files of each dialect
LABELS = {
    "penn-helsinki": "(IP-MAT (NP (N-N bátur) (D-N inn)) (VBDI sökk) (NP (NS-D suður-dögum)) (CP (IP-SUB (VBDI blés))) "
    '(, ,) (. -) (" "))',
    "keyaki": "(IP-MAT (PP (NP (N 舟)) (P を)) (VB 漕い) (AXD だ) (PU 。))",
    "spmrl": "(SENT (NP (DET La) (NC barque)) (VN (V coule)) (PONCT .))",
    "ctb": "(NP (NR 湖) (NN 边))",
    "floresta": "(fcl (np (art O) (n coração)) (v rema) (. .))",
    "greynir": "(S0 (IP (NP (person_nf_kk Ari-U0020-litli)) (VP (so_0 rær)) (grm -LRB-) (tala 3) (grm -RRB-) (grm .)))",
}


@pytest.fixture(params=SAMPLES)
def name(request):
    return request.param


@pytest.fixture
def sample(name):
    return SAMPLES[name]


def write(folder, sample, text=None):
    path = folder / "trees.psd"
    path.write_bytes((sample.text if text is None else text).encode(sample.encoding))
    return path


def overt(tree):
    return " ".join(word for word, tag in zip(tree.words, tree.tags, strict=True) if tag != "-NONE-")


def test_each_dialect_is_found_and_read(tmp_path, sample):
    told = []
    trees = list(read_numbered_trees(write(tmp_path, sample), dialect=Dialects(None, told.append)))
    assert [(number, overt(tree)) for number, tree in trees] == [*enumerate(sample.words, start=1)]
    assert sum(tree.tags.count("-NONE-") for _, tree in trees) == sample.empties
    assert [line.partition(":")[0] for line in told] == [f"read as {sample.title}"] * (sample.title != "Penn")
    made = rewritten(sample.text, detect(sample.text))
    assert [unit.id for unit in made.units if unit.has_words] == sample.ids
    assert [line[12:] for line in made.split("\n") if line.startswith("# sent_id")] == list(filter(None, sample.ids))


def test_the_report_counts(tmp_path):
    told = []
    sample = SAMPLES["penn-helsinki"]
    for number in (1, 2):
        write(tmp_path, sample).rename(tmp_path / f"{number}.psd")
    read_treebank(tmp_path, dialect=Dialects(None, told.append))
    [line] = told
    assert {"2 files", "22 words", "8 empty categories", "4 ids kept as sentence ids"} <= set(
        line.partition(": ")[2].split(", ")
    )


@pytest.mark.parametrize("name", LABELS)
def test_labels_end_where_those_of_the_dialect_end(tmp_path, name):
    [tree, *_] = read_treebank(write(tmp_path, SAMPLES[name]))
    assert str(tree.children[0]) == LABELS[name]


def test_clauses_and_cases_of_penn_helsinki_are_categories_and_functions_are_not():
    from spacy_incparse.trees.labels import bare_label, function_tags

    wanted = {
        "IP-MAT": "IP-MAT", "IP-SUB-PRN": "IP-SUB", "IP-INF=2": "IP-INF", "CP-REL-SPE-1": "CP-REL", "N-A": "N-A",
        "ONE+Q-D": "ONE+Q-D", "NPRS-G": "NPRS-G", "NP-SBJ-1": "NP", "NP-A": "NP", "IP-ADV": "IP", "IP-SUBJ": "IP",
        "ADJP-SPR": "ADJP", "ADJ-NOM": "ADJ", "-LRB-": "-LRB-",
    }  # fmt: skip
    assert {label: bare_label(label) for label in wanted} == wanted
    assert function_tags("IP-SUB-PRN-1") == "PRN"


@pytest.mark.parametrize("given", ["starlang-english", Path("layer.toml")])
def test_another_layer_is_a_dialect_of_its_own(tmp_path, given):
    if isinstance(given, Path):
        given = tmp_path / given
        given.write_text("[mine]\nbase = \"starlang\"\nword = '.*?\\{english=(?P<word>[^{}]*)\\}.*'\n", encoding="utf8")
    told = []
    [tree] = read_trees(write(tmp_path, SAMPLES["starlang"]), dialect=Dialects(given, told.append))
    assert overt(tree) == "We the lake crossed ."
    assert "5 words" in told[0]


def test_a_given_dialect_is_used_whatever_a_file_looks_like(tmp_path):
    path = tmp_path / "one.mrg"
    path.write_text("(S (NP (ID 7)) (VP (V row)))")
    with pytest.warns(UserWarning, match="ID"):
        assert [overt(tree) for tree in read_trees(path, dialect="penn")] == ["7 row"]
    assert [overt(tree) for tree in read_trees(path)] == ["row"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("markup = 'ID'", "no section"),
        ("[a]\n[b]\n", "2 sections"),
        ("[a]\nmarkup = '('\n", r"\[a\].*markup"),
        ("[a]\nmark_up = 'ID'\n", "mark_up"),
        ("[a]\nlabels = ['x']\n", "labels"),
        ("[a]\nsigns = 'x'\n", "signs"),
        ("[a]\nword = 'x'\n", "word"),
        ("[a]\nbase = 'b'\n", "'b'"),
        ("[a\n", "TOML"),
    ],
)
def test_wrong_files_of_dialects_are_refused(tmp_path, text, what):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=rf"mine\.toml.*{what}"):
        find_dialect(path)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(IncparseError, match=r"'pen'.*penn-helsinki"):
        find_dialect("pen")


def test_the_shipped_dialects_are_read_without_tomllib(monkeypatch):
    text = dialects.SHIPPED.read_text(encoding="utf8")
    tomllib = pytest.importorskip("tomllib")
    assert dialects._json_sections(text) == tomllib.loads(text)
    assert set(shipped()) >= {"penn", *(name.partition(" ")[0] for name in SAMPLES)}


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        ("penn-helsinki", "(NP-TMP (NS-D", "(NP-TMP loose (NS-D", (11, 13)),
        ("penn-helsinki", "(CODE <P_3>))", "(CODE <P_3>)", (8, 1)),
        ("penn-helsinki", "(CODE {COM:unsure})", "(CODE {COM:unsure}", (8, 1)),
        ("greynir", "(tala 3)", "(tala)", (9, 36)),
        ("greynir", "(tala 3)", "(tala 3", (9, 38)),
        ("ctb", "(NN 船)", "( )", (16, 30)),
        ("tut", "(NOU~CS Fine)", "(NOU~CS )", (8, 16)),
        ("vlsp", "(R không)))", "(R không))))", (6, 29)),
    ],
)
def test_mistakes_have_their_place_in_the_file_as_published(tmp_path, name, old, new, place):
    sample = SAMPLES[name]
    assert sample.text.count(old) == 1
    path = write(tmp_path, sample, sample.text.replace(old, new))
    with pytest.raises(TreebankError) as caught:
        list(read_trees(path, dialect=name))
    assert (caught.value.line, caught.value.column) == place


def test_other_trees_are_read_beside_a_malformed_one(tmp_path):
    sample, log = SAMPLES["penn-helsinki"], SkipLog()
    path = write(tmp_path, sample, sample.text.replace("(CODE <P_3>))", "(CODE <P_3>)"))
    assert [overt(tree) for tree in read_trees(path, skip_bad=log)] == sample.words[1:]
    assert log.n_trees == 1


MARKUP = {
    "penn-helsinki": ["1902.BATUR,.1", "1902.BATUR,.2", "1902.BATUR,.3", "{COM:unsure}", "<heading>", "<P_3>"],
    "keyaki": ["1_mizuumi;JP", "2_mizuumi;JP"],
    "switchboard": ["<disfluency>", "E_S", "/-"],
    "greynir": ["11-22.3", "lake_00001.psd,.1", "lake_00001.psd,.2", "http://example.is/a", "róa"],
}


def test_damaged_files_are_errors_with_a_place_or_trees(tmp_path, name, sample):
    dialect, random_numbers = name.partition(" ")[0], random.Random(f"damage {name}")
    known = {word for words in sample.words for word in words.split(" ")}
    for _ in range(N_FUZZED):
        text = damaged(sample.text, random_numbers, "() \n\t")
        path = write(tmp_path, sample, text)
        log = SkipLog()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = list(read_trees(path, dialect=dialect))
            except TreebankError as bad:
                lines, found = re.split("\r\n?|\n", text), []
                is_inside = 1 <= bad.line <= len(lines) and 1 <= bad.column <= len(lines[bad.line - 1]) + 1
                assert is_inside, (text, bad)  # noqa: PT017
            found += read_trees(path, dialect=dialect, skip_bad=log)
        words = {word for tree in found for word in overt(tree).split()}
        assert not words & {*MARKUP.get(dialect, ())} - known, text
        for tree in found:
            assert normalize(tree) is None or normalize(tree).words
