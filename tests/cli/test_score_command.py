import json

import pytest

GOLD = "( (S (NP-SBJ (NN rain) (-NONE- *)) (VP (VBZ falls)) (. .)) )\n(TOP (S (NP (NN snow)) (VP (VBZ melts))))\n"
PARSED = "(TOP (S (NP (NN rain)) (VP (VBZ falls)) (. .)))\n(TOP (NP (NN snow)) (VP (NNS melts)))\n"


@pytest.fixture
def files(write):
    return write("gold.mrg", GOLD), write("parsed.mrg", PARSED)


def test_functions_and_traces_do_not_count(run, files):
    result = run("score", *files)
    assert result.exit_code == 0
    assert "Bracketing Recall         =  83.33" in result.stdout
    assert "Bracketing Precision      = 100.00" in result.stdout


def test_two_parsers_are_compared(run, files, tmp_path):
    gold, parsed = files
    output = tmp_path / "new" / "scores.json"
    result = run("score", gold, parsed, gold, "--bootstrap", 50, "--output", output)
    assert result.exit_code == 0
    assert "Difference in F +" in result.stdout
    figures = json.loads(output.read_text())
    assert figures["second"]["const_f"] == 1.0
    assert figures["bootstrap"]["n_samples"] == 50
    assert {"const_p", "const_r", "const_f", "const_exact", "tag_acc", "per_label", "by_length"} <= figures.keys()


def test_parameter_file(run, files, write, refused):
    labels = ["LABEL TOP", "LABEL_FOR_LENGTH -NONE-", "LABEL -NONE-", "LABEL .", "LABEL S"]
    prm = write("all.prm", "".join(f"DELETE_{label}\n" for label in labels))
    assert "Bracketing Recall         = 100.00" in run("score", *files, "--prm", prm).stdout
    assert "wrong.prm:1: unknown parameter 'DELETE_LABELS'" in refused(
        "score", *files, "--prm", write("wrong.prm", "DELETE_LABELS X\n")
    )


@pytest.mark.parametrize("line", ["()", " (()) ", "(TOP)", "( (S1 ) )", ""])
def test_lines_without_a_tree_are_failed_parses(run, refused, write, files, line):
    """Of the parser: the n-th line stays that of sentence n. The gold file has to have a tree."""
    rain, snow = GOLD.splitlines(keepends=True)
    gold, parsed = write("gold.mrg", snow + rain + snow + rain), write("parsed.mrg", f"{line}\n{PARSED}{line}\n")
    result = run("score", gold, parsed, "--output", gold.with_name("scores.json"))
    assert json.loads(gold.with_name("scores.json").read_text())["failed_parses"] == [1, 4]
    assert "Failed parses: 2, of the sentences 1, 4\n" in result.stdout
    assert run("score", gold, parsed, "--as-evalb").stdout.splitlines()[3] == (
        "   1    2    2    0.00   0.00     0      0    0      0      0     0     0.00"
    )
    message = refused("score", parsed, gold)
    assert (f"{parsed}: 2 gold trees but 4" if not line else "the node") in message.replace(f", {gold}", "")
    between = write("spread.mrg", PARSED.replace("\n", "\n\n"))  # blank lines between as many trees mean nothing
    assert "Failed" not in run("score", files[0], between).stdout


def test_same_output_as_the_program(run, evalb_files):
    result = run("score", evalb_files / "gold.mrg", evalb_files / "parsed.mrg", "--as-evalb")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == (evalb_files / "evalb.txt").read_text().splitlines()


def test_other_words_are_named_with_their_files(run, write):
    gold, parsed = write("gold.mrg", "(S (NN a))\n(S (NN b))"), write("parsed.mrg", "(S (NN a))\n(S (NN c))")
    result = run("score", gold, parsed)
    assert result.exit_code == 1
    assert f"{gold}, {parsed}: sentence 2: the word 'b' of the gold tree is 'c'" in result.stderr
    assert "--as-evalb" in result.stderr


def test_sentences_with_a_malformed_tree_are_left_out(run, write):
    gold = write("gold.mrg", "(S (NN a))\n(S (NN b)\n(S (NP (NN c)))\n(S (NN d))\n(S (NN e))\n")
    parsed = write("parsed.mrg", "(S (NN a))\n(S (NN b))\n(S (X (NN c)))\n(S (NN d))\n(S (NN\n")
    assert run("score", gold, parsed).exit_code == 1
    result = run("score", gold, parsed, "--skip-bad")
    assert "Number of sentence        =      3" in result.stdout
    assert "Bracketing Recall         =  75.00" in result.stdout
    assert f"{gold}:2:1: " in result.stderr
    assert f"{parsed}:5:1: " in result.stderr
    gold = write("gold.mrg", "(S (NN a))\n(S (NN b))\n(S (NN c))\n(S (NN d))\n")
    write("parsed.mrg", "(S (NN a))\n(S (NN b))\n(S (NN\n")
    assert "3 gold trees but 2" in run("score", gold, parsed, "--skip-bad").stderr


def test_other_words_are_compared_by_characters(run, write, tmp_path):
    gold = write("gold.mrg", "(S (NP (PRP We)) (VP (MD ca) (RB n't) (VP (VB go))))\n(S (NP (NN rain)))\n")
    parsed = write("parsed.mrg", "(S (NP (PRP We)) (VP (MD can't) (VP (VB go))) (NP (NN rain)))\n")
    result = run("score", gold, parsed, gold, "--by-characters", "--bootstrap", "10", "-o", tmp_path / "o.json")
    assert "Sentences       0.00    0.00    0.00" in result.stdout
    figures = json.loads((tmp_path / "o.json").read_text())
    assert (figures["token_r"], figures["second"]["token_f"], figures["bootstrap"]["n_samples"]) == (3 / 5, 1, 10)
    assert "exclude" in run("score", gold, parsed, "--by-characters", "--as-evalb").stderr
