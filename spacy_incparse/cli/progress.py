"""Bars and counters on a terminal that say how far a command is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(*, is_shown: bool = True, **settings: Any) -> tqdm:
    """Return a bar on standard error that vanishes when it is closed; it is shown only if that is a terminal."""
    from tqdm import tqdm

    return tqdm(file=sys.stderr, leave=False, disable=not (is_shown and sys.stderr.isatty()), **settings)
