"""What --force may replace: a saved pipeline with nothing else in its folder, or nothing."""

import pytest
import spacy

from spacy_incparse.cli.train import check_replaceable
from spacy_incparse.errors import IncparseError


def test_a_pipeline_an_empty_folder_or_nothing(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "empty").mkdir()
    for name in ("saved", "empty", "none"):
        check_replaceable(tmp_path / name)


@pytest.mark.parametrize("meta", ["{", "[5]", "7"])
def test_a_damaged_pipeline_is_none(tmp_path, meta):
    spacy.blank("en").to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "meta.json").write_text(meta)
    with pytest.raises(IncparseError, match="is no pipeline, so --force does not replace it"):
        check_replaceable(tmp_path / "saved")


def test_a_file(tmp_path):
    (tmp_path / "out").write_text("Mine.")
    with pytest.raises(IncparseError, match="is no pipeline, so --force does not replace it"):
        check_replaceable(tmp_path / "out")
