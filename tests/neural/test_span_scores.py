"""What scores spans and sums over trees, against enumerations and definitions: charts, losses, the model's head."""

import numpy as np
import pytest
from thinc.api import Model

from spacy_incparse.chart import recurrences
from spacy_incparse.neural.bracket_chart import best_brackets, bracket_marginals
from spacy_incparse.neural.brackets import (
    LOSSES,
    best_trees,
    bracket_forest,
    brackets_of,
    crf_loss,
    label_marginals,
    max_margin_loss,
)
from spacy_incparse.neural.span_parser import LEAST_SHARE, PhraseShares, SpanParser, chains_with
from spacy_incparse.neural.span_scorer import WordVectors, set_outputs, span_head
from spacy_incparse.trees.heads import HeadRules
from tests.reference import bracket_chart as slow
from tests.reference.bracket_chart import all_spans, all_trees

N_LABELS = 3


def random_values(n_words, seed, n_labels=None):
    shape = n_words * (n_words + 1) // 2
    return np.random.default_rng(seed).normal(size=shape if n_labels is None else (shape, n_labels)) * 2


def with_labels(n_words, seed):
    values = random_values(n_words, seed, N_LABELS)
    return np.tile(np.arange(N_LABELS), (len(values), 1)), values


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_sums_and_maxima_are_those_of_an_enumeration(n_words, seed):
    values = random_values(n_words, seed)
    score, spans = best_brackets(values, n_words)
    assert (pytest.approx(score), sorted(spans.tolist())) == slow.best(values, n_words)
    log_z, shares = bracket_marginals(values, n_words)
    assert log_z == pytest.approx(slow.log_partition(values, n_words))
    assert shares == pytest.approx(slow.marginals(values, n_words))


