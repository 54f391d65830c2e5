import pytest
import spacy
from spacy.tokens import DocBin

from spacy_incparse.treebanks.reader import read_treebank


def _docs(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse")
    return list(DocBin().from_disk(path).get_docs(nlp.vocab))


def test_trees_and_sentences_survive(run, dev_file, tmp_path):
    output = tmp_path / "new" / "dev.spacy"
    result = run("convert", dev_file, output, "--n-sents", 20)
    assert result.exit_code == 0
    assert "50 sentences, 511 words in 3 Docs" in result.stdout
    docs = _docs(output)
    assert [tree for doc in docs for tree in doc._.trees] == read_treebank(dev_file)
    assert all(doc.has_unknown_spaces for doc in docs)
    assert len(list(docs[0].sents)) == 20


def test_detokenized_text_reads_as_text_does(run, write, tmp_path):
    path = write("a.mrg", "( (S (NP (NN Rain)) (VP (MD ca) (RB n't) (VP (VB stop))) (. .)) )")
    run("convert", path, tmp_path / "a.spacy", "--detokenize")
    (doc,) = _docs(tmp_path / "a.spacy")
    assert doc.text.strip() == "Rain can't stop."


def test_a_treebank_is_never_overwritten(refused, write):
    first, second = write("a.mrg", "(TOP (NN a))\n"), write("b.mrg", "(TOP (NN b))\n")
    assert "b.mrg: the last argument is the file to write" in refused("convert", first, second)
    assert second.read_text() == "(TOP (NN b))\n"


def test_a_clean_bracket_file(run, write, refused, tmp_path):
    path = write(
        "a.txt", "( (S (NP-SBJ-1 (NN rain))\n (VP (VBZ falls)\n (NP (-NONE- *-1)))) )\n(S (X\n(NP (-LRB- -LRB-)))\n"
    )
    output = tmp_path / "new" / "b.mrg"
    assert run("convert", path, output, "--skip-bad").stdout == f"{output}: 2 trees, 3 words\n"
    assert output.read_text() == "(TOP (S (NP (NN rain)) (VP (VBZ falls))))\n(TOP (NP (-LRB- -LRB-)))\n"
    assert "this one exists" in refused("convert", path, output, "--skip-bad")
    assert "are for .spacy files" in refused("convert", path, tmp_path / "c.mrg", "--detokenize")


def test_functions_behind_other_characters(run, write, refused, tmp_path):
    path, output = write("a.txt", "(S (NP_SB (NN rain)) (VP*HD (VBZ falls)))\n"), tmp_path / "b.mrg"
    assert run("convert", path, output, "--separators", "_*").exit_code == 0
    assert output.read_text() == "(TOP (S (NP (NN rain)) (VP (VBZ falls))))\n"
    shown = run("stats", path, "--separators", "_*", "--against", path, "--functions", "--format", "tsv")
    assert (shown.exit_code, "NP_SB" in shown.stdout) == (0, False)
    assert "separators is 'x': name the characters" in refused("convert", path, tmp_path / "c.mrg", "--separators", "x")


CROSSING = """\
#FORMAT 4
#BOS 8 0 0 0
Da\t--\tADV\t--\tMO\t500
ist\t--\tVAFIN\t--\tHD\t501
er\t--\tPPER\t--\tSB\t501
gewesen\t--\tVVPP\t--\tHD\t500
#500\t--\tVP\t--\tOC\t501
#501\t--\tS\t--\t--\t0
#EOS 8
"""


@pytest.mark.filterwarnings("always:.*branches cross")
def test_other_formats_by_suffix_or_name(run, write, refused, tmp_path):
    source, output = write("a.export", CROSSING), tmp_path / "a.mrg"
    result = run("convert", source, output, "--as-published")
    assert result.stdout == f"{output}: 1 trees, 4 words\n"
    assert "1 nodes were moved" in result.stderr
    assert output.read_text() == "(VROOT (S (ADV-MO Da) (VAFIN-HD ist) (PPER-SB er) (VP-OC (VVPP-HD gewesen))))\n"
    assert "branches cross" in refused("convert", source, tmp_path / "b.dbr")
    assert not (tmp_path / "b.dbr").exists()
    run("convert", output, tmp_path / "c.txt", "--to", "export", "--as-published")
    text = (tmp_path / "c.txt").read_text()
    assert text == CROSSING.replace("8", "1").replace("MO\t500", "MO\t501")
    run("convert", tmp_path / "c.txt", tmp_path / "d.export", "--as-published")
    assert (tmp_path / "d.export").read_text() == text
    for name in ("c.xml", "c.conll", "c.conllu", "c.dbr"):
        run("convert", output, tmp_path / name)
        run("convert", tmp_path / name, tmp_path / f"{name}.mrg")
        assert (
            tmp_path / f"{name}.mrg"
        ).read_text() == "(TOP (S (ADV Da) (VAFIN ist) (PPER er) (VP (VVPP gewesen))))\n"
    assert "name must end in" in refused("convert", source, tmp_path / "e.doc")
    assert run("convert", source, tmp_path / "e.spacy").exit_code == 0
    assert run("stats", source).exit_code == 0
