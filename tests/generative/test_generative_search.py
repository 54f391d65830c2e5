import itertools
from math import exp, isfinite, log, nan

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ModelError
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import ALL, GenerativeParser
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from tests.reference.engine import min_counts
from tests.reference.features import Child, Open, Sentence
from tests.reference.generative import SlowGenerative, log_sum
from tests.strategies import normalised_trees, odd_words

TREEBANKS = st.lists(
    normalised_trees(max_words=5, phrases=("S", "NP", "VP"), tags=("NN", "DT", "CC")), min_size=1, max_size=3
)
ENOUGH = 200  # hypotheses: the slow twin goes no further
HEADS = HeadRules.from_name("en")


def engines(trees, *, beam_size=0, gamma=0.0, known_min_count=2, **settings_):
    config = GenerativeConfig(beam_size=beam_size, gamma=gamma, **settings_)
    with min_counts(class_min_count=2, known_min_count=known_min_count):
        parser = GenerativeParser.train(trees, config, HEADS)
    return parser, SlowGenerative(trees, parser.model, config, beam_size=beam_size, gamma=gamma)


@st.composite
def inputs(draw, treebank):
    """Words of a training tree or any words; tags of the model's own choice, or given ones."""
    tree = draw(st.sampled_from(treebank))
    words = tree.words[:3] if draw(st.booleans()) else draw(st.lists(odd_words(), min_size=1, max_size=3))
    known = sorted({tag for tree in treebank for tag in tree.tags})
    return words, draw(st.sampled_from([None, [draw(st.sampled_from(known)) for _ in words]]))


def compare(parser, slow, words, tags, *, is_pruned=False):
    """Sums over all extensions may miss what is far below the filter of a pruned search; all else agrees exactly."""
    beam, level, kept = parser.new_beam(parser.config.beam_size, parser.config.gamma), 0, slow.first()
    seen = []
    for number, choices in parser.model.nodes_of(words, tags):
        seen.append(number)
        level = beam.push(level, number, choices)
        kept, expected = slow.push(kept, seen, choices)
        first = 2 if is_pruned else 0
        assert beam.measures(level)[first:] == pytest.approx(expected[first:], abs=1e-9)
        scores = [score for score, _, _ in beam.analyses(level, ALL)]
        assert scores == pytest.approx([h.score for h in kept], abs=1e-9)
        if len(kept) > ENOUGH:
            return
    if is_pruned:
        return
    fast, _ = beam.complete(level, ALL)
    finished = slow.finish(kept, seen)
    assert [score for score, _, _ in fast] == pytest.approx([score for score, _ in finished], abs=1e-9)
    best = [(n, parser._moves.leaves[leaf]) for n, leaf in zip(*fast[0][1:], strict=True)]
    ties = [moves for score, moves in finished if score > finished[0][0] - 1e-9]
    assert tuple((n, tag, chain) for n, (tag, chain) in best) in ties


@settings(max_examples=60)
@given(st.data())
def test_unpruned_search_agrees_with_the_slow_twin(data):
    treebank = data.draw(TREEBANKS)
    parser, slow = engines(treebank, context_min_count=data.draw(st.sampled_from((1, 1, 2))))
    compare(parser, slow, *data.draw(inputs(treebank)))


@settings(max_examples=60)
@given(st.data())
def test_merging_changes_no_sum(data):
    """Nor the best analysis: a merged hypothesis has the moves of the best that it stands for."""
    treebank = data.draw(TREEBANKS)
    parser, _ = engines(treebank)
    apart, merged = parser.new_beam(0, 0), parser.new_beam(0, 0, merges=True)
    level = 0
    for number, choices in parser.model.nodes_of(*data.draw(inputs(treebank))):
        level, same_level = apart.push(level, number, choices), merged.push(level, number, choices)
        assert same_level == level
        assert merged.measures(level)[:6] == pytest.approx(apart.measures(level)[:6], abs=1e-9)
        all_apart, all_merged = apart.analyses(level, ALL), merged.analyses(level, ALL)
        if len(all_apart) < 2 or all_apart[0][0] - all_apart[1][0] > 1e-9:  # the best analysis is one
            assert merged.measures(level)[6] <= 1 + 1e-9
            assert all_apart[0][1:] in [analysis[1:] for analysis in all_merged]
        assert len(all_merged) <= len(all_apart)
        assert log_sum(s for s, _, _ in all_merged) == pytest.approx(log_sum(s for s, _, _ in all_apart), abs=1e-9)
        if len(all_apart) > ENOUGH:
            return


@settings(max_examples=60)
@given(st.data())
def test_pruned_search_agrees_with_the_slow_twin(data):
    treebank = data.draw(TREEBANKS)
    gamma = data.draw(st.sampled_from((0.0, 1e-4, 1e-6)))
    parser, slow = engines(treebank, beam_size=0 if gamma else data.draw(st.integers(1, 4)), gamma=gamma)
    words, tags = data.draw(inputs(treebank))
    if not has_ties(slow, parser, words, tags):
        compare(parser, slow, words, tags, is_pruned=True)


def has_ties(slow, parser, words, tags):
    """Whether equal scores leave it open what a filter drops, or there is too much to compare."""
    kept, seen = slow.first(), []
    for number, choices in parser.model.nodes_of(words, tags):
        seen.append(number)
        found = slow.extensions(kept, seen, choices) or slow.extensions(kept, seen, choices, True)
        scores = sorted(h.score for _, h in found)
        if any(b - a < 1e-9 for a, b in itertools.pairwise(scores)):
            return True
        if len(found) > 10 * ENOUGH:
            return True
        kept, _ = slow.push(kept, seen, choices)
    return False


