import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.parsing.nbest import probabilities
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import LIST_WRITERS, CandidateList, read_lists, write_lists
from spacy_incparse.treebanks.reader import normalize, read_trees
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import raw_trees

RAIN = Tree.from_string("(TOP (S (NP (NN Rain)) (VP (VBD fell))))")
FLAT = Tree.from_string("(TOP (S (NN Rain) (VBD fell)))")
SNOW = Tree.from_string('(TOP (S (`` ") (NP (NN Snow)) (-LRB- -LRB-) (VP (VBZ melts)) (-RRB- -RRB-)))')
LISTS = [
    CandidateList((Parse(RAIN, -1.5, "beam"), Parse(FLAT, -2.25, "relaxed")), 57.5, RAIN),
    CandidateList((Parse(SNOW, 1e-17 / 3, "beam"),)),
]
a_file = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


_scores = st.floats(-1e300, 1e300)  # divided by a temperature, they stay finite


@st.composite
def random_lists(draw, is_normalized):
    """Lists of trees as a treebank may have them, or normalized, with odd words."""
    tree = draw(raw_trees().map(normalize).filter(bool) if is_normalized else raw_trees())
    leaves = [make_tree(tag, word) for tag, word in zip(tree.tags, tree.words, strict=True)]
    variants = [tree, make_tree("TOP", leaves), make_tree("TOP", [make_tree("S", leaves)])]
    chosen = draw(st.lists(st.sampled_from(variants), min_size=1, max_size=4))
    parses = [Parse(t, draw(_scores), draw(st.sampled_from(["beam", "relaxed", "flat"]))) for t in chosen]
    return CandidateList(tuple(parses), draw(st.floats(1e-3, 1e3)), draw(st.sampled_from([None, *variants])))


@pytest.fixture
def check(tmp_path):
    """Read a text as lists and return the error."""

    def _check(text, gold=None):
        path = tmp_path / "lists"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(TreebankError) as error:
            list(read_lists(path, gold))
        assert str(error.value).startswith(f"{path}:")
        return str(error.value).removeprefix(f"{path}:")

    return _check


@pytest.mark.parametrize("name", ["lists", "lists.gz"])
@pytest.mark.parametrize("format", ["json", "brackets"])
def test_round_trip(tmp_path, format, name):
    path = tmp_path / name
    write_lists(path, iter(LISTS), format)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert list(read_lists(path)) == LISTS
    first = path.read_bytes()
    write_lists(path, read_lists(path), format)
    assert path.read_bytes() == first


@a_file
@given(st.booleans(), st.data())
def test_round_trip_of_any_trees(tmp_path, is_normalized, data):
    lists = data.draw(st.lists(random_lists(is_normalized), min_size=1, max_size=3))
    format = data.draw(st.sampled_from(list(LIST_WRITERS) if is_normalized else ["json", "brackets"]))
    write_lists(tmp_path / "lists", lists, format)
    found = list(read_lists(tmp_path / "lists", normalized=is_normalized))
    if format != "bllip":
        assert found == lists
        return
    for one, other in zip(found, lists, strict=True):
        assert [parse.tree for parse in one.parses] == [parse.tree for parse in other.parses]
        assert [parse.score for parse in one.parses] == [parse.score / other.temperature for parse in other.parses]


def test_bllip_has_the_same_probabilities(tmp_path):
    write_lists(tmp_path / "lists", LISTS, "bllip")
    lines = (tmp_path / "lists").read_text().splitlines()
    assert lines[0] == "2 1"
    assert lines[6:8] == ["1 2", repr(1e-17 / 3)]
    assert lines[8].startswith("(S1 (S (`` ``) (NP (NN Snow)) (-LRB- -LRB-)")
    for one, other in zip(read_lists(tmp_path / "lists"), LISTS, strict=True):
        shares = [probabilities([parse.score for parse in x.parses], x.temperature) for x in (one, other)]
        assert shares[0] == pytest.approx(shares[1])


BLLIP = """2 sent_a
-12.5
(S1 (S (NP-SBJ (NN Rain)) (-LRB- -LCB-) (VP (VBD fell))))
-13
(S1 (S (NN Rain) (-LRB- -LCB-) (VBD fell)))

1\tsent_b
-1e2
(S1 (NP (`` ``) (NN rain) ('' '')))
"""


