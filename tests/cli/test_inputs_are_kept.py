"""No command writes over a file that it reads, whatever name the file has."""

import os

import pytest

TREES = "( (S (NP (NN rain)) (VP (VBZ falls))) )\n"
COMMANDS = {
    "score-trees": ["score-trees", "{}", "--output"],
    "score-trees, second": ["score-trees", "other.mrg", "{}", "--output"],
    "evaluate": ["evaluate", "en", "{}", "--output"],
    "evaluate --raw": ["evaluate", "en", "{}", "--raw", "--output"],
    "oracle": ["oracle", "en", "{}", "--output"],
    "oracle, lists": ["oracle", "{}", "--output"],
    "score": ["score", "{}", "other.mrg", "--output"],
    "score, parsed": ["score", "other.mrg", "{}", "--output"],
    "score, parsed2": ["score", "other.mrg", "other.mrg", "{}", "--output"],
    "score, prm": ["score", "other.mrg", "other.mrg", "--prm", "{}", "--output"],
    "stats": ["stats", "{}", "other.mrg", "--output"],
    "stats, held out": ["stats", "other.mrg", "{}", "--output"],
    "stats --against": ["stats", "other.mrg", "--against", "{}", "--output"],
    "repair": ["repair", "{}", "--rules", "english"],
    "repair, report": ["repair", "{}", "new.mrg", "--rules", "english", "--report"],
    "measures": ["measures", "{}", "--output"],
    "convert": ["convert", "other.mrg", "{}"],
}


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


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_input_is_not_overwritten(run, here, command):
    name = "trees.spacy" if command[0] == "convert" else "trees.txt"
    trees = here / name
    trees.write_text(TREES, encoding="utf8")
    (here / f"link-{name}").symlink_to(trees)
    os.link(trees, here / f"hard-{name}")
    arguments = [argument.format(name) for argument in command]
    for output in (trees, here / "folder" / ".." / name, here / f"link-{name}", here / f"hard-{name}"):
        assert_kept(run(*arguments, output), output)


@pytest.mark.parametrize("source", ["folder", "fold*/*.txt", "**/tr*s.txt"])
@pytest.mark.parametrize("command", ["score-trees", "stats"])
def test_an_input_in_a_folder_or_glob_is_not_overwritten(run, here, command, source):
    output = here / "folder" / "trees.txt"
    assert_kept(run(command, source, "--output", output), output)


def test_other_files_are_overwritten(run, here):
    output = here / "stats.json"
    output.write_text("old", encoding="utf8")
    assert run("stats", "folder", "other.mrg", "--output", output).exit_code == 0
    assert output.read_text(encoding="utf8") != "old"
    (here / "link.mrg").symlink_to(here / "nowhere.mrg")
    assert "nowhere" not in run("stats", "folder", "--output", output).stderr


def test_convert_does_not_write_to_a_folder(run, here):
    (here / "out.spacy").mkdir()
    result = run("convert", "other.mrg", here / "out.spacy")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is a folder: name a file to write" in result.stderr
