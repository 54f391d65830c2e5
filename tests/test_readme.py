"""README.md: everything that it names exists, and its set-up is the one that works. `conftest.py` runs its code."""

import re

from tests.readme import CHECKOUT, README

TEXT = README.read_text(encoding="utf8")


def test_two_commands_set_everything_up():
    install, test = TEXT.partition("```sh\n")[2].partition("\n```")[0].splitlines()
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/spacy-incparse parse ")
    assert test.startswith(".venv/bin/pip install ")
    assert test.endswith(" -m pytest")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert target.startswith("https://") or (CHECKOUT / target).exists(), target


def test_it_is_short():
    assert len(TEXT.split()) <= 1500
