import pytest
import spacy

from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import ModelError
from spacy_incparse.pipeline.model import pack, read_parts, unpack

PARTS = {"parser": b"\x00weights", "tagger": b""}


def test_unpack_inverts_pack():
    assert unpack(pack(PARTS)) == PARTS
    assert unpack(pack({})) == {}


@pytest.mark.parametrize("n_cut", [1, 5, 12])
def test_what_is_cut_short_is_refused(n_cut):
    with pytest.raises(ModelError, match="damaged or truncated"):
        unpack(pack(PARTS)[:-n_cut])


def test_damage_is_refused():
    data = bytearray(pack(PARTS))
    data[-3] ^= 1
    with pytest.raises(ModelError, match="checksum differs"):
        unpack(bytes(data))


def test_another_format_is_refused():
    with pytest.raises(ModelError, match="format 'spacy-incparse model 2'"):
        unpack(pack(PARTS).replace(b"model 3", b"model 2"))
    with pytest.raises(ModelError, match="this version reads"):
        unpack(b"\x80\x81 something else")


def test_a_missing_pipeline_is_told():
    with pytest.raises(ModelError, match="cannot find the pipeline 'nowhere'"):
        find_pipeline("nowhere")


def test_a_pipeline_without_the_component_is_told(tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ModelError, match="has no component incparse"):
        read_parts(tmp_path, "incparse")


def test_a_damaged_file_is_named(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse")
    nlp.to_disk(tmp_path)
    (tmp_path / "incparse" / "model").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match=r"incparse.model: the model is in format 'nonsense'"):
        read_parts(tmp_path, "incparse")
