"""How commands write a pipeline: whole, in place of an older one, also where a link stands for the folder."""

import spacy

from spacy_incparse.cli.recipe import save_pipeline


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
