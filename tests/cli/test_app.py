import os
import re
import signal
import subprocess
import sys
from unittest.mock import Mock

import pytest

from spacy_incparse import __version__
from spacy_incparse.cli import COMMANDS
from spacy_incparse.cli.options import with_local_ray
from tests.commands import start_program

TREES = "(TOP (S (NP (NN rain)) (VP (VBZ falls))))\n(TOP (S (NP (NN snow)) (VP (VBZ melts))))\n"


def test_version_and_help_which_names_all_commands(run):
    assert run("--version").stdout == f"spacy-incparse {__version__}\n"
    result = run("--help")
    assert (result.exit_code, result.stdout) == (0, run().stdout)
    assert all(re.search(rf"^  {name}\s", result.stdout, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("in out --ray", "in out --ray local"),
        ("--ray -m en in out", "--ray local -m en in out"),
        ("--ray -- in out", "--ray local -- in out"),
        ("in out --ray auto", "in out --ray auto"),
        ("in -- --ray", "in -- --ray"),
        ("--ray . out", "--ray local . out"),
        ("--ray ray://host:10001 in out", "--ray ray://host:10001 in out"),
    ],
)
def test_ray_without_an_address_is_local(arguments, expected):
    assert with_local_ray(arguments.split()) == expected.split()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prase"], "No such command 'prase'"),
        (["search", "-NONE-", "x.mrg"], "No such option: -N. Put an argument that begins with a dash after `--`"),
        (["search", "NP", "x.mrg", "--heads", "fr"], "unknown head table 'fr': choose from en, any"),
        (["score", "only-one.mrg"], "Missing argument 'PARSED'"),
        (["parse", "x", "--format", "verse"], "'--format' / '-f': 'verse' is not one of"),
        (["parse", "x", "--nbest", "0"], "'--nbest': "),
        (["parse", "x", "--model", "nowhere"], "cannot find the pipeline 'nowhere'"),
        (["parse", "--input", "missing.txt"], "missing.txt: No such file or directory"),
        (["parse", "text", "--input", "-"], "not both"),
        (["oracle", "en"], "'en' is no file of n-best lists, so name a treebank to parse"),
        (["oracle", "en", "x.mrg", "--n", "1,0"], "--n '1,0': pass numbers from 1 to 1000000000 separated by commas"),
        (["oracle", "en", "x.mrg", "--n", "200"], "--n 200: a pipeline's lists have at most 100 trees"),
        (["oracle", "en", "x.mrg", "--gold-tags", "--no-tags"], "exclude each other"),
        (["evaluate", "nowhere", "x.mrg", "--raw", "--gold-tags"], "exclude each other"),
        (["train", "missing.mrg", "missing.mrg", "out"], "missing.mrg: no such file"),
        (["convert", "only-one.mrg"], "convert --help`"),
    ],
)
def test_wrong_input_is_one_error_and_exit_code_1(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["evaluate en", "score gold.mrg", "stats"])
def test_output_that_cannot_be_written_is_found_first(run, write, tmp_path, command):
    for output in (tmp_path, write("file", "") / "scores.json"):
        result = run(*command.split(), "missing.mrg", "--output", output)
        assert (result.exit_code, result.stdout) == (1, "")
        assert str(output) in result.stderr


def test_files_and_pipes_get_utf8_whatever_the_system_uses(write):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    process = start_program("search", "NN", write("a.mrg", "(NP (DT The) (NN café))"), env=environment)
    out, error = (text.encode("utf8", "surrogateescape").decode("utf8") for text in process.communicate())
    assert (process.returncode, error) == (0, "")
    assert "[NN café]" in out


def test_interrupts_are_told_and_mistakes_of_ours_keep_their_traceback(run, monkeypatch):
    monkeypatch.setattr("spacy_incparse.cli.options.open_treebank", Mock(side_effect=KeyboardInterrupt))
    result = run("stats", "x.mrg")
    assert (result.exit_code, result.stderr) == (130, "Interrupted\n")
    monkeypatch.setattr("spacy_incparse.cli.options.open_treebank", Mock(side_effect=RuntimeError("a bug")))
    with pytest.raises(RuntimeError):
        run("stats", "x.mrg")


def test_runs_as_a_command_of_spacy(write):
    command = [sys.executable, "-m", "spacy", "incparse", "stats"]
    found = [
        subprocess.run([*command, word], capture_output=True, text=True, check=False)
        for word in (write("gold.mrg", TREES), "--wrong")
    ]
    assert [result.returncode for result in found] == [0, 1]
    assert "2 sentences" in found[0].stdout
    assert found[1].stderr.startswith("Error: ")


posix = pytest.mark.skipif(os.name == "nt", reason="needs pipes and signals as in POSIX")


@posix
@pytest.mark.slow
def test_closed_output_with_worker_processes(write, model):
    path = write("long.txt", "The cat sat. It rained again.\n\n" * 4000)
    command = f"{sys.executable} -m spacy_incparse parse --model {model} --input {path} --n-process 2 | head -n 1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=100)
    assert result.stdout.startswith("(TOP ")
    assert result.stderr == ""


@posix
def test_interrupt_with_worker_processes(write, model):
    path = write("long.txt", "The cat sat. It rained again.\n\n" * 20000)
    arguments = ["parse", "--model", model, "--input", path, "--n-process", 2]
    process = start_program(*arguments, start_new_session=True)
    assert process.stdout.readline().startswith("(TOP ")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "Interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["search", "NN", "-", "--count"], "2\n"),
        (["search", "NN", "-", "--count", "--n-process", "2"], "2\n"),
        (["stats", "-"], "training        2 sentences         2 words"),
        (["score", "-", "FILE"], "Bracketing Recall         = 100.00"),
        (["score", "FILE", "-"], "Bracketing Recall         = 100.00"),
    ],
)
def test_trees_come_from_standard_input(run, write, arguments, output):
    trees = "(S (NP (NN a)))\n(S (NP (NN b)))\n"
    path = write("a.mrg", trees)
    result = run(*(path if one == "FILE" else one for one in arguments), stdin=trees)
    assert (result.exit_code, result.stderr) == (0, "")
    assert output in result.stdout
    for twice in (["score", "-", "-"], ["stats", "-", "-"], ["train", "-", "-", path.with_name("out")]):
        assert "standard input (-) can only be read once" in run(*twice, stdin=trees).stderr


def test_formats_have_the_same_names_everywhere(run, write):
    text, trees = write("a.txt", "It rained.\n"), write("a.mrg", "(S (NP (NN a)))\n")
    for one, other in (("penn", "brackets"), ("json", "jsonl")):
        assert run("parse", "-i", text, "-f", one).stdout == run("parse", "-i", text, "-f", other).stdout != ""
        assert run("search", "NP", trees, "-f", one).stdout == run("search", "NP", trees, "-f", other).stdout != ""
    for name in ("brackets", "penn"):
        assert run("annotate", text, text.with_name("out"), "-f", name).exit_code == 0  # goes on: it is the same
