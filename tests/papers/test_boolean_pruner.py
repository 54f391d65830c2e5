from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.forest import rule_scores
from spacy_incparse.chart.grammar import tree_steps
from spacy_incparse.chart.recurrences import log_partition
from spacy_incparse.errors import ModelError
from spacy_incparse.papers.finkel_2008 import CrfConfig
from spacy_incparse.papers.finkel_2008.system import BooleanPruner, CrfParser, FinkelLearner
from spacy_incparse.transforms.binarize import Markovization, markovize
from tests.chart.grammars import HEADS, MARKOVIZATIONS, TREEBANKS, grammar_of
from tests.reference.engine import teach


def unfiltered_log_partition(grammar, words, rules, bare):
    """log Z by the inside algorithm over all states of all spans, whether they are part of a tree or not.

    words: the lexical rules of each word. rules: the score of each rule. bare: of each state that has no unary rule.
    """
    n, n_states = len(words), len(grammar.states)
    has_levels = {state for row in grammar.unary.tolist() for state in row}
    bases, tops = np.zeros((n, n + 1, n_states)), np.zeros((n, n + 1, n_states))
    for j in range(1, n + 1):
        for i in reversed(range(j)):
            for rule in words[i] if j == i + 1 else ():
                bases[i, j, grammar.lexical[rule - grammar.first_lexical]] += exp(rules[rule])
            for rule, (parent, left, right) in enumerate(grammar.binary.tolist()):
                inner = sum(tops[i, k, left] * tops[k, j, right] for k in range(i + 1, j))
                bases[i, j, parent] += exp(rules[rule]) * inner
            for state in range(n_states):
                tops[i, j, state] = bases[i, j, state] * (exp(bare[state]) if state in has_levels else 1)
            for rule, (parent, child) in enumerate(grammar.unary.tolist(), start=grammar.first_unary):
                tops[i, j, parent] += exp(rules[rule]) * bases[i, j, child]
    roots = enumerate(grammar.roots.tolist(), start=grammar.first_root)
    return log(sum(exp(rules[rule]) * tops[0, n, state] for rule, state in roots))


@settings(max_examples=25)
@given(TREEBANKS, MARKOVIZATIONS)
def test_the_partition_function_is_that_of_the_whole_chart(trees, options):
    grammar, random = grammar_of(trees, options), np.random.default_rng(0)
    rules, bare = random.normal(size=grammar.n_rules), random.normal(size=len(grammar.states))
    pruner = BooleanPruner.train(trees, grammar)
    for tree in trees[:2]:
        allowed = [pruner.words[word] for word in tree.words]
        lexical = [sorted({rule for tag in tags for rule in grammar.rules_of_tag[tag]}) for tags in allowed]
        untagged = [None] * len(tree.words)
        masks = pruner.masks(untagged, tree.words)
        forest = ChartBuilder(grammar).build(untagged, masks=masks, relax=False).forest
        expected = unfiltered_log_partition(grammar, lexical, rules, bare)
        assert log_partition(forest, rule_scores(forest, rules, bare)) == pytest.approx(expected, abs=1e-9)


def test_words_have_the_tags_that_they_were_seen_with(sample_trees, sample_grammar):
    pruner = BooleanPruner.train(sample_trees, sample_grammar)
    assert pruner.words["grass"] == ["NN"]
    assert set(pruner.words["mouse"]) == set(pruner.open_tags) == {"DT", "IN", "NN", "VBD"}
    words = ("grass", "saw", "unseen")
    (mask,) = pruner.masks([None, "VBD", None], words)
    states = [{sample_grammar.states[k] for k in sample_grammar.lexical if row[k]} for row in mask[[0, 2, 5]]]
    assert states == [{"=NN"}, {"=DT", "=IN", "=NN", "=VBD"}, {"=DT", "=IN", "=NN", "=VBD"}]
    assert pruner.masks(["NN", "VBD", "NN"], words) == []
    arrays = markovize(sample_trees[2].arrays, Markovization(), HEADS)
    (mask,) = BooleanPruner(sample_grammar, {"rain": ["IN"]}, ()).masks([None], ["rain"], list(tree_steps(arrays)))
    assert {name for name, kept in zip(sample_grammar.states, mask[0], strict=True) if kept} >= {"=NN", "=IN", "NP"}


def test_a_parser_has_it_and_stores_it(sample_trees):
    config = CrfConfig(table_bits=14, batch_size=1)
    learner = FinkelLearner(sample_trees, [tree.tags for tree in sample_trees], config, HEADS)
    teach(learner, sample_trees, 10)
    parser = learner.parser()
    restored = CrfParser.from_bytes(parser.to_bytes())
    assert restored.model.pruner.words == parser.model.pruner.words
    for words in [*(tree.words for tree in sample_trees), ("unseen", "ran")]:
        assert restored.parse(words) == parser.parse(words)
    assert parser.parse(("grass", "ran")).tree.tags[0] == "NN"
    assert parser.parse(["grass", "grew"] * 31).source == "relaxed"
    with pytest.raises(ModelError, match="no tags of words"):
        BooleanPruner.from_bytes(b"\x80", parser.model.grammar)
