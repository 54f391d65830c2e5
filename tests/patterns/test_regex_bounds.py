import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse import patterns
from spacy_incparse.errors import IncparseError, PatternError
from spacy_incparse.patterns.bounded_regex import Automaton, BoundedRegex, Cost, UnboundedError, cost_of, parsed
from spacy_incparse.trees.builder import make_tree

HANGS = [
    r"^(a+)+$", r"^(a|a)*$", r"^(a|aa)+$", r"(a*)*b", r"^(\w+-?)+$", r"(?:a?){40}a{40}$", r"^(([a-z])+.)+[A-Z]$",
    r"a*a*a*a*a*a*a*a*a*a*$b", r"(?:.*a){12}b", "a?" * 60 + "b",
]  # fmt: skip
WORD = "a" * 300 + "!"
ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", "^", "$", r"\b", r"\B", r"\Z", "é", "(?:)"])


def _combined(inner):
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "*?"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})"),
        st.tuples(inner, repeat).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        inner.map(lambda part: f"({part})"),
    )


REGEXES = st.recursive(ATOMS, _combined, max_leaves=8)
TEXTS = st.text("aAb -\né", max_size=7)


@settings(max_examples=300)
@given(REGEXES, st.lists(TEXTS, min_size=1, max_size=5), st.booleans())
def test_automata_find_what_re_finds(regex, texts, ignores_case):
    flags = re.IGNORECASE if ignores_case else 0
    automaton = Automaton(parsed(regex, flags))
    bounded = BoundedRegex(regex, ignores_case=ignores_case)
    for text in texts:
        expected = re.search(regex, text, flags) is not None
        assert automaton.search(text) == expected
        assert bounded.search(text) == expected


@pytest.mark.parametrize("regex", HANGS)
def test_nothing_hangs(regex):
    tree = make_tree("NP", [make_tree("NN", WORD), make_tree("NN", "cats")])
    assert patterns.compile(f"NN < /{regex}/").count(tree) in (0, 1, 2)
    assert patterns.compile(f"NN < i@/{regex}/").count(tree) in (0, 1, 2)


@pytest.mark.parametrize(
    ("regex", "cost"),
    [
        ("NP", Cost()),
        ("^NP.*-SBJ$", Cost(degree=1)),
        ("^(NP|VP)(-[A-Z])?", Cost(ways=4)),
        ("a*b+c{2,5}", Cost(degree=3)),
        ("(ab){3}", Cost()),
        (r"(\w+)-\1", Cost(degree=1)),
        ("(?!.*x)a*", Cost(degree=1, inner=1)),
        ("(?:(?!x).)*", Cost(degree=1)),
        ("(a+)+", None),
        ("(a|b|cd)*", None),
        ("(ab?)*", None),
    ],
)
def test_the_cost_is_read_off_the_syntax(regex, cost):
    assert cost_of(parsed(regex, 0)) == cost


@pytest.mark.parametrize(
    ("regex", "obstacle"),
    [
        (r"^(?:(\w+)-\1)+$", "a reference to a group"),
        (r"(a+)+(?=b)", "a look-ahead or look-behind"),
        (r"(?i:a+)+", "flags for a part"),
        (r"((a{1,99}){1,99}){1,99}", "this many repetitions"),
    ],
)
def test_what_no_automaton_can_do_is_refused_with_its_column(regex, obstacle):
    with pytest.raises(UnboundedError, match=obstacle):
        BoundedRegex(regex)
    with pytest.raises(PatternError, match=f"column 7: the regular expression may run forever.*{obstacle}"):
        patterns.compile(f"NP < /{regex}/")


def test_variables_need_an_expression_that_python_can_match():
    with pytest.raises(PatternError, match=r"may run forever.*used with a variable"):
        patterns.compile("/^(a+)+$/#1%v")
    tree = make_tree("NP", [make_tree("NN", "x" * 2_000), make_tree("NN", "x-1")])
    pattern = patterns.compile(r"NN < /^(x*)-([0-9]*)[a-z]*[A-Z]*$/#2%v")
    with pytest.raises(IncparseError, match=r"may run forever on 'xxx.*2,000 characters"):
        pattern.count(tree)
    assert pattern.count(tree[1]) == 1


def test_too_many_groups_in_one_another_are_refused():
    with pytest.raises(PatternError, match="too many nested groups"):
        patterns.compile(f"/{'(' * 5_000}a{')' * 5_000}/")


def test_a_limit_of_time():
    tree = make_tree("NP", [make_tree("NN", "cats")])
    late = patterns.compile("NN < /^c/", timeout=0)
    with pytest.raises(IncparseError, match=r"more than 0 seconds.*/\^c/ on '.*--timeout"):
        late.count(tree)
    assert patterns.compile("NN < cats", timeout=0).count(tree) == 1  # no regular expression
    in_time = pickle.loads(pickle.dumps(patterns.compile("NN < /^c/", timeout=1e6)))
    assert (in_time.count(tree), in_time.timeout) == (1, 1e6)
