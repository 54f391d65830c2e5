"""A time limit for testing a pattern on many labels and words."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from spacy_incparse.errors import IncparseError


class Deadline:
    """A time after which no more labels or words are tested."""

    def __init__(self, seconds: float):
        self._seconds, self._end = seconds, monotonic() + seconds

    def guarded(self, test: Callable[[str], object], regex: str) -> Callable[[str], object]:
        """Return the test of a regular expression such that it raises IncparseError after the deadline."""

        def _test(text: str) -> object:
            if monotonic() > self._end:
                raise IncparseError(
                    f"the regular expressions took more than {self._seconds:g} seconds, and got as far as "
                    f"/{regex}/ on {text[:40]!r}: write them with fewer repetitions, or raise --timeout (in Python: "
                    f"timeout=)"
                )
            return test(text)

        return _test
