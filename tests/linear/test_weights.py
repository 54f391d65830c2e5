import random
import zlib

import pytest

from spacy_incparse.errors import ModelError
from spacy_incparse.linear.weights import AveragedWeights, Weights
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import learner_of, random_weights, teach
from tests.reference.integer_arrays import packed

N_COLUMNS = 7


def values(weights):
    return [weights[k] for k in range(len(weights))]


def new(numbers):
    return packed(numbers, is_signed=True)


def test_columns_lie_behind_the_last_row():
    weights = Weights(4, N_COLUMNS)
    assert len(weights) == 16 + N_COLUMNS
    assert set(values(weights)) == {0}
    for index in (len(weights), -1):
        with pytest.raises(IndexError):
            weights[index]
    for bits in (0, 31):
        with pytest.raises(ValueError, match=f"1 to 30, not {bits}"):
            Weights(bits, N_COLUMNS)


def test_storage_keeps_every_value():
    numbers = [0, 1, -1, 32000, -32000, 255, 256, -256, -257] + [random.Random(0).randint(-32000, 32000)] * 14
    weights = Weights(4, N_COLUMNS).load_bytes(new(numbers))
    assert values(weights) == numbers
    assert sum(weight != 0 for weight in weights) == len(numbers) - 1
    assert weights.to_bytes() == new(numbers)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "the weights are damaged"),
        (lambda data: data[: len(data) // 2], "the weights are damaged"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "the weights are damaged"),
        (lambda data: new([1] * 5), "the weights hold 5 values, but the model needs 4,103"),
    ],
)
def test_damaged_weights(damage, message):
    weights, _ = random_weights(N_COLUMNS, seed=1, largest=3)
    with pytest.raises(ModelError, match=message):
        Weights(12, N_COLUMNS).load_bytes(damage(weights.to_bytes()))


TREES = list(
    parse_bracketed(
        """
(TOP (S (NP (NN Ann)) (VP (VBD saw) (NP (NP (NN Bo)) (PP (IN in) (NP (NN town)))))))
(TOP (S (NP (NN Ann)) (VP (VBD saw) (NP (NN Bo)) (PP (IN by) (NP (NN car))))))
(TOP (NP (NP (NN milk)) (CC and) (NP (NN tea))))
(TOP (S (NP (NN tea) (NN time)) (VP (VBD saw) (NP (NN milk)))))
"""
    )
)


def state(raw, sums, n_steps):
    """A training state, as a little-endian machine writes it."""
    data = n_steps.to_bytes(8, "little")
    data += b"".join(n.to_bytes(2, "little", signed=True) for n in raw)
    return zlib.compress(data + b"".join(n.to_bytes(8, "little", signed=True) for n in sums))


@pytest.mark.parametrize(
    ("raw", "sums", "n_steps", "averages", "scale"),
    [
        ([3, -3], [1, -1], 2, [160, -160], 64),  # 3 - 1/2 = 2.5
        ([1, -1], [127, -127], 128, [1, -1], 64),  # 1/128: halves are rounded away from 0
        ([1, -1], [128, -128], 129, [0, 0], 64),  # 1/129 is below a half
        ([500, -20], [0, 0], 1, [32000, -1280], 64),  # the largest that fits
        ([501, -20], [0, 0], 1, [16032, -640], 32),
        ([-32000, 1], [0, 0], 1, [-32000, 1], 1),
        ([0, 0], [0, 0], 1, [0, 0], 64),
    ],
)
def test_averages_are_rounded_to_a_scale_that_fits(raw, sums, n_steps, averages, scale):
    weights = AveragedWeights(4, N_COLUMNS)
    padding = [0] * (len(weights) - 2)
    weights.load_state(state(raw + padding, sums + padding, n_steps))
    averaged = weights.averaged()
    assert (values(averaged)[:2], averaged.scale) == (averages, scale)
    assert values(averaged)[2:] == padding


@pytest.mark.parametrize("step_decay", [0, 0.5])
def test_state_and_back(step_decay):
    learner = learner_of(TREES, features="paper", train_beam_size=2, step_decay=step_decay)
    teach(learner, TREES, 2)
    weights = learner.models[0].weights
    again = AveragedWeights(weights.bits, weights.n_columns, step_decay)
    again.load_state(weights.state_to_bytes())
    assert again.n_steps == weights.n_steps == 1 + 2 * len(TREES)
    assert any(values(weights))
    assert values(again) == values(weights)
    assert again.averaged().to_bytes() == weights.averaged().to_bytes()
    assert again.state_to_bytes() == weights.state_to_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-9], "the training state is damaged"),
        (lambda data: zlib.compress(zlib.decompress(data)[:-1]), "belongs to another configuration"),
        (lambda data: AveragedWeights(4, N_COLUMNS, 0.1).state_to_bytes(), "belongs to another configuration"),
    ],
)
def test_damaged_states(damage, message):
    weights = AveragedWeights(4, N_COLUMNS)
    with pytest.raises(ModelError, match=message):
        weights.load_state(damage(weights.state_to_bytes()))
