"""--dialect of commands: a file with `word/lemma` and a mark-up that no shipped dialect has."""

from pathlib import Path

import pytest
import spacy

DIALECT = '[mine]\nmarkup = "NOTE"\nword = "(?P<word>[^/]+)/.*"\n'
TREES = """\
(S (NOTE x) (NP-SBJ-1 (NN rain/rain)) (VP (VBZ falls/fall) (NP (-NONE- *-1))) (. ./.))
(S (NP-SBJ (NNS boats/boat) (NN ku/ku)) (NOTE y) (VP (VBP sink/sink)) (. ./.))
"""
PLAIN = "(S (NP (NN rain)) (VP (VBZ falls)) (. .))\n(S (NP (NNS boats) (NN ku)) (VP (VBP sink)) (. .))\n"
SMALL_CONFIG = Path(__file__).parents[1] / "data" / "small.json"


@pytest.fixture
def dialect(write):
    return "--dialect", write("mine.toml", DIALECT)


@pytest.mark.parametrize(
    "command", [["stats", "a"], ["score", "a", "b"], ["search", "NP", "a", "--count"], ["complexity", "a"],
                ["convert", "a", "out.mrg"], ["repair", "a", "out2.mrg", "--rules", "english"]],
)  # fmt: skip
def test_commands_read_the_dialect(run, refused, write, dialect, command, tmp_path):
    write("a", TREES), write("b", TREES)
    paths = [tmp_path / part if part in ("a", "b") or part.startswith("out") else part for part in command]
    result = run(*paths, *dialect)
    assert result.exit_code == 0, result.output
    assert "rain/rain" not in result.stdout
    if command[0] == "convert":
        assert paths[-1].read_text(encoding="utf8") == PLAIN.replace("(S (NP", "(TOP (S (NP").replace(
            "(. .))", "(. .)))"
        )
        assert "there is no dialect 'yours'" in refused("convert", paths[1], tmp_path / "c.mrg", "--dialect", "yours")


def test_a_training_reads_it_for_all_that_learns(run, write, dialect, tmp_path):
    trees, out = write("a.mrg", 10 * TREES), tmp_path / "out"
    options = ["--config", SMALL_CONFIG, "--max-epochs", 1, "--functions", "--clitics", "ku", *dialect]
    assert run("train", trees, trees, out, *options).exit_code == 0
    nlp = spacy.load(out / "model-best")
    assert [word.text for word in nlp("boatsku sink.")] == ["boats", "ku", "sink", "."]
    assert "incparse_functions" in nlp.pipe_names
