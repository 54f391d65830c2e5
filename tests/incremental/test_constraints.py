import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.constraints import check_constrained, satisfies
from tests.reference.engine import learner_of, random_parser, teach
from tests.strategies import constraints, normalised_trees

ALL = 100_000
PAPER = {"features": "paper", "beam_size": ALL, "gamma": None}
# Few labels, so that there are many analyses, left recursion and unary chains.
TREEBANKS = st.lists(
    normalised_trees(max_words=6, phrases=("NP", "S", "VP"), tags=("NN", "NN", "DT")), min_size=2, max_size=5
)


@settings(max_examples=40)
@given(data=st.data(), treebank=TREEBANKS, seed=st.integers(0, 1000), outcome_filter_min_count=st.sampled_from((0, 2)))
def test_the_best_of_all_analyses_that_satisfy_them(data, treebank, seed, outcome_filter_min_count):
    parser = random_parser(treebank, seed, **PAPER | {"outcome_filter_min_count": outcome_filter_min_count})
    words, tags = data.draw(st.sampled_from([(tree.words, tree.tags) for tree in treebank]))
    everything = parser.nbest(words, tags, ALL)
    assume(len(everything) < ALL // 20)  # else the beam has dropped some on the way, and constraints bring them back
    wanted = data.draw(constraints([span for parse in everything[:5] for span in parse.tree.spans()], len(words)))
    check_constrained(parser, words, tags, everything, wanted, rel=0)


@settings(max_examples=40)
@given(data=st.data(), treebank=TREEBANKS, seed=st.integers(0, 1000), beam_size=st.sampled_from((1, 3, 20)))
def test_a_narrow_beam_meets_all_brackets_of_a_training_tree(data, treebank, seed, beam_size):
    """Its chains are known; where triples would be in the way, words are relaxed."""
    parser = random_parser(treebank, seed, **PAPER | {"beam_size": beam_size})
    tree = data.draw(st.sampled_from(treebank))
    chosen = data.draw(st.lists(st.sampled_from(tree.spans()), unique=True))
    wanted = [Constraint(start, end, data.draw(st.sampled_from((label, None)))) for label, start, end in chosen]
    parse = parser.parse(tree.words, tree.tags, wanted)
    assert parse.unmet == ()
    assert all(satisfies(parse.tree.spans(), constraint) for constraint in wanted)
    crossing = [
        (start, end)
        for _, start, end in parse.tree.spans()
        for other in wanted
        if start < other.start < end < other.end or other.start < start < other.end < end
    ]
    assert crossing == []
    whole = [Constraint(start, end, label) for label, start, end in tree.spans()]
    assert set(parser.parse(tree.words, tree.tags, whole).tree.spans()) >= set(tree.spans())


@pytest.fixture(scope="module")
def small():
    treebank = """
        (TOP (S (NP (NP (DT the) (NN cat)) (PP (IN in) (NP (DT a) (NN box)))) (VP (VBD slept))))
        (TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN in) (NP (DT a) (NN box))))))
        (TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (DT a) (NN box)))))))
        (TOP (S (NP (DT the) (NN cat)) (VP (VBD slept) (S (VP (VBD saw))))))"""
    trees = list(parse_bracketed(treebank))
    learner = learner_of(trees, features="paper")
    teach(learner, trees, 5)
    return learner.parser()


WORDS, TAGS = "the cat saw a dog in the box".split(), "DT NN VBD DT NN IN DT NN".split()
LOW = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (DT the) (NN box)))))))"
HIGH = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN in) (NP (DT the) (NN box))))))"


def test_an_attachment_is_chosen_by_one_bracket(small):
    def parse(*constraints):
        return str(small.parse(WORDS, TAGS, constraints).tree)

    assert parse((3, 8, "NP")) == parse((3, 8)) == LOW
    assert parse((3, 8, None, False)) == parse((3, 8, "NP", False)) == HIGH
    # The NP over five words is a base with a step, so its inner NP ends where the step begins.
    assert parse((3, 5, "NP"), (3, 8, "NP")) == LOW
    assert parse((3, 5, "NP"), (3, 8, "NP", False)) == HIGH


def test_what_cannot_be_met_is_left_out_and_named(small):
    wanted = [Constraint(3, 8, "NP"), Constraint(2, 5, "NP"), Constraint(0, 2, "XX"), Constraint(3, 8, "PP", False)]
    parse = small.parse(WORDS, TAGS, wanted)
    assert str(parse.tree) == LOW
    assert parse.unmet == (wanted[1], wanted[2])  # one crosses the first, the other has a label that no phrase has
    nothing = small.parse(WORDS, TAGS, [(0, 8, "TOP", False), (0, 3, "TOP"), (3, 8, "NP/NP")])
    assert len(nothing.unmet) == 3
    assert nothing.tree == small.parse(WORDS, TAGS).tree


def test_constraints_do_not_stay(small):
    before = small.nbest(WORDS, TAGS, 10)
    small.parse(WORDS, TAGS, [(3, 8, "NP", False)])
    assert small.nbest(WORDS, TAGS, 10) == before


@pytest.mark.parametrize("wrong", [(3, 3), (-1, 2), (0, 9, "NP"), (5, 2)])
def test_constraints_on_other_words_are_refused(small, wrong):
    with pytest.raises(ConfigError, match="is outside the sentence, which has 8 words"):
        small.parse(WORDS, TAGS, [wrong])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([("a", 2)], "start and end must be whole numbers"),
        ([(True, 2)], "start and end must be whole numbers"),
        ([(0, 2, 7)], "label a string or None"),
        ([(0, 2, "NP", "yes")], "is_required a bool"),
        ([(0,)], r"\(0,\) is not a constraint: pass Constraint\(start, end, label, is_required\)"),
        ([5], "5 is not a constraint"),
        ("abc", "the constraints are 'abc': they must be a list"),
        (None, "the constraints are None: they must be a list"),
    ],
)
def test_what_is_no_constraint_is_refused(small, wrong, message):
    with pytest.raises(ConfigError, match=message):
        small.parse(WORDS, TAGS, wrong)
