"""What looks like mark-up that was read as trees causes one warning, and plain trees cause none."""

import warnings

import pytest

from spacy_incparse.treebanks.reader import read_treebank

TREE = "(S (NP (PRP We)) (VP (VBP row)){})\n"


def warned(tmp_path, text, **options):
    (tmp_path / "trees.mrg").write_text(text, encoding="utf8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_treebank(tmp_path / "trees.mrg", **options)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (TREE.format(" (ID 7)"), "ID"),
        (TREE.format(" (X EOS)") * 20, "'EOS'"),
        ("".join(TREE.format(f" (REF rowing.{n})") for n in range(20)), "REF"),
        ("(S##a=b (NP##c=d (PRP##e We)) (VP (VBP row)))", "##"),
        ("# text = They swim\n" + TREE.format(""), "They swim"),
    ],
)
def test_mark_up_read_as_words_is_suspicious(tmp_path, text, value):
    [message] = warned(tmp_path, text, dialect="penn")
    assert "trees.mrg" in message
    assert value in message
    assert "--dialect" in message


def test_a_treebank_warns_once(tmp_path):
    (tmp_path / "more.mrg").write_text(TREE.format(" (ID 7)"))
    (tmp_path / "trees.mrg").write_text(TREE.format(" (ID 8)"))
    with pytest.warns(UserWarning, match="ID") as caught:
        read_treebank(tmp_path, dialect="penn")
    assert len(caught) == 1


@pytest.mark.parametrize(
    "text", [TREE.format(" (. .)") * 30, "# text = We row.\n" + TREE.format(" (. .)"), "(NP (NP=2 (NN =)))"]
)
def test_plain_trees_are_not(tmp_path, text):
    assert warned(tmp_path, text) == []
