"""The documents about trees on a Doc: their code gives what stands there, and what they say of storage is complete."""

import pytest
from spacy.tokens import Span, Token

from spacy_incparse.data import embedded_names
from tests.readme import CHECKOUT, run

DOCUMENT = CHECKOUT / "docs" / "trees_on_a_doc.md"


def test_code_prints_what_stands_there(tmp_path):
    if "en" not in embedded_names():
        pytest.skip("this checkout has no embedded pipeline: spacy_incparse/data/en")
    outputs = list(run(DOCUMENT.read_text(encoding="utf8"), tmp_path))
    assert len(outputs) == 3
    for output in outputs:
        assert output.fits, f"{output.code}\n{output.actual}"


@pytest.fixture(autouse=True)
def _forget_benepar():
    """The document takes benepar's names."""
    yield
    for owner in (Span, Token):
        for name in ("labels", "parse_string", "constituents", "parent", "children"):
            if owner.has_extension(name):
                owner.remove_extension(name)