def test_lists_of_other_parsers_are_normalized_as_treebanks_are(tmp_path):
    path = tmp_path / "lists.gz"
    path.write_bytes(gzip.compress(BLLIP.encode()))
    first, second = read_lists(path)
    assert str(first.parses[0].tree) == "(TOP (S (NP (NN Rain)) (-LRB- {) (VP (VBD fell))))"
    assert [parse.score for parse in first.parses] == [-12.5, -13]
    assert first.temperature == 1
    assert second.words == ('"', "rain", '"')
    assert next(read_lists(path, normalized=False)).parses[0].tree.label == "S1"
    sorted_by_reranker = BLLIP.replace("-12.5\n", "-1.250000000000 -13.500000000000\n").replace("-13\n", "-2.0 -12.5\n")
    path.write_bytes(sorted_by_reranker.encode())
    assert [parse.score for parse in next(read_lists(path)).parses] == [-13.5, -12.5]


PRINTED = """# sent 1 parse 1 score -41.2
(TOP (S (NP (NN Rain))
        (VP (VBD fell))))

# sent 1 parse 2 score 1e+03
(TOP (S (NN Rain) (VBD fell)))
# any comment
# sent 2 parse 1 score 3
(TOP (NP (NN snow)))
# sent 2 parse 1 score 3
(TOP (NP (NN hail)))
"""


def test_what_parse_prints(tmp_path):
    path = tmp_path / "lists"
    path.write_text(PRINTED)
    found = list(read_lists(path))
    assert [len(one.parses) for one in found] == [2, 1, 1]
    assert found[0].parses == (Parse(RAIN, -41.2, "beam"), Parse(FLAT, 1000, "beam"))


def test_other_readers_see_the_trees_alone(tmp_path):
    path = tmp_path / "lists.mrg"
    write_lists(path, LISTS, "brackets")
    assert list(read_trees(path)) == [RAIN, FLAT, SNOW]


def test_gold_trees(tmp_path):
    path, gold = tmp_path / "lists", tmp_path / "gold.mrg"
    write_lists(path, LISTS)
    gold.write_text("( (S (NN Rain) (VBD fell) (NP (-NONE- *))) )\n( (NP (`` ``) (NN Snow) (-LRB- -LRB-)"
                    " (VBZ melts) (-RRB- -RRB-)))")  # fmt: skip
    assert [found.gold for found in read_lists(path)] == [RAIN, None]
    first, second = read_lists(path, gold)
    assert first.gold == FLAT  # instead of the file's own
    assert str(second.gold).startswith("(TOP (NP")
    assert [found.gold for found in read_lists(path, iter([RAIN, SNOW]))] == [RAIN, SNOW]


JSON = '{"nbest": [{"tree": "(TOP (NN rain))", "score": -1}]}'


