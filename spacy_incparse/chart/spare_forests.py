"""Training forests on disk, for those that have no room in memory (Finkel et al. 2008, section 2)."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

import numpy as np

from spacy_incparse.chart.chart_sentence import ChartExample, ChartSentence
from spacy_incparse.chart.forests.forest import restored_forest


class SpareForests:
    """Examples whose forests are in a temporary file, which ends with this object or with the process."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._sentences: dict[int, tuple[ChartSentence, int]] = {}  # by place, with the number of the example

    def write(self, example: ChartExample) -> int | None:
        """Return the place of an example in the file; None if there is no room for it on disk."""
        try:
            if self._file is None:
                self._file = TemporaryFile(prefix="incparse-forests-")  # noqa: SIM115 (open as long as this object)
                finalize(self, self._file.close)
            place = self._file.seek(0, 2)
            for array in (*example.forest.arrays(), example.gold):
                np.save(self._file, array)
            self._file.flush()
        except OSError:
            return None
        self._sentences[place] = example.sentence, example.number
        return place

    def read(self, place: int) -> ChartExample:
        """Return the example that was written to a place."""
        if self._file is None:
            raise ValueError("nothing has been written")
        self._file.seek(place)
        nodes, rules, children, gold = (np.load(self._file) for _ in range(4))
        sentence, number = self._sentences[place]
        return ChartExample(sentence, restored_forest(len(sentence.words), nodes, rules, children), gold, number)
