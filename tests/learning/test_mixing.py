"""The mixture of weights that were learned in parts of a pass, compared with the definitions."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from spacy_incparse.learning.mixing import mix_parts, read_start, write_part, write_start
from spacy_incparse.treebanks.penn_reader import parse_bracketed
from tests.reference.engine import learner_of
from tests.reference.perceptron import quantised, round_half_away

TREES = list(
    parse_bracketed(
        """
(TOP (S (NP (NN Ann)) (VP (VBD saw) (NP (NP (NN Bo)) (PP (IN in) (NP (NN town)))))))
(TOP (S (NP (NN Ann)) (VP (VBD saw) (NP (NN Bo)) (PP (IN by) (NP (NN car))))))
(TOP (NP (NP (NN milk)) (CC and) (NP (NN tea))))
(TOP (S (NP (NN tea) (NN time)) (VP (VBD saw) (NP (NN milk)))))
(TOP (S (NP (NN milk)) (VP (VBD was) (ADJP (JJ cold)))))
"""
    )
)
PARTS = TREES[:3], TREES[1:]


def learner(step_decay, scale=16):
    found = learner_of(TREES, features="paper", margin=20.0, step_decay=step_decay)
    found.refine(scale)
    return found


def arrays(weights):
    table, _, n_changes = weights.views()
    return SimpleNamespace(table=np.frombuffer(table, np.int16), n_changes=np.frombuffer(n_changes, np.uint16))


def learn(learner, trees):
    """Learn from trees; give the weights after each."""
    history = []
    for tree in trees:
        learner.update(tree.words, tree.tags, tree)
        history.append(arrays(learner.weights).table.tolist())
    return history


def mixed_pass(learner, folder, parts=PARTS):
    """Learn a pass in parts and mix them; give the weights after each sentence, and how each part changed them."""
    start, history, changes = arrays(learner.weights), [], []
    write_start(learner.weights, folder / "start")
    for number, part in enumerate(parts):
        copy = learner_of(TREES, **learner.config.to_dict())
        copy.refine(learner.weights.scale)
        read_start(copy.weights, folder / "start")
        history += learn(copy, part)
        end = arrays(copy.weights)
        moves = end.table.astype(int) - start.table
        counts = end.n_changes.astype(int) - start.n_changes if len(start.n_changes) else (moves != 0).astype(int)
        changes.append((moves.tolist(), counts.tolist()))
        write_part(copy.weights, folder / "start", folder / f"part {number}")
    mix_parts(learner.weights, [folder / f"part {number}" for number in range(len(parts))])
    learner.forget_parser()
    return history, changes


def slow_mixture(start, changes):
    """The mixed weights: each moves by the mean of the moves of the parts, weighted by how often they changed it."""
    result = []
    for k, weight in enumerate(start):
        n = sum(counts[k] for _, counts in changes)
        move = Fraction(sum(moves[k] * counts[k] for moves, counts in changes), n or 1)
        result.append(weight + round_half_away(move))
    return result


@pytest.mark.parametrize("step_decay", [0.0, 0.5])
def test_mixed_weights_and_their_averages(tmp_path, step_decay):
    one = learner(step_decay)
    vectors, n_shared = [arrays(one.weights).table.tolist()], 0
    for _ in range(3):
        start, counted = arrays(one.weights).table.tolist(), arrays(one.weights).n_changes.tolist()
        history, changes = mixed_pass(one, tmp_path)
        assert arrays(one.weights).table.tolist() == slow_mixture(start, changes)
        for k, n in enumerate(counted):
            assert arrays(one.weights).n_changes[k] == n - (-sum(counts[k] for _, counts in changes) // 2)
        n_shared += sum(map(all, zip(*(counts for _, counts in changes), strict=True)))
        vectors += history
    assert n_shared > 10  # weights that both parts have changed
    assert one.weights.n_steps == len(vectors)
    averages = [Fraction(sum(column), len(vectors) * one.weights.scale) for column in zip(*vectors, strict=True)]
    table = one.parser().weights
    assert (list(table), table.scale) == quantised(averages)


@pytest.mark.parametrize("step_decay", [0.0, 0.5])
def test_a_single_part_is_learned_as_without_parts(tmp_path, step_decay):
    alone, mixed = learner(step_decay), learner(step_decay)
    for _ in range(2):
        learn(alone, TREES)
        mixed_pass(mixed, tmp_path, [TREES])
    assert mixed.weights.state_to_bytes() == alone.weights.state_to_bytes()


def test_whole_weights_are_refined_before_learning_only():
    one = learner(0.0, scale=1)
    assert one.weights.scale == 1
    one.refine(16)
    assert one.weights.scale == 16
    learn(one, TREES[:1])
    assert set(arrays(one.weights).table.tolist()) >= {16, -16}
    one.refine(64)
    assert one.weights.scale == 16
    decaying = learner(0.5)
    assert decaying.weights.scale == 64