TREES = [
    next(parse_bracketed(text))
    for text in (
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)))))",
        "(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (NN Ann)))) (VP (VBD slept))))",
        "(TOP (NP (NN dog)))",
    )
]


def contexts(slow):
    """Some stacks, seen in training and not, with and without children."""
    labels = slow.grammar.labels.nonterminal_ids
    np, vp, tag = 2 + labels["NP"], 2 + labels["VP"], slow.facts.tag_symbol(0)
    sentence = Sentence([1, 2], [0, 0], [0, 1], False)
    root = Open(slow.root, 0, ())
    for stack in (
        (root,),
        (root, Open(np, 0, ())),
        (root, Open(np, 0, (Child(tag, 0, 0),))),
        (root, Open(vp, 0, (Child(np, 0, 0), Child(tag, 1, 1))), Open(vp, 1, ())),
    ):
        yield stack, sentence


def test_labels_with_stop_and_words_under_each_tag_sum_to_one_in_every_context():
    parser, slow = engines(TREES)
    fast, numbers = parser._probabilities, range(1, slow.vocabulary.n_events + 1)
    one = pytest.approx(1, abs=1e-12)
    for stack, sentence in contexts(slow):
        assert sum(slow.node(stack, sentence, symbol) for symbol in range(len(slow.facts.names)) if symbol != 1) == one
        values = [int(v[0]) if isinstance(v, tuple) else v for v in slow.node_values(stack, sentence)]
        assert sum(fast.node_distribution(values)) == one
        for tag in range(slow.facts.n_tags):
            assert sum(slow.word(stack, sentence, tag, number) for number in numbers) == one
            values = slow.word_values(stack, sentence, tag)[1:]
            assert sum(fast.word_probability(values, tag, number) for number in numbers) == one


def test_next_words_sum_to_what_the_grammar_allows():
    """Over all words and the end, the beam's next probabilities miss only chains and triples that training lacks."""
    parser, _ = engines(TREES)
    beam, level = parser.new_beam(parser.config.beam_size, parser.config.gamma), 0
    everything = list(range(1, parser.model.vocabulary.n_events + 1))
    all_tags = range(len(parser.tags))
    for number, choices in parser.model.nodes_of(TREES[0].words[:3], None):
        total = sum(exp(beam.measures(beam.push(level, other, all_tags))[0]) for other in everything)
        if level:
            beam.complete(level, 1)
            total += exp(beam.ending_probability())
        assert 0.5 < total <= 1 + 1e-9
        level = beam.push(level, number, choices)


def test_nbest_without_tags_sums_over_taggings():
    parser, slow = engines(TREES)
    words = ["the", "cat", "saw"]
    kept, seen = slow.first(), []
    for number, choices in parser.model.nodes_of(words, None):
        seen.append(number)
        kept, _ = slow.push(kept, seen, choices)
    groups = {}
    for score, moves in slow.finish(kept, seen):
        groups.setdefault(tuple((n, chain) for n, _, chain in moves), []).append(score)
    expected = sorted((log_sum(scores) for scores in groups.values()), reverse=True)
    found = parser.nbest(words, None, 5)
    assert [parse.score for parse in found] == pytest.approx(expected[: len(found)], abs=1e-9)
    assert len({parse.tree for parse in found}) == len(found)


def test_parser_survives_bytes_and_refuses_others():
    parser, _ = engines(TREES, beam_size=50, gamma=1e-9)
    again = GenerativeParser.from_bytes(parser.to_bytes())
    assert again.nbest(["the", "dog"], None, 3) == parser.nbest(["the", "dog"], None, 3)
    assert again.to_bytes() == parser.to_bytes()
    with pytest.raises(ModelError, match="not a generative model"):
        GenerativeParser.from_bytes(b"nonsense")


def test_words_that_nothing_fits_are_parsed_relaxed():
    trees = [next(parse_bracketed("(TOP (NP (DT the) (NN dog)))"))]
    parser, _ = engines(trees, known_min_count=1)
    parse = parser.parse(["dog", "dog"], ["NN", "NN"])
    assert parse.source == "relaxed"
    assert parse.tree.words == ("dog", "dog")
    assert parse.score > log(1e-12)


def test_analyses_that_are_as_good_as_impossible():
    """Their probabilities, as parts of the best one's, are too small for a floating-point number."""
    text = f"(TOP (S {' '.join(['(X a)'] * 450)}))\n(TOP (A (X a) (X a)))\n"
    parser = GenerativeParser.train(list(parse_bracketed(3 * text)), GenerativeConfig(), HeadRules.from_name("any"))
    found = parser.with_search(gamma=None).nbest(["a"] * 600, None, 5)
    assert all(isfinite(parse.score) for parse in found)


@pytest.mark.parametrize("weight", [-1.0, 3.0, nan])
def test_weights_that_are_no_probabilities(weight):
    parser = GenerativeParser.train(list(parse_bracketed("(TOP (S (X a) (X b)))")), GenerativeConfig(), HEADS)
    content = srsly.msgpack_loads(parser.to_bytes())
    content["model"]["node_weights"][0] = weight
    with pytest.raises(ModelError, match="its weights are no probabilities"):
        GenerativeParser.from_bytes(srsly.msgpack_dumps(content))
