from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_incparse.chart import pruner as span_classifier
from spacy_incparse.chart.charts import ChartBuilder, span_number
from spacy_incparse.chart.grammar import Grammar, count_rules, tree_steps
from spacy_incparse.chart.pruner import SpanClassifier, SpanClassifierSettings
from spacy_incparse.errors import ModelError
from spacy_incparse.transforms.binarize import Markovization, markovize
from tests.chart.grammars import HEADS, MARKOVIZATIONS, TREEBANKS, grammar_of

SMALL = SpanClassifierSettings(
    gate_bits=13, tree_bits=14, label_bits=12, n_epochs=8, tree_step=0.2, label_step=0.5, thresholds=(0.01, 0.001)
)


@pytest.fixture(scope="module")
def arrays(sample_train):
    return [markovize(tree.arrays, Markovization()) for tree in sample_train[:80]]


@pytest.fixture(scope="module")
def tags(arrays):
    return [[row.labels[leaf] for leaf in row.leaves] for row in arrays]


@pytest.fixture(scope="module")
def grammar(arrays):
    return Grammar.from_counts(count_rules(arrays))


@pytest.fixture(scope="module")
def classifier(arrays, tags, grammar):
    return SpanClassifier.train(arrays, tags, grammar, SMALL)


def test_training_sentences_keep_their_trees(arrays, tags, grammar, classifier):
    builder, n_found, shares = ChartBuilder(grammar), 0, []
    for row, own in zip(arrays, tags, strict=True):
        masks = classifier.masks(own, row.words)
        assert (masks[0]().to_mask() <= masks[1]().to_mask()).all()
        forest = builder.build(own, masks=masks[:1], relax=False).forest
        n_found += forest.find(grammar.steps(row)) is not None
        shares.append(masks[0]().to_mask().mean())
    assert n_found > 0.9 * len(arrays)
    assert np.mean(shares) < 0.3


def test_the_same_seed_gives_the_same_bytes_which_are_read(arrays, tags, grammar, classifier):
    assert SpanClassifier.train(arrays, tags, grammar, SMALL).to_bytes() == classifier.to_bytes()
    assert SpanClassifier.train(arrays, tags, grammar, SMALL, seed=1).to_bytes() != classifier.to_bytes()
    other = SpanClassifier.from_bytes(classifier.to_bytes(), grammar)
    assert (other.to_bytes(), other.settings) == (classifier.to_bytes(), classifier.settings)
    masks = [one.masks(tags[3], arrays[3].words) for one in (classifier, other)]
    for mask, same in zip(*masks, strict=True):
        np.testing.assert_array_equal(mask().to_mask(), same().to_mask())


def test_wrong_bytes_are_refused(sample_grammar, grammar, classifier):
    data = classifier.to_bytes()
    with pytest.raises(ModelError, match="belongs to another grammar"):
        SpanClassifier.from_bytes(data, sample_grammar)
    renamed, outside = data.replace(b"gate_bits", b"gate_bats"), data.replace(b"gate_bits\x0d", b"gate_bits\x7f")
    for wrong in (b"", data[: len(data) // 2], renamed, outside):
        with pytest.raises(ModelError, match="damaged"):
            SpanClassifier.from_bytes(wrong, grammar)


@settings(max_examples=20)
@given(TREEBANKS, MARKOVIZATIONS)
def test_gold_is_never_left_out(trees, options):
    fine = grammar_of(trees, options)
    rows = [markovize(tree.arrays, options, HEADS) for tree in trees]
    strict = replace(SMALL, thresholds=(1e6,))  # also for short sentences
    classifier = SpanClassifier.train(rows, [tree.tags for tree in trees], fine, strict)
    for tree, row in zip(trees, rows, strict=True):
        masks = classifier.masks(tree.tags, tree.words, tree_steps(row))
        forest = ChartBuilder(fine).build(tree.tags, masks=masks, relax=False).forest
        assert forest.find(fine.steps(row)) is not None


def test_sentences_without_words_and_without_tags(arrays, classifier):
    assert len(classifier.masks([])) == 0
    n_words = len(arrays[0].words)
    for masks in (classifier.masks([None] * n_words, arrays[0].words), classifier.masks(["NN"] * n_words)):
        assert len(masks) == 2
        assert masks[1]() is masks[1]()
        assert masks[1]().to_mask()[span_number(0, n_words)].any()


def test_short_sentences_have_lower_thresholds(arrays, tags, grammar, classifier, monkeypatch):
    """A sentence of a tenth of the full length is pruned as by a tenth of the thresholds."""
    words, own = arrays[3].words, tags[3]

    def masks(pruner, full_length):
        monkeypatch.setattr(span_classifier, "FULL_LENGTH", full_length)
        return np.array([mask().to_mask() for mask in pruner.masks(own, words)])

    lower = SpanClassifier.from_bytes(classifier.to_bytes(), grammar)
    lower.settings = replace(SMALL, thresholds=(0.001, 0.0001))
    found = masks(classifier, 10 * len(words))
    assert (found == masks(lower, len(words))).all()
    assert found.sum() > masks(classifier, len(words)).sum() == masks(classifier, 1).sum()
