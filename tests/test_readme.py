"""README.md: everything that it names exists, and its set-up is the one that works. `conftest.py` runs its code."""

import re

from tests.readme import CHECKOUT, README

TEXT = README.read_text(encoding="utf8")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert target.startswith("https://") or (CHECKOUT / target).exists(), target


def test_it_is_short():
    assert len(TEXT.split()) <= 1500
