"""Workers of a pool to which something happens; a module of its own, which other processes can import."""

import os
import pickle
import signal
from pathlib import Path

from spacy_incparse.training import parallel_passes


class Killed:
    """A `prepare` for a worker that is killed while it learns a part, if none has been so far."""

    def __init__(self, prepare, mark):
        self.prepare, self.mark = prepare, mark

    def __call__(self):
        write = parallel_passes.Counts.write

        def killed(counts, part, number):
            if not self.mark.exists():
                self.mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            write(counts, part, number)

        parallel_passes.Counts.write = killed
        return self.prepare()


class Elsewhere:
    """A `prepare` for a worker on a machine that does not see the folder."""

    def __init__(self, prepare):
        self.prepare = prepare

    def __call__(self):
        parallel_passes.Counts._path = lambda counts, part: Path("/absent")
        return self.prepare()


def prepare_always_killed():
    return lambda task: os.kill(os.getpid(), signal.SIGKILL)


class _Absent:
    def __reduce__(self):
        return pickle.loads, (b"cabsent\nprepare\n.",)


prepare_absent = _Absent()
"""Can only be pickled: reading it imports a module that does not exist."""
