"""The instructions of the compiled matcher: an operation with up to six numbers."""

from __future__ import annotations

from enum import IntEnum

NO_SET = -1
MAX_TESTS = 64  # bits of a mask
MAX_INSTRUCTIONS = 20_000  # of a search: each `<=` around named nodes, which has them in two places, doubles it


class SetOp(IntEnum):
    """Operations that build a set; the numbers are those of the compiled matcher."""

    FILL = 0  # value
    TEST = 1  # bit of the label's mask
    RELATION = 2  # target set, step, number, chain set
    AND = 3  # two sets
    OR = 4
    NOT = 5  # a set


class Op(IntEnum):
    """Operations of the search; if one fails, the search continues at the last choice."""

    CHOOSE = 0  # register, register it is related to, inverse step, number, chain set, set to choose from
    NAME = 1  # name, register
    SAME = 2  # name, register, negated: is it the node with the name?
    LIKE = 3  # name, register, negated: does it have that node's label?
    CAPTURE = 4  # variable, register, number of the capture
    CHECK = 5  # register, set
    EITHER = 6  # start of the other alternative
    GOTO = 7
    MAYBE = 8  # where to continue without it, slot
    FOUND = 9  # slot: no longer continue without it
    UNLESS = 10  # where to continue if it fails, slot
    FAIL = 11  # slot: it did not fail
    ACCEPT = 12


Instruction = tuple[int, int, int, int, int, int, int]


def padded(*numbers: int) -> Instruction:
    """Return an instruction padded to its full length."""
    full = [int(number) for number in numbers] + [0] * (7 - len(numbers))
    return full[0], full[1], full[2], full[3], full[4], full[5], full[6]
