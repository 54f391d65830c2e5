"""The instructions that the compiled matcher runs: an operation with up to six numbers."""

from __future__ import annotations

from enum import IntEnum

NO_SET = -1
MAX_TESTS = 64  # bits of a mask


class SetOp(IntEnum):
    """How a set is made; the numbers are those of the compiled matcher."""

    FILL = 0  # value
    TEST = 1  # bit of the label's mask
    RELATION = 2  # target set, step, number, chain set
    AND = 3  # two sets
    OR = 4
    NOT = 5  # a set


class Op(IntEnum):
    """What the search does next; it goes on at the last choice where one of these fails."""

    CHOOSE = 0  # register, register it is related to, step back, number, chain set, set it is chosen from
    NAME = 1  # name, register
    SAME = 2  # name, register, negated: is it the node that has the name?
    LIKE = 3  # name, register, negated: has it the label of that node?
    CAPTURE = 4  # variable, register, number of the capture
    CHECK = 5  # register, set
    EITHER = 6  # where the other alternative begins
    GOTO = 7
    MAYBE = 8  # where to go on without it, slot
    FOUND = 9  # slot: not without it any more
    UNLESS = 10  # where to go on if it fails, slot
    FAIL = 11  # slot: it does not fail
    ACCEPT = 12


Instruction = tuple[int, int, int, int, int, int, int]


def padded(*numbers: int) -> Instruction:
    """Return an instruction in its full length."""
    full = [int(number) for number in numbers] + [0] * (7 - len(numbers))
    return full[0], full[1], full[2], full[3], full[4], full[5], full[6]
