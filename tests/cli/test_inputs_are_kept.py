import os

import pytest

TREES = "( (S (NP (NN rain)) (VP (VBZ falls))) )\n"
COMMANDS = """
    score-trees {} --output
    score-trees other.mrg {} --output
    evaluate en {} --output
    evaluate en {} --raw --output
    oracle en {} --output
    oracle {} --output
    score {} other.mrg --output
    score other.mrg {} --output
    score other.mrg other.mrg {} --output
    score other.mrg other.mrg --prm {} --output
    stats {} other.mrg --output
    stats other.mrg {} --output
    stats other.mrg --against {} --output
    repair {} --rules english
    repair {} new.mrg --rules english --report
    measures {} --output
    convert other.mrg {}
"""


@pytest.fixture
def here(write, tmp_path, monkeypatch):
    write("other.mrg", TREES)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "trees.txt").write_text(TREES, encoding="utf8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_kept(result, path):
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"Error: {path} is the input" in result.stderr
    assert "name another file for the output" in result.stderr
    assert path.read_text(encoding="utf8") == TREES


@pytest.mark.parametrize("command", COMMANDS.strip().split("\n"))
def test_an_input_is_not_overwritten(run, here, command):
    name = "trees.spacy" if "convert" in command else "trees.txt"
    trees = here / name
    trees.write_text(TREES, encoding="utf8")
    (here / f"link-{name}").symlink_to(trees)
    os.link(trees, here / f"hard-{name}")
    arguments = command.format(name).split()
    for output in (trees, here / "folder" / ".." / name, here / f"link-{name}", here / f"hard-{name}"):
        assert_kept(run(*arguments, output), output)


@pytest.mark.parametrize("source", ["folder", "fold*/*.txt", "**/tr*s.txt"])
def test_an_input_in_a_folder_or_glob_is_not_overwritten(run, here, source):
    output = here / "folder" / "trees.txt"
    for command in ("score-trees", "stats"):
        assert_kept(run(command, source, "--output", output), output)
