import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import FEATURE_SETS, Engines
from tests.strategies import normalised_trees, odd_words

TREEBANKS = st.lists(normalised_trees(max_words=6), min_size=1, max_size=4)


@st.composite
def sentences(draw, treebank):
    """Words and tags of a training tree, or any words under tags that training has, or has not."""
    if draw(st.booleans()):
        tree = draw(st.sampled_from(treebank))
        return tree.words, tree.tags
    tags = st.sampled_from([tag for tree in treebank for tag in tree.tags] + ["UNSEEN"])
    chosen = draw(st.lists(tags, min_size=1, max_size=7))
    return [draw(odd_words()) for _ in chosen], chosen


@st.composite
def searches(draw):
    return {
        "beam_size": draw(st.integers(1, 6)),
        "gamma": draw(st.one_of(st.none(), st.floats(0, 60))),
        "window": draw(st.one_of(st.none(), st.integers(0, 30))),
        "outcome_filter_min_count": draw(st.sampled_from((0, 0, 1, 2, 3))),
        "outcome_filter_min_share": draw(st.sampled_from((0.0, 0.25, 0.5))),
        "chain_min_count": draw(st.integers(1, 2)),
        "triple_min_count": draw(st.sampled_from((1, 1, 2))),
        "largest": draw(st.sampled_from((0, 1, 3, 100, 1000))),  # 0: all is tied; 1000: more than 8 bits hold
        "seed": draw(st.integers(0, 1000)),
    }


@pytest.mark.parametrize("features", FEATURE_SETS)
@settings(max_examples=30)
@given(data=st.data(), treebank=TREEBANKS, search=searches())
def test_same_parses_as_the_slow_twin(features, data, treebank, search):
    engines = Engines(treebank, features=FEATURE_SETS[features], **search)
    for _ in range(2):  # twice, since the beam's memory is used again
        words, tags = data.draw(sentences(treebank))
        assert engines.fast_parse(words, tags, 1000) == engines.slow_parse(words, tags, 1000)


@st.composite
def lattices(draw, treebank, n_tags):
    """Words, and of each a tag or several tag ids with ranks."""
    words, tags = draw(sentences(treebank))
    ids = st.lists(st.integers(0, n_tags - 1), min_size=2, max_size=3, unique=True)
    several = ids.map(lambda found: [(tag, 1 + 16 * (k > 0) + tag % 3) for k, tag in enumerate(found)])
    mixed = several if n_tags > 1 else st.nothing()
    return words, [draw(st.one_of(st.just(tag), mixed)) for tag in tags]


@pytest.mark.parametrize("features", ["every field", "accurate"])
@settings(max_examples=40)
@given(data=st.data(), treebank=TREEBANKS, search=searches())
def test_same_parses_under_several_tags_a_word(features, data, treebank, search):
    engines = Engines(treebank, features=FEATURE_SETS[features], **search)
    words, tags = data.draw(lattices(treebank, len(engines.model.grammar.tags)))
    assert engines.fast_lattice_parse(words, tags, 1000) == engines.slow_lattice_parse(words, tags, 1000)


# Few labels and many trees: many analyses of a sentence, which share contexts in part.
DENSE = st.lists(
    normalised_trees(max_words=8, phrases=("NP", "S"), tags=("NN", "NN", "CC", ",")), min_size=6, max_size=12
)


@pytest.mark.parametrize("features", ["every field", "rich"])
@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(data=st.data(), treebank=DENSE, outcome_filter_min_count=st.sampled_from((0, 0, 4)), seed=st.integers(0, 1000))
def test_same_parses_where_much_is_ambiguous(features, data, treebank, outcome_filter_min_count, seed):
    """What hypotheses have in common is computed once: a context's key has to hold all that any feature reads."""
    search = {"beam_size": 16, "outcome_filter_min_count": outcome_filter_min_count, "seed": seed}
    engines = Engines(treebank, features=FEATURE_SETS[features], **search)
    known = sorted({tag for tree in treebank for tag in tree.tags})
    tags = data.draw(st.lists(st.sampled_from(known), min_size=6, max_size=8))
    words = data.draw(st.permutations(["otter", "and", ",", "the", "the", "cat", "dog", "?"]))[: len(tags)]
    assert engines.fast_parse(words, tags, 1000) == engines.slow_parse(words, tags, 1000)


