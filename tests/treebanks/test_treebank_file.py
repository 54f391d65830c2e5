"""Files that are written back: byte for byte where nobody changed a tree, and in the dialect where someone did."""

import gzip

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import read_trees
from spacy_incparse.treebanks.treebank_file import TreebankFile
from tests.treebanks.dialect_files import SAMPLES


@pytest.fixture(params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "mixed"])
def test_what_nobody_changed_is_written_byte_for_byte(tmp_path, sample, ends):
    text = sample.text.replace("\n", "\r\n", 3) if ends == "mixed" else sample.text.replace("\n", ends)
    data = text.encode(sample.encoding)
    (tmp_path / "in.psd").write_bytes(data)
    file = TreebankFile.read(tmp_path / "in.psd")
    assert [entry.tree for entry in file.entries] == list(read_trees(tmp_path / "in.psd"))
    assert [entry.sent_id for entry in file.entries] == sample.ids
    file.write(tmp_path / "out.psd")
    assert (tmp_path / "out.psd").read_bytes() == data
    file.write(tmp_path / "out.psd.gz")
    assert gzip.decompress((tmp_path / "out.psd.gz").read_bytes()) == data


def test_a_byte_order_mark_and_a_missing_end_of_line_stay(tmp_path):
    data = b"\xef\xbb\xbf(S (NP (PRP We)) (VP (VBP row)))"
    (tmp_path / "in.mrg").write_bytes(data)
    assert TreebankFile.read(tmp_path / "in.mrg").data() == data


def test_a_changed_tree_is_the_same_when_it_is_read_again(tmp_path, sample):
    path = tmp_path / "in.psd"
    path.write_bytes(sample.text.encode(sample.encoding))
    file = TreebankFile.read(path)
    for entry in file.entries:  # every phrase that can gets another label
        entry.tree = entry.tree.map_labels(lambda label: f"{label}X" if label[:1] in "NSV" else label, tags=False)
    changed = [entry.tree for entry in file.entries]
    file.write(path)
    again = TreebankFile.read(path, dialect=file.dialect)
    assert [entry.tree for entry in again.entries] == changed
    assert [entry.sent_id for entry in again.entries] == sample.ids
    assert [entry.before.split() for entry in again.entries] == [entry.before.split() for entry in file.entries]


def test_mark_up_and_lemmas_stay_in_a_changed_tree(tmp_path):
    path = tmp_path / "in.psd"
    path.write_text(SAMPLES["penn-helsinki"].text, encoding="utf8")
    file = TreebankFile.read(path)
    entry = file.entries[0]
    entry.tree = entry.tree.map_labels(lambda label: "NP-MSR" if label == "NP-TMP" else label)
    text = entry.text(file.dialect)
    for part in [
        "(N-N bátur$-bátur)", "(CODE {COM:unsure}) (VBDI", "(NP-MSR (NS-D suður-dögum-suður-dagur) (CODE <P_3>))",
        "(C 0)", "(NP-SBJ-1 *con*)", "blés-blása) *ICH*-1)", "(ID 1902.BATUR,.2))",
    ]:  # fmt: skip
        assert part in text


def test_an_encoding_that_lacks_a_character_is_an_error(tmp_path):
    path = tmp_path / "in.psd"
    path.write_bytes(SAMPLES["floresta"].text.encode("latin-1"))
    file = TreebankFile.read(path)
    file.entries[0].tree = file.entries[0].tree.map_labels(lambda label: label.replace("np", "名詞"))
    with pytest.raises(IncparseError, match="名"):
        file.write(path)
    assert path.read_bytes() == SAMPLES["floresta"].text.encode("latin-1")


@pytest.mark.treebanks
@pytest.mark.parametrize(
    "pattern", ["greynir/*_0000*.gld", "icepahc/1888*.psd", "keyaki/*.psd", "masc/raw/sw*", "wsj/dev.mrg"]
)
def test_real_files_are_written_byte_for_byte(treebanks, pattern):
    paths = sorted(treebanks.glob(pattern))
    if not paths:
        pytest.skip(f"there is no {pattern}")
    for path in paths:
        assert TreebankFile.read(path).data() == path.read_bytes()
