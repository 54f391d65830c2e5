import struct
import tracemalloc
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import order_by, pack, pack_gaps, unpack, unpack_gaps, unpack_into
from tests.reference import integer_arrays as reference

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


@st.composite
def arrays(draw):
    kind = np.dtype(draw(st.sampled_from(TYPES)))
    limits = np.iinfo(kind)
    step = draw(st.sampled_from([1, 1, 2, 16, 100, limits.max, 2 ** (8 * kind.itemsize - 1)]))
    number = st.integers(-(-int(limits.min) // step), int(limits.max) // step).map(lambda n: n * step)
    few = st.sampled_from([0, *(n for n in (step, -step, limits.min, limits.max) if limits.min <= n <= limits.max)])
    return np.array(draw(st.lists(number | few, max_size=30)), kind)


@given(arrays())
def test_unpack_inverts_pack(numbers):
    found = unpack(pack(numbers), numbers.dtype.str, "the weights", len(numbers))
    assert found.dtype == numbers.dtype
    assert found.tolist() == numbers.tolist()
    assert unpack(pack(numbers), numbers.dtype.str, "the weights").tolist() == numbers.tolist()
    filled = np.ones_like(numbers)
    unpack_into(filled, pack(numbers), "the weights")
    assert filled.tolist() == numbers.tolist()


@given(arrays())
def test_bytes_are_those_of_the_reference(numbers):
    assert pack(numbers) == reference.packed(numbers.tolist(), is_signed=numbers.dtype.kind == "i")


@pytest.mark.parametrize("kind", TYPES)
def test_the_order_of_bytes_in_memory_does_not_matter(kind):
    numbers = np.array([1, 2, 100, 0], kind)
    assert pack(numbers.astype(numbers.dtype.newbyteorder())) == pack(numbers) == pack(np.repeat(numbers, 2)[::2])


@pytest.mark.parametrize("n", [0, 1, 3, 100_000, 300_000])
@pytest.mark.parametrize("kind", TYPES)
def test_extremes_and_long_arrays(kind, n):
    limits = np.iinfo(kind)
    for numbers in (np.zeros(n, kind), np.full(n, limits.min, kind), np.full(n, limits.max, kind)):
        assert (unpack(pack(numbers), kind, "the weights", n) == numbers).all()
    numbers = np.random.default_rng(n).integers(limits.min, limits.max, n, dtype=kind, endpoint=True)
    assert (unpack(pack(numbers), kind, "the weights", n) == numbers).all()


@given(arrays())
def test_gaps_wrap_around(numbers):
    assert unpack_gaps(pack_gaps(numbers), numbers.dtype.str, "the keys").tolist() == numbers.tolist()


def test_coarse_and_small_numbers_take_little():
    numbers = (16 * np.random.default_rng(0).geometric(0.5, 100_000)).astype(np.int16)
    signed = numbers * np.random.default_rng(1).choice([-1, 1], 100_000).astype(np.int16)
    assert len(pack(numbers)) < 27_000  # two bits each
    assert len(pack(signed)) < 40_000
    assert len(pack(numbers)) < 0.7 * len(zlib.compress(numbers.tobytes()))
    assert len(pack(np.zeros(1_000_000, np.int64))) < 20


@given(st.lists(st.integers(0, 2**20), max_size=20))
def test_equal_classes_keep_their_order(classes):
    capped = [min(number, 65535) for number in classes]
    assert order_by(np.array(classes, np.int64)).tolist() == sorted(range(len(classes)), key=capped.__getitem__)


def head(n_planes=1, size=4, divisor=1, *, lengths=(), mark=b"i"):
    return struct.pack("<cBQQ", mark, n_planes, size, divisor) + b"".join(struct.pack("<Q", n) for n in lengths)


PLANE = zlib.compress(b"\1\2\3\4")
LENGTH = len(PLANE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "do not begin like packed integers"),
        (b"no integers at all", "do not begin like packed integers"),
        (b"x" + PLANE, "the weights are damaged"),
        (head(size=5, lengths=(LENGTH,)) + PLANE, "the weights hold 5 values, but the model needs 4"),
        (head(3, lengths=(LENGTH,) * 3) + 3 * PLANE, "not of 2 bytes each"),
        (head(divisor=0, lengths=(LENGTH,)) + PLANE, "not of 2 bytes each"),
        (head(divisor=2**15, lengths=(LENGTH,)) + PLANE, "values out of range"),
        (head(lengths=(LENGTH - 1,)) + PLANE[:-1], "their end is missing"),
        (head(lengths=(LENGTH,)) + PLANE[:-1] + b"?", "the weights are damaged"),
        (head(lengths=(LENGTH,)) + PLANE + b"?", f"{26 + LENGTH + 1} bytes instead of {26 + LENGTH}"),
        (head(lengths=(len(zlib.compress(b"123")),)) + zlib.compress(b"123"), "not 4 bytes of each place"),
    ],
)
def test_damaged_bytes_are_refused(data, message):
    with pytest.raises(ModelError, match=message):
        unpack(data, "i2", "the weights", 4)


@given(st.data())
def test_no_changed_byte_gives_anything_but_an_array_or_an_error(data):
    whole = bytearray(pack(np.array([1, -300, 20, 7], np.int16)))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(ModelError):
        assert len(unpack(bytes(whole), "i2", "the weights", 4)) == 4


def test_small_data_that_claim_much_take_little_memory():
    large = zlib.compress(bytes(2**24))
    tracemalloc.start()
    for data in (head(0, 2**40), head(size=2**40, lengths=(LENGTH,)) + PLANE):
        with pytest.raises(ModelError, match="bytes cannot hold 2,199,023,255,552"):
            unpack(data, "i2", "the weights")
    with pytest.raises(ModelError, match="not 4 bytes of each place"):
        unpack(head(lengths=(len(large),)) + large, "i2", "the weights", 4)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