@pytest.mark.parametrize("n_words", [1, 2, 7, 13])
def test_the_chart_is_a_special_case_of_the_forest(n_words):
    labels, values = with_labels(n_words, seed=n_words)
    forest, scores = bracket_forest(labels, values, n_words)
    log_z, shares = bracket_marginals(np.logaddexp.reduce(values, axis=1), n_words)
    assert recurrences.log_partition(forest, scores) == pytest.approx(log_z)
    rows, of_edges = forest.edge_array(), recurrences.marginals(forest, scores)
    expected = np.zeros(len(values))
    for (rule, start, _, end), share in zip(rows.tolist(), of_edges, strict=True):
        if rule >= 0:
            expected[end * (end - 1) // 2 + start] += share
    assert shares == pytest.approx(expected)
    score, edges = recurrences.viterbi(forest, scores)
    best, spans = best_brackets(values.max(axis=1), n_words)
    assert best == pytest.approx(score)
    assert [end * (end - 1) // 2 + start for start, end, _ in brackets_of(forest, edges)] == spans.tolist()


def test_best_trees_are_different_and_in_order():
    labels, values = with_labels(6, seed=0)
    found = best_trees(labels, values, 6, 200)
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(brackets) for _, brackets in found}) == 200
    for score, brackets in found[::20]:
        assert score == pytest.approx(sum(values[end * (end - 1) // 2 + start, k] for start, end, k in brackets))


def test_a_chart_of_many_words_does_not_recurse():
    n_words = 400
    values = np.full(n_words * (n_words + 1) // 2, -1.0)
    values[[end * (end - 1) // 2 for end in range(1, n_words + 1)]] = 1.0  # all spans from the first word
    score, spans = best_brackets(values, n_words)
    assert score == n_words
    assert len(spans) == n_words
    assert bracket_marginals(values, n_words)[1].max() <= 1 + 1e-9


def test_wrong_sizes_are_reported():
    with pytest.raises(ValueError, match="4 values for the spans of 3 words"):
        best_brackets(np.zeros(4), 3)
    with pytest.raises(ValueError, match="0 values for the spans of 0 words"):
        bracket_marginals(np.zeros(0), 0)


N_LOSS_LABELS = 2


def random_scores(n_words, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n_words * (n_words + 1) // 2, N_LOSS_LABELS)).astype("float32")


def gold_tree(n_words, seed=0):
    generator = np.random.default_rng(seed + 100)
    trees = all_trees(n_words)
    tree = trees[generator.integers(len(trees))]
    return np.array([(span, generator.integers(N_LOSS_LABELS)) for span in tree], int).reshape(-1, 2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_finite_differences(name, seed):
    scores, gold = random_scores(4, seed), gold_tree(4, seed)
    _, gradient = LOSSES[name](scores, 4, gold)
    assert gradient.dtype == np.float32
    step = 1e-3
    for place in np.ndindex(scores.shape):
        above, below = scores.copy(), scores.copy()
        above[place] += step
        below[place] -= step
        slope = (LOSSES[name](above, 4, gold)[0] - LOSSES[name](below, 4, gold)[0]) / (2 * step)
        assert slope == pytest.approx(float(gradient[place]), abs=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_margin_is_that_of_the_worst_tree(seed):
    """The hinge loss of all labeled trees, by enumeration."""
    scores, gold = random_scores(3, seed), gold_tree(3, seed)
    expected = {tuple(row) for row in gold.tolist()}
    worst = 0.0
    for tree in all_trees(3):
        for labels in np.ndindex(*[N_LOSS_LABELS] * len(tree)):
            found = set(zip(tree, labels, strict=True))
            distance = len(found - expected) + len(expected - found)
            worst = max(worst, distance + sum(scores[row] for row in found) - sum(scores[row] for row in expected))
    assert max_margin_loss(scores, 3, gold)[0] == pytest.approx(worst, abs=1e-4)


def test_a_gold_tree_that_wins_clearly_costs_nothing():
    scores, gold = np.full((10, N_LOSS_LABELS), -5, "float32"), gold_tree(4)
    scores[gold[:, 0], gold[:, 1]] = 5
    loss, gradient = max_margin_loss(scores, 4, gold)
    assert loss == 0
    assert not gradient.any()


def test_probabilities_of_labels_sum_up_over_trees():
    scores, gold = random_scores(3), gold_tree(3)
    totals = {}
    for tree in all_trees(3):
        for labels in np.ndindex(*[N_LOSS_LABELS] * len(tree)):
            totals[tuple(tree), labels] = sum(float(scores[row]) for row in zip(tree, labels, strict=True))
    log_z = np.logaddexp.reduce(list(totals.values()))
    expected = np.zeros((len(all_spans(3)), N_LOSS_LABELS))
    for (tree, labels), total in totals.items():
        expected[list(tree), list(labels)] += np.exp(total - log_z)
    found_log_z, found = label_marginals(scores, 3)
    assert found_log_z == pytest.approx(log_z, rel=1e-5)
    assert found == pytest.approx(expected, abs=1e-5)
    assert crf_loss(scores, 3, gold)[0] > 0


CHAINS = [("S",), ("NP",), ("S", "VP"), ("NP", "NP"), ("VP", "S")]
N_WORDS = 5


def expected_shares(shares):
    """The probability of each phrase, by spans in the order of their ends, then of their starts."""
    found = {}
    spans = [(start, end) for end in range(1, N_WORDS + 1) for start in range(end)]
    for (start, end), row in zip(spans, shares, strict=True):
        for chain, share in zip(CHAINS, row, strict=True):
            for label in set(chain):
                found[label, start, end] = found.get((label, start, end), 0.0) + float(share)
    return {phrase: min(share, 1.0) for phrase, share in found.items() if share >= LEAST_SHARE}


@pytest.fixture
def shares():
    generator = np.random.default_rng(0)
    found = generator.dirichlet(np.full(len(CHAINS) + 1, 0.3), N_WORDS * (N_WORDS + 1) // 2)[:, :-1]
    found[::3] *= LEAST_SHARE / 10
    found[1, :] = 0.4  # sums above 1 are rounding errors
    return found.astype(np.float32)


def test_phrases_have_the_sums_of_their_chains(shares):
    found, known = PhraseShares(shares, chains_with(CHAINS)), expected_shares(shares)
    assert dict(found) == pytest.approx(known)
    assert dict(found.items()) == pytest.approx(known)
    assert {phrase: found[phrase] for phrase in known} == pytest.approx(known)
    assert len(found) == len(known)
    assert max(found.values()) == 1.0


def test_other_phrases_are_not_there(shares):
    found = PhraseShares(shares, chains_with(CHAINS))
    for phrase in [("PP", 0, 1), ("S", 0, 1), ("S", 0, N_WORDS + 1), ("S", 3, 3), ("S", -1, 2)]:
        assert phrase not in found
        assert found.get(phrase, 0.0) == 0.0


WIDTH, HIDDEN, N_HEAD_LABELS, N_TAGS = 5, 6, 3, 4
LENGTHS = [3, 1, 4]


@pytest.fixture
def head() -> Model:
    found = span_head(HIDDEN)
    set_outputs(found, N_HEAD_LABELS, N_TAGS)
    found.initialize(X=head_words())
    generator = np.random.default_rng(1)
    for node in found.walk():
        for name in node.param_names:
            if node.has_param(name):
                shape = node.get_param(name).shape
                node.set_param(name, generator.normal(size=shape).astype("float32"))
    return found


def head_words(seed=0) -> WordVectors:
    vectors = np.random.default_rng(seed).normal(size=(sum(LENGTHS), WIDTH)).astype("float32")
    return WordVectors(vectors, LENGTHS)


def by_definition(head: Model, given: WordVectors) -> np.ndarray:
    """The scores of all spans, one after the other."""
    project, labels = head.get_ref("project"), head.get_ref("labels")
    found, first = [], 0
    for length in given.lengths:
        y = given.vectors[first : first + length]
        z = y @ project.get_param("W").T + project.get_param("b")
        boundary = head.get_param("boundary")
        before = [boundary[0], *z[:, :HIDDEN]]
        after = [*z[:, HIDDEN:], boundary[1]]
        for j in range(1, length + 1):
            for i in range(j):
                difference = (before[j] + after[j]) - (before[i] + after[i])
                normal = (difference - difference.mean()) / np.sqrt(difference.var() + 1e-5)
                hidden = np.maximum(normal * head.get_param("gain") + head.get_param("bias"), 0)
                found.append(labels.get_param("W") @ hidden + labels.get_param("b"))
        first += length
    return np.array(found)


def test_scores_are_those_of_the_definition(head):
    scores = head.predict(head_words())
    assert scores.labels == pytest.approx(by_definition(head, head_words()), abs=1e-4)
    assert scores.tags.shape == (sum(LENGTHS), N_TAGS)


def test_no_sentence_is_no_problem(head):
    scores, backprop = head.begin_update(WordVectors(np.zeros((0, WIDTH), "float32"), []))
    assert scores.labels.shape == (0, N_HEAD_LABELS)
    assert backprop(scores).vectors.shape == (0, WIDTH)


class RandomScores:
    def __init__(self, seed):
        self.seed = seed

    def label_scores(self, pieces):
        for fenceposts in pieces:
            yield random_values(len(fenceposts) - 1, self.seed, N_LABELS).astype(np.float32) + 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("choose", ["score", "expected_f"])
def test_punctuation_alone_is_no_phrase_unless_a_constraint_says_so(seed, choose):
    parser = SpanParser(RandomScores(seed), [("A",), ("B",), ("C",)], ["T"], HeadRules.from_name("any"))
    parser = parser.with_search(choose=choose)
    words = ["“", "Go", "”", "?", "!", "%", "...", "”"]
    fenceposts, tags = range(len(words) + 1), ["T"] * len(words)
    marks = {(0, 1), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5), (6, 7), (6, 8), (7, 8)}

    def spans(parse):
        return {(node.start, node.end) for node in parse.tree.subtrees() if node.children}

    trees = [parser.parse(words, tags, (), [fenceposts]), *parser.nbest(words, tags, 9, (), [fenceposts])]
    assert not any(marks & spans(parse) for parse in trees)
    required = parser.parse(words, tags, [(2, 4, "B", True)], [fenceposts])
    assert marks & spans(required) == {(2, 4)}
