"""Training forests on disk, for those that have no room in memory (Finkel et al. 2008, section 2)."""

from __future__ import annotations

import pickle
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

from spacy_incparse.chart.chart_sentence import ChartExample


class SpareForests:
    """Examples in a temporary file, which ends with this object or with the process."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def write(self, example: ChartExample) -> int | None:
        """Return the place of an example in the file; None if there is no room for it on disk."""
        try:
            if self._file is None:
                self._file = TemporaryFile(prefix="incparse-forests-")  # noqa: SIM115 (open as long as this object)
                finalize(self, self._file.close)
            place = self._file.seek(0, 2)
            pickle.dump(example, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError:
            return None
        return place

    def read(self, place: int) -> ChartExample:
        """Return the example that was written to a place."""
        if self._file is None:
            raise ValueError("nothing has been written")
        self._file.seek(place)
        found: ChartExample = pickle.load(self._file)
        return found
