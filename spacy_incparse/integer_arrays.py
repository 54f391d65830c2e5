"""Arrays of integers as few bytes."""

from __future__ import annotations

import struct
import sys
import zlib

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.files import most_unpacked, unzip

_MARK = b"i"
_HEAD = struct.Struct("<cBQQ")  # mark, number of planes, number of values, divisor; then the size of each plane
_SIZE = struct.Struct("<Q")
_PIECE = 1 << 18  # values decoded at once: they stay in the processor's cache
_N_CLASSES = 1 << 16


def pack(numbers: np.ndarray) -> bytes:
    """Return integers of any type as bytes; equal arrays of a type have equal bytes.

    Values are divided by their greatest common divisor, and 0, -1, 1, -2 ... become 0, 1, 2, 3 ... Then the lowest
    bytes of all values are compressed, then the second lowest ones, and so on. High bytes are nearly all 0, with long
    repeats. Low bytes do not repeat, but some are more frequent than others. So zlib has for each place the strategy
    that saves more.
    """
    codes, divisor = _codes(np.ascontiguousarray(numbers))
    n_planes = (int(codes.max(initial=0)).bit_length() + 7) // 8
    octets = codes.view(np.uint8).reshape(-1, codes.itemsize)
    planes = []
    for k in range(n_planes):
        found = []
        for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY):
            # Level 9 takes ten times as long for 1 %.
            stream = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS, 9, strategy)
            found.append(stream.compress(octets[:, k].tobytes()) + stream.flush())
        planes.append(min(found, key=len))
    head = _HEAD.pack(_MARK, n_planes, len(codes), divisor)
    return b"".join([head, *(_SIZE.pack(len(plane)) for plane in planes), *planes])


def unpack(data: bytes, dtype: str, what: str, size: int | None = None) -> np.ndarray:
    """Return the integers that `pack` packed.

    dtype: the type of the array that was packed. what: begins error messages, such as "the weights". size: how many
    values there must be; without it, as many as `files.most_unpacked` allows. Raises ModelError for anything else.
    """
    if size is None:
        _, size, _ = _head(data, what)
    check_size(data, size * np.dtype(dtype).itemsize, what)
    numbers = np.empty(size, dtype)
    unpack_into(numbers, data, what)
    return numbers


def unpack_into(numbers: np.ndarray, data: bytes, what: str) -> None:
    """Fill an array with what `unpack` returns. Raises ModelError if it has another size."""
    n_planes, size, divisor = _head(data, what)
    if size != len(numbers):
        raise ModelError(f"{what} hold {size:,} values, but the model needs {len(numbers):,}")
    codes = numbers.view(f"u{numbers.itemsize}")
    if n_planes > numbers.itemsize or not 0 < divisor <= np.iinfo(codes.dtype).max:
        raise ModelError(f"{what} are damaged: they are not of {numbers.itemsize} bytes each")
    numbers[:] = 0
    start = _HEAD.size + n_planes * _SIZE.size
    for k in range(n_planes):
        (length,) = _SIZE.unpack_from(data, _HEAD.size + k * _SIZE.size)
        plane = unzip(data[start : start + length], f"{what} are", size)
        if len(plane) != size:
            raise ModelError(f"{what} are damaged: there are not {size:,} bytes of each place")
        column = k if sys.byteorder == "little" else numbers.itemsize - 1 - k
        numbers.view(np.uint8).reshape(-1, numbers.itemsize)[:, column] = np.frombuffer(plane, np.uint8)
        start += length
    if start != len(data):
        raise ModelError(f"{what} are damaged: they have {len(data):,} bytes instead of {start:,}")
    _decode(numbers, codes, divisor, what)


def pack_gaps(ascending: np.ndarray) -> bytes:
    """Return integers as bytes that are short if neighbours are similar: the differences between them."""
    return pack(np.diff(ascending, prepend=ascending.dtype.type(0)))


def unpack_gaps(data: bytes, dtype: str, what: str, size: int | None = None) -> np.ndarray:
    """Return the integers that `pack_gaps` packed. Raises ModelError for anything else."""
    return np.cumsum(unpack(data, dtype, what, size), dtype=dtype)


def order_by(classes: np.ndarray) -> np.ndarray:
    """Return the order of numbers by their classes, whole numbers; equal ones keep their order.

    Each class has its own frequent values. Packed in this order, numbers take fewer bytes, since zlib looks for a new
    code every some 30,000 values; whoever knows the classes puts the numbers back with `found[order] = numbers`.
    """
    return np.argsort(np.minimum(classes, _N_CLASSES - 1).astype(np.uint16), kind="stable")


def check_size(data: bytes, n_bytes: int, what: str) -> None:
    """Raise ModelError if packed data are not enough for an array of so many bytes, before it is made."""
    if n_bytes > most_unpacked(len(data)):
        raise ModelError(f"{what} are damaged: {len(data):,} bytes cannot hold {n_bytes:,}")


def _codes(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return values as little-endian integers without a sign, and their divisor."""
    # The size of the least integer has no room in its own type, but in that without a sign.
    sizes = np.abs(values).astype(f"<u{values.itemsize}")
    divisor = int(np.gcd.reduce(sizes)) or 1
    if divisor > 1:
        sizes //= sizes.dtype.type(divisor)
    if values.dtype.kind == "u":
        return sizes, divisor
    sizes <<= 1
    sizes -= values < 0
    return sizes, divisor


def _decode(numbers: np.ndarray, codes: np.ndarray, divisor: int, what: str) -> None:
    """Undo `_codes` in the memory that both arrays share."""
    limits = np.iinfo(numbers.dtype)
    for start in range(0, len(numbers), _PIECE):
        part, values = codes[start : start + _PIECE], numbers[start : start + _PIECE]
        if limits.min < 0:
            np.bitwise_xor(part >> 1, -(part & 1), out=part)
        if divisor > 1:
            if int(values.min()) * divisor < limits.min or int(values.max()) * divisor > limits.max:
                raise ModelError(f"{what} are damaged: they have values out of range")
            part *= codes.dtype.type(divisor)


def _head(data: bytes, what: str) -> tuple[int, int, int]:
    """Return the numbers of planes and of values, and the divisor."""
    if data[:1] != _MARK or len(data) < _HEAD.size or len(data) < _HEAD.size + data[1] * _SIZE.size:
        raise ModelError(f"{what} are damaged: {len(data):,} bytes do not begin like packed integers")
    _, n_planes, size, divisor = _HEAD.unpack_from(data)
    return n_planes, size, divisor
