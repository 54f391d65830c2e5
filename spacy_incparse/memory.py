"""Memory of the process that the C library holds back."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_memory() -> None:
    """Give memory that is no longer used back to the system, which takes some hundredths of a second.

    The C library of Linux keeps what is freed among blocks that are still used, and a process that asks for blocks of
    ever-changing sizes grows. Other C libraries are left alone.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return `malloc_trim` of glibc; None for other C libraries."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
