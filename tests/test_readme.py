"""README.md: everything in it that can be run gives what stands there, and everything that it names exists."""

import re

import pytest

from tests.readme import CHECKOUT, README, missing_figures, result_rows, run, setup_commands

TEXT = README.read_text(encoding="utf8")


def test_code_prints_what_stands_there(tmp_path):
    wrong = [
        f"{output.code}-- expected --\n{output.expected}-- printed --\n{output.actual}"
        for output in run(TEXT, tmp_path)
        if not output.fits
    ]
    assert not wrong, "update README.md with `python tests/readme.py`, or mend the code:\n\n" + "\n\n".join(wrong)


def test_two_commands_set_everything_up():
    install, test = setup_commands(TEXT)
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/spacy-incparse parse ")
    assert test.startswith(".venv/bin/pip install ")
    assert test.endswith(" -m pytest")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert target.startswith("https://") or (CHECKOUT / target).exists(), target


def test_file_map_names_all_packages_and_nothing_else():
    listed = set(re.findall(r"^  (\w+)/", TEXT.partition("spacy_incparse/\n")[2].partition("```")[0], re.MULTILINE))
    packages = {path.parent.name for path in (CHECKOUT / "spacy_incparse").glob("*/__init__.py")}
    assert listed == packages


@pytest.mark.parametrize(("figure", "row"), result_rows(TEXT), ids=lambda value: value)
def test_figures_stand_in_the_results(figure: str, row: str):
    """A figure of the README is the one that a benchmark printed: RESULTS.md has it in the row of that name."""
    assert not missing_figures(figure, row), row
