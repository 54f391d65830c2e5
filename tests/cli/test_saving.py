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
