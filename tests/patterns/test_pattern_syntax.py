import pickle

import pytest

from spacy_incparse import Tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns import PatternError, compile
from spacy_incparse.patterns.pattern_parser import parse_pattern


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("S < NP < VP", "(S < NP) < VP"),
        ("S < NP < VP", "S < NP & < VP"),
        ("S < NP !< VP | > PP", "S [[< NP & !< VP] | > PP]"),
        ("S < NP | VP < PP | < NP", "S < NP | (VP [< PP | < NP])"),
        ("S<NP<VP", " S  <\n NP\t< (VP) "),
        ("S < NP | < VP < PP", "S [< NP | [< VP & < PP]]"),
        ("NP !!< NN", "NP !!!!< NN"),
        ("NP $. VP", "NP $+ VP"),
        ("PRP$ == NN", '"PRP$" == NN'),
        ("NP $, VP", "NP %- VP"),
        ("NP $,, VP", "NP $-- VP"),
        ("NP <` VP", "NP <- VP"),
        ("NP <-1 VP", "NP <- VP"),
        ("NP <1 VP", "NP <, VP"),
        ("NP <= VP", "NP [== VP | < VP]"),
        ("NP <... {DT; (NN > NP)}", "NP <1 DT <2 (NN > NP) !<3 __"),
        ('"NP" < "NN"', "NP < NN"),
        ("NP < (PRP$)", 'NP < ("PRP$")'),
        ("PRP$=x !< NP", '"PRP$"=x !< NP'),
        ("NP$ VP", "NP $ VP"),
        ("NN$..VP", "NN $.. VP"),
        ("VP <+[NP] NN", "VP <+(NP) NN"),
        ("-NONE- < *T*-1", '"-NONE-" < "*T*-1"'),
    ],
)
def test_two_ways_to_say_the_same(one, other):
    assert parse_pattern(one) == parse_pattern(other)


@pytest.mark.parametrize(
    ("pattern", "column", "what"),
    [
        ("", 1, "expected a node, found the end"),
        ("NP <", 5, "expected a node after '<', found the end"),
        ("NP < )", 6, "expected a node after '<', found ')'"),
        ("NP < (NN", 9, "expected ')' for the '(' of column 6, found the end"),
        ("NP [< NN)", 9, "expected ']' for the '[' of column 4, found ')'"),
        ("NP < NN)", 8, "expected a relation such as '<' or '$+', or the end, found ')'"),
        ("NP < .", 6, "found '.'; put it in quotes (\".\") if it is a label"),
        ("NP ? NN", 4, "expected a relation"),
        ("NP < NN & NN", 11, "expected a relation such as '<' or '$+', found 'NN'"),
        ("NP < /a", 6, "the regular expression that begins here has no end"),
        ('NP < "a', 6, "the quoted label that begins here has no end"),
        ("NP < /a(b/", 8, "invalid regular expression: missing )"),
        ("NP < /a{99999999999999}/", 7, "invalid regular expression: the repetition number is too large"),
        ("NP <0 NN", 4, "children are counted from 1"),
        ("NP <+ NN", 7, "expected '(' after '<+', with the nodes allowed in between"),
        ("NP <... NN", 9, "expected '{' and the children"),
        ("VP <<# {LEMMMA:be}", 9, "expected an attribute of tokens, found 'LEMMMA': choose from LEMMA"),
        ("{POS:}", 6, "expected a node after ':', found '}'"),
        (
            "{MORPH:Number=Plur}",
            14,
            "expected '}' for the '{' of column 1, found '='; put values with other characters",
        ),
        ("{POS:NOUN, TAG:NN}", 10, "expected '}' for the '{' of column 1, found ','"),
        ("NP <... {NN NN}", 13, "expected '}' for the '{' of column 9"),
        ("NP=x < NN=x", 11, "the name 'x' is given twice"),
        ("NP < =x", 7, "no node before has the name 'x'"),
        ("NP < NN= <", 10, "expected a name"),
        ("NP !< NN=x", 10, "the name 'x' is under a '!'"),
        ("NP ![< (NN < CC=x)]", 17, "the name 'x' is under a '!'"),
        ("NP [< NN=x | < =x]", 17, "no node before has the name 'x'"),
        ("NP < /a/#1%x", 9, "expected a regular expression with groups before '#'"),
        ("NP < /(a)/#2%x", 11, "expected the number of one of the 1 groups"),
        ("NP < (DT | NN)", 10, "found '|'; write labels to choose from without blanks, as in NN|NNS"),
        ("NP < /(a)/#1 x", 14, "expected '%' and a variable"),
    ],
)
def test_mistakes_are_pointed_at(pattern, column, what):
    with pytest.raises(PatternError) as caught:
        compile(pattern)
    error = caught.value
    first, shown, caret = str(error).split("\n")
    assert first.startswith(f"the pattern is wrong at column {column}: ")
    assert what in first
    assert (shown, caret) == (f"  {pattern}", " " * (column + 1) + "^")
    assert (error.pattern, error.column) == (pattern, column)
    assert isinstance(error, IncparseError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_caret_stands_right_below_wide_characters_and_in_long_patterns():
    with pytest.raises(PatternError) as caught:
        compile("狗\t< )")
    assert str(caught.value).split("\n")[1:] == ["  狗 < )", "       ^"]
    with pytest.raises(PatternError) as caught:
        compile("NP " + "< NN " * 100 + "< ) " + "< NN " * 100)
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) < 140
    assert shown[caret.index("^")] == ")"


def test_a_relation_that_stands_for_two_does_not_double_the_work():
    pattern = compile("NP <= (" * 40 + "NN" + ")" * 40)
    assert list(pattern.search(Tree.from_string("(S (NP (NN rain)))"))) != []


def test_the_same_name_in_alternatives():
    assert compile("NP [< NN=x | < NNS=x] > (VP << =x)").names == ("x",)
    assert compile("NP < NN=x | VP < VB=x").names == ("x",)


def test_too_deep_and_too_many():
    assert compile("NP < (" * 50 + "NN=x" + ")" * 50).names == ("x",)
    with pytest.raises(PatternError, match="more than 50 nested brackets"):
        compile("NP < (" * 10_000 + "NN" + ")" * 10_000)
    compile("NP " + "< A " * 5_000 + "!" * 5_001 + "< B")
    with pytest.raises(PatternError, match="more than 64 different labels"):
        compile("NP " + " ".join(f"< A{i}" for i in range(65)))
    assert compile("NP <= (" * 10 + "NN=x" + ")" * 10).names == ("x",)
    with pytest.raises(PatternError, match="too many alternatives with named nodes inside one another"):
        compile("NP <= (" * 50 + "NN=x" + ")" * 50)


def test_patterns_can_be_pickled():
    pattern = pickle.loads(pickle.dumps(compile("NP=x <# NN", raw_labels=True, heads="any")))
    assert (pattern.pattern, pattern.raw_labels, pattern.heads.name) == ("NP=x <# NN", True, "any")
    assert repr(pattern) == "compile('NP=x <# NN', raw_labels=True)"
