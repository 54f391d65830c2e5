"""Packed integers, one at a time (spacy_incparse/integer_arrays.py)."""

import struct
import zlib
from functools import reduce
from math import gcd


def packed(numbers, *, is_signed):
    """Return what `pack` returns for whole numbers."""
    divisor = reduce(gcd, numbers, 0) or 1
    shares = [number // divisor for number in numbers]
    codes = [2 * share if share >= 0 else -2 * share - 1 for share in shares] if is_signed else shares
    planes = []
    while any(code >> 8 * len(planes) for code in codes):
        planes.append(bytes(code >> 8 * len(planes) & 255 for code in codes))
    streams = [min((compressed(plane, huffman) for huffman in (False, True)), key=len) for plane in planes]
    head = struct.pack("<cBQQ", b"i", len(planes), len(numbers), divisor)
    return head + b"".join(struct.pack("<Q", len(stream)) for stream in streams) + b"".join(streams)


def compressed(plane, huffman):
    strategy = zlib.Z_HUFFMAN_ONLY if huffman else zlib.Z_DEFAULT_STRATEGY
    stream = zlib.compressobj(6, zlib.DEFLATED, 15, 9, strategy)
    return stream.compress(plane) + stream.flush()