# Two analyses each, whose sites differ in one thing only: the site's work must not be shared.
TWINS = {
    "punctuation before the sibling": """
        (TOP (S (NP (NN ink) (, ,)) (NP (NN tea)) (VBD ran)))
        (TOP (S (NP (NN ink)) (NP (, ,) (NN tea)) (VBD ran)))""",
    "first tag of the conjunct": """
        (TOP (NP (X (DT an)) (NP (JJ old) (NN cup)) (CC and) (NN tea)))
        (TOP (NP (X (DT an) (JJ old)) (NP (NN cup)) (CC and) (NN tea)))""",
    "length of the conjunct": """
        (TOP (NP (X (DT an)) (NP (NN tea) (NN cup)) (CC and) (NP (NN ink))))
        (TOP (NP (X (DT an) (NN tea)) (NP (NN cup)) (CC and) (NP (NN ink))))""",
    "head of the sibling": """
        (TOP (S (VBD ran) (NP (NP (NN ink)) (NN tea)) (RB so)))
        (TOP (S (VBD ran) (NP (NN ink) (NP (NN tea))) (RB so)))""",
    "head of the governor": """
        (TOP (S (NP (NP (NN ink)) (NN tea)) (VP (VBD ran) (RB so))))
        (TOP (S (NP (NN ink) (NP (NN tea))) (VP (VBD ran) (RB so))))""",
    "first word of the parent": """
        (TOP (S (NP (NN ink) (NN tea)) (VP (RB so) (VBD ran))))
        (TOP (S (NP (NN ink)) (VP (NN tea) (RB so) (VBD ran))))""",
    "label four levels up": """
        (TOP (A (B (C (D (NN ink) (RB so) (VBD ran))))))
        (TOP (E (B (C (D (NN ink) (RB so) (VBD ran))))))""",
}


@pytest.mark.parametrize("text", TWINS.values(), ids=TWINS)
def test_contexts_that_differ_in_one_thing(text):
    trees = list(parse_bracketed(text))
    words, tags = trees[0].words, trees[0].tags
    for seed in range(5):
        engines = Engines(trees, features=FEATURE_SETS["every field"], beam_size=99, seed=seed)
        found, _ = engines.fast_parse(words, tags, 99)
        assert {tuple(engines.gold(tree)) for tree in trees} <= {moves for _, moves in found}
        assert (found, 0) == engines.slow_parse(words, tags, 99)


@settings(max_examples=40)
@given(treebank=TREEBANKS, search=searches(), k=st.integers(1, 5))
def test_k_best_are_the_first_of_all(treebank, search, k):
    engines = Engines(treebank, features="paper", **search)
    words, tags = treebank[0].words, treebank[0].tags
    best, n_relaxed = engines.fast_parse(words, tags, 1000)
    assert engines.fast_parse(words, tags, k) == (best[:k], n_relaxed)
    assert [score for score, _ in best] == sorted((score for score, _ in best), reverse=True)
    assert len({moves for _, moves in best}) == len(best) <= search["beam_size"]


def test_a_beam_without_candidates_is_done_again_without_triples():
    trees = list(parse_bracketed("(TOP (S (NP (NN Ann)) (VP (VBD saw) (PP (IN in) (NP (NN town))))))"))
    engines = Engines(trees, features="paper", beam_size=8)
    words, tags = ["in", "in", "Bo"], ["IN", "IN", "NN"]  # no tree starts with IN
    assert engines.fast_parse(words, tags, 1)[1] >= 1
    assert engines.fast_parse(words, tags, 9) == engines.slow_parse(words, tags, 9)
    assert engines.fast_parse(trees[0].words, trees[0].tags, 1)[1] == 0


@pytest.mark.parametrize(("share", "n_analyses", "is_relaxed"), [(0.0, 2, False), (0.25, 2, False), (0.26, 1, False)])
def test_a_small_share_counts_as_unseen(share, n_analyses, is_relaxed):
    """S was three times NP first, and once X: at a quarter X is still seen."""
    text = "(TOP (S (NP (NN Bo)) (VBD ran)))" * 3 + "(TOP (S (X (NN Bo)) (VBD ran)))"
    search = {"beam_size": 99, "outcome_filter_min_count": 4, "outcome_filter_min_share": share}
    engines = Engines(list(parse_bracketed(text)), features="paper", **search)
    for parse in (engines.fast_parse, engines.slow_parse):
        found, n_relaxed = parse(["Bo", "ran"], ["NN", "VBD"], 99)
        assert (len(found), n_relaxed > 0) == (n_analyses, is_relaxed)
