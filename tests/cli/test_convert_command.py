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
