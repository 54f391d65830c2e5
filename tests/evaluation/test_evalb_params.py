import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams, parse_params, read_params

COLLINS_TEXT = """\
# the parameters of Collins (1997)
DEBUG 0

MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
"""


def test_collins_file_gives_the_built_in_parameters_but_for_the_error_limit():
    assert parse_params(COLLINS_TEXT) == EvalbParams(
        COLLINS.delete_labels, COLLINS.delete_labels_for_length, COLLINS.eq_labels, max_error=10
    )


def test_all_keys_crlf_and_tabs():
    text = "\ufeffDEBUG 2\r\nLABELED\t0\r\nCUTOFF_LEN 25\r\nDISC_ONLY 0\r\nEQ_WORD n't  not\r\nQUOTE_LABEL POS\r\n"
    expected = EvalbParams(
        eq_words=(("n't", "not"),), quote_labels=("POS",), labeled=False, cutoff_len=25, max_error=10, debug=2
    )
    assert parse_params(text) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", "unknown parameter 'DELETE_LABLE'"),
        ("CUTOFF_LEN forty", "CUTOFF_LEN needs a whole number, not 'forty'"),
        ("CUTOFF_LEN", "CUTOFF_LEN needs a whole number"),
        ("EQ_LABEL ADVP", "expected two values"),
        ("DELETE_LABEL", "expected one label"),
        ("DISC_ONLY 1", "discontinuous"),
    ],
)
def test_wrong_lines_are_named(tmp_path, line, message):
    path = tmp_path / "mine.prm"
    path.write_text(f"LABELED 1\n# a comment\n{line}\n")
    with pytest.raises(IncparseError, match=f"mine.prm:3: .*{message}"):
        read_params(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(IncparseError, match=r"none\.prm: cannot read"):
        read_params(tmp_path / "none.prm")
