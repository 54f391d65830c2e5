"""README.md: everything that it names exists, and its set-up is the one that works. `conftest.py` runs its code."""

import re

import pytest

from tests.readme import CHECKOUT, README
from tests.result_figures import missing_figures, result_rows

TEXT = README.read_text(encoding="utf8")


def test_two_commands_set_everything_up():
    install, test = TEXT.partition("```sh\n")[2].partition("\n```")[0].splitlines()
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
