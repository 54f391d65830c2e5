"""Memory of the running process."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """Return the peak resident memory so far.

    On Linux, `getrusage` would include the memory that the parent process had when it started this one.
    """
    if STATUS.exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def resident_bytes() -> int:
    """Return the current resident memory, or the peak if the system does not report the current value."""
    return _status("VmRSS") if STATUS.exists() else peak_bytes()


def _status(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(encoding="utf8"), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0
