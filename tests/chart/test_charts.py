import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder, derived_tree, span_number
from spacy_incparse.chart.forest_builder import ForestBuilder, RuleTables, SpanLimits
from spacy_incparse.chart.grammar import GLUE
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.transforms.binarize import Markovization, markovize
from spacy_incparse.trees.tree import Tree
from tests.chart.grammars import HEADS, MARKOVIZATIONS, MAX_TREES, TREEBANKS, grammar_of, lexical_rules
from tests.reference.chart import Enumeration, count_derivations, edge_keys, forest_derivations
from tests.reference.constraints import satisfies
from tests.strategies import constraints

FEW = settings(max_examples=60)


def trees_of(forest, grammar, words, tags):
    return [
        derived_tree(forest, np.array(edges, np.int32), grammar, words, tags) for edges in forest_derivations(forest)
    ]


@FEW
@given(TREEBANKS, MARKOVIZATIONS)
def test_each_tree_of_the_treebank_is_in_its_chart(trees, options):
    grammar = grammar_of(trees, options)
    for tree in trees:
        forest = ChartBuilder(grammar).build(tree.tags).forest
        edges = forest.find(grammar.steps(markovize(tree.arrays, options, HEADS)))
        assert derived_tree(forest, edges, grammar, tree.words, tree.tags) == tree
        assert derived_tree(forest, edges, grammar, tree.words, [None] * len(tree.words)).spans() == tree.spans()


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_the_trees_that_satisfy_constraints(trees, options, data):
    grammar = grammar_of(trees, options)
    tree = data.draw(st.sampled_from(trees))
    builder = ChartBuilder(grammar)
    everything = builder.build(tree.tags).forest
    assume(count_derivations(everything) <= MAX_TREES)
    wanted = [*dict.fromkeys(data.draw(constraints(tree.spans(), len(tree.words))))]
    chart = builder.build(tree.tags, wanted, relax=False)
    possible = trees_of(everything, grammar, tree.words, tree.tags)
    kept = [constraint for constraint in wanted if constraint not in chart.unmet]
    expected = [here for here in possible if all(satisfies(here.spans(), constraint) for constraint in kept)]
    found = trees_of(chart.forest, grammar, tree.words, tree.tags)
    assert sorted(map(str, found)) == sorted(map(str, expected))
    for constraint in chart.unmet:
        assert not any(satisfies(here.spans(), constraint) for here in possible)


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_every_sentence_has_a_tree(trees, options, data):
    grammar = grammar_of(trees, options)
    tags = data.draw(st.lists(st.sampled_from(("NN", "DT", "IN", None)), min_size=1, max_size=5))
    words = ["owl"] * len(tags)
    chart = ChartBuilder(grammar).build(tags)
    assert chart.source in ("chart", "relaxed")
    _, edges = viterbi(chart.forest, np.zeros(chart.forest.n_edges))
    tree = derived_tree(chart.forest, edges, grammar, words, tags)
    assert (tree.label, tree.words) == ("TOP", tuple(words))
    assert all(tag in (None, own) for tag, own in zip(tags, tree.tags, strict=True))


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_relaxed_charts_satisfy_what_they_can(trees, options, data):
    grammar = grammar_of(trees, options)
    tree = data.draw(st.sampled_from(trees))
    wanted = [*dict.fromkeys(data.draw(constraints(tree.spans(), len(tree.words))))]
    chart = ChartBuilder(grammar).build(tree.tags, wanted)
    assert chart.source != "flat"
    _, edges = viterbi(chart.forest, np.zeros(chart.forest.n_edges))
    found = derived_tree(chart.forest, edges, grammar, tree.words, tree.tags)
    assert all(satisfies(found.spans(), constraint) for constraint in wanted if constraint not in chart.unmet)


@settings(max_examples=20)
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_relaxed_forests_have_all_derivations_once(trees, options, data):
    grammar = grammar_of(trees, options)
    tags = data.draw(st.lists(st.sampled_from(grammar.tags), min_size=1, max_size=3))
    words = lexical_rules(grammar, tags)
    forest = ForestBuilder(RuleTables(grammar, is_relaxed=True)).build(words)
    assume(count_derivations(forest) <= MAX_TREES)
    keys = edge_keys(forest)
    found = [tuple(keys[edge] for edge in edges) for edges in forest_derivations(forest)]
    assert sorted(found) == sorted(Enumeration(grammar, words, is_relaxed=True).all())


def test_several_tags_and_none(sample_grammar):
    builder = ChartBuilder(sample_grammar)
    one = builder.build(["DT", "NN", "VBD", "NN"])
    several = builder.build(["DT", [("NN", 0.0), ("IN", 0.7)], [("VBD", 0.0), ("IN", 0.2)], "NN"])
    every = builder.build([None] * 4)
    assert one.source == several.source == every.source == "chart"
    assert [count_derivations(chart.forest) for chart in (one, several, every)] == [1, 2, 5]
    assert count_derivations(builder.build(["DT", "NN", "ODD"]).forest) > 0


