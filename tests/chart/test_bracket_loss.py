from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder, derived_tree
from spacy_incparse.chart.crf import BracketLoss
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.papers.taskar_2004.dual import binarized_loss
from tests.chart.grammars import cases
from tests.reference.chart import forest_derivations

FEW = settings(max_examples=40)
SEEDS = st.integers(0, 1000)


def phrases(case, edges):
    """The brackets of a derivation's tree, without its root."""
    grammar, tags, forest = case
    tree = derived_tree(forest, np.array(edges, np.int32), grammar, tags, tags)
    return Counter(span for span in tree.spans() if span[0] != "TOP")


def binary_nodes(case, edges):
    """The nodes of a derivation's binary tree: those of unary chains too, once each."""
    grammar, _, forest = case
    found = Counter()
    for rule, start, _, end in forest.edge_array()[list(edges)].tolist():
        if 0 <= rule < grammar.first_root:
            made = grammar.rules[rule]
            found.update((name, start, end) for name in (made.parent, *made.chain))
    return found


def errors(found, gold):
    """The numbers of wrong and of missing brackets; None where a tree has a bracket twice."""
    if max([*found.values(), *gold.values()], default=1) > 1:
        return None
    return (found - gold).total(), (gold - found).total()


@FEW
@given(cases(), SEEDS, st.sampled_from([(), (1.0, 0.0), (1.0, 1.0), (2.0, 0.5)]), st.sampled_from(["phrases", "nodes"]))
def test_losses_count_wrong_and_missing_brackets(case, seed, weights, kind):
    """By default both count, but wrong ones alone where all trees have as many nodes, so that they say it all."""
    grammar, _, forest = case
    derivations = forest_derivations(forest)
    gold = derivations[seed % len(derivations)]
    brackets, make = {"phrases": (phrases, BracketLoss.unbinarized), "nodes": (binary_nodes, binarized_loss)}[kind]
    losses, constant = make(grammar, *weights).of_edges(forest, np.array(gold))
    wrong, missing = weights or (1.0, float(kind == "phrases" or len(grammar.unary) > 0))
    for edges in derivations:
        counted = errors(brackets(case, edges), brackets(case, gold))
        if counted is not None:
            expected = wrong * counted[0] + missing * counted[1]
            assert constant + losses[list(edges)].sum() == pytest.approx(expected)


def test_phrases_over_pieces_count(sample_grammar):
    """A relaxed forest has edges that are no rules of the grammar."""
    forest = ChartBuilder(sample_grammar).build(["IN", "NN", "IN"]).forest
    _, gold = viterbi(forest, np.zeros(forest.n_edges))
    losses, constant = BracketLoss.unbinarized(sample_grammar).of_edges(forest, gold)
    assert losses.shape == (forest.n_edges,)
    assert losses[gold].sum() + constant == 0
