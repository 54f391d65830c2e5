"""Posteriors of the coarse pass are the marginals of the whole forest, and masks are what they say."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.coarse_pass import CoarsePass
from spacy_incparse.chart.grammar import tree_steps
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.pcfg_pruner import Pruner, coarse
from spacy_incparse.chart.recurrences import marginals
from spacy_incparse.chart.span_numbers import span_number
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.transforms.markovize import Markovization, markovize
from tests.chart.grammars import HEADS, MARKOVIZATIONS, TREEBANKS, grammar_of
from tests.reference.chart import edges_by_node

FEW = settings(max_examples=40, deadline=None)


def node_posteriors(forest, probabilities, grammar):
    """The probabilities of bases and tops over each span, from a forest."""
    shape = forest.n_words * (forest.n_words + 1) // 2, len(grammar.states)
    bases, tops = np.zeros(shape), np.zeros(shape)
    levels, all_rules = set(grammar.unary.ravel().tolist()), forest.edge_array()[:, 0]
    for (state, edges), (_, start, end, _) in zip(edges_by_node(forest), forest.node_array().tolist(), strict=True):
        rules = all_rules[list(edges)]
        is_base = ((rules >= 0) & ((rules < grammar.first_unary) | (rules >= grammar.first_lexical))).all()
        for table, is_meant in ((bases, is_base), (tops, not is_base or state not in levels)):
            if is_meant and state >= 0:
                table[span_number(start, end), state] += probabilities[list(edges)].sum()
    return bases, tops


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data(), st.sampled_from([1.0, 3.0]))
def test_posteriors_are_marginals(trees, options, data, scale):
    grammar = grammar_of(trees, options)
    model = Pcfg.estimate([], grammar)
    tags = data.draw(st.sampled_from([tree.tags for tree in trees]))
    forest = ChartBuilder(grammar).build(tags).forest
    found = CoarsePass(model, scale).posteriors([grammar.lexical_rules(tag) for tag in tags])
    expected = node_posteriors(forest, marginals(forest, model.scores(forest)), grammar)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_a_low_threshold_leaves_everything_and_gold_is_never_left_out(trees, options, data):
    fine = grammar_of(trees, options)
    model = Pcfg.estimate([], grammar_of(trees, coarse(options)))
    tree = data.draw(st.sampled_from(trees))
    arrays = markovize(tree.arrays, options, HEADS)
    everything = ChartBuilder(fine).build(tree.tags).forest
    masks = Pruner(model, fine, thresholds=[0], beam=0, floor=0).masks(tree.tags)
    assert ChartBuilder(fine).build(tree.tags, masks=masks).forest.n_edges == everything.n_edges
    masks = Pruner(model, fine, thresholds=[2.0]).masks(tree.tags, gold=tree_steps(arrays))
    pruned = ChartBuilder(fine).build(tree.tags, masks=masks, relax=False).forest
    assert pruned.find(fine.steps(arrays)) is not None
    assert pruned.n_edges <= everything.n_edges


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_what_is_kept_is_probable(trees, options, data):
    options = coarse(options)
    grammar = grammar_of(trees, options)
    model = Pcfg.estimate([], grammar)
    tags = data.draw(st.sampled_from([tree.tags for tree in trees]))
    bases, tops = CoarsePass(model).posteriors([grammar.lexical_rules(tag) for tag in tags])
    threshold = 0.013
    assume(np.abs(np.concatenate([bases, tops]) - threshold).min() > 1e-6)
    (mask,) = Pruner(model, grammar, thresholds=[threshold], beam=0, floor=0).masks(tags)
    np.testing.assert_array_equal(mask, np.maximum(bases, tops) >= threshold)


def test_beams_drop_improbable_states_only(sample_grammar):
    model = Pcfg.estimate([], sample_grammar)
    rules = [sample_grammar.lexical_rules(tag) for tag in ["NN", "VBD", "NN", "IN", "NN", "IN", "DT", "NN"]]
    exact = CoarsePass(model).posteriors(rules)
    pruned = CoarsePass(model, 1.0, 1e-6, 1e-9).posteriors(rules)
    for one, other in zip(exact, pruned, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_long_sentences(sample_grammar):
    pruner = Pruner(Pcfg.estimate([], sample_grammar), sample_grammar)
    tags = ["DT", "NN", "VBD"] + ["DT", "NN", "IN"] * 66 + ["NN"]
    masks = pruner.masks(tags)
    assert ChartBuilder(sample_grammar).build(tags, masks=masks).source == "chart"
    assert 0 < masks[0].mean() <= masks[1].mean() < 0.2
    assert pruner.masks([]) == []


def test_sentences_without_a_tree_have_posteriors_of_their_pieces(sample_grammar):
    model = Pcfg.estimate([], sample_grammar)
    tags = ["VBD", "DT", "NN", "IN", "VBD"]
    bases, tops = CoarsePass(model).posteriors([sample_grammar.lexical_rules(tag) for tag in tags])
    for span, phrase in (((1, 3), "NP"), ((0, 3), "VP")):
        assert tops[span_number(*span), sample_grammar.states.index(phrase)] > 0.9
    for k, tag in enumerate(tags):
        assert bases[span_number(k, k + 1), sample_grammar.states.index(f"={tag}")] == pytest.approx(1)
    masks = Pruner(model, sample_grammar).masks(tags)
    assert ChartBuilder(sample_grammar).build(tags, masks=masks).source == "relaxed"


def test_posteriors_of_a_sentence_with_more_words_than_a_block_of_bits_has_positions(sample_grammar):
    model = Pcfg.estimate([], sample_grammar)
    tags = ["DT", "NN", "VBD"] + ["DT", "NN", "IN"] * 44 + ["NN"]
    found = CoarsePass(model, 3.0).posteriors([sample_grammar.lexical_rules(tag) for tag in tags])
    forest = ChartBuilder(sample_grammar).build(tags).forest
    expected = node_posteriors(forest, marginals(forest, model.scores(forest)), sample_grammar)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_long_sentences_without_tags(sample_trees, sample_grammar):
    arrays = [markovize(tree.arrays, coarse(Markovization())) for tree in sample_trees]
    lexicon = Lexicon.from_sentences([tree.words for tree in sample_trees], known_min_count=1, common_min_count=1)
    pruner = Pruner(Pcfg.estimate(arrays, sample_grammar, lexicon), sample_grammar)
    words = ["the", "owl", "saw"] + ["a", "hill", "in"] * 99 + ["grass"]
    masks = pruner.masks([None] * len(words), words)
    assert masks[0][span_number(0, 1), sample_grammar.states.index("=DT")]
    assert 0 < masks[0].mean() < 0.2


def test_scores_of_words(sample_grammar):
    model = Pcfg.estimate([], sample_grammar)
    rules = [sample_grammar.lexical_rules(None)] * 2
    scores = np.full((2, len(sample_grammar.lexical)), -5.0)
    scores[0, sample_grammar.tags.index("DT")] = scores[1, sample_grammar.tags.index("NN")] = 0
    bases, _ = CoarsePass(model).posteriors(rules, scores)
    assert bases[0, sample_grammar.states.index("=DT")] == pytest.approx(1, abs=0.1)