@FEW
@given(TREEBANKS, MARKOVIZATIONS, st.data())
def test_a_forest_has_each_derivation_once_that_its_mask_allows(trees, options, data):
    grammar = grammar_of(trees, options)
    tree = data.draw(st.sampled_from(trees))
    words = lexical_rules(grammar, tree.tags)
    n_spans = len(words) * (len(words) + 1) // 2
    bits, share = data.draw(st.integers(0, 1000)), data.draw(st.sampled_from((0.9, 1.0)))
    mask = (np.random.default_rng(bits).random((n_spans, len(grammar.states))) < share).astype(np.uint8)
    everything = Enumeration(grammar, words).all()
    assume(len(everything) <= MAX_TREES)

    def is_allowed(derivation):
        return all(state < 0 or mask[span_number(start, end), state] for _, state, start, _, end in derivation)

    forest = ForestBuilder(RuleTables(grammar)).build(words, None, None if share == 1 else mask)
    keys = edge_keys(forest)
    assert len(set(keys)) == len(keys)
    found = [tuple(keys[edge] for edge in edges) for edges in forest_derivations(forest)]
    assert sorted(found) == sorted(filter(is_allowed, everything))


def test_a_looser_mask_is_tried_before_none(sample_grammar):
    tags = [None] * 4
    nothing, everything = (np.full((10, len(sample_grammar.states)), bit, np.uint8) for bit in (0, 1))
    some = everything.copy()
    some[span_number(3, 4), sample_grammar.states.index("NP")] = 0
    builder = ChartBuilder(sample_grammar)
    given = ([], [everything], [nothing], [some], [nothing, some])
    by_masks = [builder.build(tags, masks=masks).forest.n_edges for masks in given]
    assert by_masks[0] == by_masks[1] == by_masks[2] > by_masks[3] == by_masks[4] > 0


def test_masks_do_not_break_constraints(sample_grammar):
    tags, mask = ["DT", "NN", "VBD", "NN"], np.ones((10, len(sample_grammar.states)), np.uint8)
    mask[span_number(3, 4), sample_grammar.states.index("NP")] = 0
    builder = ChartBuilder(sample_grammar)
    assert builder.build(tags, masks=[mask]).source == "relaxed"
    assert builder.build(tags, [Constraint(3, 4, "NP")], masks=[mask]).source == "chart"


def test_a_forest_that_is_too_large(sample_grammar, sample_forest):
    words = lexical_rules(sample_grammar, ["NN", "VBD", "NN", "IN", "NN", "IN", "DT", "NN"])
    for spare, is_too_large in ((-1, True), (len(words), False)):
        builder = ForestBuilder(RuleTables(sample_grammar), sample_forest.n_edges + spare)
        assert bool(builder.build(words)) != is_too_large


def test_wrong_numbers_are_refused(sample_grammar, sample_forest):
    tables = RuleTables(sample_grammar)
    for rule in (0, sample_grammar.first_root):
        with pytest.raises(ValueError, match=f"{rule} is not the number of a lexical rule; these are 8 to 11"):
            ForestBuilder(tables).build([[rule]])
    with pytest.raises(ValueError, match="made for 2 words or for other rules"):
        ForestBuilder(tables).build([[8]], SpanLimits(sample_grammar, tables, [], 2))
    with pytest.raises(ValueError, match="the mask has the shape"):
        ForestBuilder(tables).build([[8]], None, np.ones((2, 2), np.uint8))
    with pytest.raises(IndexError, match="there is no edge -1"):
        sample_forest.rules_of(np.array([-1], np.int32))


def test_sentences_without_words_and_without_trees(sample_grammar):
    builder = ChartBuilder(sample_grammar)
    for chart in (builder.build([]), builder.build(["IN", "IN"], relax=False)):
        assert (chart.source, chart.forest.n_nodes, chart.forest.n_edges) == ("flat", 0, 0)
        assert not chart.forest
        assert chart.forest.find([(0, 0, 1, 1)]) is None


def test_a_tree_that_is_not_in_the_forest(sample_grammar, sample_trees):
    forest = ChartBuilder(sample_grammar).build(sample_trees[0].tags).forest
    other = Tree.from_string("(TOP (S (NP (DT the)) (VP (VBD saw) (NP (DT a) (NN mouse)))))")
    arrays = markovize(other.arrays, Markovization())
    assert sample_grammar.steps(arrays) is None
    assert forest.find(sample_grammar.steps(sample_trees[2].arrays)) is None


def test_a_word_without_a_tag_and_a_rule_gets_the_most_frequent_tag():
    grammar = grammar_of([Tree.from_string("(TOP (S (NP (DT the) (NN rain) (NN gauge)) (VP (VB broke))))")])
    forest = ChartBuilder(grammar).build([None]).forest  # there is no tree over one word
    rules = forest.rules_of(np.arange(forest.n_edges, dtype=np.int32))
    bare = [edge for edge, (rule, n_children) in enumerate(rules.tolist()) if rule == GLUE and not n_children]
    trees = [derived_tree(forest, np.array([edge], np.int32), grammar, ["rain"], [None]) for edge in bare]
    assert {tree.tags for tree in trees} == {("NN",)}