@pytest.mark.parametrize(
    ("text", "gold", "message"),
    [
        (JSON, [], "1:1: there are more lists than gold trees (0); there must be one gold tree for each list"),
        (JSON, [Tree.from_string("(TOP (NN rain))")] * 2, "1:1: there are more gold trees than lists (1); there must"),
        (JSON, [RAIN], "1:1: the gold tree has 2 words, against 1 of the trees of the list; expected gold trees of"),
        (JSON, [Tree.from_string("(TOP (NN hail))")], "the word 'hail' in place 1, against 'rain' of the trees"),
    ],
)
def test_gold_trees_that_do_not_fit(check, text, gold, message):
    assert message in check(text, gold)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file has no n-best lists; it is empty"),
        ("\nrain fell\n", "2:1: 'rain fell' begins no known format of n-best lists; expected JSON lines"),
        (b"{\xff", "1:2: byte 0xff is not UTF-8"),
        (gzip.compress(PRINTED.encode())[:-12], "the gzip file is damaged or truncated"),
        # JSON
        (JSON + "\n" + JSON[:-3], "2:51: the line is not JSON, or truncated"),
        (JSON + "\n[]", "2:1: '[]' is no object"),
        ('{"a":' * 99999, "1:1: the JSON is nested too deeply"),
        ('{"tree": "(TOP (NN rain))"}', '1:1: there is no list under "nbest"; expected an object such as'),
        ('{"nbest": []}', "1:1: the list has no trees; expected at least one"),
        ('{"nbest": [3]}', '1:1: 3 under "nbest" is no object'),
        ('{"nbest": [{"score": 1}]}', '1:1: there is None under "tree"; expected a tree in brackets'),
        ('{"nbest": [{"tree": "(TOP (NN rain))"}]}', "1:1: the score None is not a number; expected one such as -41.2"),
        (JSON.replace("-1", "9" * 9999), "1:1: the JSON is nested too deeply, or has a huge number"),
        (JSON.replace("rain", "\\ud83d"), '1:1: half a surrogate pair, which is no character, under "tree"'),
        (JSON.replace("{", '{"temperature": 0, ', 1), "1:1: the temperature 0 is not above 0"),
        (JSON.replace("{", '{"words": "rain", ', 1), "1:1: there is 'rain' under \"words\"; expected a list of words"),
        (JSON.replace("{", '{"gold": "(TOP (NN hail))", ', 1), "1:1: the gold tree has the word 'hail' in place 1"),
        (JSON.replace("(NN", "(NN)"), "1:1: the node (NN) is empty"),
        (JSON.replace("NN", "-NONE-"), "1:1: the tree has no words besides traces"),
        # brackets
        ("(TOP (NN rain))", "1:1: '(TOP (NN rain))' without a score; expected a line such as '# sent 1 parse 1"),
        (PRINTED.replace("score -41.2", ""), "1:1: the line '# sent 1 parse 1 ' is incomplete; expected a line "),
        (PRINTED.replace("parse 2", "parse 3"), "5:1: this is parse 3 of sentence 1; expected parse 2: is the file co"),
        (PRINTED.replace("fell))))", "fell)))"), "2:1: 1 closing bracket is missing in the tree that begins here"),
        (PRINTED.replace("(TOP (NP (NN hail)))", ""), "10:1: no tree follows this line; is the file complete?"),
        (PRINTED.replace("(TOP (NP (NN snow)))", "(TOP (NN a)) (TOP (NN b))"), "9:14: "),
        (PRINTED.replace("(NN Rain) (VBD", "(VBD"), "6:1: tree 2 has 1 words, against 2 of the first tree; all trees"),
        ("# sent 1 temperature 5\n", "1:1: the list has no trees"),
        # BLLIP
        (BLLIP.replace("2 sent_a", "1 sent_a"), "4:1: '-13' is no beginning of a list: expected the number of trees"),
        (BLLIP.replace("1\tsent_b", "2\tsent_b"), "9:1: the list of line 7 has 2 trees by its header, but the file en"),
        (BLLIP.replace("-12.5\n", "-1 -12.5 -3\n"), "2:1: the log probability '-1 -12.5 -3' is not a number"),
        (BLLIP.replace("-12.5\n", "x -12.5\n"), "2:1: the score of the reranker 'x' is not a number"),
    ],
)  # fmt: skip
def test_errors_name_line_value_and_remedy(check, text, message):
    assert message in check(text)


@a_file
@given(st.data())
def test_damaged_files_are_errors_of_the_user(tmp_path, data):
    text = data.draw(st.sampled_from([JSON * 2, PRINTED, BLLIP, JSON + "\n" + JSON]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    other = data.draw(st.text(alphabet='()# \n{}[]"1-.aS\\', max_size=6))
    path = tmp_path / "lists"
    path.write_text(text[:start] + other + text[end:])
    try:
        found = list(read_lists(path))
    except IncparseError as error:
        assert str(error).startswith(f"{path}:")  # noqa: PT017
    else:
        assert all(parse.tree.words == one.words for one in found for parse in one.parses)


def test_paths_and_formats(tmp_path):
    with pytest.raises(IncparseError, match=r"nowhere: cannot be read: No such file"):
        list(read_lists(tmp_path / "nowhere"))
    with pytest.raises(IncparseError, match="'xml': choose from json, brackets, bllip"):
        write_lists(tmp_path / "lists", LISTS, "xml")
    (tmp_path / "lists").touch()
    with pytest.raises(IncparseError, match="cannot be written"):
        write_lists(tmp_path / "lists" / "inside", LISTS)


def test_an_interrupted_file_is_not_left_behind(tmp_path):
    def interrupted():
        yield LISTS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lists(tmp_path / "lists.gz", interrupted())
    assert list(tmp_path.iterdir()) == []
