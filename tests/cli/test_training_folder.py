import json

import pytest
import spacy

from spacy_incparse.cli.recipe import save_pipeline
from spacy_incparse.cli.train import check_replaceable
from spacy_incparse.errors import IncparseError


@pytest.mark.parametrize("meta", ["{", "[5]", "7"])
def test_a_damaged_pipeline_is_none(tmp_path, meta):
    spacy.blank("en").to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "meta.json").write_text(meta)
    with pytest.raises(IncparseError, match="is no pipeline, so --force does not replace it"):
        check_replaceable(tmp_path / "saved")
    with pytest.raises(IncparseError, match="is no pipeline, so --force does not replace it"):
        check_replaceable(tmp_path / "saved" / "meta.json")  # a file


def test_an_older_pipeline_is_replaced_behind_a_link(tmp_path):
    folder, link = tmp_path / "disk" / "model", tmp_path / "model"
    folder.mkdir(parents=True)
    link.symlink_to(folder, target_is_directory=True)
    for name in ("first", "second"):
        nlp = spacy.blank("en", meta={"name": name})
        save_pipeline(nlp, link)
        assert spacy.load(link).meta["name"] == name
    assert link.is_symlink()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_folders_with_similar_names_are_kept(tmp_path):
    others = [tmp_path / name for name in ("model.old", "model.tmp")]
    for other in others:
        other.mkdir()
        (other / "notes.txt").write_text("Mine.")
    for _ in range(2):
        save_pipeline(spacy.blank("en"), tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.old", "model.tmp"]
    assert all((other / "notes.txt").exists() for other in others)


def test_what_is_written_does_not_depend_on_the_order_of_a_set(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    save_pipeline(nlp, tmp_path / "model")
    punctuation = json.loads((tmp_path / "model" / "sentencizer.json").read_text())["punct_chars"]
    assert punctuation == sorted(punctuation)
